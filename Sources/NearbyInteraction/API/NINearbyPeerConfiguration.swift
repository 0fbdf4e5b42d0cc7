// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A session with another device that runs one with this device's token: another Linux host. Tokens
/// of iPhones mean nothing here, and ours nothing there.
open class NINearbyPeerConfiguration: NIConfiguration, @unchecked Sendable {
  // Sound as far as Apple's: an app does not change a configuration that another thread uses; `run`
  // takes a copy.
  private let token: NIDiscoveryToken

  /// The token of the peer, as the peer's `NISession.discoveryToken` was sent over.
  open var peerDiscoveryToken: NIDiscoveryToken { token }

  /// Whether movement of this device, from a `PoseSource`, is to tell where the peer is.
  open var isCameraAssistanceEnabled = false

  /// Needs chips that no host of ours has: `run` ends with `NIError.incompatiblePeerDevice`.
  open var isExtendedDistanceMeasurementEnabled = false

  /// A session with the peer that has this token.
  public init(peerToken: NIDiscoveryToken) {
    token = peerToken
    super.init(kind: ())
  }

  /// Reads what `encode(with:)` wrote.
  public required init?(coder: NSCoder) {
    guard let token = coder.decodeObject(of: NIDiscoveryToken.self, forKey: "peerDiscoveryToken")
    else { return nil }
    self.token = token
    super.init(coder: coder)
    isCameraAssistanceEnabled = coder.decodeBool(forKey: "cameraAssistance")
    isExtendedDistanceMeasurementEnabled = coder.decodeBool(forKey: "extendedDistance")
  }

  /// Writes what `init(coder:)` reads.
  open override func encode(with coder: NSCoder) {
    coder.encode(token, forKey: "peerDiscoveryToken")
    coder.encode(isCameraAssistanceEnabled, forKey: "cameraAssistance")
    coder.encode(isExtendedDistanceMeasurementEnabled, forKey: "extendedDistance")
  }

  /// A copy that does not change with this one.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NINearbyPeerConfiguration(peerToken: token)
    copy.isCameraAssistanceEnabled = isCameraAssistanceEnabled
    copy.isExtendedDistanceMeasurementEnabled = isExtendedDistanceMeasurementEnabled
    return copy
  }
}
