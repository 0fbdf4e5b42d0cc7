// SPDX-License-Identifier: Apache-2.0

import Foundation
package import UWBSite

/// A drone among eight anchors at walls and ceiling, which measures differences of distances.
///
/// Anchors are off by centimetres, each has an error that changes slowly, and one difference in
/// twenty is off by metres, as in published flights with differences of time.
package struct FlightScenario: Sendable {
  package var seed: UInt64 = 1
  package var seconds = 40.0
  /// The number of differences in a second.
  package var rate = 400.0
  /// One standard deviation of the slow errors, in metres.
  package var slow = 0.1
  /// The time in seconds after which a third of a slow error remains.
  package var slowTime = 2.0
  /// One standard deviation of the noise of a difference, in metres.
  package var noise = 0.08
  /// One standard deviation of each coordinate of an anchor, in metres.
  package var wrong = 0.05
  /// The share of differences that are off by metres.
  package var outliers = 0.05
  /// The greatest speed along an axis, in metres a second.
  package var speed = 2.0

  package init() {}

  /// The places of the anchors in the site file.
  package static let anchors: [SIMD3<Double>] = [
    SIMD3(-4, -4, 0.3), SIMD3(4, -4, 3.1), SIMD3(4, 4, 0.4), SIMD3(-4, 4, 3),
    SIMD3(-4, 0, 3.2), SIMD3(4, 0, 0.2), SIMD3(0, 4, 3.1), SIMD3(0, -4, 0.3),
  ]

  /// A measured difference, with the true place of the drone at that time.
  package struct Sample: Sendable {
    package var measurement: TagMeasurement
    package var truth: SIMD3<Double>
  }

  /// Returns the differences of a flight.
  package func run() -> [Sample] {
    var random = ScenarioNoise(seed: seed)
    let places = Self.anchors.map { place in
      place + wrong * SIMD3(random.normal(), random.normal(), random.normal())
    }
    var errors = places.map { _ in slow * random.normal() }
    let path = FlightPath(speed: speed, &random)
    let step = 1 / rate
    let left = exp(-step / slowTime)
    var (last, samples) = (0, [Sample]())
    for number in 0..<Int(seconds * rate) {
      let time = Double(number) * step
      for index in errors.indices {
        errors[index] =
          left * errors[index]
          + slow * (1 - left * left).squareRoot() * random.normal()
      }
      // The anchors send in a random order. Each anchor is compared with the anchor before it.
      var next = Int(random.uniform(0, 7))
      if next >= last { next += 1 }
      let truth = path.place(at: time)
      func length(_ index: Int) -> Double {
        let arm = truth - places[index]
        return (arm * arm).sum().squareRoot() + errors[index]
      }
      var value = length(next) - length(last) + noise * random.normal()
      if random.uniform() < outliers { value += random.uniform(-4, 4) }
      let measurement = TagMeasurement(
        time: time, .difference(last, next), value, deviation: noise)
      samples.append(Sample(measurement: measurement, truth: truth))
      last = next
    }
    return samples
  }
}

/// A smooth path with standstills: sums of waves, after a hover of three seconds.
package struct FlightPath: Sendable {
  private var waves: [(size: SIMD3<Double>, rate: Double, phase: SIMD3<Double>)] = []

  /// - Parameter speed: the greatest speed along an axis, in metres a second.
  init(speed: Double, _ random: inout ScenarioNoise) {
    for _ in 0..<3 {
      let rate = random.uniform(0.25, 1.3)
      let size = min(0.9, speed / 3 / rate)
      waves.append(
        (
          SIMD3(size, size, size / 3.5), rate,
          SIMD3(random.uniform(0, 6.28), random.uniform(0, 6.28), random.uniform(0, 6.28))
        ))
    }
  }

  package func place(at time: Double) -> SIMD3<Double> {
    // The speed grows from 0 during the fourth and fifth second.
    let own = time < 3 ? 0 : time < 5 ? (time - 3) * (time - 3) / 4 : time - 4
    var place = SIMD3(0, 0, 1.5)
    for wave in waves {
      for axis in 0..<3 {
        place[axis] += wave.size[axis] * sin(wave.rate * own + wave.phase[axis])
      }
    }
    // The motors at full load shake the frame.
    return place + 0.004 * SIMD3(sin(190 * time), sin(210 * time), sin(230 * time))
  }
}
