// SPDX-License-Identifier: Apache-2.0

import Ranging
import Testing
import UWBLab
import UWBTestSupport

/// Results compared with the truth.
@Suite(.computes) struct ScoreTests {
  /// Distances of 2 m with the given errors in centimetres, and the truth beside them.
  private func ranges(_ errors: [Int], truth: String = "truth_cm") throws -> CSVTable {
    let rows = errors.enumerated().map { "\(Double($0) / 10),\(200 + $1),200" }
    return try CSVTable(text: "time_s,range_cm,\(truth)\n" + rows.joined(separator: "\n") + "\n")
  }

  @Test(arguments: ["truth", "truth_cm", "TRUTH", "2"])
  func errorsAreCounted(_ truth: String) throws {
    let table = try ranges([10, 10, 10, 10, 10, 10]).filteredRanges()
    let scores = try table.scores(truth: truth)
    let score = try #require(scores.first)
    #expect(scores.count == 1 && score.name == "range" && score.errors.count == 6)
    #expect(score.errors.allSatisfy { abs($0 - 0.1) < 0.01 })
    #expect(abs(score.rmse - 0.1) < 0.01 && abs(score.quantile(0.5) - 0.1) < 0.01)
    for (error, row) in zip(score.normalized, table.rows) {
      let value = try #require(row.value)
      #expect(abs(error - abs(value.distance - 2) / value.standardDeviation) < 1e-9)
    }
    let within = score.normalized.count { $0 <= 1 }
    #expect(score.share(within: 1) == Double(within) / 6)
    #expect(score.share(within: .infinity) == 1)
    #expect(score.description.hasPrefix("range: 6 rows, RMSE 0.1"))
    #expect(table.charts(with: scores).count == table.charts.count + 1)
  }

  @Test func rowsWithoutATruthAreLeftOut() throws {
    let table = try CSVTable(text: "time_s,range_m,truth_m\n0,2,2\n0.1,2,\n0.2,,2\n0.3,2,x\n")
    #expect(try table.filteredRanges().scores(truth: "truth")[0].errors.count == 1)
  }

  @Test func aTruthThatIsMissingIsAnError() throws {
    let table = try ranges([0, 1]).filteredRanges()
    let missing = #expect(throws: LabError.self) { try table.scores(truth: "reference") }
    #expect(missing?.description.contains("no column reference") == true)
    let empty = try CSVTable(text: "time_s,range_m,truth_m\n0,2,\n").filteredRanges()
    #expect(throws: LabError.self) { try empty.scores(truth: "truth") }
    // Without results, the reason for that is more useful than scores.
    let broken = try CSVTable(text: "time_s,range_m,truth_m\n12:30,2,2\n").filteredRanges()
    #expect(try broken.scores(truth: "truth").isEmpty)
    #expect(broken.problem?.description.contains("invalid_time_s") == true)
  }

  @Test(arguments: ["truth_deg", "truth_rad"])
  func aTruthOfAnotherQuantityIsAnError(_ name: String) throws {
    let table = try ranges([0, 1], truth: name).filteredRanges()
    let error = #expect(throws: LabError.self) { try table.scores(truth: name) }
    #expect(error?.description.contains(name) == true)
  }

  /// The bearing of a target, and its position.
  @Test func aColumnOfAnglesIsComparedWithAngles() throws {
    var text = "time_s,x,y,yaw_deg,range_m,north_deg,turn,turn_horizontal_angle\n"
    for step in 0..<120 {
      let (x, y) = (0.1 * Double(min(step, 60)), Double(step % 20) / 10)
      let range = ((3 - x) * (3 - x) + (4 - y) * (4 - y)).squareRoot()
      text += "\(Double(step) / 10),\(x),\(y),0,\(range),370,3,359\n"
    }
    let found = try CSVTable(text: text).targets(TargetFinder.Parameters())
    let scores = try found.scores(truth: "north_deg")
    #expect(scores.map(\.name) == ["horizontal_angle"])
    #expect(scores[0].errors.allSatisfy { abs($0) <= .pi })
    // The column has degrees, but no unit in its name.
    let error = #expect(throws: LabError.self) { try found.scores(truth: "turn") }
    #expect(error?.recoverySuggestion?.contains("turn_horizontal_angle_deg") == true)
  }

  @Test func positionsAreComparedAxisByAxisAndFromAbove() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(
      #"{"anchors": {"A": [0, 0, 2], "B": [6, 0, 2], "C": [0, 6, 2], "D": [6, 6, 2]}}"#,
      to: "anchors.json")
    var text = "time_s,anchor,range_m,true_x_m,true_y_m\n"
    for epoch in 0..<10 {
      for (name, x, y) in [("A", 0.0, 0.0), ("B", 6, 0), ("C", 0, 6), ("D", 6, 6)] {
        let range = ((x - 2) * (x - 2) + (y - 3) * (y - 3) + 1).squareRoot()
        // The stated truth is 0.3 and 0.4 m away from the position.
        text += "\(Double(epoch) / 5),\(name),\(range),2.3,3.4\n"
      }
    }
    let scores = try CSVTable(text: text).positions(try Anchors(file: file), height: 1)
      .scores(truth: "true")
    #expect(scores.map(\.name) == ["x", "y", "horizontal"])
    #expect(abs(scores[0].rmse - 0.3) < 0.02 && abs(scores[1].rmse - 0.4) < 0.02)
    #expect(abs(scores[2].rmse - 0.5) < 0.02 && scores[2].share(within: 1) == nil)
  }

  @Test func anglesAreComparedOnTheCircle() throws {
    var text = "time_s,x,y,yaw_deg,range_m,truth_deg\n"
    for step in 0..<50 {
      let (x, y) = (min(Double(step) * 0.1, 2.5), max(0, Double(step) * 0.1 - 2.5))
      let range = ((x + 1) * (x + 1) + (y + 2) * (y + 2)).squareRoot()
      text += "\(Double(step) * 0.1),\(x),\(y),0,\(range),\(step < 49 ? "" : "231.5")\n"
    }
    let scores = try CSVTable(
      text: text.replacing("truth_deg", with: "truth_horizontal_angle_deg")
    ).targets().scores(truth: "truth")
    let score = try #require(scores.first)
    #expect(score.name == "horizontal_angle" && score.errors.count == 1)
    #expect(abs(score.errors[0]) < 0.2 && score.description.contains("°"))
  }
}
