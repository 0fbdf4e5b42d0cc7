// SPDX-License-Identifier: Apache-2.0

import Formats
import FoundationEssentials
import System
import UWBLink

/// Charts, one below the other, as an SVG file.
public struct Figure {
  private let charts: [Chart]

  private static let width = 860.0
  private static let text = "#808080"
  /// The greatest number of points in a series. More cannot be distinguished, and make viewers
  /// slow.
  private static let mostPoints = 4000

  /// Creates a figure of charts.
  public init(_ charts: [Chart]) { self.charts = charts }

  /// Writes an SVG file completely or not at all.
  ///
  /// - Throws: `LabError` with `.notCreated`.
  public func write(to path: String) throws(LabError) {
    do { try OutputFile.write(Array(svg.utf8), to: path) } catch { throw .notCreated(path, error) }
  }

  /// Checks that a figure can be written. Changes nothing.
  ///
  /// - Throws: `LabError` with `.notCreated`.
  package static func check(output path: String) throws(LabError) {
    do { try OutputFile.check(path) } catch { throw .notCreated(path, error) }
  }

  /// The figure as an SVG document.
  public var svg: String {
    let heights = charts.map { $0.isMap ? 660.0 : 340 }
    var writer = SVGWriter(width: Self.width, height: heights.reduce(0, +))
    var top = 0.0
    for (chart, height) in zip(charts, heights) {
      Self.draw(chart, Frame(chart, top: top, width: Self.width, height: height), &writer)
      top += height
    }
    return writer.document
  }

  /// Maps the units of a chart to pixels.
  private struct Frame {
    let top: Double
    let x: ClosedRange<Double>
    let y: ClosedRange<Double>
    let left = 74.0
    let right: Double
    let upper: Double
    let lower: Double

    init(_ chart: Chart, top: Double, width: Double, height: Double) {
      self.top = top
      right = width - 24
      upper = top + 62
      lower = top + height - 52
      var (x, y) = chart.limits()
      if chart.isMap {
        // The axis with more room is extended, so that both have one scale.
        let scale = max(
          (x.upperBound - x.lowerBound) / (right - left),
          (y.upperBound - y.lowerBound) / (lower - upper))
        func widened(_ range: ClosedRange<Double>, _ pixels: Double) -> ClosedRange<Double> {
          let middle = (range.lowerBound + range.upperBound) / 2
          return (middle - scale * pixels / 2)...(middle + scale * pixels / 2)
        }
        (x, y) = (widened(x, right - left), widened(y, lower - upper))
      }
      (self.x, self.y) = (x, y)
    }

    func position(_ point: Chart.Point) -> (x: Double, y: Double) {
      let across = (point.x - x.lowerBound) / (x.upperBound - x.lowerBound)
      let down = (y.upperBound - point.y) / (y.upperBound - y.lowerBound)
      return (left + across * (right - left), upper + down * (lower - upper))
    }

    func holds(_ point: Chart.Point) -> Bool { x.contains(point.x) && y.contains(point.y) }

    func clamped(_ point: Chart.Point) -> Chart.Point {
      (
        max(x.lowerBound, min(x.upperBound, point.x)), max(y.lowerBound, min(y.upperBound, point.y))
      )
    }
  }

  private static func draw(_ chart: Chart, _ frame: Frame, _ writer: inout SVGWriter) {
    writer.text(
      chart.title, at: (frame.left, frame.top + 22), text, size: 15, isBold: true)
    drawAxes(chart, frame, &writer)
    for series in chart.series { draw(series, frame, &writer) }
    drawLegend(chart, frame, &writer)
  }

  // MARK: axes

  private static func drawAxes(_ chart: Chart, _ frame: Frame, _ writer: inout SVGWriter) {
    let grid = SVGWriter.Style.stroke(text, width: 0.6, opacity: 0.3)
    let ticks = AxisTicks(frame.y, about: 6)
    for value in ticks.values {
      let y = frame.position((frame.x.lowerBound, value)).y
      writer.line((frame.left, y), (frame.right, y), grid)
      writer.text(ticks.label(value), at: (frame.left - 8, y + 4), text, anchor: .end)
    }
    if let categories = chart.categories {
      // As many names as fit are shown.
      let step = max(1, categories.count * 46 / Int(frame.right - frame.left) + 1)
      for index in stride(from: 0, to: categories.count, by: step) {
        let x = frame.position((Double(index), frame.y.lowerBound)).x
        writer.text(categories[index], at: (x, frame.lower + 18), text, size: 11, anchor: .middle)
      }
    } else {
      let ticks = AxisTicks(frame.x, about: 8)
      for value in ticks.values {
        let x = frame.position((value, frame.y.lowerBound)).x
        writer.line((x, frame.upper), (x, frame.lower), grid)
        writer.text(ticks.label(value), at: (x, frame.lower + 18), text, anchor: .middle)
      }
    }
    let edge = SVGWriter.Style.stroke(text, width: 1, opacity: 0.8)
    writer.line((frame.left, frame.lower), (frame.right, frame.lower), edge)
    writer.line((frame.left, frame.upper), (frame.left, frame.lower), edge)
    let middle = ((frame.left + frame.right) / 2, (frame.upper + frame.lower) / 2)
    writer.text(chart.x, at: (middle.0, frame.lower + 38), text, size: 13, anchor: .middle)
    writer.text(
      chart.y, at: (frame.left - 54, middle.1), text, size: 13, anchor: .middle, turned: true)
  }

  private static func drawLegend(_ chart: Chart, _ frame: Frame, _ writer: inout SVGWriter) {
    var x = frame.left
    let y = frame.top + 44
    for series in chart.series where !series.name.isEmpty {
      let colour = series.colour.rawValue
      switch series.mark {
      case .points, .labels: writer.circle((x + 8, y - 4), radius: 3.5, .fill(colour))
      case .line: writer.line((x, y - 4), (x + 16, y - 4), .stroke(colour, width: 2))
      case .outlines: writer.circle((x + 8, y - 4), radius: 5, .stroke(colour))
      case .bars: writer.line((x + 8, y - 10), (x + 8, y + 2), .stroke(colour, width: 2))
      case .band:
        writer.path(
          [(x, y - 9), (x + 16, y - 9), (x + 16, y + 1), (x, y + 1)],
          .fill(colour, opacity: 0.3))
      }
      var name = series.name
      let beyond = series.points.count { !frame.holds($0) }
      if beyond > 0 { name += " (\(beyond) beyond the axes)" }
      writer.text(name, at: (x + 22, y), text)
      x += 38 + 6.6 * Double(name.count)
    }
  }

  // MARK: data

  private static func draw(
    _ series: Chart.Series, _ frame: Frame, _ writer: inout SVGWriter
  ) {
    let colour = series.colour.rawValue
    switch series.mark {
    case .points: drawPoints(series, frame, &writer)
    case .labels(let names):
      for (point, name) in zip(series.points, names) where frame.holds(point) {
        let (x, y) = frame.position(point)
        writer.circle((x, y), radius: 4, .fill(colour))
        writer.text(name, at: (x + 7, y - 6), text)
      }
    case .line:
      // Points that are not finite are gaps.
      for piece in series.points.split(whereSeparator: { !$0.x.isFinite || !$0.y.isFinite }) {
        let points = thinned(Array(piece)).map { frame.position(frame.clamped($0)) }
        writer.path(points, .stroke(colour, width: 1.6))
      }
    case .band(let list):
      let isGap = { (row: (x: Double, low: Double, high: Double)) in
        !(row.x.isFinite && row.low.isFinite && row.high.isFinite)
      }
      for piece in list.split(whereSeparator: isGap) {
        let rows = thinned(Array(piece))
        let outline = rows.map { ($0.x, $0.high) } + rows.reversed().map { ($0.x, $0.low) }
        writer.path(
          outline.map { frame.position(frame.clamped($0)) }, .fill(colour, opacity: 0.3))
      }
    case .bars(let list):
      for bar in list where bar.x.isFinite && bar.low.isFinite && bar.high.isFinite {
        let ends = [(bar.x, bar.low), (bar.x, bar.high)].map { frame.position(frame.clamped($0)) }
        writer.line(ends[0], ends[1], .stroke(colour, width: 2))
      }
    case .outlines(let list):
      // Outlines that leave the chart are not drawn, because their visible arcs would be confusing.
      for outline in list where outline.allSatisfy({ frame.holds($0) }) {
        guard let first = outline.first else { continue }
        writer.path(
          (outline + [first]).map { frame.position($0) }, .stroke(colour, width: 1, opacity: 0.7))
      }
    }
  }

  private static func drawPoints(
    _ series: Chart.Series, _ frame: Frame, _ writer: inout SVGWriter
  ) {
    let colour = series.colour.rawValue
    let finite = series.points.filter { $0.x.isFinite && $0.y.isFinite }
    let radius = finite.count > 600 ? 1.4 : 2.2
    for point in thinned(finite) {
      let (x, y) = frame.position(frame.clamped(point))
      if frame.holds(point) {
        writer.circle((x, y), radius: radius, .fill(colour, opacity: 0.75))
      } else {
        // An arrow head at the edge points towards the value.
        let sign = point.y > frame.y.upperBound ? 1.0 : -1
        writer.path(
          [(x - 4, y + 6 * sign), (x + 4, y + 6 * sign), (x, y)], .fill(colour))
      }
    }
  }

  private static func thinned<T>(_ list: [T]) -> [T] {
    guard list.count > mostPoints else { return list }
    let step = Double(list.count) / Double(mostPoints)
    return (0..<mostPoints).map { list[Int(Double($0) * step)] }
  }
}

/// Writes SVG 1.1, with coordinates in pixels from the upper left.
struct SVGWriter {
  private var body = ""
  private let width: Double
  private let height: Double

  init(width: Double, height: Double) { (self.width, self.height) = (width, height) }

  /// The style of an element: filled, or an outline.
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

  /// Connects points with lines. Closes the path if it is filled.
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

  var document: String {
    let (w, h) = (Self.number(width), Self.number(height))
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <svg xmlns="http://www.w3.org/2000/svg" width="\(w)" height="\(h)" viewBox="0 0 \(w) \(h)" \
      font-family="sans-serif">
      \(body)</svg>

      """
  }

  /// Escapes text for XML. Replaces characters that XML does not allow.
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

  /// Returns a number with two decimal places; 0 if it is not finite.
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
