// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// Damages bytes in a reproducible way.
struct ByteDamage {
  private var generator: SplitMix64
  private let parts: [[UInt8]]

  /// - Parameter parts: texts that replace other bytes.
  init(seed: UInt64, parts: [String]) {
    (generator, self.parts) = (SplitMix64(seed: seed), parts.map { Array($0.utf8) })
  }

  /// Returns one of the seeds with one to four changes. Every eighth result is unchanged on
  /// average.
  mutating func damaged(_ seeds: [[UInt8]]) -> [UInt8] {
    var bytes = seeds[generator.below(seeds.count)]
    guard generator.below(8) > 0 else { return bytes }
    for _ in 0...generator.below(4) {
      let at = generator.below(bytes.count + 1)
      switch generator.below(6) {
      case 0 where at < bytes.count: bytes[at] = UInt8(truncatingIfNeeded: generator.next())
      case 1 where at < bytes.count: bytes.remove(at: at)
      case 2: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: at)
      case 3: bytes.replaceSubrange(at..., with: seeds[generator.below(seeds.count)].suffix(at))
      case 4:
        bytes.replaceSubrange(
          at..<min(bytes.count, at + generator.below(6)), with: parts[generator.below(parts.count)])
      default: bytes.removeLast(min(bytes.count, generator.below(12)))
      }
    }
    return bytes
  }
}

extension SplitMix64 {
  /// Returns a number from 0 to below a limit; 0 for a limit of 0.
  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(max(1, limit))) }
}
