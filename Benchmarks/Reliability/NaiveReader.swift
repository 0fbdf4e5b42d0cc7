// SPDX-License-Identifier: Apache-2.0

/// A plain reader: it reads a header, then the announced number of bytes, then the next header. It
/// never checks where a frame begins.
struct NaiveReader {
  /// Returns the frames that it finds.
  static func frames(in bytes: [UInt8]) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    var rest = bytes[...]
    while rest.count >= 4 {
      let start = rest.startIndex
      let isControl = (1...3).contains(rest[start] >> 5)
      let length =
        4 + (isControl ? Int(rest[start + 3]) : Int(rest[start + 2]) | Int(rest[start + 3]) << 8)
      guard length <= rest.count else { break }
      frames.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return frames
  }
}
