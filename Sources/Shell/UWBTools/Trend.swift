// SPDX-License-Identifier: Apache-2.0

/// The distances of the last minute as a line of bars, one bar a second.
package struct Trend: Sendable {
  /// The last distance of each second, in metres.
  private var distances: [(second: UInt64, distance: Double)] = []

  private static let capacity = 60
  /// The span of distances in metres that fills the height of the bars at least, so that noise
  /// looks small.
  private static let leastRange = 0.5
  private static let bars = Array("▁▂▃▄▅▆▇█")
  private static let plainBars = Array("_.-:=+*#")

  package init() {}

  /// - Parameter time: CLOCK_MONOTONIC in nanoseconds.
  package mutating func add(_ distance: Double, at time: UInt64) {
    let second = time / 1_000_000_000
    if distances.last?.second == second { distances.removeLast() }
    distances.append((second, distance))
    if distances.count > Self.capacity { distances.removeFirst() }
  }

  /// Returns a bar for each second until now. Seconds without a distance are blank.
  ///
  /// - Parameters:
  ///   - columns: The number of seconds.
  ///   - isUTF8: Whether the terminal shows block elements.
  package func text(columns: Int, until now: UInt64, isUTF8: Bool) -> String {
    let last = now / 1_000_000_000
    let shown = distances.filter { $0.second <= last && last - $0.second < UInt64(max(0, columns)) }
    var line = [Character](repeating: " ", count: max(0, columns))
    let (least, most) = (shown.map(\.distance).min() ?? 0, shown.map(\.distance).max() ?? 0)
    let range = max(most - least, Self.leastRange)
    let bottom = (least + most - range) / 2
    let bars = isUTF8 ? Self.bars : Self.plainBars
    for (second, distance) in shown {
      let level = Int((distance - bottom) / range * Double(bars.count))
      line[columns - 1 - Int(last - second)] = bars[min(max(level, 0), bars.count - 1)]
    }
    return String(line)
  }
}
