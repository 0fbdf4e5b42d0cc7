// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A session with another Linux host, which runs a session with this host's token. Tokens of
/// iPhones are not compatible.
open class NINearbyPeerConfiguration: NIConfiguration, @unchecked Sendable {
  // Sendable: safe as long as no thread changes a configuration while another thread uses it; `run`
  // makes a copy.
  private let token: NIDiscoveryToken

  /// The token of the peer: the value of its `NISession.discoveryToken`.
  open var peerDiscoveryToken: NIDiscoveryToken { token }

  /// Whether movement of this device, from a `PoseSource`, determines the position of the peer.
  open var isCameraAssistanceEnabled = false

  /// Whether to measure extended distances. No known chip supports it, so `run` ends with
  /// `NIError.incompatiblePeerDevice`.
  open var isExtendedDistanceMeasurementEnabled = false

  /// Creates a configuration for the peer with this token.
  public init(peerToken: NIDiscoveryToken) {
    token = peerToken
    super.init(kind: ())
  }

  /// Decodes an archived instance.
  public required init?(coder: NSCoder) {
    guard let token = coder.decodeObject(of: NIDiscoveryToken.self, forKey: "peerDiscoveryToken")
    else { return nil }
    self.token = token
    super.init(coder: coder)
    isCameraAssistanceEnabled = coder.decodeBool(forKey: "cameraAssistance")
    isExtendedDistanceMeasurementEnabled = coder.decodeBool(forKey: "extendedDistance")
  }

  /// Encodes the instance.
  open override func encode(with coder: NSCoder) {
    coder.encode(token, forKey: "peerDiscoveryToken")
    coder.encode(isCameraAssistanceEnabled, forKey: "cameraAssistance")
    coder.encode(isExtendedDistanceMeasurementEnabled, forKey: "extendedDistance")
  }

  /// Returns an independent copy.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NINearbyPeerConfiguration(peerToken: token)
    copy.isCameraAssistanceEnabled = isCameraAssistanceEnabled
    copy.isExtendedDistanceMeasurementEnabled = isExtendedDistanceMeasurementEnabled
    return copy
  }
}
