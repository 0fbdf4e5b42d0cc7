// SPDX-License-Identifier: Apache-2.0

import Testing
import UCITestSupport

@testable import UCI

// Multicast and data frames are from google/pica 0.1.12 unless noted otherwise.
@Suite struct SessionMessageTests {
  @Test func sessionIsInitialised() throws {
    let command = try #require(try decode("21000005 4ab1d7bf 00", as: SessionInit.self))
    #expect(command.sessionID == 0xBFD7_B14A)
    let response = try #require(try decode("41000005 00 01000000", as: SessionInitResponse.self))
    #expect(response.handle == 1)
  }

  @Test func appConfig() throws {
    // NXP SR250, published log.
    let packet = "2103001b 01000000 07 110100 030100 260100 220101 06029e36 010102 000100"
    let command = try #require(try decode(packet, as: SetAppConfig.self))
    #expect(command.sessionToken == 1)
    #expect(command.parameters.count == 7)
    #expect(command.parameters[4] == TLV(.deviceMACAddress, [0x9E, 0x36]))
    #expect(try reencoded(packet) == payload(of: packet))
    let refused = try #require(
      try decode("41030006 03 02 0004 0105", as: ConfigurationResponse.self))
    #expect(refused.status == .syntaxError)
    #expect(
      refused.refused == [
        RefusedParameter(id: 0, status: .invalidParameter),
        RefusedParameter(id: 1, status: .invalidRange),
      ])
  }

  @Test func multicastCommand() throws {
    let plain = try #require(
      try decode("2107000c 07000000 01 01 c000 00000000", as: UpdateMulticastList.self))
    #expect(plain.action == .remove)
    #expect(plain.controlees == [.init(address: 0x00C0)])
    let long =
      "2107002c 07000000 03 01 c021 05000000" + String(repeating: "6b", count: 32)
    let keyed = try #require(try decode(long, as: UpdateMulticastList.self))
    #expect(keyed.action == .addWithLongKey)
    #expect(keyed.controlees[0].subSessionID == 5)
    #expect(keyed.controlees[0].key == Array(repeating: 0x6B, count: 32))
    // For an unknown action, the length of the entries is unknown as well.
    let unknown = try Message(packet: bytes("21070006 07000000 09 01"))
    guard case .opaque(_, .invalid?) = unknown.content else {
      Issue.record("an unknown action was understood")
      return
    }
  }

  @Test func multicastNotificationInBothForms() throws {
    let newer = try #require(
      try decode("61070008 07000000 01 c000 00", as: MulticastListNotification.self))
    #expect(newer.remaining == nil)
    #expect(newer.controlees == [ControleeStatus(address: 0x00C0, status: .ok)])
    // Constructed: the form of FiRa 1.x from a chip that reports 2.0.
    let older = try #require(
      try decode(
        "6107000d 07000000 03 01 c000 04000000 02", as: MulticastListNotification.self))
    #expect(older.remaining == 3)
    #expect(
      older.controlees == [
        ControleeStatus(address: 0x00C0, status: .keyFetchFailed, subSessionID: 4)
      ])
    // 20 bytes fit both forms, so the version decides.
    let both = "61070014 07000000 05 02 c000 00000000 00 c100 00000000 00"
    let as1 = try #require(
      try decode(both, as: MulticastListNotification.self, dialect: Dialect(generation: .fira1)))
    let as2 = try #require(
      try decode(both, as: MulticastListNotification.self, dialect: Dialect(generation: .fira2)))
    #expect(as1.remaining == 5 && as1.controlees.count == 2)
    #expect(as2.remaining == nil && as2.controlees.count == 5)
    #expect(try reencoded(both, dialect: Dialect(generation: .fira1)) == payload(of: both))
    #expect(try reencoded(both) == payload(of: both))
  }

  @Test func multicastResponse() throws {
    let full = try #require(try decode("41070005 17 01 c020 01", as: MulticastListResponse.self))
    #expect(full.status == .multicastListFull)
    #expect(full.controlees == [ControleeStatus(address: 0x20C0, status: .listFull)])
  }

  @Test func dataSizeBeginsWithTheToken() throws {
    let response = try #require(
      try decode("410b0007 07000000 00 f705", as: DataSizeResponse.self))
    #expect(response == DataSizeResponse(sessionToken: 7, status: .ok, maxDataSize: 0x05F7))
    #expect(
      try decode("410b0002 0103", as: DataSizeResponse.self)
        == DataSizeResponse(sessionToken: nil, status: .rejected, maxDataSize: nil))
  }

  @Test func dataTransferStatusInThreeForms() throws {
    typealias Notification = DataTransferStatusNotification
    #expect(
      try decode("62050006 05000000 07 01", as: Notification.self)
        == Notification(
          sessionToken: 5, shortSequenceNumber: 7, status: .ok, transmissions: nil))
    #expect(
      try decode("62050007 05000000 00 04 01", as: Notification.self)
        == Notification(
          sessionToken: 5, shortSequenceNumber: 0, status: .rejected, transmissions: 1))
    #expect(
      try decode("62050008 05000000 0201 00 03", as: Notification.self)
        == Notification(
          sessionToken: 5, sequenceNumber: 0x0102, status: .repetitionOK, transmissions: 3))
  }

  @Test func dataMessages() throws {
    let sent = try #require(
      try decode("01001200 01000000 bb02000000000000 0100 0200 6869", as: DataMessageSend.self))
    #expect(sent.destination == 0x02BB)
    #expect(sent.data == Array("hi".utf8))
    let received = try #require(
      try decode(
        "02001300 09000000 00 aa01000000000000 0100 0200 6869", as: DataMessageReceived.self))
    #expect(received.source == 0x01AA)
    #expect(received.sequenceNumber == 1)
  }

  @Test func dtAnchorRoundsWithEitherAddress() throws {
    // Constructed: a round as initiator with two responders and their slots, one as responder.
    let short = "21080011 01000000 02 00 01 02 aa01 bb02 01 04 05 03 00"
    let rounds = try #require(try decode(short, as: UpdateDTAnchorRounds.self))
    #expect(
      rounds.rounds == [
        .init(
          index: 0, responders: [MACAddress(0x01AA), MACAddress(0x02BB)], slots: [4, 5]),
        .init(index: 3),
      ])
    let extended = "21080011 01000000 01 00 01 01 8877665544332211 00 "
    let long = try #require(try decode(extended, as: UpdateDTAnchorRounds.self))
    #expect(long.rounds[0].responders == [MACAddress(extended: 0x1122_3344_5566_7788)])
    #expect(try reencoded(short) == payload(of: short))
    #expect(try reencoded(extended) == payload(of: extended))
    let failed = try #require(try decode("41090004 29 02 0305", as: RangingRoundsResponse.self))
    #expect(failed.failedRounds == [3, 5])
  }

  @Test func rangeDiagnostics() throws {
    // Test vector of AOSP's packet definitions.
    let packet = "6c020011 01010101 02020202 01 00 01 02 01 00 0100 00"
    let android = try #require(try decode(packet, as: RangeDiagnosticsNotification.self))
    #expect(android.sequenceNumber == 0x0202_0202)
    #expect(android.reports[0].items == [.init(type: 0, value: [0])])
    let qorvo = "6b03" + packet.dropFirst(4)
    #expect(
      try decode(qorvo, as: RangeDiagnosticsNotification.self, dialect: Dialect(vendor: .qorvo))
        == android)
  }
}
