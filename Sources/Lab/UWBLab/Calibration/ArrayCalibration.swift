// SPDX-License-Identifier: Apache-2.0

package import Estimators
import Formats
import Glibc
import Ranging
import UCI

/// The calibration of the pairs of an array of antennas.
package struct ArrayCalibration {
  let names: [String]
  let fit: ArrayFit
  let samples: [ArraySample]

  /// Returns whether some samples are from behind. Tables of angles, which cover -90 to 90 degrees,
  /// cannot describe these.
  package static func isNeeded(for samples: [ArraySample]) -> Bool {
    samples.count { cos($0.azimuth) < -0.1 } >= max(3, samples.count / 20)
  }

  package var report: CalibrationReport {
    var calibration = RangingCalibration()
    calibration.pairs = zip(names, fit.pairs).map {
      .init(column: $0, $1, residuals: fit.residuals)
    }
    return CalibrationReport(
      text: text, calibration: calibration, charts: charts, problem: problem)
  }

  static let suggestion =
    "Check that azimuths are positive to the left, that phases are in the unit of their column, and measure "
    + "every 5 degrees, all round."

  /// The reason why directions would be wrong.
  package var problem: LabError? {
    let count = fit.errors.count { $0 != nil }
    let cause: String
    var suggestion = Self.suggestion
    if isLine {
      cause = "its pairs are all along one line, and cannot distinguish its two sides"
      suggestion =
        isSideBySide
        ? "Take out the rows from behind, so that each pair gets a table."
        : "Turn the antennas so that they are side by side as seen from ahead, and take out the rows "
          + "from behind; or add a pair in another direction."
    } else if let (name, from, to) = gap {
      cause =
        "nothing was measured between \(degrees(from)) and \(degrees(to)) by the pair \(printable(name)), "
        + "so the phases there are unknown"
    } else if fit.residuals.count == 0 || fit.residuals.rms > 20 * .pi / 180 {
      cause =
        "directions that had no part in it would be \(degrees(fit.residuals.rms, 0)) off (RMS)"
    } else if 5 * fit.otherSides > count || 2 * fit.ambiguous > count {
      cause =
        "of \(count) directions that had no part in it, \(fit.ambiguous) are ambiguous, and "
        + "\(fit.otherSides) are on the wrong side"
    } else {
      return nil
    }
    return .insufficient("The array cannot be calibrated: \(cause).", suggestion: suggestion)
  }

  /// The widest gap between the azimuths of a pair in radians, if it is too wide for interpolation.
  private var gap: (name: String, from: Double, to: Double)? {
    for (index, name) in names.enumerated() {
      let azimuths = samples.filter { $0.phases[index].map(\.isFinite) ?? false }.map {
        $0.azimuth.remainder(dividingBy: 2 * .pi)
      }.sorted()
      guard let first = azimuths.first else { return (name, -.pi, .pi) }
      let gaps = zip(azimuths, azimuths.dropFirst() + [first + 2 * .pi])
      if let widest = gaps.max(by: { $0.1 - $0.0 < $1.1 - $1.0 }),
        widest.1 - widest.0 > 40 * .pi / 180
      {
        return (name, widest.0, widest.1.remainder(dividingBy: 2 * .pi))
      }
    }
    return nil
  }

  /// The directions of the baselines.
  private var axes: [SIMD3<Double>] {
    fit.pairs.compactMap { pair -> SIMD3<Double>? in
      guard case .baseline(let x, let y, let z) = pair.model else { return nil }
      let length = (x * x + y * y + z * z).squareRoot()
      return length > 0.05 ? SIMD3(x, y, z) / length : nil
    }
  }

  /// Whether all baselines are within 10 degrees of each other.
  private var isLine: Bool {
    let axes = axes
    guard let first = axes.first else { return true }
    return axes.allSatisfy { abs(($0 * first).sum()) > cos(10 * .pi / 180) }
  }

  /// Whether the phases of antennas in a line distinguish left and right. Tables of angles are then
  /// sufficient.
  private var isSideBySide: Bool { axes.allSatisfy { abs($0.y) > cos(45 * .pi / 180) } }

  private var text: String {
    var text = ""
    for (name, pair) in zip(names, fit.pairs) {
      guard case .baseline(let x, let y, let z) = pair.model else { continue }
      let length = (x * x + y * y + z * z).squareRoot()
      text +=
        "\(printable(name)): offset \(fixed(pair.offset, 4)) rad (\(degrees(pair.offset))), baseline "
        + "\(fixed(length, 3)) wavelengths towards \(degrees(atan2(y, x)))"
      if abs(z) > 1e-3 { text += ", \(degrees(asin(z / max(1e-9, length)))) up" }
      text +=
        "; phase noise \(degrees(pair.phaseDeviation)), error of the model "
        + "\(degrees(pair.modelDeviation))\n"
    }
    text +=
      fit.harmonics > 1
      ? "  Coupling: multiples of the azimuth up to \(fit.harmonics)\n"
      : "  Coupling: none that directions bear out\n"
    let rests = fit.residuals
    text +=
      "  Stretches left out of the fit, each row alone: \(degrees(rests.rms, 2)) RMS, median "
      + "\(degrees(rests.median, 2)), 95 % below \(degrees(rests.percentile95, 2))\n"
    if fit.ambiguous + fit.otherSides > 0 {
      text +=
        "  Without \(counted(fit.ambiguous, "row that fits", "rows that fit")) two directions, and "
        + "\(fit.otherSides) on the wrong side\n"
    }
    return text
      + "  Errors within one stated deviation: \(fixed(fit.shares.one * 100, 0)) %, within two: "
      + "\(fixed(fit.shares.two * 100, 0)) %\n"
      + "  Look whether a peer on the left has a positive azimuth: a turn the other way round fits as well.\n"
  }

  private var charts: [Chart] {
    let degrees = 180 / Double.pi
    let phases = zip(names, fit.pairs).enumerated().map { index, pair in
      let measured = samples.compactMap { sample in
        sample.phases[index].map {
          let expected = pair.1.phase(azimuth: sample.azimuth, elevation: sample.elevation)
          let rest = ($0 - expected).remainder(dividingBy: 2 * .pi)
          return (x: sample.azimuth * degrees, y: (expected + rest) * degrees)
        }
      }
      let curve = stride(from: -180.0, through: 180, by: 2).map {
        (x: $0, y: pair.1.phase(azimuth: $0 / degrees, elevation: 0) * degrees)
      }
      return Chart(
        title: "Phase over azimuth: \(pair.0)", x: "azimuth (°)", y: "phase (°)",
        series: [
          .init("measured", .grey, .points, measured),
          .init("model", .blue, .line, curve),
        ])
    }
    let rests = zip(samples, fit.errors).compactMap { sample, error in
      error.map { (x: sample.azimuth * degrees, y: $0 * degrees) }
    }
    return phases + [
      Chart(
        title: "Stretches left out of the fit", x: "azimuth (°)", y: "error (°)",
        series: [.init("", .blue, .points, rests)])
    ]
  }
}
