// SPDX-License-Identifier: Apache-2.0

/// A line of the serial shell of a DWM1001 board with PANS firmware.
///
/// `lec` prints `DIST,1,AN0,0E15,1.75,4.55,2.33,1.61,POS,1.49,4.02,0.78,59`. Each anchor has the
/// last two bytes of its address, its place in the network, and the range. The tag's own place
/// follows, with a quality in percent. `les` prints `0E15[1.75,4.55,2.33]=1.61`, the time of the
/// computation and `est[1.49,4.02,0.78,59]`. `si` prints `addr=x` and 16 digits, and `label=`.
/// Lengths are in metres with two decimals.
package enum PANSLine: Sendable, Hashable {
  package struct Range: Sendable, Hashable {
    /// The address of the anchor, as in a site file: `0x0e15`.
    package var anchor: String
    package var distance: Double
  }

  package struct Position: Sendable, Hashable {
    package var x: Double
    package var y: Double
    package var z: Double
    /// The quality in percent.
    package var quality: Int
  }

  /// A field that cannot be used.
  package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    package let field: String
    package let reason: String
    package var description: String { "\(field): \(reason)" }
  }

  /// The ranges of a round, and the place that the tag has computed from them.
  case round([Range], Position?)
  /// The place of a tag alone.
  case position(Position?)
  /// The 64 bits of the board's address.
  case address(UInt64)
  case label(String)
  /// The shell waits for a command.
  case prompt
  case other

  /// Parses a line without its end.
  ///
  /// Rejects lines with missing characters, since a part of a number is also a number.
  package init(_ bytes: [UInt8]) throws(Problem) {
    var text = String(decoding: bytes, as: UTF8.self)[...]
    text = text.trimmed
    // The echo of a command and the prompt may precede the first line of output.
    var hasPrompt = false
    while let prompt = ["dwm>", "leaps>"].first(where: text.hasPrefix) {
      text = text.dropFirst(prompt.count).trimmed
      hasPrompt = true
    }
    if text.hasPrefix("DIST,") {
      self = try Self.csv(text)
    } else if text.hasPrefix("POS,") {
      self = .position(try Self.tagPosition(text))
    } else if text.contains("]="), text.contains("[") || text.contains("le_us=") {
      self = try Self.shell(text)
    } else if let address = Self.address(text) {
      self = .address(address)
    } else if let label = text.value(of: "label") {
      self = .label(String(label))
    } else {
      self = hasPrompt && text.isEmpty ? .prompt : .other
    }
  }

  // MARK: lec

  private static func csv(_ text: Substring) throws(Problem) -> PANSLine {
    let cells = text.split(separator: ",", omittingEmptySubsequences: false)
    guard let count = Int(cells[1]), (0...64).contains(count) else {
      throw Problem(field: "DIST", reason: "\(shown(cells[1])) is not a number of anchors")
    }
    var ranges: [Range] = []
    for index in 0..<count {
      let start = 2 + 6 * index
      guard cells.count >= start + 6, cells[start] == "AN\(index)" else {
        throw Problem(field: "AN\(index)", reason: "is missing, and \(count) anchors belong here")
      }
      let field = "AN\(index)"
      let anchor = try self.anchor(cells[start + 1], field)
      for cell in cells[(start + 2)..<(start + 5)] { _ = try length(cell, field) }
      ranges.append(Range(anchor: anchor, distance: try length(cells[start + 5], field)))
    }
    let rest = cells[(2 + 6 * count)...]
    guard let next = rest.first else { return .round(ranges, nil) }
    guard next == "POS" else {
      throw Problem(field: "DIST", reason: "\(shown(next)) follows \(count) anchors")
    }
    return .round(ranges, try position(Array(rest.dropFirst()), "POS"))
  }

  /// Reads a line that has only a place. A listener prints places of other tags after their number
  /// and address.
  private static func tagPosition(_ text: Substring) throws(Problem) -> Position? {
    let cells = text.split(separator: ",", omittingEmptySubsequences: false).dropFirst()
    guard cells.count == 4 else { return nil }
    return try position(Array(cells), "POS")
  }

  private static func position(_ cells: [Substring], _ field: String) throws(Problem) -> Position? {
    guard cells.count == 4, let quality = Int(cells[3]), (0...100).contains(quality) else {
      throw Problem(field: field, reason: "x, y, z and a quality in percent belong here")
    }
    // A tag without a place prints nan.
    if cells[0] == "nan" { return nil }
    return Position(
      x: try length(cells[0], field), y: try length(cells[1], field),
      z: try length(cells[2], field), quality: quality)
  }

  // MARK: les

  private static func shell(_ text: Substring) throws(Problem) -> PANSLine {
    var ranges: [Range] = []
    var place: Position?
    for word in text.split(separator: " ") {
      if word.hasPrefix("le_us=") { continue }
      if word.hasPrefix("est[") {
        guard word.hasSuffix("]") else {
          throw Problem(field: "est", reason: "the bracket is not closed")
        }
        let cells = word.dropFirst(4).dropLast().split(
          separator: ",", omittingEmptySubsequences: false)
        place = try position(cells, "est")
        continue
      }
      ranges.append(try shellRange(word))
    }
    return .round(ranges, place)
  }

  private static func shellRange(_ word: Substring) throws(Problem) -> Range {
    let field = shown(word.prefix(4))
    guard let open = word.firstIndex(of: "["), let close = word.firstIndex(of: "]"), open < close
    else { throw Problem(field: field, reason: "a place in brackets belongs here") }
    let cells = word[word.index(after: open)..<close].split(
      separator: ",", omittingEmptySubsequences: false)
    guard cells.count == 3 else { throw Problem(field: field, reason: "x, y and z belong here") }
    for cell in cells { _ = try length(cell, field) }
    let rest = word[word.index(after: close)...]
    guard rest.first == "=" else { throw Problem(field: field, reason: "a distance is missing") }
    return Range(
      anchor: try anchor(word[..<open], field), distance: try length(rest.dropFirst(), field))
  }

  // MARK: parts

  private static func anchor(_ text: Substring, _ field: String) throws(Problem) -> String {
    guard text.utf8.count == 4, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      throw Problem(field: field, reason: "\(shown(text)) is not an address of four digits")
    }
    return "0x" + text.lowercased()
  }

  /// Reads metres with exactly two decimals. This detects a number without its last digit.
  private static func length(_ text: Substring, _ field: String) throws(Problem) -> Double {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let whole = parts[0].first == "-" ? parts[0].dropFirst() : parts[0]
    func areDigits(_ part: Substring) -> Bool {
      !part.isEmpty && part.allSatisfy { $0.isASCII && $0.isNumber }
    }
    guard parts.count == 2, parts[1].utf8.count == 2, whole.utf8.count <= 6, areDigits(whole),
      areDigits(parts[1]), let value = Double(text)
    else {
      throw Problem(field: field, reason: "\(shown(text)) is not a length with two decimals")
    }
    return value
  }

  private static func address(_ text: Substring) -> UInt64? {
    guard let value = text.value(of: "addr"), value.first == "x", value.utf8.count == 17 else {
      return nil
    }
    return UInt64(value.dropFirst(), radix: 16)
  }

  private static func shown(_ text: Substring) -> String {
    let visible = text.prefix(20).map { $0.isASCII && !$0.isWhitespace ? $0 : "?" }
    return visible.isEmpty ? "nothing" : String(visible)
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    var text = drop { $0.isWhitespace || $0 == "\0" }
    while let last = text.last, last.isWhitespace || last == "\0" { text.removeLast() }
    return text
  }

  /// Returns the value of a word of the form `name=value`.
  fileprivate func value(of name: String) -> Substring? {
    for word in split(separator: " ") where word.hasPrefix(name + "=") {
      let value = word.dropFirst(name.count + 1)
      return value.isEmpty ? nil : value
    }
    return nil
  }
}
