// SPDX-License-Identifier: Apache-2.0

import Testing
import UCITestSupport

@testable import UCI

/// Documentation/swift-uwb.docc/DeviceOddities.md, "Packets".
@Suite struct FramingOddityTests {
  private func header(_ packet: String, byte3: Bool = false) throws -> PacketHeader {
    try PacketHeader(parsing: bytes(packet).span.bytes, dataLengthInByte3: byte3)
  }

  @Test("Data packets have a length of 16 bits, control packets one of 8")
  func lengths() throws {
    #expect(try header("01002c01").payloadLength == 300)
    #expect(try header("81002c01").payloadLength == 300)
    #expect(try header("a1002c01").payloadLength == 300)
    #expect(try header("61002c01").payloadLength == 1)
    let data = Segmentation.packets(
      type: .data, opcode: DataMessageSend.opcode, payload: Array(repeating: 7, count: 300),
      limit: 2_039)
    #expect(data.count == 1 && data[0].prefix(4) == [0x01, 0x00, 0x2C, 0x01])
  }

  @Test("The length of Qorvo's data packets is in the fourth byte")
  func lengthInByte3() throws {
    #expect(try header("01000012", byte3: true).payloadLength == 18)
    #expect(try header("01000012").payloadLength == 18 * 256)
    let sent = DataMessageSend(
      sessionToken: 1, destination: 0x02BB, sequenceNumber: 1, data: Array("hi".utf8))
    let payload = sent.encoded()
    let packet =
      PacketHeader(type: .data, group: GroupID(rawValue: 1), oid: 0, payloadLength: payload.count)
      .encoded(dataLengthInByte3: true) + payload
    #expect(packet.prefix(4) == [0x01, 0x00, 0x00, 0x12])
    // A whole packet shows its layout, whether or not the chip is known.
    for dialect in [Dialect(vendor: .qorvo, dataLengthInByte3: true), .assumed] {
      guard
        case .payload(let read as DataMessageSend) = try Message(packet: packet, dialect: dialect)
          .content
      else {
        Issue.record("data of Qorvo's were not understood")
        continue
      }
      #expect(read == sent)
    }
  }

  @Test("NXP announces a length of 16 bits in the opcode's byte")
  func extendedLength() throws {
    let long = try header("798a0008")
    #expect(long.payloadLength == 2_048 && long.oid == 0x0A && long.moreFollows)
    let payload = [UInt8](repeating: 0xA5, count: 300)
    let packet =
      PacketHeader(.notification, NXPRadarNotification.opcode, payloadLength: 300).encoded()
      + payload
    #expect(packet.prefix(4) == [0x69, 0x8A, 0x2C, 0x01])
    let message = try Message(packet: packet, dialect: Dialect(vendor: .nxp))
    #expect(message.opcode == NXPRadarNotification.opcode)
    #expect(message.payload(dialect: Dialect(vendor: .nxp)) == payload)
  }

  @Test("Reserved bits are not always zero")
  func reservedBits() throws {
    // The third byte in the form of NXP's HAL, and bit 6 of the opcode.
    let message = try Message(packet: bytes("41030404 04 01 1c 04"))
    guard case .payload(let response as ConfigurationResponse) = message.content else {
      Issue.record("a response with a reserved byte was not understood")
      return
    }
    #expect(response.refused == [RefusedParameter(id: 0x1C, status: .invalidParameter)])
    #expect(try header("60410701").oid == 0x01)
  }

  private func joined(_ packets: [String]) throws -> Message {
    var reassembler = Reassembler()
    for (index, packet) in packets.enumerated() {
      let bytes = bytes(packet)
      let header = try PacketHeader(parsing: bytes.span.bytes)
      let payload = bytes.span.bytes.extracting(4..<bytes.count)
      let outcome = reassembler.take(header, payload: payload)
      #expect(outcome == (index == packets.count - 1 ? .completed : .incomplete))
    }
    let header = try PacketHeader(parsing: bytes(packets[0]).span.bytes)
    return reassembler.withPayload(of: header.type) {
      Message(type: header.type, opcode: header.opcode, payload: $0)
    }
  }

  @Test("Only the first segment of a response begins with a status")
  func statusOfSegments() throws {
    let message = try joined(["51040006 00 02 04 01 09 09", "41040005 04 c8 00 00 00"])
    #expect(message.status == .ok)
    guard case .payload(let response as TLVListResponse) = message.content else {
      Issue.record("a response in segments was not understood")
      return
    }
    #expect(response.parameters == [TLV(0x04, [9]), TLV(0x09, [200, 0, 0, 0])])
  }

  @Test("A packet that interrupts a message is taken, and the message is dropped")
  func interruption() throws {
    var reassembler = Reassembler()
    func take(_ packet: String) throws -> Reassembler.Outcome {
      let bytes = bytes(packet)
      let header = try PacketHeader(parsing: bytes.span.bytes)
      return reassembler.take(header, payload: bytes.span.bytes.extracting(4..<bytes.count))
    }
    #expect(try take("72000003 010203") == .incomplete)
    #expect(try take("60010001 ff") == .whole)
    #expect(reassembler.dropped == 1)
    // Halves of two commands are not a command.
    #expect(try take("30020001 00") == .incomplete)
    #expect(try take("20000001 00") == .whole)
    #expect(reassembler.dropped == 2)
  }

  @Test("Commands longer than 255 bytes are segmented")
  func longCommands() throws {
    let parameters = (0..<60).map { TLV(UInt8($0), [1, 2, 3, 4]) }
    let payload = SetAppConfig(sessionToken: 1, parameters: parameters).encoded()
    #expect(payload.count == 4 + 1 + 60 * 6)
    for limit in [255, 250, 1] {
      let packets = Segmentation.packets(
        type: .command, opcode: .sessionSetAppConfig, payload: payload, limit: limit)
      #expect(packets.allSatisfy { $0.count <= 4 + limit && Int($0[3]) == $0.count - 4 })
      #expect(packets.dropLast().allSatisfy { $0[0] == 0x31 })
      #expect(packets.last?[0] == 0x21)
      #expect(packets.flatMap { $0.dropFirst(4) } == payload)
    }
    let device = SetConfig((0..<64).map { TLV(0xE4, [1, 2, 3], subID: UInt8($0)) })
      .encoded(dialect: Dialect(vendor: .nxp))
    #expect(device.count == 1 + 64 * 6)
    let packets = Segmentation.packets(type: .command, opcode: .coreSetConfig, payload: device)
    #expect(packets.count == 2)
  }

  @Test(
    "Test vectors of AOSP with a private header are not packets",
    arguments: ["20000001 00000000", "2c000000 000000", "22000004 00000000 010203"])
  func vectorsWithAnotherHeader(packet: String) throws {
    #expect(throws: PayloadError.self) { try Message(packet: bytes(packet)) }
  }
}
