// SPDX-License-Identifier: Apache-2.0

package import Estimators
import Formats
import Glibc
import Ranging
import UCI

/// Determines the offset and the table of pairs of antennas. The table has the phase difference at
/// each angle.
package struct AngleCalibration {
  package var parameters = PhaseTableFit.Parameters()
  /// The greatest difference in seconds between the clocks of the phases and the path.
  package var greatestLag = 1.0

  package init() {}

  /// Prompts for one angle after another. Measures the phases that the first board reports at each.
  ///
  /// - Parameter angles: degrees, positive to the left.
  package func samples(
    on bench: BoardBench, angles: [Double], _ console: any CalibrationConsole, isInteractive: Bool
  ) async throws -> [PhaseSample] {
    let name = "\(bench.boards[1].name) as seen by \(bench.boards[0].name)"
    let guide = Guide<[Double]>(
      console: console, isInteractive: isInteractive, quantity: "angle, positive to the left,",
      unit: "°", limits: -90...90)
    let kept = try await guide.run(
      angles.map { .init(name: name, value: $0) },
      measure: { _, angle in
        try await bench.range(0, 1, distance: 3, angle: angle, wantsPhases: true).phases
      },
      summary: { phases, _ in Self.summary(phases) })
    return kept.flatMap { _, angle, phases in
      phases.map { PhaseSample(angle: angle * .pi / 180, phase: $0) }
    }
  }

  /// Fits one pair to phases at known angles.
  ///
  /// - Throws: `LabError` if the samples are not sufficient.
  package func fit(
    _ name: String, _ samples: [PhaseSample]
  ) throws(LabError) -> PairCalibration {
    do {
      return PairCalibration(
        name: name, fit: try PhaseTableFit(samples, parameters), samples: samples,
        leftOut: PhaseTableFit.leavingOut(samples, parameters))
    } catch { throw .insufficient(error.description) }
  }

  /// Fits one pair to phases that were recorded during a walk around the antennas.
  ///
  /// - Throws: `LabError` if the walk is not sufficient.
  package func fit(
    _ name: String, path: [WalkaroundCalibration.Point], phases: [(time: Double, phase: Double)]
  ) throws(LabError) -> PairCalibration {
    var walking = WalkaroundCalibration.Parameters()
    (walking.table, walking.greatestLag) = (parameters, greatestLag)
    do {
      let walk = try WalkaroundCalibration(path: path, phases: phases, walking)
      return PairCalibration(
        name: name, fit: walk.fit, samples: walk.samples,
        leftOut: PhaseTableFit.leavingOut(walk.samples, parameters), walk: walk)
    } catch { throw .insufficient(error.description) }
  }

  /// Fits an array of antennas to phases in known directions.
  ///
  /// - Throws: `LabError` if the samples are not sufficient.
  package func fit(
    _ names: [String], array samples: [ArraySample]
  ) throws(LabError) -> ArrayCalibration {
    for (index, name) in names.enumerated() {
      let count = samples.count { $0.phases[index].map { abs($0) < 1e6 } ?? false }
      guard count >= 16 else {
        throw .insufficient(
          "The pair \(printable(name)) has \(counted(count, "phase")); it takes 16.")
      }
    }
    do {
      return ArrayCalibration(names: names, fit: try ArrayFit(samples), samples: samples)
    } catch {
      // If several pairs are fitted, the error names the one that fails.
      let bad = names.indices.first { index in
        let own = samples.map {
          ArraySample(azimuth: $0.azimuth, elevation: $0.elevation, phases: [$0.phases[index]])
        }
        return (try? ArrayFit(own)) == nil
      }
      let place = bad.map { "The pair \(printable(names[$0])): " } ?? ""
      throw .insufficient(place + error.description, suggestion: ArrayCalibration.suggestion)
    }
  }

  /// Returns a line about the phases at one position.
  private static func summary(_ phases: [Double]) -> String {
    var mean = PhasorMean()
    for phase in phases { mean.add(phase) }
    guard let middle = mean.phase else {
      return "\(counted(phases.count, "phase")) without a common mean"
    }
    let rests = phases.map { ($0 - middle).remainder(dividingBy: 2 * .pi) }
    let spread = (rests.reduce(0) { $0 + $1 * $1 } / Double(rests.count)).squareRoot()
    return "\(counted(phases.count, "phase")), \(degrees(middle)), spread \(degrees(spread))"
  }
}

extension CSVTable {
  /// Returns the columns of phases: all columns whose names begin with `pdoa`.
  ///
  /// - Parameter wanted: the columns to use in their place; empty: none.
  /// - Throws: `LabError` if there are no such columns.
  package func phaseColumns(_ wanted: [String]) throws(LabError) -> [String] {
    for name in wanted where !header.contains(name) { throw .missingColumn(name, of: self) }
    let columns = wanted.isEmpty ? header.filter { $0.lowercased().hasPrefix("pdoa") } : wanted
    guard !columns.isEmpty else { throw .missingColumn("pdoa_rad", of: self) }
    return columns
  }

  /// Reads phases at known angles (columns `angle`, or `azimuth` and optionally `elevation`).
  ///
  /// - Parameter column: the column of phases.
  /// - Throws: `LabError` if a column is missing or no row can be used.
  package func phaseSamples(_ column: String) throws(LabError) -> LabRows<PhaseSample> {
    var reader = TableReader(self)
    let phase = try reader.phaseColumn(column)
    let azimuth = try reader.findAngle("azimuth")
    let angle = azimuth == nil ? try reader.require("angle", .angle) : nil
    let elevation = try reader.findAngle("elevation")
    return try reader.rows { [reader] row, status in
      let value = reader.value(row, phase, &status)
      let seen = (angle ?? azimuth).flatMap { reader.value(row, $0, &status) }
      guard let value, let seen else { return nil }
      let height = reader.value(row, elevation) ?? 0
      return PhaseSample(
        angle: azimuth == nil ? seen : Cone.cone(azimuth: seen, elevation: height), phase: value)
    }
  }

  /// Reads the phases of all pairs in known directions (columns `azimuth` or `angle`, and
  /// optionally `elevation`). Sorts them by the column `time` if each row has a time. Returns nil
  /// without azimuths.
  ///
  /// - Parameter columns: the columns of phases.
  package func arraySamples(
    _ columns: [String]
  ) throws(LabError) -> LabRows<ArraySample>? {
    var reader = TableReader(self)
    var azimuth = try reader.findAngle("azimuth")
    if azimuth == nil { azimuth = try reader.findAngle("angle") }
    guard let azimuth else { return nil }
    let elevation = try reader.findAngle("elevation")
    var phases: [Column] = []
    for column in columns { phases.append(try reader.phaseColumn(column)) }
    let time = reader.lookUp("time", .time)
    let rows = try reader.rows { [reader, phases] row, status -> (Double?, ArraySample)? in
      guard let seen = reader.value(row, azimuth, &status) else { return nil }
      let measured = phases.map { reader.value(row, $0) }
      if measured.allSatisfy({ $0 == nil }) { _ = reader.value(row, phases[0], &status) }
      let sample = ArraySample(
        azimuth: seen, elevation: reader.value(row, elevation) ?? 0, phases: measured)
      return (reader.value(row, time), sample)
    }
    let timed = rows.values.compactMap { time, sample in time.map { (time: $0, sample: sample) } }
    let isTimed = timed.count == rows.values.count
    return LabRows(
      values: isTimed ? timed.sorted { $0.time < $1.time }.map(\.sample) : rows.values.map(\.1),
      warnings: rows.warnings)
  }

  /// Reads the phases at each time.
  package func phases(
    _ column: String
  ) throws(LabError) -> LabRows<(time: Double, phase: Double)> {
    let reader = TableReader(self)
    let phase = try reader.phaseColumn(column)
    let time = try reader.require("time", .time)
    return try reader.rows { row, status in
      let seconds = reader.value(row, time, &status)
      let value = reader.value(row, phase, &status)
      guard let seconds, let value else { return nil }
      return (seconds, value)
    }
  }

  /// Reads a path around the antennas, from columns of positions or of azimuths.
  ///
  /// - Parameters:
  ///   - position: the position of the antennas.
  ///   - yaw: the direction straight ahead of the antennas, in radians from x towards y.
  package func path(
    around position: SIMD3<Double>, yaw: Double
  ) throws(LabError) -> LabRows<WalkaroundCalibration.Point> {
    var reader = TableReader(self)
    let time = try reader.require("time", .time)
    let azimuth = try reader.findAngle("azimuth")
    let elevation = try reader.findAngle("elevation")
    let x = azimuth == nil ? try reader.require("x", .length) : nil
    let y = azimuth == nil ? try reader.require("y", .length) : nil
    let z = reader.find("z", .length)
    let pose = Pose(position: position, w: cos(yaw / 2), z: sin(yaw / 2))
    return try reader.rows { [reader] row, status in
      let seconds = reader.value(row, time, &status)
      let first = (azimuth ?? x).flatMap { reader.value(row, $0, &status) }
      let second = y.map { reader.value(row, $0, &status) } ?? 0
      guard let seconds, let first, let second else { return nil }
      guard azimuth == nil else {
        return WalkaroundCalibration.Point(
          time: seconds, azimuth: first, elevation: reader.value(row, elevation) ?? 0)
      }
      let there = SIMD3<Double>(first, second, reader.value(row, z) ?? position.z)
      return WalkaroundCalibration.Point(time: seconds, position: there, antennas: pose)
    }
  }
}

/// The calibration of a pair.
package struct PairCalibration {
  let name: String
  package let fit: PhaseTableFit
  let samples: [PhaseSample]
  let leftOut: PhaseTableFit.LeftOut?
  var walk: WalkaroundCalibration?

  /// Returns the report on several pairs.
  package static func report(_ pairs: [PairCalibration]) -> CalibrationReport {
    var calibration = RangingCalibration()
    calibration.pairs = pairs.map { pair in
      var known = RangingCalibration.Pair(column: pair.name, pair.fit)
      known.modelDeviation = pair.leftOut?.modelDeviation
      return known
    }
    return CalibrationReport(
      text: pairs.map(\.text).joined(), calibration: calibration, charts: pairs.flatMap(\.charts),
      problem: pairs.lazy.compactMap(\.problem).first)
  }

  /// The reason why angles from this table would be wrong.
  var problem: LabError? {
    let outliers = fit.isUsed.count { !$0 }
    let angles = samples.map(\.angle).filter(\.isFinite).sorted()
    let middle = angles.isEmpty ? 0 : angles[angles.count / 2]
    let gap = zip(angles, angles.dropFirst()).max { $0.1 - $0.0 < $1.1 - $1.0 } ?? (0, 0)
    let cause: String
    if fit.angleResiduals.rms > 20 * .pi / 180 {
      cause = "angles from its table would be \(degrees(fit.angleResiduals.rms, 0)) off (RMS)"
    } else if let leftOut, leftOut.angles.median > FitResiduals(angles.map { $0 - middle }).median {
      cause =
        "angles that its table has not seen are \(degrees(leftOut.angles.median, 0)) off (median), "
        + "more than without it"
    } else if 2 * outliers > samples.count {
      cause = "\(outliers) of \(samples.count) phases do not fit its table"
    } else if gap.1 - gap.0 > 60 * .pi / 180 {
      cause =
        "nothing was measured between \(degrees(gap.0)) and \(degrees(gap.1)), where the phase may "
        + "turn more than once"
    } else {
      return nil
    }
    return .insufficient(
      "The pair \(printable(name)) cannot be calibrated: \(cause).",
      suggestion:
        "Check that angles are positive to the left and that phases are in the unit of their column. Measure "
        + "every 15 degrees; rings and other arrays all round (azimuth_deg).")
  }

  private var text: String {
    let (span, angles) = (fit.table.span, fit.table.angles)
    let outliers = fit.isUsed.count { !$0 }
    var text =
      "\(printable(name)): offset \(fixed(fit.offset, 4)) rad (\(degrees(fit.offset))), "
      + "\(angles.count) points from \(degrees(angles[0])) to \(degrees(angles[angles.count - 1])), "
      + "phases \(degrees(span.lowerBound)) to \(degrees(span.upperBound))\n"
      + "  phase noise \(degrees(fit.phaseDeviation)); \(fit.residuals.count) of \(samples.count) "
      + "samples fit, \(counted(outliers, "outlier")); "
      + "angles \(degrees(fit.angleResiduals.rms, 2)) RMS, "
      + "95 % below \(degrees(fit.angleResiduals.percentile95, 2))\n"
    if let leftOut {
      text +=
        "  Angles left out of the table: \(degrees(leftOut.angles.rms, 2)) RMS, "
        + "95 % below \(degrees(leftOut.angles.percentile95, 2))\n"
    }
    if fit.flattened > 3 * fit.phaseDeviation {
      text +=
        "  The phase reverses by \(degrees(fit.flattened)): the angle is ambiguous there.\n"
    }
    if fit.offset == 0 {
      text += "  Straight ahead was not measured: the table contains the offset.\n"
    }
    if let walk {
      text +=
        walk.isLagKnown
        ? "  The clock of the phases is \(fixed(abs(walk.lag), 2)) s "
          + "\(walk.lag < 0 ? "ahead" : "behind").\n"
        : "  The path goes in one direction: assuming that the clocks agree.\n"
    }
    return text
  }

  private var charts: [Chart] {
    let degrees = 180 / Double.pi
    let curve = zip(fit.table.angles, fit.table.phases).map {
      (x: $0 * degrees, y: ($1 + fit.offset) * degrees)
    }
    var (used, outliers, rests) = ([Chart.Point](), [Chart.Point](), [Chart.Point]())
    for (index, sample) in samples.enumerated() {
      guard let rest = fit.sampleResiduals[index] else { continue }
      let angle = sample.angle * degrees
      let expected = fit.table.phase(at: sample.angle) + fit.offset
      let point = (x: angle, y: (expected + rest) * degrees)
      guard fit.isUsed[index] else {
        outliers.append(point)
        continue
      }
      used.append(point)
      rests.append((angle, rest * degrees))
    }
    return [
      Chart(
        title: "Phase over angle: \(name)", x: "angle (°)", y: "phase (°)",
        series: [
          .init("measured", .grey, .points, used),
          .init("outliers", .red, .points, outliers, fits: false),
          .init("table", .blue, .line, curve),
        ]),
      Chart(
        title: "Residuals", x: "angle (°)", y: "residual (°)",
        series: [.init("", .blue, .points, rests)]),
    ]
  }
}
