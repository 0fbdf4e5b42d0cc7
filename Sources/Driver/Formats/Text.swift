// SPDX-License-Identifier: Apache-2.0

internal import JSON

/// Returns text from outside with dangerous characters escaped as `\u{1b}`. These are control
/// characters, line ends and marks that change the direction of writing. The text can then neither
/// control a terminal nor imitate another line.
///
/// All text from a device, another program or a file is escaped by this function before it is
/// printed.
package func printable(_ text: String) -> String {
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if scalar.isInvisible {
      result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
    } else {
      result.append(scalar)
    }
  }
  return String(result)
}

/// Text in columns, each as wide as its widest cell. Cells are printed unchanged, so text from
/// outside has to be escaped by `printable` first.
package struct TextTable {
  private var rows: [[String]] = []
  private let indent: String

  package init(indent: String = "") { self.indent = indent }

  package mutating func add(_ cells: String...) { rows.append(cells) }

  /// The rows as lines with line breaks. Rows may have different numbers of cells.
  package var text: String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      let padded = rows.filter { column < $0.count - 1 }
      return padded.map { $0[column].count }.max() ?? 0
    }
    return rows.map { row in
      // The last cell of a row is not padded and does not widen its column.
      let cells = row.enumerated().map { index, cell in
        index < row.count - 1 ? cell.left(widths[index]) : cell
      }
      return indent + cells.joined(separator: "  ") + "\n"
    }.joined()
  }
}

/// Returns a number with `digits` decimal places. It is `null` if it is not finite, and has an
/// exponent if it is very large.
package func fixed(_ value: Double, _ digits: Int) -> String {
  var text = JSONText()
  text.appendFixed(value, digits)
  return text.string
}

/// Returns the number of decimal places with which a standard deviation has two digits.
package func decimals(for deviation: Double) -> Int {
  deviation < 0.0995 ? 3 : deviation < 0.995 ? 2 : 1
}

/// Returns a value with its standard deviation, such as `2.59 ± 0.31`.
package func fixed(_ value: Double, deviation: Double) -> String {
  let digits = decimals(for: deviation)
  return "\(fixed(value, digits)) ± \(fixed(deviation, digits))"
}

extension JSONText {
  /// Appends a number as `fixed(_:_:)` returns it.
  mutating func appendFixed(_ value: Double, _ digits: Int) {
    guard value.isFinite else { return append("null") }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    guard abs(value) * scale < 1e18 else { return append(contentsOf: "\(value)".utf8) }
    let scaled = UInt64((abs(value) * scale).rounded())
    let (whole, rest) = scaled.quotientAndRemainder(dividingBy: UInt64(scale))
    if value < 0, scaled > 0 { append(UInt8(ascii: "-")) }
    appendDigits(whole)
    guard digits > 0 else { return }
    append(UInt8(ascii: "."))
    appendDigits(rest, width: digits)
  }
}

/// Returns each byte as two hexadecimal digits.
package func hexDigits(_ bytes: some Sequence<UInt8>, separator: String = "") -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: separator)
}

extension String {
  /// Returns the text padded on the left to a width.
  package func right(_ width: Int) -> String {
    String(repeating: " ", count: max(0, width - columns)) + self
  }

  /// Returns the text padded on the right to a width.
  package func left(_ width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - columns))
  }

  /// The width on a terminal in columns: East Asian characters and emoji have two.
  package var columns: Int {
    var (isPlain, bytes) = (true, 0)
    for byte in utf8 {
      isPlain = isPlain && byte < 0x80
      bytes += 1
    }
    return isPlain ? bytes : reduce(0) { $0 + $1.columns }
  }
}

extension Character {
  /// The width on a terminal: 0, 1 or 2 columns.
  package var columns: Int {
    guard let first = unicodeScalars.first, first.value >= 0x300 else { return 1 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    // An emoji by default, or because of the selector that follows.
    if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
    // The other wide and fullwidth characters of Unicode Standard Annex 11, as ranges.
    switch first.value {
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF,
      0x4E00...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
      0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF,
      0x1F200...0x1F265, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}
