// SPDX-License-Identifier: Apache-2.0

import Testing
import UCIReference
import UCITestSupport

@testable import UCI

// Constructed by the layouts of AOSP's packet description and of
// nxp-uwb/sr250-uwbiot-zephyr.
@Suite struct LogicalLinkTests {
  static let vectors = [
    "22070010 01000000 02 bb02000000000000 02 0a0b", "2207000e 01000000 77 bb02000000000000 00",
    "42070005 00 05000000", "42070001 11", "62070005 05000000 02", "62070005 05000000 99",
    "22080004 05000000", "42080001 00", "62090005 05000000 01",
    "620a0011 01000000 05000000 03 bb02000000000000", "220b0004 05000000", "420b0001 11",
    "420b000d 00 7f00 0001 8000 04 05 06 07 08 01", "420b0005 00 0280 4000", "420b0002 01 03",
    "03000a00 05000000 0100 0200 6869", "04000a00 05000000 0200 0200 6869",
    "04000b00 05000000 0200 0200 6869 ff",
  ]

  @Test(arguments: vectors)
  func encodesWhatItDecodes(packet: String) throws {
    #expect(try reencoded(packet) == payload(of: packet))
    if case .opaque = try Message(packet: bytes(packet)).content {
      Issue.record("\(packet) was not understood")
    }
  }

  @Test func creation() throws {
    let create = try #require(
      try decode("22070010 01000000 02 bb02000000000000 02 0a0b", as: LogicalLinkCreate.self))
    #expect(create.selector == 2)
    #expect(create.destination == 0x02BB)
    #expect(create.parameters == [0x0A, 0x0B])
    let response = try decode("42070005 00 05000000", as: LogicalLinkCreateResponse.self)
    #expect(response == LogicalLinkCreateResponse(status: .ok, connectionID: 5))
    #expect(
      try decode("42070001 11", as: LogicalLinkCreateResponse.self)?.connectionID == nil)
    let made = try decode("62070005 05000000 02", as: LogicalLinkCreateNotification.self)
    #expect(made == LogicalLinkCreateNotification(connectionID: 5, result: 2))
    let peer = try decode(
      "620a0011 01000000 05000000 03 bb02000000000000", as: LogicalLinkUWBSCreateNotification.self)
    #expect(peer?.source == 0x02BB)
  }

  @Test func parameters() throws {
    let all = try #require(
      try decode(
        "420b000c 00 7f00 0001 8000 04 05 06 07 08", as: BodyResponse<LogicalLinkParameters>.self
      )?.body)
    #expect(all.sduSize == 256)
    #expect(all.pduSize == 128)
    #expect(all.txWindow == 4)
    #expect(all.rxWindow == 5)
    #expect(all.repetitionCount == 6)
    #expect(all.linkTimeout == 7)
    #expect(all.port == 8)
    // The value keeps a bit that has no known field.
    let some = try #require(
      try decode("420b0005 00 0280 4000", as: BodyResponse<LogicalLinkParameters>.self)?.body)
    #expect(some.control == 0x8002)
    #expect(some.pduSize == 64)
    #expect(some.sduSize == nil)
  }

  @Test func data() throws {
    let sent = try decode("03000a00 05000000 0100 0200 6869", as: LogicalLinkDataSend.self)
    #expect(
      sent == LogicalLinkDataSend(connectionID: 5, sequenceNumber: 1, data: [0x68, 0x69]))
    let received = try Message(packet: bytes("04000b00 05000000 0200 0200 6869 ff"))
    #expect(received.trailing == [0xFF])
    #expect(received.name() == "LL_DATA_MESSAGE_RCV")
  }

  @Test func namedAndDescribed() throws {
    let message = try Message(packet: bytes("62090005 05000000 01"))
    #expect(message.name() == "LOGICAL_LINK_UWBS_CLOSE_NTF")
    #expect(
      message.fields() == [
        Field("connection", .integer(5)),
        Field("reason", .code(1, name: "TIMEOUT", explanation: nil)),
      ])
    for packet in Self.vectors {
      #expect(!(try Message(packet: bytes(packet)).fields().isEmpty))
    }
  }
}
