// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
public import UCI
public import UWBLink

/// One UCI packet of a capture.
public struct CapturedPacket: Sendable, Hashable {
  /// The time in nanoseconds: since 1970 in a pcapng file, since midnight in a log. Nil where the
  /// source has no times.
  public var time: UInt64?
  /// The direction; nil where neither the source nor the packet contains it.
  public var direction: PacketDirection?
  /// The packet, header included.
  public var bytes: [UInt8]
  package init(time: UInt64?, direction: PacketDirection?, bytes: [UInt8]) {
    self.time = time
    self.direction = direction
    self.bytes = bytes
  }

  /// Whether the number of bytes is the number that their header announces.
  package var isWhole: Bool {
    let bytes = unsafe bytes.span.bytes
    guard let header = try? PacketHeader(parsing: bytes) else { return false }
    return PacketHeader.length + header.payloadLength == bytes.byteCount
      || header.hasShortLength(of: bytes)
  }
}

/// A message between an accessory and a phone, captured at either end.
package struct CapturedMessage: Sendable, Hashable {
  /// The number of packets of the same part of the capture before this message.
  package var packets: Int
  /// Nanoseconds since 1970.
  package var time: UInt64?
  /// Whether the end that captured the message received it.
  package var isInbound: Bool
  package var bytes: [UInt8]
  /// The protocol and the phone, as written in the capture.
  package var comment: String
}

/// The format of a capture.
package enum CaptureFormat: Hashable, Sendable {
  /// The file format of packet analysers.
  case pcapng
  /// Packets in hexadecimal, one or several on a line.
  case hexText
  /// Log lines of NXP's or Android's stack.
  case log
}

/// A part of a capture that could not be used. All other parts are read.
public enum CaptureProblem: Hashable, Sendable {
  /// The last block ends early, for example because the program was killed or the disk was full.
  case truncated(offset: Int)
  /// The fields of the block at this offset contradict each other. The blocks after it were not
  /// read.
  case damaged(offset: Int)
  /// The packet in the block at this offset was cut when it was recorded, and is left out.
  case cutPacket(offset: Int)
  /// Packets that are not UCI packets were left out. The values are their link type and their
  /// number.
  case otherLinkType(UInt16, count: Int)
  /// A line of text is not one or more whole packets.
  case unreadableLine(Int)
  /// There were more problems than the list has.
  case andMore(Int)
}

extension CaptureProblem: CustomStringConvertible {
  /// The problem in one sentence. It never repeats bytes, which may be keys.
  public var description: String {
    switch self {
    case .truncated(let offset):
      "The file ends in the middle of the block at offset \(offset); the packets before it are whole."
    case .damaged(let offset):
      "The block at offset \(offset) is damaged; nothing after it was read."
    case .cutPacket(let offset):
      "The packet at offset \(offset) was recorded only in part and is left out."
    case .otherLinkType(let type, let count):
      "\(counted(count, "packet")) of link type \(type) left out: UCI has 299."
    case .unreadableLine(let number): "Line \(number) is not one or more whole packets."
    case .andMore(let count): "\(counted(count, "more problem")) of this kind."
    }
  }
}

/// The contents of a capture.
public struct Capture: Sendable, Hashable {
  package var format: CaptureFormat
  /// The packets in the order of the source.
  public var packets: [CapturedPacket] = []
  /// The messages between an accessory and phones, in the order of the source.
  package internal(set) var messages: [CapturedMessage] = []
  /// The problems found; at most a hundred entries.
  public private(set) var problems: [CaptureProblem] = []

  private static let problemLimit = 100

  package init(format: CaptureFormat) { self.format = format }

  /// Returns the packets so far and removes them, so that a capture can be decoded in parts.
  mutating func takePackets() -> Capture {
    var taken = Capture(format: format)
    swap(&taken.packets, &packets)
    swap(&taken.messages, &messages)
    return taken
  }

  /// Adds a problem to the list, which stays short for any input.
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

/// The reason why a capture cannot be read or written. Switch over it with a `default`: cases may
/// be added.
public enum CaptureError: Error, Sendable, Hashable {
  /// There are no bytes, or only blanks.
  case empty
  /// The bytes are neither pcapng nor hexadecimal text nor a known log.
  case notACapture
  /// The file has the older pcap format, which has no directions.
  case olderFormat
  /// The file could not be opened or read; the kernel's reason.
  case unreadable(path: String, errno: Int32, reason: String)
  /// The file is longer than the limit.
  case tooLong(path: String, limit: Int)
  /// A line, counted from 1, is longer than the limit.
  case lineTooLong(path: String, line: Int, limit: Int)
  /// The file could not be created.
  case notCreated(path: String, errno: Int32, reason: String)
  /// Bytes could not be written, so the file ends early.
  case notWritten(path: String, errno: Int32, reason: String)
}

extension CaptureError: DescribedError {
  /// The cause in one sentence.
  public var description: String {
    switch self {
    case .empty: "The capture is empty."
    case .notACapture:
      "No UCI packet was found: this is neither pcapng nor hexadecimal text nor a log of a UWB stack."
    case .olderFormat: "This is a pcap file, which does not say which way a packet went."
    case .unreadable(let path, let errno, let reason):
      "\(path) cannot be read: \(Self.reason(reason, errno))."
    case .tooLong(let path, let limit): "\(path) is longer than \(limit) bytes."
    case .lineTooLong(let path, let line, let limit):
      "\(path) has more than \(limit) bytes in line \(line)."
    case .notCreated(let path, let errno, let reason):
      "\(path) cannot be created: \(Self.reason(reason, errno))."
    case .notWritten(let path, let errno, let reason):
      "The capture \(path) ends early: \(Self.reason(reason, errno))."
    }
  }

  private static func reason(_ reason: String, _ errno: Int32) -> String {
    errno == 0 ? reason : "\(reason) (errno \(errno))"
  }

  /// The next step to try; nil where there is none beyond the cause itself.
  public var recoverySuggestion: String? {
    switch self {
    case .empty: nil
    case .notACapture: "Give a pcapng file, or packets in hexadecimal."
    case .olderFormat: "Convert it: editcap -F pcapng OLD NEW."
    case .unreadable: "Check the path and its permissions."
    case .tooLong: "Cut it into pieces, for example with editcap -c 1000000 OLD NEW."
    case .lineTooLong: "Put each packet on a line of its own."
    case .notCreated: "Check that the folder exists and that you may write there."
    case .notWritten: "Make room on the disk; the packets before are whole."
    }
  }
}
