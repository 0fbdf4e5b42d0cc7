// SPDX-License-Identifier: Apache-2.0
import Testing
import UWBTestSupport
import UCI
import UWB

/// The byte 0x6B occurs only in keys.
@Suite(.computes) struct SecretTests {
  private let key = [UInt8](repeating: 0x6B, count: 16)

  private func written(_ packets: [[UInt8]], includeSecrets: Bool = false) throws -> [[UInt8]] {
    var encoder = PcapngEncoder(includeSecrets: includeSecrets)
    var file = PcapngEncoder.preamble()
    for packet in packets { file += encoder.packet(.outbound, packet, time: 0) }
    let capture = try CaptureReader.read(file)
    #expect(capture.packets.map(\.bytes.count) == packets.map(\.count))
    return capture.packets.map(\.bytes)
  }

  private func command(_ parameters: [TLV]) -> [UInt8] {
    var writer = PayloadWriter()
    SetAppConfig(sessionToken: 1, parameters: parameters).encode(into: &writer, dialect: Dialect())
    return PacketHeader(.command, .sessionSetAppConfig, payloadLength: writer.bytes.count)
      .encoded() + writer.bytes
  }

  @Test(arguments: [0x45, 0x46, 0x28, 0xAA, 0xA0] as [UInt8])
  func keysAreZeroedAndNothingElse(_ id: UInt8) throws {
    let packet = command([TLV(0x04, [9]), TLV(id, key), TLV(0x09, [200, 0, 0, 0])])
    let expected = command([
      TLV(0x04, [9]), TLV(id, [UInt8](repeating: 0, count: 16)), TLV(0x09, [200, 0, 0, 0]),
    ])
    #expect(try written([packet]) == [expected])
    #expect(try written([packet], includeSecrets: true) == [packet])
  }

  @Test func segmentsKeepOnlyTheSession() throws {
    let payload = Array(command([TLV(0x04, [9]), TLV(0x45, key), TLV(0x46, key)]).dropFirst(4))
    for limit in 1...payload.count {
      let packets = Segmentation.packets(
        type: .command, opcode: .sessionSetAppConfig, payload: payload, limit: limit)
      // The answer to another command arrives in between.
      let result = try written(packets.flatMap { [$0, Samples.ready] })
      #expect(!result.joined().contains(0x6B), "limit \(limit)")
      #expect(result[0].prefix(4) == packets[0].prefix(4))
    }
    // The end of a segmented command does not affect the next command.
    let segments = Segmentation.packets(
      type: .command, opcode: .sessionSetAppConfig, payload: payload, limit: 20)
    let plain = command([TLV(0x04, [9])])
    #expect(try written(segments + [plain]).last == plain)
  }

  @Test func listsThatCannotBeTakenApart() throws {
    let long = command([TLV(0x04, [9]), TLV(0x45, key)])
    var tooMany = long
    tooMany[8] = 3
    var tooFew = long
    tooFew[8] = 1
    for packet in [tooMany, tooFew, Array(long.dropLast()), long + [0]] {
      let result = try written([packet])
      #expect(!result[0].contains(0x6B))
      #expect(result[0].prefix(8) == packet.prefix(8))
    }
  }

  @Test func identifiersOfTwoBytes() throws {
    // NXP's E4 03, then a session key.
    let packet = bytes("21 03 00 1b 01000000 02 e4 03 01 00 45 10") + key
    #expect(try !written([packet])[0].contains(0x6B))
  }

  /// The fuzzer found this case: the capture had bytes that no description covers.
  @Test func valuesOfIdentifiersOfTwoBytes() throws {
    let packet = bytes("21 03 00 0d 01000000 01 e4 3a 05 6b 6b 6b 6b 6b")
    #expect(try !written([packet])[0].contains(0x6B))
  }

  @Test(arguments: [(2, 16), (3, 32)] as [(UInt8, Int)])
  func keysOfControlees(_ action: UInt8, _ length: Int) throws {
    let key = [UInt8](repeating: 0x6B, count: length)
    let entry = bytes("0100 02000000")
    var body = bytes("07000000") + [action, 2]
    for _ in 0..<2 { body += entry + key }
    let packet: [UInt8] = [0x21, 0x07, 0x00, UInt8(body.count)] + body
    let zeros = [UInt8](repeating: 0, count: length)
    let expected: [UInt8] = Array(packet[..<10]) + entry + zeros + entry + zeros
    #expect(try written([packet]) == [expected])
    var unknown = packet
    unknown[8] = 9
    #expect(try !written([unknown])[0].contains(0x6B))
    let plain = bytes("21 07 00 0c 07000000 00 01 0100 02000000")
    #expect(try written([plain]) == [plain])
  }

  @Test func answersToGetAppConfig() throws {
    let packet = bytes("41 03 00 02 00 00")
    #expect(try written([packet]) == [packet])
    let answer = bytes("41 04 00 14 00 01 45 10") + key
    #expect(
      try written([answer]) == [bytes("41 04 00 14 00 01 45 10") + Array(repeating: 0, count: 16)])
  }
}

@Suite(.computes) struct VendorSecretTests {
  private let key = String(repeating: "6b", count: 16)
  private let sr250 = "4002001b 00 0300 0200 0200 0200 11 000f 53523235305f413156325f50524f44"

  private func written(_ packets: [String]) throws -> [[UInt8]] {
    var encoder = PcapngEncoder()
    var file = PcapngEncoder.preamble()
    for packet in packets { file += encoder.packet(.inbound, bytes(packet), time: 0) }
    return try CaptureReader.read(file).packets.map(\.bytes)
  }

  @Test("Keys in messages of vendors are zeroed, whether or not the chip is known")
  func keysOfVendors() throws {
    let packets = [
      "6e080010" + key, "2a050015 0b00010201" + key, "2f000017 01000000 01 79 10" + key,
      "2f000017 01000000 02 79 10" + key, "4f030014 00 01 79 10" + key, "29160010" + key,
      "4a020011 00" + key, "80001000" + key,
    ]
    for result in try written(packets) { #expect(!result.contains(0x6B)) }
    for result in try written([sr250] + packets.filter { !$0.hasPrefix("2916") }) {
      #expect(!result.contains(0x6B))
    }
    let lengths = packets.map { bytes($0).count }
    #expect(try written(packets).map(\.count) == lengths)
  }

  @Test("What is no key is written as it is once the chip is known")
  func plainMessages() throws {
    let packets = [
      sr250, "69000010" + key, "2f000008 01000080 01 670101", "2f21000a 00010703250025000400",
    ]
    #expect(try written(packets) == packets.map { bytes($0) })
    // A message of an unknown vendor keeps only bytes that cannot hold a key.
    #expect(try written(["69000004 6b6b6b6b"]) == [bytes("69000004 00000000")])
  }
}
