// SPDX-License-Identifier: Apache-2.0

/// A motion model: a random velocity that decays after some time.
///
/// The position is the integral of an Ornstein-Uhlenbeck velocity. Its spectral density of the
/// acceleration is 2 · speed² / memory. After a long silence, the position is as uncertain as after
/// a walk at that speed. An endless acceleration would make it far more uncertain.
package struct MotionModel: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable { case rest, walk, vehicle, drone }

  package var kind: Kind
  /// One standard deviation of the velocity along each axis, in metres per second.
  var speed: Double
  /// The seconds after which a third of the velocity remains.
  var memory: Double
  /// The mean time in this model, in seconds.
  ///
  /// The time at rest is short: far from the anchors, a motion across the line of sight is hard to
  /// notice.
  var stay: Double
  /// The vertical speed as a fraction of `speed`.
  var climb = 1.0

  /// Returns the variance of the displacement that accelerations cause within `seconds`.
  func jolt(_ seconds: Double) -> Double {
    let density: Double = 2 * speed * speed / memory
    return density * seconds * seconds * seconds / 3
  }

  /// A carrier that sways and turns on the spot.
  static let rest = MotionModel(kind: .rest, speed: 0.06, memory: 0.4, stay: 3)
  /// A person who walks and runs: 1 m²/s³.
  static let walk = MotionModel(kind: .walk, speed: 1.2, memory: 2.9, stay: 60)
  /// A vehicle in a hall: 3 m²/s³.
  static let vehicle = MotionModel(kind: .vehicle, speed: 3, memory: 6, stay: 60)
  /// A drone that hovers and glides: 1.3 m²/s³. It climbs more slowly than it flies.
  static let glide = MotionModel(kind: .drone, speed: 0.8, memory: 1, stay: 60, climb: 0.4)
  /// A drone that flies fast: 12 m²/s³.
  static let drone = MotionModel(kind: .drone, speed: 3, memory: 1.5, stay: 60)
}

/// The prediction of a filter over a step of time.
struct MotionStep: Sendable {
  /// The factor on each of the first eight states.
  private var kept: SIMD8<Double>
  /// The factor on another state that is added. A position adds the velocity, and a velocity adds
  /// the perpendicular velocity.
  private var mixed: SIMD8<Double>
  /// The factors by which the errors of four anchors decay.
  private(set) var fade: SIMD8<Double>
  /// The height to which the position returns.
  private(set) var height: Double
  private(set) var noise:
    (position: SIMD3<Double>, both: SIMD3<Double>, velocity: SIMD3<Double>, slow: Double)

  /// - Parameters:
  ///   - turn: radians by which a measured turn rate turns the velocity.
  ///   - slow: the variance of slow errors, and the seconds after which a third of an error
  ///     remains.
  init(
    _ model: MotionModel, _ dt: Double, height rule: TagTrack.Height, turn angle: Double = 0,
    slow: (variance: Double, time: Double)
  ) {
    let x = dt / model.memory
    let left = Math.exp(-x)
    let variance = model.speed * model.speed
    // Below this limit the exact terms cancel, so a series is used.
    let travelled =
      x < 0.01
      ? variance * 2 / model.memory * dt * dt * dt / 3
      : variance * model.memory * (2 * dt - model.memory * (3 - left * (4 - left)))
    let way = model.memory * (1 - left)
    let decay = Math.exp(-dt / slow.time)
    fade = SIMD8(1, decay, 1, decay, 1, decay, 1, decay)
    let axes = SIMD3(1, 1, model.climb * model.climb)
    noise = (
      travelled * axes, variance * (1 - left) * way * axes, variance * (1 - left * left) * axes,
      slow.variance * (1 - decay * decay)
    )
    let turn: SIMD2<Double> = angle == 0 ? [1, 0] : [Math.cos(angle), Math.sin(angle)]
    kept = SIMD8(1, 1, 1, left * turn.x, left * turn.x, left, 1, 1)
    mixed = SIMD8(way, way, way, -left * turn.y, left * turn.y, 0, 0, 0)
    height = 0
    guard let known = rule.band else { return }
    // A known height varies around the middle of its band.
    let rest = Math.exp(-dt / known.time)
    (kept[2], mixed[2], kept[5], height) = (rest, 0, 0, known.middle)
    noise.position.z = known.variance * (1 - rest * rest)
    (noise.both.z, noise.velocity.z) = (0, 0)
  }

  /// Returns the first eight states of a row after the step.
  @inline(__always)
  func moved(_ lanes: SIMD8<Double>) -> SIMD8<Double> {
    let others = SIMD8(lanes[3], lanes[4], lanes[5], lanes[4], lanes[3], 0, 0, 0)
    return lanes * kept + others * mixed
  }

  /// Returns the first eight states after the step, where heights return to `middle`.
  func moved(_ states: SIMD8<Double>, towards middle: Double) -> SIMD8<Double> {
    var result = moved(states)
    result[2] += (1 - kept[2]) * middle
    return result
  }

  /// Moves the first six rows of a block of the covariance.
  @inline(__always)
  func moveRows(_ rows: inout MutableSpan<SIMD8<Double>>, _ start: Int) {
    let (vx, vy, vz) = (rows[start + 3], rows[start + 4], rows[start + 5])
    rows[start] += vx * mixed[0]
    rows[start + 1] += vy * mixed[1]
    rows[start + 2] = rows[start + 2] * kept[2] + vz * mixed[2]
    rows[start + 3] = vx * kept[3] + vy * mixed[3]
    rows[start + 4] = vy * kept[4] + vx * mixed[4]
    rows[start + 5] = vz * kept[5]
  }
}
