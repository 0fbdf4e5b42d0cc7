// SPDX-License-Identifier: Apache-2.0

import Ranging

/// Angles over time, and what is left of each pair's phase when the angle is taken away.
struct AngleChart {
  private let pairs: [AntennaPair]
  private let names: [String]
  private var start: Double?
  private var azimuths: [Chart.Point] = []
  private var band: [(x: Double, low: Double, high: Double)] = []
  private var rests: [[Chart.Point]]

  init(_ pairs: [AntennaPair], names: [String]) {
    self.pairs = pairs
    self.names = names
    rests = pairs.map { _ in [] }
  }

  mutating func add(time: Double, phases: [Double?], _ direction: DirectionFinder.Direction) {
    let start = start ?? time
    self.start = start
    let degrees = 180 / Double.pi
    let (x, azimuth) = (time - start, direction.azimuth * degrees)
    let sigma = direction.standardDeviation * degrees
    azimuths.append((x, azimuth))
    band.append((x, azimuth - 2 * sigma, azimuth + 2 * sigma))
    for (index, pair) in pairs.enumerated() {
      guard index < phases.count, let phase = phases[index] else { continue }
      let expected = pair.phase(azimuth: direction.azimuth, elevation: direction.elevation)
      let rest = ((phase - expected) * degrees).remainder(dividingBy: 360)
      rests[index].append((x, rest))
    }
  }

  var charts: [Chart] {
    let angles = Chart(
      title: "Azimuth", x: "time since the first row (s)", y: "azimuth (°)",
      series: [
        Chart.Series(name: "± 2 σ", colour: .blue, mark: .band(band), fits: false),
        Chart.Series(name: "azimuth", colour: .blue, mark: .points, points: azimuths),
      ])
    let residuals = Chart(
      title: "Phase less what the azimuth makes of it", x: "time since the first row (s)",
      y: "residual (°)",
      series: zip(names, rests).enumerated().map { index, pair in
        Chart.Series(
          name: pair.0, colour: .numbered(index), mark: .points, points: pair.1)
      })
    return [angles, residuals]
  }
}
