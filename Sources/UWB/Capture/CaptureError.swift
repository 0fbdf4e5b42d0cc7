// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Why a capture cannot be read or written. Switch over it with a `default`: cases may be added.
public enum CaptureError: Error, Sendable, Hashable {
  /// There are no bytes, or only blank ones.
  case empty
  /// No packet was found: neither pcapng nor hexadecimal text nor a known log.
  case notACapture
  /// The older pcap format, which has no directions.
  case olderFormat
  /// The file could not be opened or read; the kernel's reason.
  case unreadable(path: String, errno: Int32, reason: String)
  /// The file is longer than can be taken.
  case tooLong(path: String, limit: Int)
  /// The file could not be created.
  case notCreated(path: String, errno: Int32, reason: String)
  /// Bytes could not be written, so that the file ends early.
  case notWritten(path: String, errno: Int32, reason: String)
}

extension CaptureError: LocalizedError, CustomStringConvertible {
  /// The cause in one sentence.
  public var description: String {
    switch self {
    case .empty: "The capture is empty."
    case .notACapture:
      "No UCI packet was found: this is neither pcapng nor hexadecimal text nor a log of a UWB stack."
    case .olderFormat: "This is a pcap file, which does not say which way a packet went."
    case .unreadable(let path, let errno, let reason):
      "\(path) cannot be read: \(reason) (errno \(errno))."
    case .tooLong(let path, let limit): "\(path) is longer than \(limit) bytes."
    case .notCreated(let path, let errno, let reason):
      "\(path) cannot be created: \(reason) (errno \(errno))."
    case .notWritten(let path, let errno, let reason):
      "The capture \(path) ends early: \(reason) (errno \(errno))."
    }
  }

  /// The same as `description`.
  public var errorDescription: String? { description }

  /// What to try next; nil where there is nothing better than the cause itself.
  public var recoverySuggestion: String? {
    switch self {
    case .empty: nil
    case .notACapture: "Give a pcapng file, or packets in hexadecimal."
    case .olderFormat: "Convert it: editcap -F pcapng OLD NEW."
    case .unreadable: "Check the path and its permissions."
    case .tooLong: "Cut it into pieces, for example with editcap -c 1000000 OLD NEW."
    case .notCreated: "Check that the folder exists and that you may write there."
    case .notWritten: "Make room on the disk; the packets before are whole."
    }
  }
}
