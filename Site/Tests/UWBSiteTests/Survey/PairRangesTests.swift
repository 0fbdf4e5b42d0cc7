// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("Pairs of anchors")
struct PairRangesTests {
  func readings(_ from: String, _ to: String, _ distances: [Double]) -> [RangeReading] {
    distances.map { RangeReading(from: from, to: to, distance: $0) }
  }

  @Test("both directions are one pair, and late paths do not move its value")
  func quartile() throws {
    let near = (0..<12).map { 5 + 0.01 * Double($0 % 3 - 1) }
    let ranges = PairRanges(
      readings("b", "a", near) + readings("a", "b", near + [5.9, 6.1, 6.5, 7]))
    #expect(ranges.names == ["b", "a"])
    let pair = try #require(ranges.pairs.first)
    #expect(pair.count == 28)
    #expect(abs(pair.distance - 5) < 0.02)
    #expect(pair.deviation == 0.03)
    #expect(ranges.conflicts.isEmpty)
  }

  @Test("a wide spread is the deviation")
  func spread() throws {
    let wide = (0..<40).map { 5 + 0.02 * Double($0) }
    let pair = try #require(PairRanges(readings("a", "b", wide)).pairs.first)
    #expect((0.1...0.4).contains(pair.deviation))
  }

  @Test("few ranges are left out, unless each has a stated deviation")
  func few() throws {
    let ranges = PairRanges(
      readings("a", "b", [5, 5, 5, 5]) + [
        RangeReading(from: "a", to: "c", distance: 3, deviation: 0.01),
        RangeReading(from: "c", to: "a", distance: 3.02, deviation: 0.01),
      ], names: ["c", "b", "a"])
    #expect(ranges.dropped == [.init(first: 1, second: 2, reason: .few(4))])
    let pair = try #require(ranges.pairs.first)
    #expect(pair.first == 0 && pair.second == 2)
    #expect(abs(pair.distance - 3.01) < 1e-9 && abs(pair.deviation - 0.00707) < 1e-4)
  }

  @Test("blocked pairs are left out")
  func blocked() {
    let all = (0..<10).map { _ in
      RangeReading(from: "a", to: "b", distance: 4, blocked: 0.95)
    }
    let ranges = PairRanges(all)
    #expect(ranges.pairs.isEmpty)
    #expect(ranges.dropped.count == 1)
  }

  @Test("directions that disagree are a conflict")
  func conflict() throws {
    let ranges = PairRanges(
      readings("a", "b", Array(repeating: 4, count: 10))
        + readings("b", "a", Array(repeating: 6, count: 10)))
    let conflict = try #require(ranges.conflicts.first)
    #expect(conflict.forward == 4 && conflict.backward == 6)
  }
}
