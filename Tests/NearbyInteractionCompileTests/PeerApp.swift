// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction
import simd

/// Like typical peer apps: archived tokens over any channel, checks of capabilities, a new session
/// depending on the error, hints from convergence.
final class PeerModel: NSObject, NISessionDelegate {
  struct Hint: OptionSet {
    let rawValue: Int
    static let move = Hint(rawValue: 1)
    static let sweep = Hint(rawValue: 2)
    static let light = Hint(rawValue: 4)
  }

  var session: NISession?
  var peerToken: NIDiscoveryToken?
  var hint: Hint = []
  var needsRestart = false
  var last: (distance: Float?, azimuth: Float?, elevation: Float?) = (nil, nil, nil)
  var transform: simd_float4x4?
  var vertical = NINearbyObject.VerticalDirectionEstimate.unknown
  let queue = DispatchQueue(label: "app.ni")

  func start() {
    let session = NISession()
    session.delegate = self
    session.delegateQueue = queue
    self.session = session
  }

  func tokenData() throws -> Data? {
    guard let token = session?.discoveryToken else { return nil }
    return try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
  }

  func received(_ data: Data) throws {
    guard
      let token = try NSKeyedUnarchiver.unarchivedObject(
        ofClass: NIDiscoveryToken.self, from: data)
    else { return }
    peerToken = token
    let configuration = NINearbyPeerConfiguration(peerToken: token)
    if #available(iOS 16.0, watchOS 9.0, *) {
      configuration.isCameraAssistanceEnabled =
        NISession.deviceCapabilities.supportsCameraAssistance
    }
    if #available(iOS 17.0, *) {
      configuration.isExtendedDistanceMeasurementEnabled =
        NISession.deviceCapabilities.supportsExtendedDistanceMeasurement
        && token.deviceCapabilities.supportsExtendedDistanceMeasurement
    }
    session?.run(configuration)
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    let object = nearbyObjects.first { $0.discoveryToken == peerToken }
    guard let object = object else { return }
    last = (
      object.distance, object.direction.map(azimuth(from:)), object.direction.map(elevation(from:))
    )
    if let horizontalAngle = object.horizontalAngle { last.azimuth = horizontalAngle }
    vertical = object.verticalDirectionEstimate
    transform = session.worldTransform(for: object)
  }

  func azimuth(from direction: simd_float3) -> Float { asin(direction.x) }

  func elevation(from direction: simd_float3) -> Float {
    atan2(direction.z, direction.y) + .pi / 2
  }

  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {
    guard object != nil else { return }
    switch convergence.status {
    case .converged: hint = []
    case .notConverged(let reasons):
      hint = []
      if reasons.contains(.insufficientMovement) { hint.insert(.move) }
      if reasons.contains(NIAlgorithmConvergenceStatus.Reason.insufficientHorizontalSweep)
        || reasons.contains(.insufficientVerticalSweep)
      {
        hint.insert(.sweep)
      }
      if reasons.contains(.insufficientLighting) { hint.insert(.light) }
      _ = reasons.contains(.insufficientSignalStrength)
      _ = reasons.map { $0.localizedDescription ?? $0.rawValue }
    case .unknown: break
    @unknown default: break
    }
  }

  func session(_ session: NISession, didInvalidateWith error: Error) {
    if case NIError.userDidNotAllow = error { return }
    guard let error = error as? NIError else { return }
    switch error.code {
    case .invalidARConfiguration, .incompatiblePeerDevice, .activeSessionsLimitExceeded,
      .activeExtendedDistanceSessionsLimitExceeded, .userDidNotAllow:
      needsRestart = false
    case .unsupportedPlatform, .invalidConfiguration, .sessionFailed, .resourceUsageTimeout,
      .accessoryPeerDeviceUnavailable:
      needsRestart = true
    @unknown default: needsRestart = true
    }
  }

  func sessionDidStartRunning(_ session: NISession) {}
}

/// Typical uses of vectors.
struct Vectors: Codable {
  var place: simd_float3 = .zero
  var flat = simd_float2(1, 2)

  func heading(to other: simd_float3) -> Float {
    let difference = simd_normalize(other - place)
    return simd_dot(difference, simd_float3(0, 0, -1)) + simd_length(other)
      + simd_distance(other, place) + length(difference) + distance(other, place)
  }

  func matrices(_ transform: simd_float4x4) -> simd_float4 {
    let column = transform.columns.3
    let rotation = simd_quatf(angle: .pi / 2, axis: simd_float3(0, 1, 0))
    let turned = simd_mul(simd_float4x4(rotation), transform.inverse * transform)
    return turned * simd_float4(column.x, column.y, column.z, 1)
      + matrix_identity_float4x4.columns.0
  }
}
