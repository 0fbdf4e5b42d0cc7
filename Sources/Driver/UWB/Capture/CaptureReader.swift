// SPDX-License-Identifier: Apache-2.0
internal import System
internal import SystemPackage
internal import UWBLink

/// Reads captures of every known format.
public enum CaptureReader {
  /// Returns the format of bytes, from their beginning and the tags in their lines.
  ///
  /// - Throws: `CaptureError` when they are empty, or binary but not pcapng.
  package static func format(of bytes: [UInt8]) throws(CaptureError) -> CaptureFormat {
    let beginning = bytes.prefix(4)
    if beginning.elementsEqual(PcapngDecoder.magic) { return .pcapng }
    // The magic numbers of files with microseconds and with nanoseconds, in both byte orders.
    let older: [[UInt8]] = [
      [0xA1, 0xB2, 0xC3, 0xD4], [0xD4, 0xC3, 0xB2, 0xA1], [0xA1, 0xB2, 0x3C, 0x4D],
      [0x4D, 0x3C, 0xB2, 0xA1],
    ]
    if older.contains(where: beginning.elementsEqual) { throw .olderFormat }
    guard bytes.contains(where: { $0 != 0x20 && !(0x09...0x0D).contains($0) }) else {
      throw .empty
    }
    guard !bytes.contains(0) else { throw .notACapture }
    return TextDecoder.isLog(bytes) ? .log : .hexText
  }

  /// Reads all packets. Damaged or unknown parts are left out and listed in `problems`.
  ///
  /// - Throws: `CaptureError` when there is nothing to be read.
  public static func read(_ bytes: [UInt8]) throws(CaptureError) -> Capture {
    let format = try format(of: bytes)
    guard format != .pcapng else { return PcapngDecoder.read(bytes) }
    let capture = TextDecoder.read(bytes, format: format)
    if capture.packets.isEmpty, !capture.problems.isEmpty { throw .notACapture }
    return capture
  }

  /// Returns the bytes of a file, or of standard input (`-`).
  ///
  /// - Parameter limit: the size above which files are rejected. Packets in memory take up to four
  ///   times the size of their file.
  /// - Throws: `CaptureError`.
  package static func contents(
    ofFile path: String, limit: Int = 1 << 27
  ) throws(CaptureError) -> [UInt8] {
    do throws(FileError) { return try InputFile.bytes(of: path, limit: limit) } catch {
      if case .tooLong = error { throw .tooLong(path: path, limit: limit) }
      throw .system(CaptureError.unreadable, path, error)
    }
  }

  /// Reads a file, a pipe or standard input (`-`) in parts, as they arrive.
  ///
  /// - Parameters:
  ///   - take: receives the packets of a capture or a log.
  ///   - line: receives each line of hexadecimal text, without its line break.
  package static func read(
    asItComes path: String, _ take: (Capture) throws -> Void,
    line: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    var file: InputFile
    do throws(FileError) { file = try InputFile(path) } catch {
      throw CaptureError.system(CaptureError.unreadable, path, error)
    }
    var (pcapng, log) = (PcapngDecoder(), TextDecoder(.log))
    var format: CaptureFormat?
    var bytes: [UInt8] = []
    // All lines before this index were searched, and did not determine the format.
    var searched = 0
    // The number of lines that are no longer in `bytes`.
    var taken = 0
    var isAtEnd = false
    while !isAtEnd {
      let piece: [UInt8]
      do throws(FileError) { piece = try file.read() } catch {
        throw CaptureError.system(CaptureError.unreadable, path, error)
      }
      isAtEnd = piece.isEmpty
      let before = bytes.count
      bytes += piece
      if format == nil {
        format =
          try isAtEnd
          ? self.format(of: bytes) : self.format(ofBeginning: bytes, &searched, before: before)
      }
      switch format {
      case .pcapng:
        try take(pcapng.take(bytes, isLast: isAtEnd))
        bytes = []
        if pcapng.isOver, !isAtEnd { return try take(pcapng.take([], isLast: true)) }
      case .log, .hexText:
        let end = isAtEnd ? bytes.count : (bytes.lastIndex(of: 0x0A) ?? -1) + 1
        // The bytes after the last end of line are an incomplete line.
        let lines = bytes[..<end].split(separator: 0x0A, omittingEmptySubsequences: false)
          .dropLast(isAtEnd ? 0 : 1)
        if format == .log {
          try take(log.take(lines, isLast: isAtEnd))
        } else {
          try lines.forEach(line)
        }
        bytes.removeFirst(end)
        searched = 0
        taken += lines.count
      // A pipe may be endless, so the search in it is limited. A file is searched to its end.
      case nil: if !file.isRegular, bytes.count > 1 << 24 { throw CaptureError.notACapture }
      }
      guard bytes.count <= 1 << 27 else {
        throw CaptureError.tooLong(path: path, limit: 1 << 27)
      }
      guard bytes.count - searched <= 1 << 20 else {
        let line = 1 + taken + bytes[..<searched].count { $0 == 0x0A }
        throw CaptureError.lineTooLong(path: path, line: line, limit: 1 << 20)
      }
    }
  }

  /// - Parameters:
  ///   - searched: the number of bytes in the lines that did not determine the format.
  ///   - before: the number of bytes at the previous call.
  /// - Returns: nil while the format is unknown.
  private static func format(
    ofBeginning bytes: [UInt8], _ searched: inout Int, before: Int
  ) throws(CaptureError) -> CaptureFormat? {
    if bytes.starts(with: PcapngDecoder.magic) { return .pcapng }
    // The first four bytes, which identify a capture, may be incomplete.
    var start = before < 4 ? searched : max(searched, before)
    if bytes.count >= 4, bytes[start...].contains(0) { return try format(of: bytes) }
    while let end = bytes[start...].firstIndex(of: 0x0A) {
      let line = bytes[searched..<end]
      (searched, start) = (end + 1, end + 1)
      if let format = TextDecoder.format(of: line) { return format }
    }
    return nil
  }

  /// Reads all packets of a file.
  ///
  /// - Throws: `CaptureError`.
  public static func read(file path: String) throws(CaptureError) -> Capture {
    try read(contents(ofFile: path))
  }
}

extension CaptureError {
  /// Returns an error with the system's number and reason.
  static func system(
    _ make: (String, Int32, String) -> CaptureError, _ path: String, _ error: FileError
  ) -> CaptureError {
    make(path, error.errno?.rawValue ?? 0, "\(error)")
  }
}
