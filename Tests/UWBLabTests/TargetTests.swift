// SPDX-License-Identifier: Apache-2.0

import Ranging
import Testing
import UWBTestSupport
import UWBLab

@Suite(.computes) struct TargetTests {
  @Test func aTargetIsLocatedWhileMoving() throws {
    var text = "time_s,x,y,z,qw,qx,qy,qz,range_m,azimuth_deg\n"
    for step in 0..<50 {
      let (x, y) = (min(Double(step) * 0.1, 2.5), max(0, Double(step) * 0.1 - 2.5))
      let range = ((x + 1) * (x + 1) + (y + 2) * (y + 2)).squareRoot()
      text += "\(Double(step) * 0.1),\(x),\(y),1,1,0,0,0,\(range),\n"
    }
    text += "9,1,,1,1,0,0,0,2,\n"
    let run = try ComputedText(try CSVTable(text: text).targets())
    #expect(
      run.header.suffix(9) == [
        "target_x_m", "target_y_m", "target_z_m", "horizontal_angle_deg", "angle_sigma_deg",
        "vertical", "converged", "reasons", "status",
      ])
    #expect(run.column("converged")[5] == "0" && run.column("reasons")[5].contains("movement"))
    #expect(run.column("converged")[49] == "1")
    #expect(abs(run.numbers("target_x_m")[49] + 1) < 0.2)
    #expect(abs(run.numbers("target_y_m")[49] + 2) < 0.2)
    #expect(run.column("status")[50] == "missing_y" && run.column("target_x_m")[50].isEmpty)
  }

  /// A column that states smaller constant errors makes directions more certain.
  @Test func constantErrorsOfAColumnReplaceTheAssumption() throws {
    func deviation(_ column: String, _ value: String) throws -> Double {
      var text = "time_s,x,y,yaw_deg,range_m\(column)\n"
      for step in 0..<40 {
        let (x, y) = (min(Double(step) * 0.1, 2), max(0, Double(step) * 0.1 - 2))
        let range = ((x - 4) * (x - 4) + (y + 2) * (y + 2)).squareRoot()
        text += "\(Double(step) * 0.1),\(x),\(y),0,\(range)\(value)\n"
      }
      return try ComputedText(try CSVTable(text: text).targets()).numbers("angle_sigma_deg")[39]
    }
    let assumed = try deviation("", "")
    #expect(try deviation(",bias_sigma_m", ",0.3") == assumed)
    #expect(try deviation(",bias_sigma_m", ",") == assumed)
    #expect(try deviation(",bias_sigma_m", ",0.02") < 0.95 * assumed)
  }

  @Test(arguments: [
    ("yaw", "yaw_deg"), ("azimuth,yaw_deg", "azimuth_deg"), ("heading", "neither"),
  ])
  func anglesInDegreesNeedTheirUnit(_ columns: String, _ next: String) throws {
    let cells = columns.split(separator: ",").map { _ in "90" }.joined(separator: ",")
    let table = try CSVTable(text: "time_s,x,y,range_m,\(columns)\n0,0,0,3,\(cells)\n")
    let error = #expect(throws: LabError.self) { try table.targets() }
    let text = "\(error?.description ?? "") \(error?.recoverySuggestion ?? "")"
    #expect(text.contains(next), "\(text)")
  }

  /// Angles need their unit, however small they are.
  @Test(arguments: ["azimuth", "yaw"])
  func smallAnglesNeedTheirUnit(_ column: String) throws {
    let other = column == "yaw" ? "azimuth_deg" : "yaw_deg"
    var text = "time_s,x,y,range_m,\(column),\(other)\n"
    for step in 0..<40 { text += "\(Double(step) * 0.1),\(step),0,3,0.5,7\n" }
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(text, to: "in.csv")
    func live(_ format: CSVTable.Format) throws -> Int {
      _ = try RowComputation.run(from: file, to: folder.path("out.csv"), format) {
        table throws(LabError) in try table.locating(TargetFinder.Parameters())
      }
      return try folder.read("out.csv").split(separator: "\n").count
    }
    for refused in [
      #expect(throws: LabError.self) { try CSVTable(text: text).targets() },
      #expect(throws: LabError.self) { try live(.init()) },
    ] {
      #expect(refused?.line == 1 && refused?.description.contains(" \(column) ") == true)
      #expect(refused?.recoverySuggestion?.contains("--unit \(column)=deg") == true)
    }
    for unit in ["rad", "deg"] {
      var format = CSVTable.Format()
      let isSet = format.setUnits("\(column)=\(unit)")
      #expect(isSet)
      #expect(
        try CSVTable(Array(text.utf8), format).targets().rows.count == 40)
      #expect(try live(format) == 41)
    }
  }

  /// Two coordinates and a yaw are equivalent to a pose that turns about the vertical axis.
  @Test func aYawStandsForAQuaternion() throws {
    var (flat, full) = ("time_s,x,y,yaw_deg,range_m\n", "time_s,x,y,z,qw,qx,qy,qz,range_m\n")
    for step in 0..<50 {
      let (x, y) = (min(Double(step) * 0.1, 2.5), max(0, Double(step) * 0.1 - 2.5))
      let range = ((x + 1) * (x + 1) + (y + 2) * (y + 2)).squareRoot()
      flat += "\(Double(step) * 0.1),\(x),\(y),60,\(range)\n"
      full += "\(Double(step) * 0.1),\(x),\(y),0,\(0.75.squareRoot()),0,0,0.5,\(range)\n"
    }
    let runs = try [flat, full].map { try ComputedText(try CSVTable(text: $0).targets()) }
    #expect(runs[0].column("converged")[49] == "1")
    for name in ["target_x_m", "target_y_m", "horizontal_angle_deg", "angle_sigma_deg"] {
      for (a, b) in zip(runs[0].numbers(name), runs[1].numbers(name)) { #expect(abs(a - b) < 0.01) }
    }
  }
}
