// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Locking
internal import Ranging
internal import SIMDMath

/// Finds an object from the own movement, beside the session: it may take milliseconds.
final class MotionFinder: Sendable {
  /// What is known of the object with one more measurement.
  struct Finding: Sendable {
    /// Radians, positive to the right; nil: not known.
    var horizontalAngle: Float?
    var vertical = NINearbyObject.VerticalDirectionEstimate.unknown
    /// In the device's frame, where the antennas give none.
    var direction: simd_float3?
    var status = NIAlgorithmConvergenceStatus.unknown
    /// The status is another than before.
    var isNews = false
  }

  private struct State {
    var finder = TargetFinder()
    var status = NIAlgorithmConvergenceStatus.unknown
    /// Where the object is in the world of the poses.
    var place: SIMD3<Double>?
  }

  private let source: any PoseSource
  private let state = Locked(State())
  /// One measurement after the other.
  let queue = DispatchQueue(label: "NearbyInteraction.finder")

  init(_ source: any PoseSource) { self.source = source }

  /// Where the object is; nil until movement has told in every direction.
  var worldTransform: simd_float4x4? {
    guard let place = state.withLock({ $0.place }) else { return nil }
    var transform = matrix_identity_float4x4
    transform.columns.3 = simd_float4(-Float(place.y), Float(place.z), -Float(place.x), 1)
    return transform
  }

  /// Takes a measurement in.
  ///
  /// - Parameters:
  ///   - azimuth: radians, positive to the right; only of antennas that tell front from back.
  func take(time: UInt64, range: Double, azimuth: Double?) -> Finding {
    let pose = source.pose(at: time)?.ranging
    return state.withLock { state in
      var finding = Finding()
      if let pose {
        let sighting = TargetSighting(
          time: Double(time) * 1e-9, pose: pose, range: range, azimuth: azimuth.map { -$0 })
        if let estimate = state.finder.update(sighting) {
          finding = Self.finding(estimate, pose)
          state.place = finding.status == .converged ? estimate.position : state.place
        }
      } else {
        finding.status = .notConverged([.insufficientLighting])
      }
      finding.isNews = finding.status != state.status
      state.status = finding.status
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
      case .unknown: .unknown
      }
    if reasons.isEmpty {
      let seen = pose.toDevice(estimate.position - pose.position)
      let ours = simd_float3(-Float(seen.y), Float(seen.z), -Float(seen.x))
      if simd_length(ours) > 0.01 { finding.direction = simd_normalize(ours) }
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
    return table.filter { reasons.contains($0.0) }.map(\.1)
  }
}
