// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UWB

/// Properties of a capture, whatever it was read from.
private func check(_ input: [UInt8], _ format: CaptureFormat?) {
  let capture: Capture
  do {
    capture = try CaptureReader.read(input)
  } catch {
    Properties.printable(error.description)
    return
  }
  if let format, capture.format != format { fail("\(format) was read as \(capture.format)") }
  if capture.problems.count > 100 { fail("\(capture.problems.count) problems") }
  for problem in capture.problems { Properties.printable(problem.description) }
  let bytes = capture.packets.reduce(0) { $0 + $1.bytes.count }
  if bytes > input.count { fail("\(input.count) bytes hold \(bytes) bytes of packets") }
  writtenAgain(capture)
}

/// Packets that were read can be written, and are equal when read again.
private func writtenAgain(_ capture: Capture) {
  var encoder = PcapngEncoder(includeSecrets: true)
  var file = PcapngEncoder.preamble()
  for packet in capture.packets {
    file += encoder.packet(packet.direction ?? .inbound, packet.bytes, time: packet.time ?? 7)
  }
  guard let again = try? CaptureReader.read(file) else { fail("our own file is refused") }
  if !again.problems.isEmpty { fail("our own file has problems: \(again.problems)") }
  let expected = capture.packets.map { packet in
    CapturedPacket(
      time: packet.time ?? 7, direction: packet.direction ?? .inbound, bytes: packet.bytes)
  }
  if again.packets != expected { fail("packets are not read as they were written") }
}

/// The bytes of a pcapng file.
enum PcapngTarget: Target {
  static let name = "pcapng"

  static func run(_ input: [UInt8]) {
    // The other target tests all other input.
    guard input.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]) else { return }
    check(input, .pcapng)
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    var seeds: [[UInt8]] = [
      PcapngEncoder.preamble(
        .init(
          hardware: "board", os: "Linux", userApplication: "fuzz", interfaceName: "tty",
          interfaceDescription: "UCI"))
    ]
    for start in stride(from: 0, to: frames.count, by: 5) {
      let part = frames[start..<min(start + 5, frames.count)]
      var encoder = PcapngEncoder(includeSecrets: true)
      var file = PcapngEncoder.preamble()
      for frame in part { file += encoder.packet(.inbound, frame, time: 1_700_000_000_000_000_000) }
      seeds.append(file)
      // A file of the other byte order, with fractions of a second in powers of two and a simple
      // block.
      var blocks = BigEndianBlocks()
      blocks.preamble(linkType: start % 2 == 0 ? 299 : 293)
      for frame in part { blocks.packets(frame) }
      seeds.append(blocks.bytes)
    }
    return seeds
  }
}

/// Text: hexadecimal and logs.
enum TextTarget: Target {
  static let name = "text"

  static func run(_ input: [UInt8]) {
    guard !input.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]) else { return }
    check(input, nil)
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    var seeds: [[UInt8]] = []
    for start in stride(from: 0, to: frames.count, by: 4) {
      let part = frames[start..<min(start + 4, frames.count)].map(hexadecimal)
      seeds.append(Array(part.joined(separator: "\n").utf8))
      seeds.append(Array("# \(start)\n\(part.joined()) 0x60:01-00|01.01\r\n".utf8))
      let lines = part.enumerated().map { index, hex in
        switch index {
        case 0: "05-05 23:59:59.999 1234 D NxpUciX: len = 9 > \(hex)"
        case 1: "00:00:00,000001 NXPUCIR <= \(hex)"
        case 2: "NXPUCIX => \(hex)"
        default: "D NxpUciR: a sentence\nnxpucir=\(hex)"
        }
      }
      seeds.append(Array(lines.joined(separator: "\n").utf8))
    }
    return seeds
  }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789abcdef")
  return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}

/// Writes pcapng in the byte order that the package's own writer never uses.
private struct BigEndianBlocks {
  var bytes: [UInt8] = []

  private func number(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  private mutating func block(_ type: UInt32, _ body: [UInt8]) {
    let padded = body + Array(repeating: 0, count: -body.count & 3)
    let length = number(UInt32(padded.count + 12))
    bytes += number(type) + length + padded + length
  }

  mutating func preamble(linkType: UInt16) {
    let version = number(UInt16(1)) + number(UInt16(0))
    block(0x0A0D_0D0A, number(UInt32(0x1A2B_3C4D)) + version + number(UInt64.max))
    // if_tsresol 2^-20, if_tsoffset 1 s.
    let options: [UInt8] = [0, 9, 0, 1, 0x94, 0, 0, 0, 0, 14, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1]
    block(1, number(linkType) + [0, 0] + number(UInt32(0)) + options)
  }

  mutating func packets(_ packet: [UInt8]) {
    let length = number(UInt32(packet.count))
    let padding = [UInt8](repeating: 0, count: -packet.count & 3)
    let flags: [UInt8] = [0, 2, 0, 4, 0, 0, 0, 2, 0, 0, 0, 0]
    block(
      6, number(UInt32(0)) + number(UInt64(1 << 40)) + length + length + packet + padding + flags)
    block(3, length + packet)
    block(2, number(UInt16(0)) + [0, 0] + number(UInt64(9)) + length + length + packet)
  }
}
