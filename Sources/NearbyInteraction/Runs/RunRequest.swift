// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Locking

/// What `run` was asked for, checked before anything is done.
struct RunRequest {
  var plan: SessionPlan?
  /// Identifies the object; nil: there is none.
  var token: NIDiscoveryToken?
  var finder: MotionFinder?
  var problem: NIError?

  init(_ configuration: NIConfiguration, of session: NISession) {
    let options = session.options.withLock { $0 }
    let device = options.device ?? NISession.device
    // First, because apps ask for permission by a run that fails for another reason.
    problem = Authorization.problem(with: device)
    guard problem == nil else { return }
    switch configuration {
    case let accessory as NINearbyAccessoryConfiguration:
      token = accessory.accessoryDiscoveryToken
      switch accessory.accessory {
      case .ranges(let data): plan = SessionPlan(target: .accessory(data), device: device)
      case .channelSounding:
        problem = NIError(
          .unsupportedPlatform, reason: "Linux hosts have no Bluetooth channel sounding.",
          recovery: "Use init(data:) with the accessory's configuration data.")
      }
      assist(accessory.isCameraAssistanceEnabled, options)
    case let anchors as NIDLTDOAConfiguration:
      guard let id = UInt32(exactly: anchors.networkIdentifier) else {
        problem = NIError(
          .invalidConfiguration,
          reason: "The network identifier \(anchors.networkIdentifier) is not a session id.",
          recovery: "Use a session id from 0 to 4294967295.")
        return
      }
      problem = anchors.radio.problem
      plan = SessionPlan(target: .anchors(id: id, anchors.radio), device: device)
    case let peer as NINearbyPeerConfiguration: take(peer, session, device, options)
    default:
      problem = NIError(
        .invalidConfiguration, reason: "A \(type(of: configuration)) cannot be run.")
    }
  }

  private mutating func take(
    _ peer: NINearbyPeerConfiguration, _ session: NISession, _ device: String?,
    _ options: NISession.Options
  ) {
    token = peer.peerDiscoveryToken
    guard !peer.isExtendedDistanceMeasurementEnabled else {
      problem = NIError(
        .incompatiblePeerDevice, reason: "The chip does not support extended distance measurement.",
        recovery: "Enable it only where deviceCapabilities of both ends support it.")
      return
    }
    switch session.identity.plan(with: peer.peerDiscoveryToken, device) {
    case .success(let made): plan = made
    case .failure(let error): problem = error
    }
    assist(peer.isCameraAssistanceEnabled, options)
  }

  private mutating func assist(_ isEnabled: Bool, _ options: NISession.Options) {
    guard problem == nil else { return }
    guard isEnabled else {
      guard options.wantsAssistance else { return }
      problem = NIError(
        .invalidARConfiguration,
        reason: "setARSession was called, but the configuration does not enable camera assistance.",
        recovery: "Set isCameraAssistanceEnabled, or do not call setARSession.")
      return
    }
    guard let source = options.poseSource ?? NISession.poseSource, !options.isPoseSourceWrong else {
      problem = NIError(
        .invalidARConfiguration,
        reason: options.isPoseSourceWrong
          ? "The object given to setARSession is not a PoseSource."
          : "Camera assistance is enabled, but there is no PoseSource.",
        recovery: "Set NISession.poseSource, or leave isCameraAssistanceEnabled off.")
      return
    }
    finder = MotionFinder(source)
  }
}
