// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import Locking

extension NISession {
  /// Beyond Apple: the calls of the delegate as values. Later versions may add cases, so a `switch`
  /// needs a default.
  public enum Event: Sendable {
    /// The session ranges.
    case didStartRunning
    /// The accessory needs this data to begin.
    case didGenerateShareableConfigurationData(Data, NINearbyObject)
    /// Objects were measured.
    case didUpdate([NINearbyObject])
    /// The object is no longer measured.
    case didRemove(NINearbyObject, NINearbyObject.RemovalReason)
    /// The convergence of camera assistance has changed.
    case didUpdateAlgorithmConvergence(NIAlgorithmConvergence, NINearbyObject?)
    /// Messages of anchors were received.
    case didUpdateDLTDOA([NIDLTDOAMeasurement])
    /// The device is temporarily unavailable.
    case wasSuspended
    /// The device is available again; `run` the session.
    case suspensionEnded
    /// The session has ended. No event follows.
    case didInvalidate(NIError)
  }

  /// Beyond Apple: the events from now on, for any number of subscribers. Ends after `didInvalidate`,
  /// and with `invalidate()`. A subscriber that is too slow loses the oldest events beyond 256.
  public var events: AsyncStream<Event> { core.events() }

  /// Beyond Apple: how many updates were dropped because 64 were waiting for the delegate's queue.
  public var droppedUpdates: Int { core.state.withLock { $0.droppedUpdates } }
}

extension NISession.Event {
  func deliver(to delegate: any NISessionDelegate, _ session: NISession) {
    switch self {
    case .didStartRunning: delegate.sessionDidStartRunning(session)
    case .didGenerateShareableConfigurationData(let data, let object):
      delegate.session(session, didGenerateShareableConfigurationData: data, for: object)
    case .didUpdate(let objects): delegate.session(session, didUpdate: objects)
    case .didRemove(let object, let reason):
      delegate.session(session, didRemove: [object], reason: reason)
    case .didUpdateAlgorithmConvergence(let convergence, let object):
      delegate.session(session, didUpdateAlgorithmConvergence: convergence, for: object)
    case .didUpdateDLTDOA(let measurements):
      delegate.session(session, didUpdateDLTDOA: measurements)
    case .wasSuspended: delegate.sessionWasSuspended(session)
    case .suspensionEnded: delegate.sessionSuspensionEnded(session)
    case .didInvalidate(let error): delegate.session(session, didInvalidateWith: error)
    }
  }
}
