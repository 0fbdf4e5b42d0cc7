// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Ranging

/// What was learned of the pairs of an array of antennas.
package struct ArrayCalibration {
  let names: [String]
  let fit: ArrayFit
  let samples: [ArraySample]

  /// Whether tables of angles, which are from -90 to 90 degrees, cannot describe the samples: some are from
  /// behind.
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

  /// Why directions would be wrong.
  package var problem: LabError? {
    guard fit.residuals.rms > 20 * .pi / 180, fit.residuals.percentile95 > 20 * .pi / 180 else {
      return nil
    }
    return .insufficient(
      "The array cannot be calibrated: directions that had no part in it would be "
        + "\(degrees(fit.residuals.rms, 0)) off (RMS).",
      suggestion: Self.suggestion)
  }

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
    return text
      + "  Directions left out of the fit, each row alone: \(degrees(rests.rms, 2)) RMS, median "
      + "\(degrees(rests.median, 2)), 95 % below \(degrees(rests.percentile95, 2))\n"
      + "  Errors within one stated deviation: \(fixed(fit.shares.one * 100, 0)) %, within two: "
      + "\(fixed(fit.shares.two * 100, 0)) %\n"
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
          .init(name: "measured", colour: .grey, mark: .points, points: measured),
          .init(name: "model", colour: .blue, mark: .line, points: curve),
        ])
    }
    let rests = zip(samples, fit.errors).compactMap { sample, error in
      error.map { (x: sample.azimuth * degrees, y: $0 * degrees) }
    }
    return phases + [
      Chart(
        title: "Directions left out of the fit", x: "azimuth (°)", y: "error (°)",
        series: [.init(name: "", colour: .blue, mark: .points, points: rests)])
    ]
  }
}

private func degrees(_ radians: Double, _ digits: Int = 1) -> String {
  fixed(radians * 180 / .pi, digits) + "°"
}
