// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Receives the events of a session, on `NISession.delegateQueue`.
///
/// All methods are optional. Without Objective-C, each has a default implementation that does nothing,
/// with one difference: a method is called only if the class that declares the conformance implements
/// it, not if only a subclass does.
public protocol NISessionDelegate: NSObjectProtocol {
  /// Objects were measured, or could not be for a second or longer: then `distance` and the directions
  /// are nil, until they are measured again or removed. A session ranges with one object, so the array
  /// has one element.
  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject])

  /// Objects are no longer measured. `run` the same configuration to try again.
  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason)

  /// Nothing is measured: the device was unplugged, another program has it, or the machine slept.
  func sessionWasSuspended(_ session: NISession)

  /// The device is available again. The session does not continue by itself: `run` it.
  func sessionSuspensionEnded(_ session: NISession)

  /// The session has ended for good. This is the last call.
  func session(_ session: NISession, didInvalidateWith error: any Error)

  /// The accessory needs this data to begin. Called once for each `run`, each time with new data.
  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject)

  /// The convergence of camera assistance has changed; without an object, for the whole session.
  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?)

  /// The session ranges.
  func sessionDidStartRunning(_ session: NISession)

  /// Messages of anchors were received.
  func session(_ session: NISession, didUpdateDLTDOA measurements: [NIDLTDOAMeasurement])
}

extension NISessionDelegate {
  /// Does nothing.
  public func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {}

  /// Does nothing.
  public func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {}

  /// Does nothing.
  public func sessionWasSuspended(_ session: NISession) {}

  /// Does nothing.
  public func sessionSuspensionEnded(_ session: NISession) {}

  /// Does nothing.
  public func session(_ session: NISession, didInvalidateWith error: any Error) {}

  /// Does nothing.
  public func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) {}

  /// Does nothing.
  public func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {}

  /// Does nothing.
  public func sessionDidStartRunning(_ session: NISession) {}

  /// Does nothing.
  public func session(_ session: NISession, didUpdateDLTDOA measurements: [NIDLTDOAMeasurement]) {}
}
