// SPDX-License-Identifier: Apache-2.0
public import UCI

/// One UCI packet of a capture.
public struct CapturedPacket: Sendable, Hashable {
  /// Nanoseconds since 1970 in a pcapng file, since midnight in a log; nil where the source has no
  /// times.
  public var time: UInt64?
  /// Which way it went; nil where neither the source nor the packet says.
  public var direction: PacketDirection?
  /// The packet, header included.
  public var bytes: [UInt8]
  package init(time: UInt64?, direction: PacketDirection?, bytes: [UInt8]) {
    self.time = time
    self.direction = direction
    self.bytes = bytes
  }

  /// Whether the bytes are exactly the packet that their header announces.
  package var isWhole: Bool {
    let bytes = unsafe bytes.span.bytes
    guard let header = try? PacketHeader(parsing: bytes) else { return false }
    return PacketHeader.length + header.payloadLength == bytes.byteCount
      || header.hasShortLength(of: bytes)
  }
}

/// What the bytes of a capture are.
public enum CaptureFormat: Hashable, Sendable {
  /// The file format of packet analysers.
  case pcapng
  /// Packets in hexadecimal, one or several on a line.
  case hexText
  /// Log lines of NXP's or Android's stack.
  case log
}

/// Something in a capture that could not be used. Whatever is whole is read nevertheless.
public enum CaptureProblem: Hashable, Sendable {
  /// The last block ends early, as after a kill or a full disk.
  case truncated(offset: Int)
  /// The block at this offset contradicts itself; what follows was not read.
  case damaged(offset: Int)
  /// The packet in the block at this offset was cut when it was recorded, and is left out.
  case cutPacket(offset: Int)
  /// Packets of another kind than UCI are left out: their link type and number.
  case otherLinkType(UInt16, count: Int)
  /// A line of text is not one or more whole packets.
  case unreadableLine(Int)
  /// There were more problems than are listed.
  case andMore(Int)
}

extension CaptureProblem: CustomStringConvertible {
  /// One sentence. It never repeats bytes, which may hold keys.
  public var description: String {
    switch self {
    case .truncated(let offset):
      "The file ends in the middle of the block at offset \(offset); the packets before it are whole."
    case .damaged(let offset):
      "The block at offset \(offset) is damaged; nothing after it was read."
    case .cutPacket(let offset):
      "The packet at offset \(offset) was recorded only in part and is left out."
    case .otherLinkType(let type, let count):
      "\(count) packet\(count == 1 ? "" : "s") of link type \(type) left out: UCI has 299."
    case .unreadableLine(let number): "Line \(number) is not one or more whole packets."
    case .andMore(let count): "\(count) more problem\(count == 1 ? "" : "s") of this kind."
    }
  }
}

/// What a capture holds.
public struct Capture: Sendable, Hashable {
  /// What it was read from.
  public var format: CaptureFormat
  /// In the order of the source.
  public var packets: [CapturedPacket] = []
  /// What could not be used; at most a hundred entries.
  public private(set) var problems: [CaptureProblem] = []

  private static let problemLimit = 100

  /// Empty.
  package init(format: CaptureFormat) { self.format = format }

  /// Keeps the list short, whatever the input.
  mutating func report(_ problem: CaptureProblem) {
    if problems.count < Self.problemLimit - 1 {
      problems.append(problem)
    } else if case .andMore(let count) = problems.last {
      problems[problems.count - 1] = .andMore(count + 1)
    } else {
      problems.append(.andMore(1))
    }
  }
}
