// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import Locking

extension NISession {
  /// Beyond Apple: what the delegate is told, as values.
  public enum Event: Sendable {
    /// `sessionDidStartRunning`.
    case didStartRunning
    /// Data for the accessory.
    case didGenerateShareableConfigurationData(Data, NINearbyObject)
    /// Measurements.
    case didUpdate([NINearbyObject])
    /// The object is gone.
    case didRemove(NINearbyObject, NINearbyObject.RemovalReason)
    /// How far the search by movement has come.
    case didUpdateAlgorithmConvergence(NIAlgorithmConvergence, NINearbyObject?)
    /// Messages of anchors.
    case didUpdateDLTDOA([NIDLTDOAMeasurement])
    /// There is no device for now.
    case wasSuspended
    /// The device is back; `run` is needed.
    case suspensionEnded
    /// The end. No event follows.
    case didInvalidate(NIError)
  }

  /// Beyond Apple: the events from now on, beside the delegate; any number of takers. Ends behind
  /// `didInvalidate`, and with `invalidate()`. A taker that does not take keeps the newest 256.
  public var events: AsyncStream<Event> { core.events() }

  /// Beyond Apple: updates that were dropped because the delegate's queue did not get to them:
  /// 64 wait for it at most.
  public var droppedUpdates: Int { core.state.withLock { $0.dropped } }
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
