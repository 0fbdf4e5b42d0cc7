// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import UWBSite

/// Input that is wrong as a whole, through `uwbsite run`.
@Suite("Bad input of a run")
struct BadInputTests {
  private static let anchors: [SIMD3<Double>] = [
    [0, 0, 2.5], [10, 0, 3], [10, 8, 2.5], [0, 8, 3], [5, 0, 2.5], [5, 8, 3],
  ]

  private func site(tags: String = #"{"id": "T", "height_m": 1}, {"id": "U", "height_m": 1}"#)
    -> String
  {
    let anchors = Self.anchors.enumerated().map {
      #"{"id": "A\#($0)", "position_m": [\#($1.x), \#($1.y), \#($1.z)], "position_sd_m": [0, 0, 0]}"#
    }
    return """
      {"version": 1, "gauge": {"kind": "measured"},
       "anchors": [\(anchors.joined(separator: ", "))], "tags": [\(tags)]}
      """
  }

  /// Returns rounds at 5 Hz of two tags on circles.
  private func lines(
    _ times: Range<Int>, shift: Double = 0, place: (Int) -> SIMD3<Double> = { Self.anchors[$0] }
  ) -> String {
    var text = ""
    for number in times {
      let time = Double(number) / 5
      for (tag, name) in ["T", "U"].enumerated() {
        let angle = time / 3 + Double(tag) * 2
        let own: SIMD3<Double> = [5 + 3 * cos(angle), 4 + 3 * sin(angle), 1]
        for anchor in Self.anchors.indices {
          let arm = own - place(anchor)
          // An error of a centimetre or two, in turn.
          let error = 0.02 * Double((number * 7 + anchor * 3 + tag) % 5 - 2)
          let range = (arm * arm).sum().squareRoot() + error
          text += #"{"t": \#(time + shift), "tag": "\#(name)", "anchor": "A\#(anchor)", "#
          text += "\"distance_m\": \(range), \"sd_m\": 0.05}\n"
        }
      }
    }
    return text
  }

  private func events(_ site: String, _ input: String) throws -> [JSONValue] {
    let program = ProgramTests()
    var found: [JSONValue] = []
    try program.with(site) { site in
      try program.with(input) { input in
        let (status, output, errors) = try program.run("run", site, input, "--format", "json")
        #expect(status == 0, "\(errors)")
        found = try output.split(separator: "\n").map { try JSONValue(Array($0.utf8)) }
      }
    }
    return found
  }

  @Test("two tags with one label are refused, and both are named")
  func labels() throws {
    let program = ProgramTests()
    let text = site(tags: #"{"id": "T", "label": "cart"}, {"id": "U", "label": "cart"}"#)
    try program.with(text) { site in
      let result = try program.run("run", site, "-")
      #expect(result.status == 65)
      #expect(result.errors == "uwbsite: \(site): tags[1].label: tags[0] has cart already\n")
    }
  }

  @Test("an anchor that was moved by 5 m is named within a minute, and no other one")
  func moved() throws {
    let input =
      lines(0..<100)
      + lines(100..<500) { $0 == 2 ? Self.anchors[2] + [-4, -3, 0] : Self.anchors[$0] }
    let moves = try events(site(), input).filter { $0["event"] == .string("anchor_moved") }
    try #require(moves.count == 1)
    #expect(moves[0]["anchor"] == .string("A2"))
    guard case .number(let time)? = moves[0]["t"] else {
      Issue.record("\(moves)")
      return
    }
    #expect((20..<80).contains(time))
  }

  @Test("a clock that is set back by an hour is an event, and places follow")
  func clock() throws {
    let input = lines(0..<50, shift: 10_000) + lines(50..<150, shift: 6400)
    let events = try events(site(), input)
    let sets = events.enumerated().filter { $1["event"] == .string("clock_set") }
    try #require(sets.count == 1)
    guard case .number(let change)? = sets[0].element["by_s"] else {
      Issue.record("\(sets)")
      return
    }
    #expect(abs(change + 3600) < 1)
    let later = events[sets[0].offset...].count { $0["position_m"] != nil }
    #expect(later > 150)
  }

  @Test("a source that floods loses its oldest lines, and each one is counted")
  func flood() throws {
    let count = 100_000
    let program = ProgramTests()
    try program.with(site()) { site in
      try program.with(
        String(
          repeating: #"{"t": 1, "tag": "T", "anchor": "A0", "distance_m": 5}"# + "\n", count: count)
      ) { input in
        let result = try program.pipe(input, ["run", site, "-"])
        #expect(result.status == 0)
        let words = result.errors.split(separator: " ")
        // As in `uwbsite: 90000 lines, …, 10000 lost since they came too fast`.
        let lines = Int(words.dropFirst().first ?? "") ?? 0
        let lost = words.firstIndex(of: "lost").flatMap { Int(words[$0 - 1]) } ?? 0
        #expect(lines + lost == count, "\(result.errors)")
      }
    }
  }
}
