// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// Damaged site files.
package struct SiteFileFuzz {
  /// The counts of a run.
  package struct Result: Sendable, Hashable {
    package var files = 0
    package var readable = 0
    package var problems = 0
    /// The number of problems that name a field, or the line at which the text is not JSON.
    package var named = 0
    /// Files that become another site when they are written, and problems that name no field.
    package var wrong: [String] = []
  }

  private static let seed = """
    {"version": 1, "name": "hall", "gauge": {"kind": "plan", "anchors": ["A0", "A1"], "note": "n"},
     "floors": [{"id": "g", "height_m": 0}, {"id": "u", "label": "1st", "height_m": 3.5}],
     "anchors": [
      {"id": "A0", "addresses": ["0x0a00"], "position_m": [0, 0, 2], "position_sd_m": [0, 0, 0.1],
       "correlation_xy": 0.2, "floor": "g", "delay_m": 0.1, "delay_sd_m": 0.05, "facing_deg": 30,
       "angle_sd_deg": 3, "roles": ["uplink", "sync"]},
      {"id": "A1", "addresses": ["01:02:03:04:05:06:07:08"], "height_m": 2, "floor": "u"}],
     "tags": [{"id": "T", "label": "cart", "blink_ids": ["ab01"], "carrier": "vehicle", "height_range_m": [0.5, 1.5]},
      {"id": "U", "addresses": ["0x0101"], "height_m": 1}],
     "zones": [{"id": "Z", "floor": "g", "polygon_m": [[1, 1], [5, 1], [5, 5]], "margin_m": 0.5},
      {"id": "Y", "circle": {"center_m": [0, 0], "radius_m": 2}, "connects_floors": ["g", "u"]}],
     "doors": [{"id": "D", "floor": "g", "ends_m": [[0, 0], [1, 0]], "inside_anchor": "A0",
      "outside_anchor": "A1"}]}
    """
  /// Parts that replace other parts: values of each type, numbers at their limits, and keys.
  private static let parts: [[UInt8]] = [
    "1e999", "-1e308", "-0", "nan", "18446744073709551616", "null", "true", "[", "]", "{", "}",
    "\"\\ud800\"", "\"\\u0000\"", "\"A0\"", "\"id\"", "\"height_m\": 2,",
    "[[0, 0], [0, 0], [0, 0]]",
    "[]", "{}", "\"\"", ":", ",,", "\r\n", "\u{FEFF}",
  ].map { Array($0.utf8) }

  private var generator: SplitMix64
  private var result = Result()

  package init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  /// Reads damaged files.
  package mutating func run(_ count: Int) -> Result {
    for _ in 0..<count { read(damaged()) }
    result.files = count
    return result
  }

  private mutating func read(_ text: [UInt8]) {
    do throws(SiteFileError) {
      let site = try Site(json: text)
      result.readable += 1
      if (try? Site(json: Array(site.json.utf8))) != site {
        note("is written as another site", text)
      }
    } catch {
      result.problems += error.problems.count
      for problem in error.problems {
        let isNamed = !problem.field.isEmpty || problem.reason.contains("line ")
        result.named += isNamed ? 1 : 0
        if problem.reason.isEmpty || error.problems.isEmpty { note("has no reason", text) }
      }
    }
  }

  private mutating func note(_ sentence: String, _ text: [UInt8]) {
    guard result.wrong.count < 10 else { return }
    result.wrong.append("\(sentence): \(String(decoding: text, as: UTF8.self))")
  }

  /// Returns a file with one to four changes.
  private mutating func damaged() -> [UInt8] {
    var text = Array(Self.seed.utf8)
    for _ in 0...generator.below(4) {
      let at = generator.below(text.count + 1)
      switch generator.below(6) {
      case 0 where at < text.count: text[at] = UInt8(truncatingIfNeeded: generator.next())
      case 1 where at < text.count: text.remove(at: at)
      case 2: text.insert(UInt8(truncatingIfNeeded: generator.next()), at: at)
      case 3:
        // A part of the file is inserted at another place.
        let from = generator.below(text.count)
        let piece = text[from..<min(text.count, from + generator.below(60))]
        text.replaceSubrange(at..<min(text.count, at + generator.below(60)), with: Array(piece))
      case 4:
        let part = Self.parts[generator.below(Self.parts.count)]
        text.replaceSubrange(at..<min(text.count, at + generator.below(6)), with: part)
      default: replaceNumber(&text, from: at)
      }
    }
    return text
  }

  /// Replaces the next number. The bytes around it stay, so that many files are readable.
  private mutating func replaceNumber(_ text: inout [UInt8], from start: Int) {
    func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    guard let first = text[min(start, text.count)...].firstIndex(where: isDigit) else { return }
    let end = text[first...].firstIndex { !isDigit($0) } ?? text.count
    let number = ["0", "1", "2.5", "-3", "1e5", "100001", "1e-300"][generator.below(7)]
    text.replaceSubrange(first..<end, with: Array(number.utf8))
  }
}
