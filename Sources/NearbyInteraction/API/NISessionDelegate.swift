// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What a session tells its app, on `NISession.delegateQueue`.
///
/// Every method is optional. On Apple's platforms that is a feature of Objective-C; here each has an
/// implementation that does nothing. One difference follows: a method counts when the class that
/// declares the conformance has it, not when only a subclass of it does.
public protocol NISessionDelegate: NSObjectProtocol {
  /// Objects were measured. One session ranges with one object, so the array has one element.
  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject])

  /// Objects are no longer measured. `run` with the same configuration tries again.
  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason)

  /// The device was unplugged, another program has it, or the machine slept: nothing is measured.
  func sessionWasSuspended(_ session: NISession)

  /// The device is back. The session does not go on by itself: `run` it.
  func sessionSuspensionEnded(_ session: NISession)

  /// The session has ended for good. The last call.
  func session(_ session: NISession, didInvalidateWith error: any Error)

  /// The accessory needs this data to begin. Once for each `run`, each time other data.
  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject)

  /// The search by movement has come further, or less far. nil: what is said holds for the session.
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
