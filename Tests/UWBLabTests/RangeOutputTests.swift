// SPDX-License-Identifier: Apache-2.0

import Estimators
import Ranging
import Testing
import UWBTestSupport

@testable import UWBLab

/// Tables that `uwbctl range --format csv` has written.
@Suite(.computes) struct RangeOutputTests {
  /// Twenty rounds at 3 m, for which the chip reports 3.29 m.
  private static func table(corrected: Double, deviation: Double) throws -> CSVTable {
    let header =
      "time_s,peer,distance_cm,estimate_sd_m,computed_m,computed_sd_m,estimate_short_sd_m,"
      + "computed_noise_m\n"
    let rows = (0..<20).map {
      "0.\($0 + 10),0x0001,329,\(deviation),\(corrected),\(deviation + 0.01),0.0700,0.0500\n"
    }
    return try CSVTable(text: header + rows.joined())
  }

  @Test("The calibration and the constant error of range remain")
  func filter() throws {
    let uncalibrated = try Self.table(corrected: 3.29, deviation: 0.308).filteredRanges().rows
    let before = try #require(uncalibrated.last?.value)
    #expect(abs(before.distance - 3.29) < 0.001 && before.standardDeviation > 0.3)
    let calibrated = try Self.table(corrected: 3, deviation: 0.086).filteredRanges().rows
    let after = try #require(calibrated.last?.value)
    #expect(abs(after.distance - 3) < 0.001)
    #expect(0.08..<0.12 ~= after.standardDeviation)
  }

  @Test func aCalibrationOfTheTableTakesTheDistanceOfTheChip() throws {
    var calibration = RangingCalibration()
    calibration.delay = 0.19
    let table = try Self.table(corrected: 3, deviation: 0.086)
    let rows = try table.filteredRanges(calibration: calibration).rows
    let last = try #require(rows.last?.value)
    #expect(abs(last.distance - 3.1) < 0.001)
  }

  @Test func positionsTakeTheCalibratedDistance() throws {
    var text =
      "time_s,peer,distance_cm,estimate_sd_m,computed_m,computed_sd_m,estimate_short_sd_m,"
      + "computed_noise_m\n"
    for time in 0..<20 {
      for (peer, distance) in [("A", 5.0), ("B", 5.0), ("C", 4.0)] {
        text +=
          "0.\(time + 10),\(peer),\(Int(distance * 100) + 60),0.09,\(distance),0.1,0.07,0.05\n"
      }
    }
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(
      #"{"A": [-3, 0, 1], "B": [3, 0, 1], "C": [0, 8, 1]}"#, to: "anchors.json")
    let rows = try CSVTable(text: text).positions(Anchors(file: file), height: 1).rows
    let place = try #require(rows.last?.value).position
    #expect(abs(place.x) < 0.01 && abs(place.y - 4) < 0.02, "\(place)")
  }
}
