// SPDX-License-Identifier: Apache-2.0
internal import Locking
import UCIReference
internal import UWB

// Peers: tokens as `PeerTokens` makes and reads them.

extension NIDiscoveryToken {
  /// Whether bytes that came from somewhere can be a token.
  static func isValid(_ kind: Kind, _ bytes: [UInt8]) -> Bool {
    switch kind {
    case .accessory: bytes.count == 16
    case .peer: (try? PeerToken(bytes)) != nil
    }
  }

  /// What the device that made the token can do.
  var capabilities: ChipCapabilities {
    guard kind == .peer, let token = try? PeerToken(bytes) else { return .distanceOnly }
    var capabilities = ChipCapabilities()
    capabilities.supportsPreciseDistanceMeasurement = token.capabilities.contains(.preciseDistance)
    capabilities.supportsDirectionMeasurement = token.capabilities.contains(.direction)
    capabilities.supportsCameraAssistance = token.capabilities.contains(.cameraAssistance)
    capabilities.supportsDLTDOAMeasurement = token.capabilities.contains(.downlinkTDoA)
    return capabilities
  }
}

extension PeerIdentity {
  /// This host's end of a session, with what its chip can do; waits for the chip. Where there is none
  /// the token says the least that a chip can do.
  static func ofDevice(named name: String?, hasPoses: Bool) -> PeerIdentity {
    let software: PeerToken.Capabilities = hasPoses ? [.cameraAssistance] : []
    return DeviceRegistry.ask(name) { PeerIdentity(of: $0, software: software) }
      ?? PeerIdentity(capabilities: [.preciseDistance, .controller, .controlee])
  }

  /// The session with a peer.
  func plan(
    with token: NIDiscoveryToken, _ device: String?
  ) -> Result<SessionPlan, NIError> {
    guard token.kind == .peer else {
      return .failure(
        NIError(
          .invalidConfiguration, reason: "The token is that of an accessory.",
          recovery: "Give the token that the peer's NISession.discoveryToken had."))
    }
    do throws(PeerTokenError) {
      let session = try session(with: PeerToken(token.bytes))
      return .success(SessionPlan(target: .peer(session), device: device))
    } catch {
      var code = NIError.Code.invalidConfiguration
      if case .incompatible = error { code = .incompatiblePeerDevice }
      return .failure(NIError(code, reason: error.description, recovery: error.suggestion))
    }
  }
}
