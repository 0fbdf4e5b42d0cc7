// SPDX-License-Identifier: Apache-2.0

import CommandSupport
package import Formats
package import Ranging

/// The direction of the accessory from the movement of this device.
package struct Guidance: Sendable {
  private let estimate: TargetEstimate

  init(_ estimate: TargetEstimate) { self.estimate = estimate }

  private static func degrees(_ radians: Double) -> Double { radians * 180 / .pi }

  /// The direction in degrees to the right of the device, and one standard deviation; nil if
  /// unknown.
  package var direction: (degrees: Double, deviation: Double)? {
    guard estimate.isConverged else { return nil }
    return (-Self.degrees(estimate.horizontalAngle), Self.degrees(estimate.angleDeviation))
  }

  /// The direction, or the movement that is missing.
  package var text: String {
    guard let direction else {
      let missing = estimate.reasons.description
      return "direction unknown: \(missing.isEmpty ? "movement" : missing)"
    }
    let height = ["above", "below"].first { $0 == Self.word(estimate.vertical) }
    return "direction \(fixed(direction.degrees, 0))° ± \(fixed(direction.deviation, 0))°"
      + (height.map { ", \($0)" } ?? "")
  }

  private static func word(_ vertical: TargetEstimate.Vertical) -> String {
    switch vertical {
    case .above: "above"
    case .same: "same"
    case .below: "below"
    case .aboveOrBelow: "above_or_below"
    case .unknown: "unknown"
    }
  }

  package var values: [(name: String, value: (any JSONValue)?)] {
    let covariance = estimate.covariance
    let deviation = (covariance.xx + covariance.yy + covariance.zz).squareRoot()
    return [
      ("direction_deg", Fixed(direction?.degrees, 1)),
      ("direction_sd_deg", Fixed(direction?.deviation, 1)),
      ("vertical", Self.word(estimate.vertical)),
      ("world_x_m", Fixed(estimate.position.x, 3)), ("world_y_m", Fixed(estimate.position.y, 3)),
      ("world_z_m", Fixed(estimate.position.z, 3)), ("world_sd_m", Fixed(deviation, 3)),
      ("hints", estimate.reasons.description),
    ]
  }
}

/// A finder of the accessory's direction by the poses of this device.
package struct PoseGuide {
  private let poses: LivePoses
  private var finder: TargetFinder

  package init(_ poses: LivePoses, _ parameters: TargetFinder.Parameters) {
    self.poses = poses
    finder = TargetFinder(parameters)
  }

  /// Returns the direction after a distance; nil without a pose at its time.
  package mutating func update(range: Double, at time: UInt64) -> Guidance? {
    guard let pose = poses.pose(at: time) else { return nil }
    return finder.update(
      TargetSighting(time: Double(time) * 1e-9, pose: pose, range: range)
    ).map(Guidance.init)
  }
}
