// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Writes SVG 1.1, with coordinates in pixels from the upper left.
struct SVGWriter {
  private var body = ""
  private let width: Double
  private let height: Double

  init(width: Double, height: Double) { (self.width, self.height) = (width, height) }

  /// How an element is drawn: filled, or as an outline.
  struct Style {
    var fill: String?
    var stroke: String?
    var width = 1.0
    var opacity = 1.0

    static func fill(_ colour: String, opacity: Double = 1) -> Style {
      Style(fill: colour, opacity: opacity)
    }
    static func stroke(_ colour: String, width: Double = 1, opacity: Double = 1) -> Style {
      Style(stroke: colour, width: width, opacity: opacity)
    }

    fileprivate var attributes: String {
      var text = " fill=\"\(fill ?? "none")\""
      if let stroke { text += " stroke=\"\(stroke)\" stroke-width=\"\(SVGWriter.number(width))\"" }
      if opacity < 1 { text += " opacity=\"\(SVGWriter.number(opacity))\"" }
      return text
    }
  }

  enum Anchor: String { case start, middle, end }

  mutating func line(_ a: (x: Double, y: Double), _ b: (x: Double, y: Double), _ style: Style) {
    body +=
      "<line x1=\"\(Self.number(a.x))\" y1=\"\(Self.number(a.y))\" x2=\"\(Self.number(b.x))\""
      + " y2=\"\(Self.number(b.y))\"\(style.attributes)/>\n"
  }

  /// Joins points with lines; the path is closed if it is filled.
  mutating func path(_ points: [(x: Double, y: Double)], _ style: Style) {
    guard points.count > 1 else { return }
    let list = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }.joined(separator: " ")
    let element = style.fill == nil ? "polyline" : "polygon"
    body += "<\(element) points=\"\(list)\"\(style.attributes) stroke-linejoin=\"round\"/>\n"
  }

  mutating func circle(_ centre: (x: Double, y: Double), radius: Double, _ style: Style) {
    body +=
      "<circle cx=\"\(Self.number(centre.x))\" cy=\"\(Self.number(centre.y))\""
      + " r=\"\(Self.number(radius))\"\(style.attributes)/>\n"
  }

  mutating func text(
    _ text: String, at position: (x: Double, y: Double), _ colour: String, size: Double = 12,
    anchor: Anchor = .start, isBold: Bool = false, turned: Bool = false
  ) {
    let (x, y) = (Self.number(position.x), Self.number(position.y))
    body +=
      "<text x=\"\(x)\" y=\"\(y)\" fill=\"\(colour)\" font-size=\"\(Self.number(size))\""
      + " text-anchor=\"\(anchor.rawValue)\"" + (isBold ? " font-weight=\"bold\"" : "")
      + (turned ? " transform=\"rotate(-90 \(x) \(y))\"" : "") + ">\(Self.escaped(text))</text>\n"
  }

  /// The whole document.
  var document: String {
    let (w, h) = (Self.number(width), Self.number(height))
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <svg xmlns="http://www.w3.org/2000/svg" width="\(w)" height="\(h)" viewBox="0 0 \(w) \(h)" \
      font-family="sans-serif">
      \(body)</svg>

      """
  }

  /// Escapes text for XML. Characters that XML does not allow are replaced.
  static func escaped(_ text: String) -> String {
    var result = ""
    for character in printable(text).unicodeScalars {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }

  /// A number with two decimal places; 0 when it is not finite.
  fileprivate static func number(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    let text = fixed(max(-1e6, min(1e6, value)), 2)
    guard text.contains(".") else { return text }
    var short = text[...]
    while short.last == "0" { short.removeLast() }
    if short.last == "." { short.removeLast() }
    return String(short)
  }
}
