// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCITestSupport

@Suite struct SegmentTests {
  private func take(
    _ packet: [UInt8], _ reassembler: inout Reassembler
  ) throws -> Reassembler.Outcome {
    let bytes = packet.span.bytes
    let header = try PacketHeader(parsing: bytes)
    return reassembler.take(header, payload: bytes.extracting(4..<bytes.byteCount))
  }

  private func joined(_ reassembler: Reassembler, _ type: MessageType = .notification) -> [UInt8] {
    reassembler.withPayload(of: type) { payload in
      (0..<payload.byteCount).map { payload.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
  }

  // Eight measurements make 273 bytes, as pica sends them.
  private let long = (0..<273).map { UInt8(truncatingIfNeeded: $0) }

  @Test func cutsAt255AndJoinsAgain() throws {
    let packets = Segmentation.packets(type: .notification, opcode: .sessionInfo, payload: long)
    #expect(packets.count == 2)
    #expect(Array(packets[0].prefix(4)) == [0x72, 0x00, 0x00, 0xFF])
    #expect(Array(packets[1].prefix(4)) == [0x62, 0x00, 0x00, 0x12])
    var reassembler = Reassembler()
    #expect(try take(packets[0], &reassembler) == .incomplete)
    #expect(try take(packets[1], &reassembler) == .completed)
    #expect(joined(reassembler) == long)
    #expect(reassembler.dropped == 0)
  }

  @Test func dataBetweenControlSegmentsDoesNoHarm() throws {
    let packets = Segmentation.packets(type: .notification, opcode: .sessionInfo, payload: long)
    let data = Segmentation.packets(
      type: .data, opcode: DataMessageReceived.opcode, payload: [1, 2, 3, 4, 5], limit: 3)
    var reassembler = Reassembler()
    #expect(try take(packets[0], &reassembler) == .incomplete)
    #expect(try take(data[0], &reassembler) == .incomplete)
    #expect(try take(data[1], &reassembler) == .completed)
    #expect(joined(reassembler, .data) == [1, 2, 3, 4, 5])
    #expect(try take(packets[1], &reassembler) == .completed)
    #expect(joined(reassembler) == long)
  }

  @Test func anotherMessageDropsThePartialOneAndIsTaken() throws {
    let packets = Segmentation.packets(type: .notification, opcode: .sessionInfo, payload: long)
    var reassembler = Reassembler()
    #expect(try take(packets[0], &reassembler) == .incomplete)
    #expect(try take(bytes("60010001 ff"), &reassembler) == .whole)
    #expect(reassembler.dropped == 1)
    // The last segment of the dropped message now counts as a whole message.
    #expect(try take(packets[1], &reassembler) == .whole)
  }

  @Test func nothingOfADroppedMessageIsUsedAgain() throws {
    var reassembler = Reassembler()
    #expect(try take(bytes("72000003 aaaaaa"), &reassembler) == .incomplete)
    #expect(try take(bytes("71020002 0102"), &reassembler) == .incomplete)
    #expect(try take(bytes("61020001 03"), &reassembler) == .completed)
    #expect(joined(reassembler) == [1, 2, 3])
    // A response is another message than a notification, although both have the same opcode.
    #expect(try take(bytes("72000001 aa"), &reassembler) == .incomplete)
    #expect(try take(bytes("52000001 01"), &reassembler) == .incomplete)
    #expect(try take(bytes("42000001 02"), &reassembler) == .completed)
    #expect(joined(reassembler) == [1, 2])
    #expect(reassembler.dropped == 2)
  }

  @Test func messagesThatGrowTooLongAreDropped() throws {
    var reassembler = Reassembler(limit: 4)
    #expect(try take(bytes("72000003 010203"), &reassembler) == .incomplete)
    #expect(try take(bytes("72000003 040506"), &reassembler) == .incomplete)
    #expect(reassembler.dropped == 1)
  }

  @Test func dataLengths() throws {
    let packet = Segmentation.packets(
      type: .data, opcode: DataMessageSend.opcode, payload: Array(repeating: 7, count: 300),
      limit: 2_039)
    #expect(Array(packet[0].prefix(4)) == [0x01, 0x00, 0x2C, 0x01])
    let quirk = PacketHeader(
      type: .data, group: GroupID(rawValue: 1), oid: 0, payloadLength: 18)
    #expect(quirk.encoded(dataLengthInByte3: true) == [0x01, 0x00, 0x00, 0x12])
    let back = try PacketHeader(
      parsing: quirk.encoded(dataLengthInByte3: true).span.bytes, dataLengthInByte3: true)
    #expect(back.payloadLength == 18)
    // NXP announces 16-bit lengths of control packets in the opcode byte.
    let extended = try PacketHeader(parsing: bytes("798a0008").span.bytes)
    #expect(extended.payloadLength == 2_048)
    #expect(extended.oid == 0x0A)
    #expect(extended.moreFollows)
  }
}
