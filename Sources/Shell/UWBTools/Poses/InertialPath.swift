// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Ranging

/// The path of a person who carries an inertial sensor, from its orientation and the steps.
///
/// Gravity levels the orientation, the gyroscope turns it, and rest calibrates the gyroscope. Each
/// step moves the position forward by `stepLength`, because the error of integrated accelerations
/// reaches metres within seconds. The heading drifts, and the height stays the same.
package struct InertialPath: Sendable {
  /// The length of a step in metres. Steps of people differ by about 15%, which `finderParameters`
  /// accounts for.
  private static let stepLength = 0.7
  private static let gravity = 9.81
  /// The time constant of the levelling in seconds.
  private static let levelling = 2.0
  /// The limits of a step: its vertical acceleration at the start and at the end, in metres per
  /// square second, and the shortest time between steps in seconds.
  private static let step = (above: 1.2, below: -0.3, least: 0.3)

  /// The model of a finder for these paths: steps of an assumed length, between which the position
  /// does not change, and a drifting heading.
  package static var finderParameters: TargetFinder.Parameters {
    var parameters = TargetFinder.Parameters()
    parameters.rangeDeviation = 0.3
    parameters.drift = 0.15
    parameters.headingDrift = 0.2 * .pi / 180
    // A coarse direction with its deviation helps more than none.
    parameters.convergedAngle = 15 * .pi / 180
    return parameters
  }

  private var rotation: (w: Double, v: SIMD3<Double>)?
  private var position = SIMD3<Double>.zero
  private var bias = SIMD3<Double>.zero
  private var time = 0.0
  /// The time at which the device came to rest; nil while it moves.
  private var restsSince: Double?
  private var isCalibrated = false
  /// The smoothed vertical acceleration.
  private var vertical = 0.0
  /// Whether the vertical acceleration was high.
  private var isHigh = false
  /// The time of the last step.
  private var stepped = -1.0

  package init() {}

  /// Updates the path.
  ///
  /// - Parameter time: Seconds.
  /// - Returns: The pose; nil before the first sample.
  package mutating func update(_ sample: InertialSensor.Sample, at time: Double) -> Pose? {
    let interval = time - self.time
    self.time = time
    guard let former = rotation, interval > 0, interval < 0.5 else {
      // The first sample, or a sample after a gap: gravity determines the tilt.
      if rotation == nil, sample.acceleration.length > 1 {
        rotation = Self.turn(from: sample.acceleration, to: SIMD3(0, 0, 1))
      }
      return pose
    }
    calibrate(sample, interval)
    var turned = Self.product(former, Self.rotation((sample.rotation - bias) * interval))
    let up = Self.rotate(sample.acceleration, by: turned)
    let strength = up.length
    if abs(strength - Self.gravity) < 0.3 * Self.gravity {
      let error = (up / strength).cross(SIMD3(0, 0, 1))
      turned = Self.product(Self.rotation(error * min(1, interval / Self.levelling)), turned)
    }
    rotation = turned
    countSteps(up.z - Self.gravity, interval)
    return pose
  }

  /// The present pose.
  private var pose: Pose? {
    rotation.map { Pose(position: position, w: $0.w, x: $0.v.x, y: $0.v.y, z: $0.v.z) }
  }

  /// Learns the constant error of the gyroscope while the device rests.
  private mutating func calibrate(_ sample: InertialSensor.Sample, _ interval: Double) {
    // Before the first rest, the error may be as large as a slow turn.
    let error = sample.rotation - bias
    guard error.length < (isCalibrated ? 0.03 : 0.1),
      abs(sample.acceleration.length - Self.gravity) < 0.3
    else { return restsSince = nil }
    let since = restsSince ?? time
    restsSince = since
    guard time - since > 0.5 else { return }
    bias += error * min(1, 4 * interval)
    isCalibrated = isCalibrated || time - since > 2
  }

  private mutating func countSteps(_ acceleration: Double, _ interval: Double) {
    // A low pass of 3 Hz.
    vertical += (acceleration - vertical) * min(1, interval * 2 * .pi * 3)
    if vertical > Self.step.above { isHigh = true }
    guard isHigh, vertical < Self.step.below else { return }
    isHigh = false
    guard time - stepped >= Self.step.least, let rotation else { return }
    stepped = time
    let ahead = Self.rotate(SIMD3(1, 0, 0), by: rotation)
    let level = (ahead.x * ahead.x + ahead.y * ahead.y).squareRoot()
    guard level > 0.3 else { return }
    position += SIMD3(ahead.x, ahead.y, 0) * (Self.stepLength / level)
  }

  // MARK: rotations

  private typealias Rotation = (w: Double, v: SIMD3<Double>)

  private static func product(_ a: Rotation, _ b: Rotation) -> Rotation {
    let w = a.w * b.w - a.v.dot(b.v)
    let v = b.v * a.w + a.v * b.w + a.v.cross(b.v)
    let length = (w * w + v.dot(v)).squareRoot()
    return (w / length, v / length)
  }

  /// Returns the rotation by a vector of radians.
  private static func rotation(_ vector: SIMD3<Double>) -> Rotation {
    let angle = vector.length
    guard angle > 1e-12 else { return (1, .zero) }
    return (cos(angle / 2), vector * (sin(angle / 2) / angle))
  }

  private static func rotate(_ v: SIMD3<Double>, by rotation: Rotation) -> SIMD3<Double> {
    let twice = rotation.v.cross(v) * 2
    return v + twice * rotation.w + rotation.v.cross(twice)
  }

  /// Returns the smallest rotation from one direction to another.
  private static func turn(from a: SIMD3<Double>, to b: SIMD3<Double>) -> Rotation {
    let (a, b) = (a / a.length, b / b.length)
    let w = 1 + a.dot(b)
    guard w > 1e-9 else { return (0, SIMD3(1, 0, 0)) }
    let length = (w * w + a.cross(b).dot(a.cross(b))).squareRoot()
    return (w / length, a.cross(b) / length)
  }
}
