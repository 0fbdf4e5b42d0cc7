// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import Foundation
internal import System

/// The parameters of a `run`, checked before it begins.
struct RunRequest {
  var plan: SessionPlan?
  /// The token of the object; nil if there is none.
  var token: NIDiscoveryToken?
  var finder: MotionFinder?
  var problem: NIError?

  init(_ configuration: NIConfiguration, of session: NISession) {
    do throws(NIError) { try prepare(configuration, session) } catch { problem = error }
  }

  private mutating func prepare(
    _ configuration: NIConfiguration, _ session: NISession
  ) throws(NIError) {
    let options = session.options.withLock { $0 }
    let device = options.device ?? NISession.device
    // The permission is checked first: apps request permission with a run that may fail for another
    // reason.
    if let problem = Authorization.problem(with: device) { throw problem }
    switch configuration {
    case let accessory as NINearbyAccessoryConfiguration:
      token = accessory.accessoryDiscoveryToken
      guard case .ranges(let data) = accessory.accessory else {
        throw NIError(
          .unsupportedPlatform, reason: "Linux hosts have no Bluetooth channel sounding.",
          recovery: "Use init(data:) with the accessory's configuration data.")
      }
      let peer = accessory.bluetoothPeerIdentifier.map {
        SessionPlan.BluetoothPeer(identifier: $0, data: data)
      }
      plan = SessionPlan(
        target: .accessory(data, try accessory.keptData()), device: device, bluetoothPeer: peer)
      try assist(accessory.isCameraAssistanceEnabled, options)
    case let anchors as NIDLTDOAConfiguration:
      guard let id = UInt32(exactly: anchors.networkIdentifier) else {
        throw NIError(
          .invalidConfiguration,
          reason: "The network identifier \(anchors.networkIdentifier) is not a session id.",
          recovery: "Use a session id from 0 to 4294967295.")
      }
      plan = SessionPlan(target: .anchors(id: id, anchors.radio), device: device)
      if let problem = anchors.radio.problem { throw problem }
    case let peer as NINearbyPeerConfiguration:
      token = peer.peerDiscoveryToken
      guard !peer.isExtendedDistanceMeasurementEnabled else {
        throw NIError(
          .incompatiblePeerDevice,
          reason: "The chip does not support extended distance measurement.",
          recovery: "Enable it only where deviceCapabilities of both ends support it.")
      }
      let identity: PeerIdentity
      do throws(PeerTokenError) { identity = try session.identity } catch { throw NIError(error) }
      plan = try identity.plan(with: peer.peerDiscoveryToken, device).get()
      try assist(peer.isCameraAssistanceEnabled, options)
    default:
      throw NIError(
        .invalidConfiguration, reason: "A \(type(of: configuration)) cannot be run.")
    }
  }

  private mutating func assist(
    _ isEnabled: Bool, _ options: NISession.Options
  ) throws(NIError) {
    guard isEnabled else {
      guard options.wantsAssistance else { return }
      throw NIError(
        .invalidARConfiguration,
        reason: "setARSession was called, but the configuration does not enable camera assistance.",
        recovery: "Set isCameraAssistanceEnabled, or do not call setARSession.")
    }
    guard let source = options.poseSource ?? NISession.poseSource, !options.isPoseSourceWrong else {
      throw NIError(
        .invalidARConfiguration,
        reason: options.isPoseSourceWrong
          ? "The object given to setARSession is not a PoseSource."
          : "Camera assistance is enabled, but there is no PoseSource.",
        recovery: "Set NISession.poseSource, or leave isCameraAssistanceEnabled off.")
    }
    finder = MotionFinder(source)
  }
}

extension NINearbyAccessoryConfiguration {
  fileprivate func keptData() throws(NIError) -> ShareableConfigurationData? {
    guard let data = shareableConfigurationData else { return nil }
    do throws(AccessoryError) { return try ShareableConfigurationData([UInt8](data)) } catch {
      throw NIError(.invalidConfiguration, error)
    }
  }
}
