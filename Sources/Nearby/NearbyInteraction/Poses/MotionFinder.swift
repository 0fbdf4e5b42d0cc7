// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import System
internal import Ranging
internal import SIMDMath

/// A finder of an object from this device's own movement. It may take milliseconds, so it has its
/// own queue.
final class MotionFinder: Sendable {
  struct Finding: Sendable {
    /// The horizontal angle in radians, positive to the right; nil if unknown.
    var horizontalAngle: Float?
    var vertical = NINearbyObject.VerticalDirectionEstimate.unknown
    /// The direction in the device's frame.
    var direction: simd_float3?
    var status = NIAlgorithmConvergenceStatus.unknown
    var isStatusChange = false

    /// Returns the direction, or else the direction from the antennas.
    ///
    /// The latter is omitted if it contradicts the horizontal angle. The antennas may mirror
    /// objects behind them, or the object may have moved.
    func agreed(with antennas: simd_float3?) -> simd_float3? {
      guard direction == nil, let horizontalAngle, let antennas else {
        return direction ?? antennas
      }
      let difference = atan2(antennas.x, -antennas.z) - horizontalAngle
      return cos(difference) > cos(.pi / 6) ? antennas : nil
    }
  }

  private struct State {
    var finder = TargetFinder()
    /// The status that was last reported to the app.
    var status = NIAlgorithmConvergenceStatus.unknown
    /// A status that differs from the reported status, and its beginning.
    var next: (status: NIAlgorithmConvergenceStatus, since: UInt64)?
    /// The position of the object in the coordinates of the poses.
    var position: SIMD3<Double>?

    /// Updates the status, and returns whether to report it.
    ///
    /// The first status and convergence are reported at once. Missing conditions are reported after
    /// one second, so that hints do not flicker.
    mutating func isChange(to fresh: NIAlgorithmConvergenceStatus, at time: UInt64) -> Bool {
      if fresh == status {
        next = nil
        return false
      }
      if next?.status != fresh { next = (fresh, time) }
      guard
        status == .unknown || fresh == .converged || time - (next?.since ?? time) >= 1_000_000_000
      else { return false }
      (status, next) = (fresh, nil)
      return true
    }
  }

  private let source: any PoseSource
  private let state = Locked(State())
  let queue = DispatchQueue(label: "NearbyInteraction.finder")

  init(_ source: any PoseSource) { self.source = source }

  /// The position of the object; nil until it has converged in all directions.
  var worldTransform: simd_float4x4? {
    guard let position = state.withLock({ $0.position }) else { return nil }
    var transform = matrix_identity_float4x4
    transform.columns.3 = simd_float4(-Float(position.y), Float(position.z), -Float(position.x), 1)
    return transform
  }

  /// Processes a measurement.
  ///
  /// - Parameter azimuth: radians, positive to the right; nil unless the antennas distinguish
  ///   front from back.
  func update(time: UInt64, range: Double, azimuth: Double?) -> Finding {
    let pose = source.pose(at: time)?.ranging
    return state.withLock { state in
      var finding = Finding()
      if let pose {
        let sighting = TargetSighting(
          time: Double(time) * 1e-9, pose: pose, range: range, azimuth: azimuth.map { -$0 })
        if let estimate = state.finder.update(sighting) {
          finding = Self.finding(estimate, pose)
          if finding.status == .converged { state.position = estimate.position }
        }
      } else {
        finding.status = .notConverged([.insufficientLighting])
      }
      finding.isStatusChange = state.isChange(to: finding.status, at: time)
      return finding
    }
  }

  private static func finding(_ estimate: TargetEstimate, _ pose: Pose) -> Finding {
    var finding = Finding()
    let reasons = words(estimate.reasons)
    finding.status = reasons.isEmpty ? .converged : .notConverged(reasons)
    guard estimate.isConverged else { return finding }
    finding.horizontalAngle = -Float(estimate.horizontalAngle)
    finding.vertical =
      switch estimate.vertical {
      case .above: .above
      case .below: .below
      case .same: .same
      case .aboveOrBelow: .aboveOrBelow
      case .unknown: .unknown
      }
    if reasons.isEmpty {
      let seen = pose.toDevice(estimate.position - pose.position)
      let direction = simd_float3(-Float(seen.y), Float(seen.z), -Float(seen.x))
      if simd_length(direction) > 0.01 { finding.direction = simd_normalize(direction) }
    }
    return finding
  }

  private static func words(
    _ reasons: TargetEstimate.Reasons
  ) -> [NIAlgorithmConvergenceStatus.Reason] {
    let table: [(TargetEstimate.Reasons, NIAlgorithmConvergenceStatus.Reason)] = [
      (.movement, .insufficientMovement), (.horizontalSweep, .insufficientHorizontalSweep),
      (.verticalSweep, .insufficientVerticalSweep), (.signal, .insufficientSignalStrength),
    ]
    // iOS has no reason for a moving peer.
    let reasons = reasons.contains(.targetMovement) ? reasons.union(.movement) : reasons
    return table.filter { reasons.contains($0.0) }.map(\.1)
  }
}
