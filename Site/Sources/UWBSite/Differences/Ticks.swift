// SPDX-License-Identifier: Apache-2.0

/// The unit of the stamps of UWB chips: 15.65 ps, in which light travels 4.69 mm in air.
package enum Ticks {
  package static let perSecond = 128 * 499.2e6
  /// Metres in a tick, at the speed of light in air.
  package static let metres = 299_702_547 / perSecond

  /// Returns the ticks from one stamp to another of the same counter, in either direction.
  ///
  /// The stamps are less than half a turn of the counter apart.
  ///
  /// - Parameter bits: the width of the counter.
  package static func between(_ start: UInt64, _ end: UInt64, bits: Int) -> Int64 {
    let unused = UInt64(max(0, 64 - bits))
    return Int64(bitPattern: (end &- start) << unused) >> Int64(unused)
  }
}

/// Converts the stamps of a counter that wraps to a count that does not.
struct UnwrappedCounter: Sendable, Hashable {
  private var last: (stamp: UInt64, total: Int64)?
  let bits: Int

  init(bits: Int) { self.bits = bits }

  /// Returns the ticks of a stamp since the first one. Stamps are less than half a turn apart.
  mutating func total(_ stamp: UInt64) -> Int64 {
    guard let last else {
      self.last = (stamp, 0)
      return 0
    }
    let total = last.total &+ Ticks.between(last.stamp, stamp, bits: bits)
    if total > last.total { self.last = (stamp, total) }
    return total
  }

  /// The count at the newest stamp; nil before the first stamp.
  var newest: Int64? { last?.total }

  static func == (a: Self, b: Self) -> Bool {
    a.bits == b.bits && a.last?.stamp == b.last?.stamp && a.last?.total == b.last?.total
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(bits)
    hasher.combine(last?.stamp)
    hasher.combine(last?.total)
  }
}
