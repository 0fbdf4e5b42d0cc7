// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

@Suite("Report of a survey")
struct SurveyReportTests {
  @Test("numbers have a fixed count of decimals")
  func numbers() {
    #expect(fixed(1.005, 1) == "1.0")
    #expect(fixed(-0.04, 1) == "0.0")
    #expect(fixed(-12.06, 1) == "-12.1")
    #expect(fixed(2.05, 2) == "2.05")
    #expect(fixed(7.6, 0) == "8")
    #expect(fixed(.infinity, 2) == "–")
  }

  @Test("the report fits into 80 columns, and names all that is unsure")
  func report() throws {
    var site = SurveyTests.site(SurveyTests.hall, .clean, seed: 2)
    site.ranges.pairs.removeAll { $0.has(5) && ![0, 4].contains($0.other(5)) }
    let blocked = try #require(site.ranges.pairs.firstIndex { $0.first == 1 && $0.second == 3 })
    site.ranges.pairs[blocked].distance += 1.5
    site.ranges.dropped = [.init(first: 1, second: 5, reason: .few(2))]
    site.ranges.conflicts = [.init(first: 0, second: 1, forward: 10, backward: 11.5)]
    let gauge = SurveyGauge.anchors(0, at: [0, 0], 2, at: [20, 0], side: .init(4, isLeft: true))
    let survey = try Survey(site.ranges, anchors: site.anchors, gauge: gauge)
    let text = SurveyReport(survey, site.ranges).text
    let lines = text.split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 80 })
    #expect(text.contains("A2 is in direction 0.0°, A4 on the left."))
    #expect(text.contains("A1–A3 +1") && text.contains("!"))
    #expect(text.contains("AMBIGUOUS: A5 may be mirrored about the line A0–A4,"))
    #expect(text.contains("Left out: A1–A5, 2 ranges, of 5 needed."))
    #expect(text.contains("A0 measured 10.00 m to A1, and 11.50 m in return"))
    #expect(text.contains("Measure next: "))
    let shape = try Survey(site.ranges, anchors: site.anchors)
    #expect(SurveyReport(shape, site.ranges).text.contains("mirror image are open"))
  }
}
