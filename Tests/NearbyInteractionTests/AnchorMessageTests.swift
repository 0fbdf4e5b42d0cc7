// SPDX-License-Identifier: Apache-2.0
import Foundation
import SIMDMath
import Testing
import UCI
import UWB
import UWBLink

@testable import NearbyInteraction

/// The fields of anchors' messages, in virtual time and without a chip.
@Suite struct AnchorMessageTests {
  /// A location as anchors encode it, with its type and its bytes. The bytes were packed by hand,
  /// without gaps and low byte first.
  private enum Place {
    /// No location.
    static let none: (type: UInt8, bytes: [UInt8]) = (0, [])
    /// 48.5 degrees north (33 bits, 24 of them after the point), 11.25 west, 100.5 m (30 bits, 21).
    static let geographic: (type: UInt8, bytes: [UInt8]) = (
      1, [0x00, 0x00, 0x80, 0x30, 0x00, 0x00, 0x60, 0x7A, 0x40, 0x00, 0x24, 0x0C]
    )
    /// 1 m, -2 m (28 bits each), 0.5 m (24 bits).
    static let relative: (type: UInt8, bytes: [UInt8]) = (
      2, [0xE8, 0x03, 0x00, 0x03, 0x0F, 0x8F, 0xFF, 0xF4, 0x01, 0x00]
    )
  }

  /// A message of the first version.
  private func first(
    _ type: UInt8, from anchor: UInt16, block: UInt16 = 1, round: UInt8 = 0, status: UInt8 = 0,
    rssi: UInt8 = 100, at place: (type: UInt8, bytes: [UInt8]) = Place.none
  ) -> [UInt8] {
    var writer = PayloadWriter()
    writer.u16(anchor)
    writer.u8(status)
    writer.u8(type)
    // Timestamps of 64 bits.
    writer.u16(1 << 1 | 1 << 3 | UInt16(place.type) << 5)
    writer.u16(block)
    writer.u8(round)
    writer.bytes([0xFF, 0, 0, 0, 0, 0, 0])
    writer.u8(rssi)
    for time in [63_897_600_000, 127_795_200_000] as [UInt64] {
      writer.u32(UInt32(truncatingIfNeeded: time))
      writer.u32(UInt32(time >> 32))
    }
    writer.u16(UInt16(bitPattern: 1_024))
    writer.u16(UInt16(bitPattern: -2_048))
    writer.bytes([UInt8](repeating: 0, count: 10))
    writer.bytes(place.bytes)
    return writer.bytes
  }

  /// A message of the second version, with a location, whose first byte is its type.
  private func second(
    _ type: UInt8, from anchor: UInt16, place: (type: UInt8, bytes: [UInt8])
  ) -> [UInt8] {
    var writer = PayloadWriter()
    writer.u16(UInt16(61 + place.bytes.count))
    writer.u16(anchor)
    writer.bytes([0, type, 1, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0, 100])
    writer.bytes([0, 0, 0, 0])
    writer.bytes([UInt8](repeating: 0, count: 10))
    // The message was received in the fifth tick, and sent in the third.
    writer.bytes([5, 5, 0, 0, 0, 0])
    writer.u32(4)
    writer.bytes([8, 3, 0, 0, 0, 0, 0, 0, 0])
    writer.u8(UInt8(place.bytes.count + 1))
    writer.u8(place.type)
    writer.bytes(place.bytes)
    let length = writer.bytes.count
    return [UInt8(length), 0] + writer.bytes.dropFirst(2)
  }

  private struct Run {
    let fixture: SessionTests.CoreFixture
    init() throws {
      fixture = try SessionTests.CoreFixture()
      fixture.session.run(NIDLTDOAConfiguration(networkIdentifier: 7))
      fixture.core.handle(.report(run: 1, .started(needsData: false)))
    }

    /// - Parameters:
    ///   - type: The type of the measurements, 2 or 6.
    ///   - run: The run that the report belongs to.
    func feed(_ messages: [[UInt8]], type: UInt8 = 2, run: Int = 1) throws {
      var writer = PayloadWriter()
      writer.u32(1)
      writer.u32(7)
      writer.u8(0)
      writer.u32(200)
      writer.bytes([type, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
      writer.u8(UInt8(messages.count))
      for message in messages { writer.bytes(message) }
      let bytes = writer.bytes
      let view = try SessionInfoView(bytes.span.bytes)
      fixture.core.anchors(of: run)(
        RoundNotification(.measurements(view), FrameInfo(receivedAt: 1)))
      fixture.recorder.drain()
    }
    var messages: [NIDLTDOAMeasurement] { fixture.recorder.anchorMessages }
  }

  @Test func locations() throws {
    let run = try Run()
    try run.feed([
      first(0, from: 1, at: Place.geographic), first(1, from: 2, at: Place.relative),
      first(2, from: 1),
    ])
    try #require(run.messages.count == 3)
    let (poll, response, final) = (run.messages[0], run.messages[1], run.messages[2])
    #expect(poll.coordinatesType == .geodetic && poll.hasCoordinates)
    // Latitude, longitude, altitude.
    #expect(poll.coordinates == simd_double3(48.5, -11.25, 100.5))
    #expect(response.coordinatesType == .relative && response.hasCoordinates)
    #expect(simd_distance(response.coordinates, simd_double3(1, -2, 0.5)) < 1e-9)
    #expect(!final.hasCoordinates && final.coordinates == .zero)
    #expect(abs(response.transmitTime - 1) < 1e-12 && abs(response.receiveTime - 2) < 1e-12)
    #expect(response.signalStrength == -50)
  }

  @Test func version2HasTheSameValues() throws {
    let run = try Run()
    try run.feed(
      [
        second(0, from: 1, place: (0, Place.geographic.bytes)),
        second(1, from: 2, place: (1, Place.relative.bytes)),
        second(2, from: 1, place: (9, [1, 2, 3])),
      ], type: 6)
    try #require(run.messages.count == 3)
    let (poll, response, final) = (run.messages[0], run.messages[1], run.messages[2])
    #expect(poll.rawTransmitTime == 3 && poll.rawReceiveTime == 5)
    #expect(poll.coordinatesType == .geodetic)
    #expect(poll.coordinates == simd_double3(48.5, -11.25, 100.5))
    #expect(response.coordinatesType == .relative)
    #expect(simd_distance(response.coordinates, simd_double3(1, -2, 0.5)) < 1e-9)
    #expect(!final.hasCoordinates)
    #expect(run.messages.allSatisfy { $0.clusterInitiatorAddress == 1 })
  }

  /// The initiator is the sender of the round's poll. For other rounds and runs, it is unknown.
  @Test func theInitiatorBelongsToTheRound() throws {
    let run = try Run()
    try run.feed([first(1, from: 2)])
    try run.feed([first(0, from: 1), first(1, from: 2), first(1, from: 3, round: 4)])
    try run.feed([first(1, from: 2, block: 2), first(2, from: 1)])
    #expect(run.messages.map(\.clusterInitiatorAddress) == [0, 1, 1, 0, 0, 1])
    #expect(run.messages.map(\.roundIndex) == [0, 0, 0, 4, 0, 0])
    #expect(run.messages.map(\.blockIndex) == [1, 1, 1, 1, 2, 1])
    run.fixture.session.run(NIDLTDOAConfiguration(networkIdentifier: 7))
    run.fixture.core.handle(.report(run: 2, .started(needsData: false)))
    try run.feed([first(1, from: 2)], run: 2)
    #expect(run.messages.last?.clusterInitiatorAddress == 0)
  }

  @Test func failedMessagesAreNotReported() throws {
    let run = try Run()
    // RX timeout; an invalid message type; no message.
    try run.feed([first(1, from: 2, status: 0x21), first(7, from: 2)])
    try run.feed([])
    #expect(run.fixture.recorder.calls == [.started])
    try run.feed([first(1, from: 2, status: 0x21), first(1, from: 3, rssi: 0)])
    #expect(run.fixture.recorder.calls == [.started, .anchors(1)])
    #expect(run.messages.last?.address == 3 && run.messages.last?.signalStrength == 0)
  }

  @Test func sleepSuspendsAnchorSessions() throws {
    let run = try Run()
    run.fixture.clock.sleep(.seconds(60))
    try run.feed([first(0, from: 1)])
    #expect(run.fixture.recorder.calls == [.started, .suspended, .suspensionEnded])
  }

  /// A difference in any field counts.
  @Test func messagesAreComparedByTheirFields() throws {
    let run = try Run()
    try run.feed([first(0, from: 1), first(0, from: 1), first(0, from: 2)])
    #expect(run.messages[0] == run.messages[1] && run.messages[0] != run.messages[2])
    #expect(run.messages[0].hash == run.messages[1].hash)
  }

  /// A tag's session has the parameters of Android's FiRa stack, and the app's parameters of the
  /// network.
  @Test func tagSessionParameters() throws {
    var radio = NIDLTDOAConfiguration.Radio()
    radio.channel = 5
    radio.preambleCode = 12
    radio.slotDuration = 1_200
    radio.slotsPerRound = 20
    radio.interval = 120
    radio.staticSTS = [1, 2, 3, 4, 5, 6, 7, 8]
    radio.address = 0x1234
    let session = radio.configuration(id: 77)
    #expect(session.sessionID == 77)
    let parameters = session.parameters(for: .fira2)
    // FiRa's parameter numbers; values are little-endian.
    let expected: [(AppConfigID, [UInt8])] = [
      (.deviceRole, [8]), (.rangingRoundUsage, [5]), (.multiNodeMode, [1]), (.channelNumber, [5]),
      (.preambleCodeIndex, [12]), (.slotDuration, [0xB0, 0x04]), (.slotsPerRR, [20]),
      (.rangingDuration, [120, 0, 0, 0]), (.deviceMACAddress, [0x34, 0x12]), (.stsConfig, [0]),
      (.vendorID, [1, 2]), (.staticSTSIV, [3, 4, 5, 6, 7, 8]), (.rframeConfig, [1]),
    ]
    for (id, value) in expected {
      #expect(parameters.last { $0.id == id.rawValue }?.value == value, "\(id.name)")
    }
    for id: AppConfigID in [.deviceType, .numberOfControlees, .dstMACAddress, .resultReportConfig] {
      #expect(!parameters.contains { $0.id == id.rawValue }, "\(id.name)")
    }
  }
}
