// SPDX-License-Identifier: Apache-2.0
import UCI
import UWB

/// Writes pcapng blocks of either byte order, independently of the encoder.
struct Blocks {
  var isBigEndian: Bool
  var bytes: [UInt8] = []

  init(bigEndian: Bool) { isBigEndian = bigEndian }

  func number(_ value: some FixedWidthInteger) -> [UInt8] {
    let little = stride(from: 0, to: value.bitWidth, by: 8).map {
      UInt8(truncatingIfNeeded: value >> $0)
    }
    return isBigEndian ? little.reversed() : little
  }

  mutating func block(_ type: UInt32, _ body: [UInt8]) {
    let padded = body + Array(repeating: 0, count: -body.count & 3)
    let length = number(UInt32(padded.count + 12))
    bytes += number(type) + length + padded + length
  }

  mutating func section() {
    block(
      0x0A0D_0D0A,
      number(UInt32(0x1A2B_3C4D)) + number(UInt16(1)) + number(UInt16(0)) + number(UInt64.max))
  }

  mutating func interface(linkType: UInt16 = 299, snapLength: UInt32 = 0, options: [UInt8] = []) {
    block(1, number(linkType) + number(UInt16(0)) + number(snapLength) + options)
  }

  func option(_ code: UInt16, _ value: [UInt8]) -> [UInt8] {
    number(code) + number(UInt16(value.count)) + value
      + Array(repeating: 0, count: -value.count & 3)
  }

  mutating func packet(
    _ packet: [UInt8], ticks: UInt64 = 0, interface: UInt32 = 0, flags: UInt32? = nil,
    originalLength: Int? = nil
  ) {
    var body = number(interface)
    body += number(UInt32(ticks >> 32)) + number(UInt32(truncatingIfNeeded: ticks))
    body += number(UInt32(packet.count)) + number(UInt32(originalLength ?? packet.count))
    body += packet + Array(repeating: 0, count: -packet.count & 3)
    if let flags { body += option(2, number(flags)) + option(0, []) }
    block(6, body)
  }
}

/// Packets of all kinds, from the layouts in the specification.
enum Samples {
  static let reset = bytes("20 00 00 01 00")
  static let resetResponse = bytes("40 00 00 01 00")
  static let ready = bytes("60 01 00 01 01")
  static let data = bytes("02 00 04 00 01 00 00 00")
  static let all = [reset, ready, resetResponse, ready, data]

  /// A whole file, and the end of each packet's block.
  static func file(includeSecrets: Bool = true) -> (bytes: [UInt8], ends: [Int]) {
    var encoder = PcapngEncoder(includeSecrets: includeSecrets)
    var file = PcapngEncoder.preamble(
      .init(
        hardware: "board", os: "Linux", userApplication: "tests", interfaceName: "/dev/ttyACM0",
        interfaceDescription: "UCI"))
    var ends: [Int] = []
    for (index, packet) in all.enumerated() {
      file += encoder.packet(
        packet == reset ? .outbound : .inbound, packet,
        time: 1_700_000_000_000_000_001 + UInt64(index))
      ends.append(file.count)
    }
    return (file, ends)
  }
}
