// SPDX-License-Identifier: Apache-2.0

import Ranging

extension RangingCalibration {
  /// The pairs of antennas, with what is known of each.
  func antennaPairs() throws(LabError) -> [AntennaPair] {
    try (pairs ?? []).map { pair throws(LabError) in
      let noise = pair.phaseNoise ?? phaseNoise ?? 5 * .pi / 180
      guard noise > 0 else { throw Self.wrong(pair, "noise_rad is not greater than 0") }
      return AntennaPair(
        try model(of: pair), offset: pair.offset ?? 0,
        harmonics: (pair.harmonics ?? []).map { ($0.cosine, $0.sine) },
        phaseDeviation: noise)
    }
  }

  private func model(of pair: Pair) throws(LabError) -> AntennaPair.Model {
    let axis = pair.axis ?? [0, 1, 0]
    let length = axis.reduce(0) { $0 + $1 * $1 }.squareRoot()
    guard axis.count == 3, length > 0 else {
      throw Self.wrong(pair, "its axis needs x, y and z")
    }
    let unit = axis.map { $0 / length }
    if let points = pair.table {
      let curve = points.compactMap { point in
        point.phaseInRadians.map { (angle: point.angleDegrees * .pi / 180, phase: $0) }
      }
      guard curve.count == points.count, let table = PhaseTable(curve) else {
        throw Self.wrong(pair, "its table needs two points with phases")
      }
      return .table(table, x: unit[0], y: unit[1], z: unit[2])
    }
    var baseline: [Double]
    var scale = 1.0
    if let names = pair.antennas {
      guard names.count == 2, let a = antennas?[names[0]], let b = antennas?[names[1]],
        a.count == 3, b.count == 3
      else { throw Self.wrong(pair, "it needs two antennas with x, y and z") }
      baseline = (0..<3).map { a[$0] - b[$0] }
    } else if let spacing = pair.spacing ?? pair.spacingInWavelengths {
      baseline = unit.map { $0 * spacing }
    } else {
      throw Self.wrong(pair, "it has neither antennas nor a spacing nor a table")
    }
    if pair.antennas != nil || pair.spacing != nil {
      guard let wavelength = carrierWavelength else {
        throw LabError(.badFile, "channel, frequency_hz or wavelength_m is missing.")
      }
      scale = 1 / wavelength
    }
    baseline = baseline.map { $0 * scale }
    return .baseline(x: baseline[0], y: baseline[1], z: baseline[2])
  }

  private static func wrong(_ pair: Pair, _ cause: String) -> LabError {
    LabError(.badFile, "The pair \(pair.column) cannot be used: \(cause).")
  }
}
