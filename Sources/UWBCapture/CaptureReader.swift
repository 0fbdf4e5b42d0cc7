// SPDX-License-Identifier: Apache-2.0

/// Reads captures of every known format.
public enum CaptureReader {
  /// What octets are, judged by how they begin and by the tags in their lines.
  ///
  /// - Throws: `CaptureError` when they are empty, or binary but not pcapng.
  public static func format(of octets: [UInt8]) throws(CaptureError) -> CaptureFormat {
    let beginning = octets.prefix(4)
    if beginning.elementsEqual(PcapngDecoder.magic) { return .pcapng }
    // Microseconds and nanoseconds, both byte orders.
    let older: [[UInt8]] = [
      [0xA1, 0xB2, 0xC3, 0xD4], [0xD4, 0xC3, 0xB2, 0xA1], [0xA1, 0xB2, 0x3C, 0x4D],
      [0x4D, 0x3C, 0xB2, 0xA1],
    ]
    if older.contains(where: beginning.elementsEqual) { throw .olderFormat }
    guard octets.contains(where: { $0 != 0x20 && !(0x09...0x0D).contains($0) }) else {
      throw .empty
    }
    guard !octets.contains(0) else { throw .notACapture }
    return TextDecoder.isLog(octets) ? .log : .hexText
  }

  /// Reads all packets. What is damaged or unknown is left out and listed in `problems`.
  ///
  /// - Throws: `CaptureError` when there is nothing to be read.
  public static func read(_ octets: [UInt8]) throws(CaptureError) -> Capture {
    let format = try format(of: octets)
    guard format != .pcapng else { return PcapngDecoder.read(octets) }
    let capture = TextDecoder.read(octets, format: format)
    if capture.packets.isEmpty, !capture.problems.isEmpty { throw .notACapture }
    return capture
  }
}
