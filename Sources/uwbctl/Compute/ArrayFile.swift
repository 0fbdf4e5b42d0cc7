// SPDX-License-Identifier: Apache-2.0

import Ranging

/// Antennas and their calibration, as `compute angle` reads them.
extension RangingCalibration {
  /// Metres; nil when the file does not say.
  private var wavelength: Double? {
    if let wavelength_m { return wavelength_m }
    if let frequency_hz { return SpeedOfLight.inAir / frequency_hz }
    return switch channel {
    case 5: SpeedOfLight.inAir / 6489.6e6
    case 9: SpeedOfLight.inAir / 7987.2e6
    default: nil
    }
  }

  func antennaPairs(_ path: String) throws(ComputeError) -> [AntennaPair] {
    guard let pairs, !pairs.isEmpty else { throw .badFile(path, "it has no pairs") }
    var result: [AntennaPair] = []
    for pair in pairs {
      var model: AntennaPair.Model
      let axis = try unit(pair.axis ?? [0, 1, 0], path)
      if let points = pair.table {
        let curve = points.compactMap { point -> (angle: Double, phase: Double)? in
          guard let phase = point.phase_rad ?? point.phase_deg.map({ $0 * .pi / 180 }) else {
            return nil
          }
          return (point.angle_deg * .pi / 180, phase)
        }
        guard curve.count == points.count, let table = PhaseTable(curve) else {
          throw .badFile(path, "the table of \(pair.column) needs two points with phases")
        }
        model = .table(table, x: axis[0], y: axis[1], z: axis[2])
      } else {
        var baseline = axis
        if let names = pair.antennas {
          guard names.count == 2, let a = antennas?[names[0]], let b = antennas?[names[1]],
            a.count == 3, b.count == 3
          else { throw .badFile(path, "\(pair.column) needs two antennas with x, y and z") }
          baseline = (0..<3).map { a[$0] - b[$0] }
        } else if let spacing = pair.spacing_m {
          baseline = axis.map { $0 * spacing }
        } else if let spacing = pair.spacing_wavelengths {
          baseline = axis.map { $0 * spacing }
        } else {
          throw .badFile(path, "\(pair.column) has neither antennas nor a spacing nor a table")
        }
        if pair.antennas != nil || pair.spacing_m != nil {
          guard let wavelength, wavelength > 0 else {
            throw .badFile(path, "channel, frequency_hz or wavelength_m is missing")
          }
          baseline = baseline.map { $0 / wavelength }
        }
        model = .baseline(x: baseline[0], y: baseline[1], z: baseline[2])
      }
      let noise = pair.noise_rad ?? noise_rad ?? 5 * .pi / 180
      guard noise > 0 else { throw .badFile(path, "noise_rad is not greater than 0") }
      result.append(
        AntennaPair(
          model, offset: pair.offset_rad ?? 0,
          harmonics: (pair.harmonics ?? []).map { ($0.cos_rad, $0.sin_rad) },
          phaseDeviation: noise))
    }
    return result
  }

  private func unit(_ axis: [Double], _ path: String) throws(ComputeError) -> [Double] {
    let length = axis.reduce(0) { $0 + $1 * $1 }.squareRoot()
    guard axis.count == 3, length > 0 else {
      throw .badFile(path, "an axis has x, y and z")
    }
    return axis.map { $0 / length }
  }
}
