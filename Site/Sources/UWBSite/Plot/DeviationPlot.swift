// SPDX-License-Identifier: Apache-2.0

/// A drawing of the expected deviation over a site, as coloured squares.
package struct DeviationPlot: Sendable {
  private static let width = 900.0
  /// The colour of a square by its deviation, with the exclusive upper limit in metres.
  private static let steps: [(limit: Double, colour: String)] = [
    (0.1, "#1a9850"), (0.2, "#91cf60"), (0.3, "#d9ef8b"), (0.5, "#fee08b"), (1, "#fc8d59"),
    (.infinity, "#d73027"),
  ]

  private let site: Site
  private let expected: ExpectedDeviation

  package init(_ site: Site, _ expected: ExpectedDeviation) {
    (self.site, self.expected) = (site, expected)
  }

  /// The drawing as an SVG document.
  package var svg: String {
    let points = site.anchors.compactMap { $0.place.map { SIMD2($0.position.x, $0.position.y) } }
    let frame = PlotFrame(around: points, top: 24, width: Self.width, tallest: 924)
    var svg = SVG()
    drawSquares(frame, &svg)
    frame.drawAxes(&svg)
    for (anchor, point) in zip(site.anchors.filter { $0.place != nil }, points) {
      let pixel = frame.pixel(point)
      svg.circle(pixel, radius: 3.5, "fill=\"#0b62a4\"")
      svg.text(anchor.id, at: pixel + SIMD2(6, -6), colour: "#0b62a4")
    }
    drawLegend(&svg)
    return svg.document(width: Self.width, height: 24 + frame.height)
  }

  /// Draws each row of squares as strips of one colour.
  private func drawSquares(_ frame: PlotFrame, _ svg: inout SVG) {
    let side = 12 / frame.scale
    let count = (frame.greatest - frame.least) / side
    for row in 0..<Int(count.y.rounded(.up)) {
      let bottom = frame.least.y + side * Double(row)
      let top = min(frame.greatest.y, bottom + side)
      var start = frame.least.x
      var colour: String?
      for column in 0..<Int(count.x.rounded(.up)) {
        let left = frame.least.x + side * Double(column)
        let right = min(frame.greatest.x, left + side)
        let here = Self.colour(expected.at(SIMD2(left + right, bottom + top) / 2))
        guard here != colour else { continue }
        if let colour { drawStrip(SIMD2(start, bottom), SIMD2(left, top), colour, frame, &svg) }
        (start, colour) = (left, here)
      }
      if let colour {
        drawStrip(SIMD2(start, bottom), SIMD2(frame.greatest.x, top), colour, frame, &svg)
      }
    }
  }

  private func drawStrip(
    _ least: SIMD2<Double>, _ greatest: SIMD2<Double>, _ colour: String, _ frame: PlotFrame,
    _ svg: inout SVG
  ) {
    let corners = [least, SIMD2(greatest.x, least.y), greatest, SIMD2(least.x, greatest.y)]
    svg.path(corners.map(frame.pixel), Self.fill(colour) + " shape-rendering=\"crispEdges\"")
  }

  private static func colour(_ deviation: Double) -> String {
    steps.first { deviation < $0.limit }?.colour ?? "#888"
  }

  private static func fill(_ colour: String) -> String {
    "fill=\"\(colour)\" fill-opacity=\"0.7\""
  }

  private func drawLegend(_ svg: inout SVG) {
    let name = site.name.isEmpty ? "" : "\(site.name): "
    svg.text(
      "\(name)expected deviation along the longest axis", at: SIMD2(PlotFrame.left, 24), size: 15)
    var x = PlotFrame.left
    for (limit, colour) in Self.steps {
      let square = [SIMD2(x, 36), SIMD2(x + 14, 36), SIMD2(x + 14, 50), SIMD2(x, 50)]
      svg.path(square, Self.fill(colour))
      let text = limit.isFinite ? "< \(Plan.text(limit)) m" : "more"
      svg.text(text, at: SIMD2(x + 19, 48))
      x += 90
    }
  }
}
