// SPDX-License-Identifier: Apache-2.0
internal import SystemPackage
internal import UWBLink

/// Reads captures of every known format.
public enum CaptureReader {
  /// What bytes are, judged by how they begin and by the tags in their lines.
  ///
  /// - Throws: `CaptureError` when they are empty, or binary but not pcapng.
  package static func format(of bytes: [UInt8]) throws(CaptureError) -> CaptureFormat {
    let beginning = bytes.prefix(4)
    if beginning.elementsEqual(PcapngDecoder.magic) { return .pcapng }
    // Microseconds and nanoseconds, both byte orders.
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

  /// Reads all packets. What is damaged or unknown is left out and listed in `problems`.
  ///
  /// - Throws: `CaptureError` when there is nothing to be read.
  public static func read(_ bytes: [UInt8]) throws(CaptureError) -> Capture {
    let format = try format(of: bytes)
    guard format != .pcapng else { return PcapngDecoder.read(bytes) }
    let capture = TextDecoder.read(bytes, format: format)
    if capture.packets.isEmpty, !capture.problems.isEmpty { throw .notACapture }
    return capture
  }

  /// The bytes of a file, or of standard input (`-`).
  ///
  /// - Parameter limit: longer files are refused. In memory, packets take up to four times their file.
  /// - Throws: `CaptureError`.
  package static func contents(
    ofFile path: String, limit: Int = 1 << 27
  ) throws(CaptureError) -> [UInt8] {
    do throws(FileError) { return try InputFile.bytes(of: path, limit: limit) } catch {
      if case .tooLong = error { throw .tooLong(path: path, limit: limit) }
      throw .system(CaptureError.unreadable, path, error)
    }
  }

  /// Reads all packets of a file.
  ///
  /// - Throws: `CaptureError`.
  public static func read(file path: String) throws(CaptureError) -> Capture {
    try read(contents(ofFile: path))
  }
}

extension CaptureError {
  /// With the system's number and reason.
  static func system(
    _ make: (String, Int32, String) -> CaptureError, _ path: String, _ error: FileError
  ) -> CaptureError {
    make(path, error.errno?.rawValue ?? 0, "\(error)")
  }
}
