// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

@Suite("Survey by walking")
struct WalkSurveyTests {
  static let rig = WalkRig([
    .init("t0", [0, 0, 1]), .init("t1", [0.4, 0, 1]), .init("t2", [0, 0.3, 1.1]),
  ])
  static let anchors: [SIMD2<Double>] = [[0, 0], [8, 0.5], [9, 7], [4, 9], [-1, 6]]

  /// Ranges on a path of two loops, with a delay and with noise.
  static func readings(
    noise: Double, delay: Double = 0.2, hidden: Set<Int> = []
  ) -> [WalkReading] {
    var random = SeededNormal(seed: 3)
    var result: [WalkReading] = []
    for step in 0..<60 {
      let angle = Double(step) * 0.21
      let place = SIMD2(4 + 3 * Math.cos(angle), 4 + 2.5 * Math.sin(1.5 * angle))
      let heading = SIMD2(Math.cos(2 * angle), Math.sin(2 * angle))
      for tag in rig.tags {
        let lever = tag.position.x * heading + tag.position.y * heading.normal
        for (index, anchor) in anchors.enumerated() where !(hidden.contains(index) && step < 45) {
          let rise = 2.5 - tag.position.z
          let length = ((place + lever - anchor).lengthSquared + rise * rise).squareRoot()
          result.append(
            WalkReading(
              time: Double(step), tag: tag.id, anchor: "A\(index)",
              distance: length + delay + noise * random.next()))
        }
      }
    }
    return result
  }

  static let heights = Dictionary(uniqueKeysWithValues: (0..<5).map { ("A\($0)", 2.5) })

  func scores(
    _ survey: WalkSurvey
  ) -> [(error: Double, squaredDeviations: Double)] {
    SimulatedSurvey.scores(
      of: survey.places.map { ($0.position, $0.ellipse) }, truth: Self.anchors)
  }

  @Test("exact ranges give the places from no start values, in the rig's handedness")
  func exact() throws {
    let survey = try WalkSurvey(
      Self.readings(noise: 0), rig: Self.rig, delay: 0.2, heights: Self.heights)
    #expect(scores(survey).allSatisfy { $0.error < 0.01 })
    #expect(survey.mirrorCost > 100)
    let motion = RigidMotion.nearest(from: survey.places.map(\.position), to: Self.anchors)
    #expect(!motion.isMirrored)
    #expect(survey.report.contains("A4"))
  }

  @Test("an anchor that the rig meets late is found, and noise stays within the ellipses")
  func late() throws {
    let survey = try WalkSurvey(
      Self.readings(noise: 0.05, hidden: [4]), rig: Self.rig, delay: 0.2, heights: Self.heights)
    let found = scores(survey)
    #expect(found.count == 5)
    #expect(found.allSatisfy { $0.error < 0.25 && $0.squaredDeviations < 14 })
  }

  @Test("delays of anchors widen the ellipses rather than contradict them", arguments: [0.0, 0.1])
  func delays(_ delay: Double) throws {
    var readings = Self.readings(noise: 0.03)
    for index in readings.indices where readings[index].anchor == "A2" {
      readings[index].distance += delay
    }
    let survey = try WalkSurvey(readings, rig: Self.rig, delay: 0.2, heights: Self.heights)
    #expect(scores(survey).allSatisfy { $0.error < 0.15 && $0.squaredDeviations < 9 })
    // The delay of a board is 5 cm, and lies along the ranges to it.
    #expect(survey.places.allSatisfy { $0.ellipse.axes.major > 0.04 })
  }

  @Test("rigs and paths that leave the places open are refused")
  func refused() {
    let line = WalkRig([
      .init("t0", [0, 0, 1]), .init("t1", [0.2, 0, 1]), .init("t2", [0.4, 0, 1]),
    ])
    let readings = Self.readings(noise: 0)
    #expect(throws: WalkSurveyError.rig(tags: 3, width: 0)) {
      try WalkSurvey(readings, rig: line, delay: 0, heights: Self.heights)
    }
    #expect(throws: WalkSurveyError.self) {
      try WalkSurvey(
        readings.filter { $0.time < 10 }, rig: Self.rig, delay: 0, heights: Self.heights)
    }
  }
}
