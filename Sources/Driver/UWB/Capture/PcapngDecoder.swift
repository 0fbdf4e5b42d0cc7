// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Reads pcapng in either byte order. It reads enhanced, simple and old packet blocks, and skips
/// others.
///
/// Memory is allocated only for packets in the file, whatever length its fields announce.
struct PcapngDecoder {
  /// The length above which a block is damage: packets are much shorter.
  private static let longestBlock = 1 << 27

  private struct Interface {
    var linkType: UInt16
    var snapLength: UInt32
    /// The number of time units in a second: 10^n or, with bit 7 set, 2^n.
    var resolution: UInt8 = 6
    /// The seconds to add to each time.
    var offset: UInt64 = 0
    /// Whether the packets are messages between an accessory and phones.
    var hasMessages = false
  }

  static let magic: [UInt8] = [0x0A, 0x0D, 0x0D, 0x0A]
  /// LINKTYPE_FIRA_UCI, and the number that was used before its registration.
  static let linkTypes: Set<UInt16> = [PcapngEncoder.linkType, 293]

  /// The bytes that have not been read yet.
  private var bytes: [UInt8] = []
  /// The number of bytes before `bytes`.
  private var start = 0
  /// Whether the rest of the file cannot be read.
  private(set) var isOver = false
  private var isBigEndian = false
  private var interfaces: [Interface] = []
  private var others: [UInt16: Int] = [:]
  private var capture = Capture(format: .pcapng)

  static func read(_ bytes: [UInt8]) -> Capture {
    var decoder = PcapngDecoder()
    return decoder.take(bytes, isLast: true)
  }

  /// Reads the complete blocks.
  ///
  /// - Returns: the packets in these blocks. With the last blocks, also all problems.
  mutating func take(_ more: [UInt8], isLast: Bool) -> Capture {
    bytes += more
    var offset = 0
    while !isOver, offset < bytes.count, let length = takeBlock(at: offset, isLast) {
      offset += length
    }
    bytes.removeFirst(isOver ? bytes.count : offset)
    start += offset
    guard isLast else { return capture.takePackets() }
    for (type, count) in others.sorted(by: { $0.key < $1.key }) {
      capture.report(.otherLinkType(type, count: count))
    }
    return capture
  }

  /// Reads one block and returns its length. Returns nil if the block is incomplete or unreadable.
  private mutating func takeBlock(at offset: Int, _ isLast: Bool) -> Int? {
    func end(_ problem: CaptureProblem) -> Int? {
      isOver = true
      capture.report(problem)
      return nil
    }
    var incomplete: Int? { isLast ? end(.truncated(offset: start + offset)) : nil }
    guard bytes.count - offset >= 12 else { return incomplete }
    if bytes[offset..<offset + 4].elementsEqual(Self.magic) {
      switch bytes[offset + 8..<offset + 12] {
      case [0x4D, 0x3C, 0x2B, 0x1A]: isBigEndian = false
      case [0x1A, 0x2B, 0x3C, 0x4D]: isBigEndian = true
      default: return end(.damaged(offset: start + offset))
      }
      interfaces = []
    }
    let length = Int(u32(offset + 4))
    guard length >= 12, length.isMultiple(of: 4) else {
      return end(.damaged(offset: start + offset))
    }
    guard length <= bytes.count - offset else {
      return length > Self.longestBlock ? end(.damaged(offset: start + offset)) : incomplete
    }
    guard u32(offset + length - 4) == UInt32(length) else {
      return end(.damaged(offset: start + offset))
    }
    if !block(u32(offset), start + offset, body: offset + 8..<offset + length - 4) {
      capture.report(.damaged(offset: start + offset))
    }
    return length
  }

  /// - Parameter offset: the offset in the file.
  /// - Returns: false when the block contradicts itself.
  private mutating func block(_ type: UInt32, _ offset: Int, body: Range<Int>) -> Bool {
    let first = body.lowerBound
    switch type {
    case 1:
      guard body.count >= 8 else { return false }
      var interface = Interface(linkType: u16(first), snapLength: u32(first + 4))
      forEachOption(first + 8..<body.upperBound) { code, value in
        if code == 9, value.count == 1 { interface.resolution = bytes[value.lowerBound] }
        if code == 14, value.count == 8 { interface.offset = u64(value.lowerBound) }
        if code == 3, interface.linkType == PcapngEncoder.messageLinkType {
          interface.hasMessages = bytes[value].elementsEqual(PcapngEncoder.messages.utf8)
        }
      }
      interfaces.append(interface)
      return true
    case 2, 6:
      guard body.count >= 20 else { return false }
      let index = type == 6 ? Int(u32(first)) : Int(u16(first))
      let captured = Int(u32(first + 12))
      let padded = captured + (-captured & 3)
      guard index < interfaces.count, padded <= body.count - 20 else { return false }
      var flags: UInt32 = 0
      var comment = 0..<0
      forEachOption(first + 20 + padded..<body.upperBound) { code, value in
        if code == 1 { comment = value }
        if code == 2, value.count == 4 { flags = u32(value.lowerBound) }
      }
      let ticks = UInt64(u32(first + 4)) << 32 | UInt64(u32(first + 8))
      add(
        offset, first + 20..<first + 20 + captured, original: Int(u32(first + 16)),
        interfaces[index], ticks: ticks, flags: flags, comment: comment)
      return true
    case 3:
      guard body.count >= 4, let interface = interfaces.first else { return false }
      let original = Int(u32(first))
      let limit = interface.snapLength == 0 ? original : min(original, Int(interface.snapLength))
      guard limit <= body.count - 4 else { return false }
      add(
        offset, first + 4..<first + 4 + limit, original: original, interface, ticks: nil, flags: 0)
      return true
    default:
      return true
    }
  }

  private mutating func add(
    _ offset: Int, _ range: Range<Int>, original: Int, _ interface: Interface, ticks: UInt64?,
    flags: UInt32, comment: Range<Int> = 0..<0
  ) {
    if interface.hasMessages, range.count >= original {
      capture.messages.append(
        CapturedMessage(
          packets: capture.packets.count, time: ticks.map { Self.nanoseconds($0, interface) },
          isInbound: flags & 3 == 1, bytes: Array(bytes[range]),
          comment: String(decoding: bytes[comment], as: UTF8.self)))
      return
    }
    guard Self.linkTypes.contains(interface.linkType) else {
      others[interface.linkType, default: 0] += 1
      return
    }
    guard range.count >= original, range.count >= PacketHeader.length else {
      capture.report(.cutPacket(offset: offset))
      return
    }
    let packet = Array(bytes[range])
    let direction: PacketDirection? =
      switch flags & 3 {
      case 1: .inbound
      case 2: .outbound
      default: MessageType(rawValue: packet[0] >> 5).direction
      }
    capture.packets.append(
      CapturedPacket(
        time: ticks.map { Self.nanoseconds($0, interface) }, direction: direction, bytes: packet))
  }

  /// Converts ticks to nanoseconds. Never traps: a time in a damaged file may wrap at 64 bits.
  private static func nanoseconds(_ ticks: UInt64, _ interface: Interface) -> UInt64 {
    let exponent = interface.resolution & 0x7F
    var time: UInt64
    if interface.resolution & 0x80 != 0 {
      guard exponent < 64 else { return 0 }
      let fraction = ticks & ((1 << exponent) - 1)
      let scaled = fraction.multipliedFullWidth(by: 1_000_000_000)
      time = (ticks >> exponent) &* 1_000_000_000
      time &+= scaled.low >> exponent
      time &+= scaled.high << (64 - exponent)
    } else {
      time = ticks
      for _ in 0..<max(0, 9 - Int(exponent)) { time = time &* 10 }
      for _ in 0..<max(0, Int(exponent) - 9) { time /= 10 }
    }
    return time &+ interface.offset &* 1_000_000_000
  }

  private func forEachOption(_ range: Range<Int>, _ body: (UInt16, Range<Int>) -> Void) {
    var offset = range.lowerBound
    while range.upperBound - offset >= 4 {
      let code = u16(offset)
      let length = Int(u16(offset + 2))
      guard code != 0, length <= range.upperBound - offset - 4 else { return }
      body(code, offset + 4..<offset + 4 + length)
      offset += 4 + length + (-length & 3)
    }
  }

  // MARK: numbers within bounds that the caller has checked

  private func u16(_ offset: Int) -> UInt16 { number(offset) }
  private func u32(_ offset: Int) -> UInt32 { number(offset) }
  private func u64(_ offset: Int) -> UInt64 { number(offset) }

  private func number<T: FixedWidthInteger & UnsignedInteger>(_ offset: Int) -> T {
    let field = bytes[offset..<offset + T.bitWidth / 8]
    return isBigEndian
      ? field.reduce(0) { $0 << 8 | T($1) } : field.reversed().reduce(0) { $0 << 8 | T($1) }
  }
}
