// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// Changes of bytes, with a fixed seed.
struct ByteDamage {
  private var generator: SplitMix64
  private let parts: [[UInt8]]

  /// - Parameter parts: replace others.
  init(seed: UInt64, parts: [String]) {
    (generator, self.parts) = (SplitMix64(seed: seed), parts.map { Array($0.utf8) })
  }

  /// Returns one of the seeds with one to four changes, and one in eight without.
  mutating func damaged(_ seeds: [[UInt8]]) -> [UInt8] {
    var bytes = seeds[below(seeds.count)]
    guard below(8) > 0 else { return bytes }
    for _ in 0...below(4) {
      let at = below(bytes.count + 1)
      switch below(6) {
      case 0 where at < bytes.count: bytes[at] = UInt8(truncatingIfNeeded: generator.next())
      case 1 where at < bytes.count: bytes.remove(at: at)
      case 2: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: at)
      case 3: bytes.replaceSubrange(at..., with: seeds[below(seeds.count)].suffix(at))
      case 4:
        bytes.replaceSubrange(at..<min(bytes.count, at + below(6)), with: parts[below(parts.count)])
      default: bytes.removeLast(min(bytes.count, below(12)))
      }
    }
    return bytes
  }

  mutating func below(_ limit: Int) -> Int { Int(generator.next() % UInt64(max(1, limit))) }
}
