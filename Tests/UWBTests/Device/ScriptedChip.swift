// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization
import SystemPackage
import UWBLink

/// The chip's end of a socket. A closure gives the answers to each packet of the host.
final class ScriptedChip: Sendable {
  /// Returns the bytes to send for a packet from the host; nil closes the socket.
  typealias Script = @Sendable (_ packet: [UInt8], _ count: Int) -> [[UInt8]]?

  /// The endpoint that the host opens.
  let endpoint: LinkEndpoint
  private let descriptor: FileDescriptor
  private let received = Mutex<[[UInt8]]>([])

  /// Every packet the host has sent.
  var packets: [[UInt8]] { received.withLock { $0 } }

  /// The last question of the driver's handshake: the capabilities.
  static func endsHandshake(_ packet: [UInt8]) -> Bool { packet.starts(with: [0x20, 0x03]) }

  /// The packets after the handshake.
  var sent: [[UInt8]] {
    packets.drop { !Self.endsHandshake($0) }.dropFirst().map { $0 }
  }

  /// The first two bytes of each packet. A reset that the driver repeated on a busy machine counts
  /// once.
  var opcodes: [[UInt8]] {
    packets.reduce(into: []) { list, packet in
      let opcode = Array(packet.prefix(2))
      if opcode != [0x20, 0x00] || list.last != opcode { list.append(opcode) }
    }
  }

  /// - Parameter pace: the delay before each of the chip's packets, in microseconds.
  init(
    greeting: [[UInt8]] = [], _ script: @escaping Script,
    pace: @escaping @Sendable (_ packet: [UInt8], _ count: Int) -> UInt32 = { _, _ in 0 }
  ) throws {
    var pair: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
      throw Errno(rawValue: errno)
    }
    endpoint = .descriptor(FileDescriptor(rawValue: pair[0]))
    descriptor = FileDescriptor(rawValue: pair[1])
    for packet in greeting { try descriptor.writeAll(packet) }
    let thread = Thread { [self] in serve(script, pace) }
    thread.start()
  }

  /// Sends an unsolicited packet.
  func say(_ bytes: [UInt8]) { _ = try? descriptor.writeAll(bytes) }

  private func serve(_ script: Script, _ pace: ([UInt8], Int) -> UInt32) {
    defer { try? descriptor.close() }
    while let header = read(4), let payload = read(Int(header[3])) {
      let packet = header + payload
      let count = received.withLock {
        $0.append(packet)
        return $0.count
      }
      guard let answers = script(packet, count) else { return }
      for answer in answers {
        let time = pace(answer, count)
        if time > 0 { usleep(time) }
        say(answer)
      }
    }
  }

  private func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var have = 0
    while have < count {
      let got = bytes.withUnsafeMutableBytes { buffer in
        try? descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[have...]))
      }
      guard let got, got > 0 else { return nil }
      have += got
    }
    return bytes
  }
}

/// Bytes from hexadecimal digits; everything else is ignored.
func bytes(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map {
    UInt8(digits[$0] << 4 | digits[$0 + 1])
  }
}

/// Answers of a DWM3001CDK with QM33SDK 1.1.1, re-typed from the captures published in
/// EstebanMenti/i-mop-qorvo-uci-script.
enum DWM3001CDK {
  static let ready = bytes("60 01 00 01 01")
  static let deviceInfo = bytes(
    """
    40 02 00 3e 00 02 00 02 00 02 00 01 10 34 01 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 50 56
    34 58 32 30 0e e0 ca 09 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 03 ca
    de 00
    """)
  static let capabilities = bytes(
    """
    40 03 00 5e 00 1a 00 02 03 01 01 02 ff 00 02 04 02 00 02 00 03 04 02 00 02 00 04 01 03 05 02 03
    00 06 02 1e 00 07 01 19 08 01 03 09 01 02 0a 01 02 0b 01 01 0c 01 01 0d 01 01 0e 01 09 0f 01 0a
    10 01 01 11 01 3f 12 05 00 00 00 00 00 13 01 00 14 01 00 15 01 00 16 01 02 17 01 00 18 01 00 19
    01 00
    """)

  /// The answers to the commands of a session that gets the handle 1 and never finds its peer.
  static func answers(_ packet: [UInt8]) -> [[UInt8]] {
    switch (packet[0], packet[1]) {
    case (0x20, 0x00): [ready, bytes("40 00 00 01 00"), ready]
    case (0x20, 0x02): [deviceInfo]
    case (0x20, 0x03): [capabilities]
    case (0x21, 0x00):
      [bytes("41 00 00 05 00 01 00 00 00"), bytes("61 02 00 06 01 00 00 00 00 00")]
    case (0x21, 0x03): [bytes("41 03 00 02 00 00"), bytes("61 02 00 06 01 00 00 00 03 00")]
    case (0x22, 0x00):
      [bytes("42 00 00 01 00"), bytes("60 01 00 01 02"), bytes("61 02 00 06 01 00 00 00 02 00")]
        + (0..<3).map { rxTimeout(sequence: $0) }
    case (0x22, 0x01):
      [bytes("42 01 00 01 00"), bytes("61 02 00 06 01 00 00 00 03 00"), ready]
    case (0x21, 0x01): [bytes("41 01 00 01 00"), bytes("61 02 00 06 01 00 00 00 01 00")]
    case (0x21, 0x05): [bytes("41 05 00 02 00 00")]
    default: [[packet[0] & 0x0F | 0x40, packet[1], 0, 1, 0x08]]
    }
  }

  static func rxTimeout(sequence: UInt8) -> [UInt8] {
    bytes("62 00 00 38") + [sequence]
      + bytes(
        """
        00 00 00 01 00 00 00 00 c8 00 00 00 01 00 00 00 00 00 00 00 00 00 00 01
        01 00 21 ff ff ff 00 00 00 00 00 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00
        """)
  }
}
