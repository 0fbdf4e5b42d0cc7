// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A delegate that receives the events of a session, on `NISession.delegateQueue`.
///
/// All methods are optional, because each has a default implementation that does nothing. There is
/// one difference to Objective-C: the class that declares the conformance has to implement a
/// method. If only a subclass does, the method is not called.
public protocol NISessionDelegate: NSObjectProtocol {
  /// Reports objects that were measured, or could not be measured for a second or longer. In the
  /// latter case `distance` and the directions are nil, until the objects are measured again or
  /// removed.
  ///
  /// A session ranges with one object, so the array has one element.
  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject])

  /// Reports objects that are no longer measured. `run` the same configuration to try again.
  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason)

  /// Reports that ranging stopped: the device was unplugged, another program uses it, the machine
  /// slept, or the program moved to the background.
  func sessionWasSuspended(_ session: NISession)

  /// Reports that the device is available again. The session does not continue by itself: `run` it.
  func sessionSuspensionEnded(_ session: NISession)

  /// Reports that the session has ended for good. This is the last call.
  func session(_ session: NISession, didInvalidateWith error: any Error)

  /// Reports data that the accessory needs to begin. Called once for each `run`, each time with new
  /// data.
  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject)

  /// Reports a change in the convergence of camera assistance; without an object, for the whole
  /// session.
  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?)

  /// Reports that the session ranges.
  func sessionDidStartRunning(_ session: NISession)

  /// Reports received messages of anchors.
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
