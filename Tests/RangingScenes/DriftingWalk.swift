// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Ranging

/// Ranges to a beacon at rest from a device that walks or flies, and whose own tracking drifts.
package struct DriftingWalk {
  /// The parameters of a walk.
  package struct Kind {
    package var name: String
    /// The length of the way, half the width of the place, and the deviation of the beacon's
    /// height, in metres.
    package var length, area, lift: Double
    package var flies = false
    /// The noise in metres. `slow` is an error that changes within `slowLength` metres.
    package var noise = 0.06
    package var slow = 0.08
    package var slowLength = 0.7
    /// The constant drift of the heading in degrees a minute.
    package var rate = 0.0
    /// The random drift of the heading in degrees per square root of a minute.
    package var random = 0.0

    package static let all = [
      Kind(name: "hand, 8 m, 1 deg/min", length: 8, area: 4, lift: 0.5, rate: 1),
      Kind(name: "hand, 30 m, 3 deg/min", length: 30, area: 6, lift: 0.5, rate: 3, random: 1),
      Kind(
        name: "room, 20 m, slow 15 cm", length: 20, area: 4, lift: 0.5, noise: 0.05, slow: 0.15,
        slowLength: 1.5, rate: 1),
      Kind(
        name: "odometry, 300 m, 1 deg/min", length: 300, area: 12, lift: 0, noise: 0.1, slow: 0,
        rate: 1),
      Kind(
        name: "odometry, 300 m, 3 deg/min, slow 10 cm", length: 300, area: 12, lift: 0,
        noise: 0.1, slow: 0.1, slowLength: 1, rate: 3),
      Kind(
        name: "flight, 10 m", length: 10, area: 3, lift: 0.7, flies: true, noise: 0.04, slow: 0),
      Kind(
        name: "flight, 10 m, slow 10 cm", length: 10, area: 3, lift: 0.7, flies: true, noise: 0.04,
        slow: 0.1, slowLength: 1),
    ]
  }

  package private(set) var sightings: [TargetSighting] = []
  /// The azimuth of the beacon for the true heading, in radians.
  package private(set) var truth: [Double] = []
  private var noise: Noise
  private var position = SIMD3<Double>.zero
  private var (heading, turn) = (0.0, 0.0)

  /// Creates a walk at 1 m/s and 10 Hz. 2 % of the ranges are far too long.
  package init(_ kind: Kind, seed: UInt64) {
    noise = Noise(seed: seed)
    let (beacon, phases) = begin(kind)
    var own = position
    let constant = 0.05 * noise.normal()
    let stretch = kind.rate > 0 ? noise.sign() * 0.01 + 1 : 1
    let rate = kind.rate * degree / 60 * noise.sign()
    var (slow, drift, way, time) = (kind.slow * noise.normal(), 0.0, 0.0, 0.0)
    while way < kind.length {
      let before = position
      move(kind, at: time, phases)
      let step = time > 0 ? position - before : .zero
      if time == 0 { own = position }
      way += step.length
      drift += rate * 0.1 + kind.random * degree * (0.1 / 60).squareRoot() * noise.normal()
      let (c, s) = (cosine(drift), sine(drift))
      own += SIMD3(c * step.x - s * step.y, s * step.x + c * step.y, step.z) * stretch
      let fade = exp(-step.length / kind.slowLength)
      slow = fade * slow + kind.slow * (1 - fade * fade).squareRoot() * noise.normal()
      let arm = beacon - position
      var range = arm.length + constant + slow + kind.noise * noise.normal()
      if noise.uniform() < 0.02 { range += noise.uniform(0.5, 10) }
      let half = (heading + drift) / 2
      sightings.append(
        TargetSighting(
          time: time, pose: Pose(position: own, w: cosine(half), z: sine(half)), range: range))
      truth.append(wrap(arcTangent(arm.y, arm.x) - heading))
      time += 0.1
    }
  }

  /// Returns the beacon, and the phases of a flight.
  private mutating func begin(_ kind: Kind) -> (beacon: SIMD3<Double>, phases: [Double]) {
    let side = kind.area
    let beacon = SIMD3<Double>(
      noise.uniform(-side, side), noise.uniform(-side, side), 1.2 + kind.lift * noise.normal())
    position = SIMD3(0.7 * noise.uniform(-side, side), 0.7 * noise.uniform(-side, side), 1.2)
    heading = noise.uniform(-.pi, .pi)
    return (beacon, (0..<3).map { _ in noise.uniform(0, 6) })
  }

  private mutating func move(_ kind: Kind, at time: Double, _ phases: [Double]) {
    guard !kind.flies else {
      let (x, y) = (sine(0.5 * time + phases[0]), sine(0.365 * time + phases[1]))
      position = SIMD3(
        0.7 * kind.area * x, 0.7 * kind.area * y, 1.2 + 0.5 * sine(0.3 * time + phases[2]))
      heading = 0.3 * time
      return
    }
    turn += -0.05 * turn + 0.6 * 0.1.squareRoot() * noise.normal()
    // Near a wall, the path bends towards the middle.
    if max(abs(position.x), abs(position.y)) > 0.8 * kind.area {
      heading += 0.15 * wrap(arcTangent(-position.y, -position.x) - heading)
    }
    heading += turn * 0.1
    position += SIMD3(cosine(heading), sine(heading), 0) * 0.1
  }
}

extension Noise {
  /// Returns 1 or -1.
  fileprivate mutating func sign() -> Double { uniform() < 0.5 ? 1 : -1 }
}
