// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBTools

/// The bars of distances in the live views.
@Suite struct TrendTests {
  private static func trend(_ distances: [Double?]) -> Trend {
    var trend = Trend()
    for (second, distance) in distances.enumerated() {
      if let distance { trend.add(distance, at: UInt64(second) * 1_000_000_000) }
    }
    return trend
  }

  @Test(arguments: [
    ([], 3, "   "), ([1], 3, "  ▅"), ([1, 2, 3, 4], 4, "▁▃▆█"), ([1, 2, 3, 4], 2, "▁█"),
    // Noise stays small, and seconds without a distance are blank.
    ([2.00, 2.02, nil, 2.01], 4, "▄▅ ▅"), ([1, nil, nil, nil], 2, "  "), ([1, 2], 0, ""),
  ])
  func barsFollowTheDistance(_ distances: [Double?], _ columns: Int, _ bars: String) {
    let now = UInt64(max(0, distances.count - 1)) * 1_000_000_000
    #expect(Self.trend(distances).text(columns: columns, until: now, isUTF8: true) == bars)
  }

  @Test func otherLocalesHaveBarsOfASCII() {
    #expect(Self.trend([1, 2, 3]).text(columns: 3, until: 2_000_000_000, isUTF8: false) == "_=#")
  }

  @Test func aSecondHasItsLastDistance() {
    var trend = Trend()
    for (time, distance) in [(0, 1.0), (500_000_000, 3), (1_000_000_000, 3.0)] {
      trend.add(distance, at: UInt64(time))
    }
    #expect(trend.text(columns: 2, until: 1_999_999_999, isUTF8: true) == "▅▅")
    for second in 0..<1_000 { trend.add(1, at: UInt64(second) * 1_000_000_000) }
    #expect(trend.text(columns: 100, until: 999_000_000_000, isUTF8: true).count == 100)
  }
}
