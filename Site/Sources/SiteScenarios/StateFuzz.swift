// SPDX-License-Identifier: Apache-2.0

internal import SiteServer
internal import UWBSite

/// Damaged states of a run with a correct checksum, and rounds after them.
package struct StateFuzz {
  package struct Result: Sendable, Hashable {
    package var states = 0
    package var resumed = 0
    package var refused = 0
    package var wrong: [String] = []
  }

  private static let site = """
    {"version": 1, "gauge": {"kind": "measured"},
     "floors": [{"id": "g", "height_m": 0}, {"id": "u", "height_m": 5}],
     "anchors": [
       {"id": "A0", "floor": "g", "position_m": [0, 0, 2.5], "position_sd_m": [0, 0, 0]},
       {"id": "A1", "floor": "g", "position_m": [9, 0, 3], "position_sd_m": [0, 0, 0]},
       {"id": "A2", "floor": "g", "position_m": [9, 8, 2.5], "position_sd_m": [0, 0, 0]}],
     "tags": [{"id": "T", "height_m": 1}],
     "doors": [{"id": "D", "floor": "g", "ends_m": [[0, 0], [9, 0]], "inside_anchor": "A0",
       "outside_anchor": "A1"}],
     "zones": [{"id": "Z", "polygon_m": [[1, 1], [8, 1], [8, 7], [1, 7]]}]}
    """
  /// Parts that replace numbers.
  private static let numbers = [
    "0", "-1", "1", "2", "17", "127", "128", "1e308", "-1e308", "9223372036854775807",
    "-9223372036854775808", "\"inf\"", "\"-inf\"", "\"nan\"", "1e-300", "0.5", "null", "[]",
  ].map { Array($0.utf8) }

  private let site: Site
  private let former: SiteState
  private let body: [UInt8]
  private var generator: SplitMix64
  private var result = Result()

  package init(seed: UInt64) throws {
    site = try Site(json: Array(Self.site.utf8))
    generator = SplitMix64(seed: seed)
    var loop = try Self.loop(site)
    try Self.follow(&loop, 0..<60)
    former = loop.state(now: nil)
    body = try former.body()
  }

  private static func loop(_ site: Site, from state: SiteState.Resumed? = nil) throws -> SiteLoop {
    try SiteLoop(
      SiteRun(site, sources: ["fuzz"], isLive: true, epoch: 0), sinks: [], from: state)
  }

  /// Adds rounds of a tag that rests.
  private static func follow(_ loop: inout SiteLoop, _ rounds: Range<Int>) throws {
    for round in rounds {
      for (anchor, metres) in [("A0", 5.2), ("A1", 6.7), ("A2", 6.6)] {
        let line = RangeLine(
          time: Double(round) / 10, tag: "T", anchor: anchor, [.distance(metres)], deviation: 0.1)
        loop.add(.measurement(line), from: 0)
      }
      try loop.turn(now: nil, isComplete: true)
    }
  }

  /// Continues damaged states.
  package mutating func run(_ count: Int) throws -> Result {
    for _ in 0..<count {
      let text = try former.text(body: damaged())
      do {
        var loop = try Self.loop(site, from: try SiteState.read(text, site))
        result.resumed += 1
        try Self.follow(&loop, 60..<90)
        // The values can be written again, which throws otherwise.
        _ = try loop.state(now: nil).text()
      } catch let problem as SiteState.Problem {
        result.refused += 1
        if problem != .damaged, result.wrong.count < 10 { result.wrong.append("\(problem)") }
      }
    }
    result.states = count
    return result
  }

  /// Returns the values with one to four changed numbers or bytes.
  private mutating func damaged() -> [UInt8] {
    var text = body
    for _ in 0...generator.below(4) {
      let at = generator.below(text.count)
      if generator.below(12) == 0 {
        text[at] = UInt8(truncatingIfNeeded: generator.next())
      } else {
        replaceNumber(&text, from: at)
      }
    }
    return text.filter { $0 != UInt8(ascii: "\n") }
  }

  private mutating func replaceNumber(_ text: inout [UInt8], from start: Int) {
    func isDigit(_ byte: UInt8) -> Bool {
      UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || [45, 46, 101].contains(byte)
    }
    func isBoundary(_ byte: UInt8) -> Bool { [44, 58, 91].contains(byte) }
    guard let before = text[start...].firstIndex(where: isBoundary) else { return }
    let first = text.index(after: before)
    let end = text[first...].firstIndex { !isDigit($0) } ?? text.count
    guard end > first else { return }
    text.replaceSubrange(first..<end, with: Self.numbers[generator.below(Self.numbers.count)])
  }
}
