// SPDX-License-Identifier: Apache-2.0

/// Writes seeds only. The fuzzer itself is the C file Tests/CUWBTests/Sanitized/fuzz.c.
enum FramerTarget: Target {
  static let name = "framer"

  static func run(_ input: [UInt8]) {}

  /// Returns inputs that begin with a byte for the rules, and continue with pieces. The first byte
  /// of a piece has the square root of the piece's length in its lower six bits, and a pause in the
  /// others. The piece's bytes follow.
  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    var seeds: [[UInt8]] = []
    for (index, start) in stride(from: 0, to: frames.count, by: 7).enumerated() {
      let part = Array(frames[start..<min(start + 7, frames.count)].joined())
      for (rules, piece) in [(0, 63), (8, 8), (9, 3), (32, 12)] as [(UInt8, UInt8)] {
        var seed = [rules]
        var rest = part[...]
        while !rest.isEmpty {
          seed.append(piece | UInt8(index % 4) << 6)
          seed += rest.prefix(Int(piece) * Int(piece))
          rest = rest.dropFirst(Int(piece) * Int(piece))
        }
        seeds.append(seed)
      }
    }
    return seeds
  }
}
