// SPDX-License-Identifier: Apache-2.0

/// A drawing in pixels, from elements that are appended.
struct SVG {
  enum Anchor: String {
    case start, middle, end
  }

  private var elements: [String] = []

  /// Formats pixels with one decimal.
  static func pixels(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0
      ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  mutating func line(_ from: SIMD2<Double>, _ to: SIMD2<Double>, _ style: String) {
    elements.append(
      "<path d=\"M\(Self.place(from)) L\(Self.place(to))\" \(style)/>")
  }

  mutating func path(_ points: [SIMD2<Double>], _ style: String) {
    guard !points.isEmpty else { return }
    elements.append(
      "<path d=\"M\(points.map(Self.place).joined(separator: " L"))Z\" \(style)/>")
  }

  mutating func circle(_ center: SIMD2<Double>, radius: Double, _ style: String) {
    elements.append(
      "<circle cx=\"\(Self.pixels(center.x))\" cy=\"\(Self.pixels(center.y))\""
        + " r=\"\(Self.pixels(radius))\" \(style)/>")
  }

  mutating func text(
    _ text: String, at place: SIMD2<Double>, size: Double = 12, anchor: Anchor = .start,
    colour: String = "#222", isTurned: Bool = false
  ) {
    let (x, y) = (Self.pixels(place.x), Self.pixels(place.y))
    let turn = isTurned ? " transform=\"rotate(-90 \(x) \(y))\"" : ""
    elements.append(
      "<text x=\"\(x)\" y=\"\(y)\" font-size=\"\(Self.pixels(size))\" fill=\"\(colour)\""
        + " text-anchor=\"\(anchor.rawValue)\"\(turn)>\(Self.escaped(text))</text>")
  }

  func document(width: Double, height: Double) -> String {
    let size = "width=\"\(Self.pixels(width))\" height=\"\(Self.pixels(height))\""
    let box = "viewBox=\"0 0 \(Self.pixels(width)) \(Self.pixels(height))\""
    return """
      <svg xmlns="http://www.w3.org/2000/svg" \(size) \(box) font-family="sans-serif">
      <rect \(size) fill="#fff"/>
      \(elements.joined(separator: "\n"))
      </svg>

      """
  }

  private static func place(_ point: SIMD2<Double>) -> String {
    "\(pixels(point.x)) \(pixels(point.y))"
  }

  /// Escapes the special characters of XML, and replaces the characters that XML forbids.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case _ where scalar.value < 0x20 || 0xFFFE...0xFFFF ~= scalar.value: result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
