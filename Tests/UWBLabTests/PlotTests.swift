// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationXML
import Ranging
import Testing
import UWBTestSupport

@testable import UWBLab

@Suite(.computes) struct PlotTests {
  /// Every element and its text, if the document is well-formed.
  private final class Reader: NSObject, XMLParserDelegate {
    var counts: [String: Int] = [:]
    var text = ""
    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
      qualifiedName: String?, attributes: [String: String]
    ) { counts[name, default: 0] += 1 }
    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string + "|" }
  }

  private func parsed(_ svg: String) throws -> Reader {
    let reader = Reader()
    let parser = XMLParser(data: Data(svg.utf8))
    parser.delegate = reader
    try #require(parser.parse(), "\(String(describing: parser.parserError))")
    return reader
  }

  @Test func textsAreEscaped() throws {
    let name = "<a href=\"x\">&amp; 'b' \u{1B}[2J \u{202E} \u{FFFE}"
    let chart = Chart(
      title: name, x: name, y: name,
      series: [Chart.Series(name, .blue, .labels([name]), [(0, 0)])],
      categories: [name])
    let svg = Figure([chart]).svg
    let reader = try parsed(svg)
    #expect(!svg.contains("\u{1B}") && !svg.contains("\u{202E}") && reader.counts["a"] == nil)
    #expect(reader.counts["text"] ?? 0 >= 6)
    #expect(SVGWriter.escaped("<&\"'>") == "&lt;&amp;&quot;&#39;&gt;")
  }

  @Test func anyNumbersGiveAWellFormedDocument() throws {
    let values = [0.0, .nan, .infinity, -.infinity, 1e300, -1e300, 1e-300, 5, 5]
    for a in values {
      for b in values {
        let points = [(a, b), (b, a), (0.0, 1.0)]
        let chart = Chart(
          title: "", x: "x", y: "y",
          series: [
            .init("p", .red, .points, points),
            .init("l", .red, .line, points),
            .init("b", .red, .band(points.map { ($0.0, $0.1, $0.0) })),
            .init("o", .red, .outlines([points])),
          ], isMap: a == 0)
        let svg = Figure([chart]).svg
        _ = try parsed(svg)
        #expect(!svg.contains("nan") && !svg.contains("inf") && !svg.contains("null"))
      }
    }
    _ = try parsed(Figure([Chart(title: "", x: "", y: "", series: [])]).svg)
  }

  @Test func ticksAreRound() {
    for (range, about, expected) in [
      (0.0...10.0, 5, ["0", "2", "4", "6", "8", "10"]),
      (-0.013...0.021, 4, ["−0.01", "0.00", "0.01", "0.02"]),
      (95.0...1020, 4, ["500", "1000"]),
      (2.0...2.6, 6, ["2.0", "2.2", "2.4", "2.6"]),
    ] {
      let ticks = AxisTicks(range, about: about)
      #expect(ticks.values.map(ticks.label) == expected, "\(range)")
    }
  }

  @Test func aTrackAtRestHasOneEllipse() throws {
    let covariance = Symmetric3(xx: 0.04, xy: 0, xz: 0, yy: 0.04, yz: 0, zz: 0)
    func ellipses(_ step: Double) -> Int {
      let track = (0..<20).map { (peer: "a", position: SIMD3(Double($0) * step, 0, 0), covariance) }
      guard case .outlines(let all)? = Chart.tracks("", track).series.first?.mark else { return 0 }
      return all.count
    }
    #expect(ellipses(0.001) == 1)
    #expect(ellipses(1) == 20)
  }

  @Test func ellipsesHold95OfAHundred() throws {
    let factor = 2.4477
    let covariance = Symmetric3(xx: 4, xy: 0, xz: 0, yy: 1, yz: 0, zz: 0)
    let outline = try #require(Chart.ellipse(SIMD3<Double>(10, 20, 0), covariance))
    #expect(abs((outline.map(\.x).max() ?? 0) - 10 - 2 * factor) < 1e-9)
    #expect(abs((outline.map(\.y).max() ?? 0) - 20 - factor) < 0.02)
    // Turned by 45 degrees, long along x = y.
    let turned = Symmetric3(xx: 2.5, xy: 1.5, xz: 0, yy: 2.5, yz: 0, zz: 0)
    let far = try #require(
      Chart.ellipse(.zero, turned)?.max {
        $0.x * $0.x + $0.y * $0.y < $1.x * $1.x + $1.y * $1.y
      })
    #expect(abs(far.x - far.y) < 1e-9 && abs(abs(far.x) - factor * 2.0.squareRoot()) < 1e-9)
    #expect(Chart.ellipse(.zero, Symmetric3(xx: 1, xy: 2, xz: 0, yy: 1, yz: 0, zz: 0)) == nil)
  }

  @Test func aFilteredRecordingWithOutliers() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var text = "time_s,range_m\n"
    for step in 0..<200 { text += "\(step),\(step == 100 ? 90 : 3 + Double(step % 3) / 50)\n" }
    let path = folder.path("plot.svg")
    let charts = try CSVTable(text: text).filteredRanges().charts
    try Figure(charts).write(to: path)
    let reader = try parsed(try folder.read("plot.svg"))
    // The outlier is far beyond the axes: the chart has an arrow head there, and the legend
    // explains it.
    #expect(reader.text.contains("outliers (1 beyond the axes)"))
    #expect(
      reader.text.contains("range (m)") && reader.text.contains("time since the first row (s)"))
    #expect(reader.counts["circle"] ?? 0 > 190 && reader.counts["polygon"] ?? 0 >= 2)
    let error = #expect(throws: LabError.self) { try Figure(charts).write(to: "/nowhere/plot.svg") }
    #expect(error?.code == .notCreated)
  }
}
