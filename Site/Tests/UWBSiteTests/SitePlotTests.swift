// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("Plot of a site")
struct SitePlotTests {
  func site() throws -> Site { try Site(json: Array(SiteFileTests.hall.utf8)) }

  @Test("each floor has a panel with its own parts, and axes with units")
  func panels() throws {
    let svg = SitePlot(try site()).svg
    #expect(svg.hasPrefix("<svg xmlns="))
    #expect(svg.hasSuffix("</svg>\n"))
    for label in ["Hall 2, ground", "Hall 2, 1st", ">A1<", ">Dock<", ">gate<", ">x (m)<"] {
      #expect(svg.contains(label))
    }
    // The lift is on both floors, the anchor on one.
    #expect(svg.split(separator: ">lift<").count == 3)
    #expect(svg.split(separator: ">A1<").count == 2)
    #expect(svg.contains("drawn 5 times larger"))
  }

  @Test("an empty site and texts with marks of XML are documents, too")
  func marks() {
    #expect(SitePlot(Site()).svg.contains("</svg>"))
    #expect(SVG.escaped("<a & \"b\">\u{1}") == "&lt;a &amp; &quot;b&quot;&gt; ")
    var site = Site()
    site.name = "<&>"
    #expect(SitePlot(site).svg.contains(">&lt;&amp;&gt;<"))
  }

  @Test("labels of near points do not cover one another")
  func labels() {
    var placer = LabelPlacer(least: SIMD2(0, 0), greatest: SIMD2(900, 600))
    let places = (0..<6).map { number in
      placer.place(
        "anchor \(number)", beside: SIMD2(400 + 8 * Double(number), 300), distance: 6, size: 12)
    }
    for (i, one) in places.enumerated() {
      for other in places[..<i] {
        let apart = abs(one.y - other.y) >= 12 || abs(one.x - other.x) >= 0.62 * 12 * 8
        #expect(apart)
      }
    }
  }

  @Test("ticks are round, and their labels have the decimals they need", arguments: [3, 40, 700.0])
  func ticks(scale: Double) {
    let (values, decimals) = PlotFrame.ticks(from: -2.3, to: 17.9, scale: scale)
    #expect(values.count >= 1)
    for (value, next) in zip(values, values.dropFirst()) {
      #expect((next - value) * scale >= 59.9)
      #expect((next - value) * scale <= 800)
    }
    let texts = values.map { PlotFrame.text($0, decimals: decimals) }
    #expect(Set(texts).count == texts.count)
    #expect(PlotFrame.text(-0.04, decimals: 1) == "0.0")
    #expect(PlotFrame.text(-1.25, decimals: 2) == "−1.25")
  }

  @Test(
    "pixels have one decimal at most",
    arguments: [(0, "0"), (12.34, "12.3"), (-0.25, "-0.3"), (99.96, "100"), (-7, "-7")])
  func pixels(value: Double, text: String) {
    #expect(SVG.pixels(value) == text)
  }

  @Test("a drawing of a hundred anchors stays inside, with one label for each")
  func many() {
    var site = Site()
    site.anchors = (0..<100).map { number in
      var anchor = Site.Anchor(id: "anchor \(number)")
      let (x, y) = (Double(number % 10), Double(number / 10))
      anchor.place = Site.Place(
        position: SIMD3(3 * x, 2 * y, 2.5), deviation: SIMD3(0.03, 0.05, 0.02))
      return anchor
    }
    let svg = SitePlot(site).svg
    #expect(svg.split(separator: ">anchor ").count == 101)
    #expect(svg.split(separator: "<circle").count == 101)
    let places = svg.split(separator: "<text x=\"").dropFirst().map {
      Double($0.prefix { $0 != "\"" }) ?? -1
    }
    #expect(places.allSatisfy { $0 >= 0 && $0 < 900 })
  }

  @Test("both axes have one scale, and every point is inside")
  func frame() {
    let points = [SIMD2(0.0, 0), SIMD2(3, 50)]
    let frame = PlotFrame(around: points, top: 0, width: 900, tallest: 900)
    let pixels = points.map(frame.pixel)
    #expect(abs((pixels[1].x - pixels[0].x) / 3 - (pixels[0].y - pixels[1].y) / 50) < 1e-9)
    #expect(pixels.allSatisfy { $0.x > PlotFrame.left && $0.x < 876 })
    #expect(pixels.allSatisfy { $0.y > PlotFrame.above && $0.y < frame.height - PlotFrame.below })
  }
}
