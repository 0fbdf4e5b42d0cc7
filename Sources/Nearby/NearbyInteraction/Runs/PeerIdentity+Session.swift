// SPDX-License-Identifier: Apache-2.0
internal import Peers
internal import UWB

extension NIDiscoveryToken {
  /// Returns whether received bytes can be a token.
  static func isValid(_ kind: Kind, _ bytes: [UInt8]) -> Bool {
    switch kind {
    case .accessory: bytes.count == 16
    case .peer: (try? PeerToken(bytes)) != nil
    }
  }

  /// The capabilities of the device that created the token.
  var capabilities: ChipCapabilities {
    guard kind == .peer, let token = try? PeerToken(bytes) else { return .distanceOnly }
    return ChipCapabilities(known: token.capabilities)
  }
}

extension PeerIdentity {
  /// Creates this host's end of a session, with the capabilities of its chip. Without a chip, or
  /// before the chip has answered, the end has the capabilities that every chip has.
  static func ofDevice(named name: String?, hasPoses: Bool)
    throws(PeerTokenError) -> PeerIdentity
  {
    try PeerIdentity(
      of: DeviceRegistry.shared.capabilities(ofDeviceNamed: name) ?? Capabilities([]),
      software: hasPoses ? [.cameraAssistance] : [])
  }

  func plan(
    with token: NIDiscoveryToken, _ device: String?
  ) -> Result<SessionPlan, NIError> {
    guard token.kind == .peer else {
      return .failure(
        NIError(
          .invalidConfiguration, reason: "The token belongs to an accessory.",
          recovery: "Use the value of the peer's NISession.discoveryToken."))
    }
    do throws(PeerTokenError) {
      let session = try session(with: PeerToken(token.bytes))
      return .success(SessionPlan(target: .peer(session), device: device))
    } catch {
      return .failure(NIError(error))
    }
  }
}

extension NIError {
  init(_ error: PeerTokenError) {
    switch error {
    case .incompatible: self.init(.incompatiblePeerDevice, error)
    case .noCryptography: self.init(.unsupportedPlatform, error)
    default: self.init(.invalidConfiguration, error)
    }
  }
}
