// SPDX-License-Identifier: Apache-2.0

import Foundation
import SiteScenarios
import UWBSite

/// R3: a walk with a rig of three tags past eight anchors, on the data set lias.
enum WalkFigures {
  static let rig = WalkRig([
    .init("t0", [-0.0689, -0.1423, 0.965]), .init("t1", [-0.0750, 0.1402, 0.966]),
    .init("t2", [0.2034, 0.1451, 0.963]),
  ])

  /// The truth by motion capture, from the description of the data set.
  static let truth: [SIMD3<Double>] = [
    [-3.4203, 3.0053, 1.0442], [0.0016, 3.0110, 1.0446], [3.6056, 2.9795, 1.0463],
    [3.6011, -0.0008, 1.0422], [3.5674, -3.0087, 1.0443], [-0.0072, -2.9652, 1.0444],
    [-3.4673, -2.9587, 1.0445], [-3.4858, -0.0098, 1.0457],
  ]

  static func run(_ folder: String) throws {
    let path = folder + "/Planar_Dataset/Dynamic/UWB_dynamic_exp_fast.csv"
    let readings = try read(path)
    let heights = Dictionary(
      uniqueKeysWithValues: truth.enumerated().map { ("a\($0)", $1.z) })
    let nothing = try errors(
      WalkSurvey(readings, rig: rig, delay: 0, delayDeviation: 0.001, heights: heights))
    for poses in [60, 200, 500] {
      let survey = try WalkSurvey(
        readings, rig: rig, delay: 0.188, heights: heights, poses: poses)
      let found = errors(survey)
      let lengths = found.map(\.error)
      let title = "walk, \(survey.poses) places of the rig"
      print(
        Figure(
          id: "R3", quantity: "\(title), RMSE", unit: "cm",
          textbook: ("nothing subtracted", 100 * Errors.rms(nothing.map(\.error))),
          value: 100 * Errors.rms(lengths), aim: 0...6.8
        ).line)
      print(
        Figure(
          id: "R3", quantity: "\(title), worst", unit: "cm",
          textbook: ("nothing subtracted", 100 * (nothing.map(\.error).max() ?? 0)),
          value: 100 * (lengths.max() ?? 0), aim: 0...10
        ).line)
      let deviations = found.map(\.squaredDeviations)
      print(
        "     ellipses contain \(Errors.share(deviations, within: 2.28)) and "
          + "\(Errors.share(deviations, within: 6.18)) %; the mirror image costs "
          + "\(survey.mirrorCost.rounded()) more")
    }
  }

  private static func errors(
    _ survey: WalkSurvey
  ) -> [(error: Double, squaredDeviations: Double)] {
    let places = truth.indices.compactMap { index in
      survey.places.first { $0.id == "a\(index)" }
    }
    return SimulatedSurvey.scores(
      of: places.map { ($0.position, $0.ellipse) }, truth: truth.map { SIMD2($0.x, $0.y) })
  }

  /// Reads rows of a time and 24 ranges, anchor by anchor; empty cells are lost ranges.
  private static func read(_ path: String) throws -> [WalkReading] {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    return text.split(whereSeparator: \.isNewline).flatMap { line -> [WalkReading] in
      let cells = line.split(separator: ",", omittingEmptySubsequences: false)
      let time = NumberTable.number(cells[0])
      guard cells.count >= 25, time.isFinite else { return [] }
      return (0..<24).compactMap { index in
        Double(cells[index + 1].trimmingCharacters(in: .whitespaces)).map {
          WalkReading(
            time: time, tag: "t\(index % 3)", anchor: "a\(index / 3)", distance: $0)
        }
      }
    }
  }
}
