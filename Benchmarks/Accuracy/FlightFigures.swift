// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import RangingScenes

/// A drone among eight anchors at walls and ceiling, located by differences between neighbours: D1.
enum FlightFigures {
  static func rows() -> [AccuracyFigure] {
    var plain = Errors()
    let ways = [false, true].map { isLive -> (Errors, Errors, Honesty, Honesty) in
      var (errors, heights, sides, ups) = (Errors(), Errors(), Honesty(), Honesty())
      for seed in 1...12 {
        // Surveyed and synchronised perfectly, well, or badly.
        let flight = Flight(seed: UInt64(seed), constant: [0, 0.05, 0.15][seed % 3])
        let smoother = PositionSmoother()
        let way = smoother.path(flight.samples, live: isLive)
        let rests = zip(way, flight.truth).compactMap { point, truth in
          point.map { ($0.estimate.position - truth, $0.estimate.covariance) }
        }
        errors.add(rests.map { $0.0.length })
        heights.add(rests.map { $0.0.z })
        sides.add(zip(way, flight.truth).flatMap { TrolleyFigures.stated($0?.estimate, $1) })
        ups.add(rests.map { $0.0.z / $0.1.zz.squareRoot() })
        guard !isLive else { continue }
        var ignorant = smoother
        ignorant.errors.own = 1e-3
        ignorant.errors.shared = 0
        ignorant.errors.slow = 0
        plain.add(
          zip(ignorant.path(flight.samples), flight.truth).compactMap { point, truth in
            point.map { ($0.estimate.position - truth).length }
          })
      }
      return (errors, heights, sides, ups)
    }
    return zip(["recorded", "live"], ways).flatMap { name, way -> [AccuracyFigure] in
      [
        way.0.figure(
          "D1", "differences, drone: position, \(name), RMSE", "m",
          textbook: ("smoother without errors of anchors", Errors.rms(plain.all)),
          aim: .atMost(name == "live" ? 0.17 : 0.12), Errors.rms),
        way.1.figure(
          "D1", "the same, heights", "m", aim: .atMost(name == "live" ? 0.13 : 0.09), Errors.rms),
      ] + way.2.figures("D1", "differences, \(name), to the side")
        + way.3.figures("D1", "differences, \(name), height")
    }
  }

  private struct Flight {
    private(set) var samples: [PositionSample] = []
    private(set) var truth: [SIMD3<Double>] = []

    /// A minute at 50 Hz, with 10 cm of noise, 5 cm that change within seconds, and one measurement
    /// in fifty at random.
    /// - Parameter constant: the constant error of each anchor in metres, one standard deviation.
    init(seed: UInt64, constant: Double) {
      var noise = Noise(seed: seed)
      var anchors: [SIMD3<Double>] = []
      for (x, y) in [(-3.5, -4.0), (3.5, -4.0), (3.5, 4.0), (-3.5, 4.0)] {
        for z in [0.2, 2.8] { anchors.append(SIMD3<Double>(x, y, z + 0.1 * noise.normal())) }
      }
      let constants = anchors.map { _ in constant * noise.normal() }
      var slow = anchors.map { _ in 0.05 * noise.normal() }
      let phases = (0..<3).map { _ in noise.uniform(0, 6) }
      for number in 0..<3_000 {
        let time = Double(number) * 0.02
        let (x, y) = (2 * sine(0.6 * time + phases[0]), 2 * sine(0.45 * time + phases[1]))
        let position = SIMD3<Double>(x, y, 1.2 + 0.6 * sine(0.3 * time + phases[2]))
        for anchor in slow.indices {
          slow[anchor] = 0.99 * slow[anchor] + 0.05 * 0.0199.squareRoot() * noise.normal()
        }
        func distance(_ anchor: Int) -> Double {
          (position - anchors[anchor]).length + constants[anchor] + slow[anchor]
        }
        let (first, second) = (number % 8, (number + 1) % 8)
        var value = distance(second) - distance(first) + 0.1 * noise.normal()
        if noise.uniform() < 0.02 { value += noise.uniform(-2, 2) }
        samples.append(
          PositionSample(
            time: time,
            observation: PositionObservation(
              .difference(anchors[first], anchors[second]), value),
            source: second, reference: first))
        truth.append(position)
      }
    }
  }
}
