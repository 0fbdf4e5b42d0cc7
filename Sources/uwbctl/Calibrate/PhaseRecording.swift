// SPDX-License-Identifier: Apache-2.0

import Glibc
import Ranging

/// Phases out of a table, with angles or with times.
struct PhaseRecording {
  private let table: CSVTable
  /// The columns with phases.
  let columns: [String]

  init(file: String, columns wanted: [String]) throws(ComputeError) {
    table = try CSVTable(try ComputeFiles.read(file))
    let header = table.header
    for name in wanted where !header.contains(name) {
      throw .missingColumn(name, has: header)
    }
    columns = wanted.isEmpty ? header.filter { $0.lowercased().hasPrefix("pdoa") } : wanted
    guard !columns.isEmpty else { throw .missingColumn("pdoa_rad", has: header) }
  }

  private func column(_ name: String) throws(ComputeError) -> Column {
    guard let index = table.header.firstIndex(of: name) else {
      throw .missingColumn(name, has: table.header)
    }
    let lower = name.lowercased()
    return Column(index: index, factor: lower.hasSuffix("_deg") ? .pi / 180 : 1, name: name)
  }

  /// Phases at known angles.
  func samples(_ name: String) throws(ComputeError) -> [PhaseSample] {
    let phase = try column(name)
    let azimuth = table.find("azimuth", .angle)
    let angle = azimuth == nil ? try table.require("angle", .angle) : nil
    let elevation = table.find("elevation", .angle)
    var problems = RowProblems()
    var samples: [PhaseSample] = []
    for row in 0..<table.rowCount {
      var status = RowStatus.ok
      let value = table.value(row, phase, &status)
      let seen = (angle ?? azimuth).flatMap { table.value(row, $0, &status) }
      problems.take(status.word, row: row)
      guard let value, let seen else { continue }
      let height = azimuth == nil ? 0 : table.value(row, elevation) ?? 0
      samples.append(
        PhaseSample(
          angle: azimuth == nil ? seen : Cone.cone(azimuth: seen, elevation: height), phase: value))
    }
    try problems.report(table)
    return samples
  }

  /// Phases over time.
  func phases(_ name: String) throws(ComputeError) -> [PhaseWalk.Phase] {
    let phase = try column(name)
    let time = try table.require("time", .time)
    var problems = RowProblems()
    var phases: [PhaseWalk.Phase] = []
    for row in 0..<table.rowCount {
      var status = RowStatus.ok
      let seconds = table.value(row, time, &status)
      let value = table.value(row, phase, &status)
      problems.take(status.word, row: row)
      guard let seconds, let value else { continue }
      phases.append(PhaseWalk.Phase(time: seconds, phase: value))
    }
    try problems.report(table)
    return phases
  }
}

/// Where the antennas are and look.
struct AntennaPose {
  var place: Vector3
  /// Radians from x towards y.
  var yaw: Double

  var pose: Pose { Pose(position: place, w: cos(yaw / 2), z: sin(yaw / 2)) }
}

/// A way around the antennas out of a table: places, or azimuths.
struct WayTable {
  private(set) var points: [PhaseWalk.Point] = []

  init(file: String, _ antennas: AntennaPose) throws(ComputeError) {
    let table = try CSVTable(try ComputeFiles.read(file))
    let time = try table.require("time", .time)
    let azimuth = table.find("azimuth", .angle)
    let elevation = table.find("elevation", .angle)
    let x = azimuth == nil ? try table.require("x", .length) : nil
    let y = azimuth == nil ? try table.require("y", .length) : nil
    let z = table.find("z", .length)
    let pose = antennas.pose
    var problems = RowProblems()
    for row in 0..<table.rowCount {
      var status = RowStatus.ok
      let seconds = table.value(row, time, &status)
      let first = (azimuth ?? x).flatMap { table.value(row, $0, &status) }
      let second = y.map { table.value(row, $0, &status) } ?? 0
      problems.take(status.word, row: row)
      guard let seconds, let first, let second else { continue }
      points.append(
        azimuth == nil
          ? PhaseWalk.Point(
            time: seconds,
            place: Vector3(first, second, table.value(row, z) ?? antennas.place.z), antennas: pose)
          : PhaseWalk.Point(
            time: seconds, azimuth: first, elevation: table.value(row, elevation) ?? 0))
    }
    try problems.report(table)
  }
}

/// What was learned of a pair, for people.
struct PhaseReport {
  let name: String
  let fit: PhaseTableFit
  private let samples: [PhaseSample]
  private let walk: PhaseWalk?

  init(_ name: String, _ fit: PhaseTableFit, _ samples: [PhaseSample], _ walk: PhaseWalk?) {
    self.name = name
    self.fit = fit
    self.samples = samples
    self.walk = walk
  }

  private static let degrees = 180 / Double.pi

  /// A line on phases of one place.
  static func summary(_ phases: [Double]) -> String {
    var mean = PhasorMean()
    for phase in phases { mean.add(phase) }
    guard let middle = mean.phase else { return "\(phases.count) phases, nothing in common" }
    let rests = phases.map { ($0 - middle).remainder(dividingBy: 2 * .pi) }
    let spread = (rests.reduce(0) { $0 + $1 * $1 } / Double(rests.count)).squareRoot()
    return "\(phases.count) phases, \(fixed(middle * degrees, 1))°, spread "
      + "\(fixed(spread * degrees, 1))°"
  }

  private func degrees(_ radians: Double, _ digits: Int = 1) -> String {
    fixed(radians * Self.degrees, digits) + "°"
  }

  var text: String {
    let (span, angles) = (fit.table.span, fit.table.angles)
    let outliers = fit.isUsed.count { !$0 }
    var text =
      "\(printable(name)): offset \(fixed(fit.offset, 4)) rad (\(degrees(fit.offset))), "
      + "\(angles.count) points from \(degrees(angles[0])) to \(degrees(angles[angles.count - 1])), "
      + "phases \(degrees(span.lowerBound)) to \(degrees(span.upperBound))\n"
      + "  noise \(degrees(fit.phaseDeviation)) of phase; \(fit.residuals.count) of \(samples.count) "
      + "fit, \(outliers) far off; angles \(degrees(fit.angleResiduals.rms, 2)) RMS, 95 % below "
      + "\(degrees(fit.angleResiduals.percentile95, 2))\n"
    if fit.flattened > 3 * fit.phaseDeviation {
      text +=
        "  The phase turns back by \(degrees(fit.flattened)): within that, it does not tell the "
        + "angle.\n"
    }
    if fit.offset == 0 {
      text += "  Straight ahead was not measured: the offset is in the table.\n"
    }
    if let walk {
      text +=
        walk.isLagKnown
        ? "  The phases' clock is \(fixed(abs(walk.lag), 2)) s \(walk.lag < 0 ? "ahead" : "behind").\n"
        : "  The way goes in one direction: the clocks are taken to agree.\n"
    }
    return text
  }

  var charts: [Chart] {
    let curve = zip(fit.table.angles, fit.table.phases).map {
      ($0 * Self.degrees, ($1 + fit.offset) * Self.degrees)
    }
    var used: [Chart.Point] = []
    var outliers: [Chart.Point] = []
    var rests: [Chart.Point] = []
    for (index, sample) in samples.enumerated() {
      guard let rest = fit.remains[index] else { continue }
      let angle = sample.angle * Self.degrees
      let expected = fit.table.phase(at: sample.angle) + fit.offset
      let point = (angle, (expected + rest) * Self.degrees)
      if fit.isUsed[index] {
        used.append(point)
        rests.append((angle, rest * Self.degrees))
      } else {
        outliers.append(point)
      }
    }
    return [
      Chart(
        title: "Phase over angle: \(name)", x: "angle (°)", y: "phase (°)",
        series: [
          .init(name: "measured", colour: .grey, mark: .points, points: used),
          .init(name: "outliers", colour: .red, mark: .points, points: outliers, fits: false),
          .init(name: "table", colour: .blue, mark: .line, points: curve),
        ]),
      Chart(
        title: "What is left", x: "angle (°)", y: "residual (°)",
        series: [.init(name: "", colour: .blue, mark: .points, points: rests)]),
    ]
  }
}
