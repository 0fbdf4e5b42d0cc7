// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Reads packets from text: plain hexadecimal, or log lines of NXP's and Android's stacks.
///
/// The tags `NxpUciX` (host to chip) and `NxpUciR` (chip to host), in any case of letters, identify
/// a log line; the packet follows the last `>`, `<` or `=`. Other lines of a log are skipped.
struct TextDecoder {
  private static let tag: [UInt8] = Array("nxpuci".utf8)

  /// Returns whether a line has the form of NXP's or Android's stack.
  static func isLog(_ bytes: [UInt8]) -> Bool {
    bytes.split(separator: 0x0A).contains { direction(of: $0) != nil }
  }

  /// Returns the format of a text that contains this line; nil if the line does not determine it.
  static func format(of line: ArraySlice<UInt8>) -> CaptureFormat? {
    if direction(of: line) != nil { return .log }
    var capture = Capture(format: .hexText)
    return takeHex(line, &capture) && !capture.packets.isEmpty ? .hexText : nil
  }

  private let format: CaptureFormat
  private var clock = LogClock()
  private var count = 0
  private var capture: Capture

  init(_ format: CaptureFormat) {
    self.format = format
    capture = Capture(format: format)
  }

  static func read(_ bytes: [UInt8], format: CaptureFormat) -> Capture {
    var decoder = TextDecoder(format)
    return decoder.take(
      bytes.split(separator: 0x0A, omittingEmptySubsequences: false), isLast: true)
  }

  /// Reads the next lines.
  ///
  /// - Returns: the packets in these lines. With the last lines, also all problems.
  mutating func take(_ lines: some Sequence<ArraySlice<UInt8>>, isLast: Bool) -> Capture {
    for line in lines {
      count += 1
      let isGood =
        format == .log
        ? Self.takeLog(line, &clock, &capture) : Self.takeHex(line, &capture)
      if !isGood { capture.report(.unreadableLine(count)) }
    }
    return isLast ? capture : capture.takePackets()
  }

  private static func takeHex(_ line: ArraySlice<UInt8>, _ capture: inout Capture) -> Bool {
    guard let first = line.first(where: { !isBlank($0) }), first != UInt8(ascii: "#") else {
      return true
    }
    return take(line, time: nil, &capture) { MessageType(rawValue: $0 >> 5).direction }
  }

  private static func takeLog(
    _ line: ArraySlice<UInt8>, _ clock: inout LogClock, _ capture: inout Capture
  ) -> Bool {
    guard let (direction, tag) = direction(of: line) else { return true }
    let arrows: [UInt8] = Array("<>=".utf8)
    // Some stacks also write sentences after these tags: lines without an arrow are skipped.
    guard let arrow = line[tag...].lastIndex(where: arrows.contains) else { return true }
    return take(line[(arrow + 1)...], time: clock.time(of: line[..<tag]), &capture) { _ in
      direction
    }
  }

  /// - Parameter direction: returns the direction of a packet from its first byte.
  private static func take(
    _ text: ArraySlice<UInt8>, time: UInt64?, _ capture: inout Capture,
    _ direction: (UInt8) -> PacketDirection?
  ) -> Bool {
    guard let bytes = digits(text), let packets = packets(bytes) else { return false }
    for packet in packets {
      capture.packets.append(
        CapturedPacket(time: time, direction: direction(packet[0]), bytes: packet))
    }
    return true
  }

  /// Returns the direction that the tag of a line names, and the index of the tag.
  private static func direction(of line: ArraySlice<UInt8>) -> (PacketDirection, Int)? {
    var index = line.startIndex
    while line.endIndex - index > tag.count {
      // Bit 5 is the case of a letter.
      if line[index] | 0x20 == tag[0],
        zip(line[index...], tag).allSatisfy({ $0 | 0x20 == $1 })
      {
        switch line[index + tag.count] | 0x20 {
        case UInt8(ascii: "x"): return (.outbound, index)
        case UInt8(ascii: "r"): return (.inbound, index)
        default: break
        }
      }
      index += 1
    }
    return nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  /// Returns the digits as bytes; nil if there is a character other than digits and usual
  /// separators.
  private static func digits(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    var last: UInt8 = 0
    for byte in text {
      defer { last = byte }
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte - 0x30
      case 0x41...0x46, 0x61...0x66: digit = (byte | 0x20) - 0x57
      case UInt8(ascii: "x"), UInt8(ascii: "X"):
        guard high == 0, last == 0x30 else { return nil }
        high = nil
        continue
      case _ where isBlank(byte) || ":.,-|_".utf8.contains(byte): continue
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return high == nil && !bytes.isEmpty ? bytes : nil
  }

  /// Returns the bytes as consecutive packets; nil if there are bytes beyond whole packets.
  private static func packets(_ bytes: [UInt8]) -> [[UInt8]]? {
    var packets: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let first = Array(rest.prefix(PacketHeader.length))
      guard let header = try? unsafe PacketHeader(parsing: first.span.bytes) else { return nil }
      var length = PacketHeader.length + header.payloadLength
      if length > rest.count {
        let packet = Array(rest)
        guard unsafe header.hasShortLength(of: packet.span.bytes) else { return nil }
        length = rest.count
      }
      packets.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return packets
  }
}

/// Finds the time of day in log lines, and continues across midnight.
struct LogClock {
  private static let day: UInt64 = 86_400_000_000_000
  private var days: UInt64 = 0
  private var last: UInt64 = 0

  /// Returns nanoseconds since the midnight before the first line; nil for a line without
  /// `hh:mm:ss.f`.
  mutating func time(of line: ArraySlice<UInt8>) -> UInt64? {
    var index = line.startIndex
    while line.endIndex - index >= 10 {
      defer { index += 1 }
      let base = index
      func two(_ offset: Int) -> UInt64? {
        let (a, b) = (line[base + offset], line[base + offset + 1])
        guard (0x30...0x39).contains(a), (0x30...0x39).contains(b) else { return nil }
        return UInt64(a - 0x30) * 10 + UInt64(b - 0x30)
      }
      guard line[base + 2] == 0x3A, line[base + 5] == 0x3A,
        line[base + 8] == 0x2E || line[base + 8] == 0x2C,
        let hours = two(0), let minutes = two(3), let seconds = two(6)
      else { continue }
      var time = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000
      var unit: UInt64 = 100_000_000
      for digit in line[(base + 9)...] {
        guard (0x30...0x39).contains(digit), unit > 0 else { break }
        time += UInt64(digit - 0x30) * unit
        unit /= 10
      }
      // Lines can be slightly out of order; half a day back means the next day.
      if time + Self.day / 2 < last { days += 1 }
      last = time
      return days * Self.day + time
    }
    return nil
  }
}
