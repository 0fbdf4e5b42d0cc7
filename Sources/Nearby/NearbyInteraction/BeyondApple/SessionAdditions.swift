// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import System

private let defaults = Locked<(device: String?, poses: (any PoseSource)?)>((nil, nil))

extension NISession {
  /// Beyond Apple: the device of all sessions that have none of their own, in the form of
  /// `LinkEndpoint`: `/dev/ttyACM0`, `usb:SERIAL`, `tcp:host:port`. nil: the environment variable
  /// `UWB_DEVICE`, or else the first board that is found.
  public class var device: String? {
    get { defaults.withLock { $0.device } }
    set { defaults.withLock { $0.device = newValue } }
  }

  /// Beyond Apple: the device of this session, from the next `run` on; nil: that of all sessions.
  public var device: String? {
    get { options.withLock { $0.device } }
    set { options.withLock { $0.device = newValue } }
  }

  /// Beyond Apple: the source of this machine's poses, for all sessions that have none of their own.
  public class var poseSource: (any PoseSource)? {
    get { defaults.withLock { $0.poses } }
    set { defaults.withLock { $0.poses = newValue } }
  }

  /// Beyond Apple: the source of this machine's poses, from the next `run` on; nil: that of all
  /// sessions.
  public var poseSource: (any PoseSource)? {
    get { options.withLock { $0.poseSource } }
    set {
      options.withLock {
        $0.poseSource = newValue
        $0.wantsAssistance = false
      }
    }
  }

  /// Beyond Apple: whether the program is in the background, as it says itself, for example while nobody
  /// looks at it.
  ///
  /// Sessions that were run with `init(accessoryData:bluetoothPeerIdentifier:)` go on without updates; in
  /// the foreground the newest one follows. Others are suspended, and can be run again in the foreground.
  public class var isInBackground: Bool {
    get { ProgramState.shared.isInBackground }
    set { ProgramState.shared.isInBackground = newValue }
  }

  /// Beyond Apple: the time limits of this session; a change also applies to those that are running.
  public var timeouts: Timeouts {
    get { core.state.withLock { $0.machine.timeouts } }
    set { core.set(newValue) }
  }

  /// Beyond Apple: waits until the chip has reported what it supports, or cannot be asked. A chip that no
  /// session of this process has used is opened for that, which resets it.
  ///
  /// Before that, `deviceCapabilities` and tokens hold what every chip supports: distances, without
  /// directions, and keys derived for a static STS instead of a provisioned one.
  ///
  /// - Parameter device: as for `NISession.device`; nil: that of all sessions.
  public class func prepare(_ device: String? = nil) async {
    await DeviceRegistry.shared.prepare(deviceNamed: device ?? Self.device)
  }

  /// Beyond Apple: calls `invalidate()`, and waits until the session is off its chip, which is closed
  /// unless another session uses it. A program should do this before it exits, because a chip continues
  /// to range without it.
  public func close() async { await core.close() }
}

extension NISession {
  /// Beyond Apple: the time limits of a session. Apple's are not published.
  public struct Timeouts: Sendable, Hashable {
    /// From the start of ranging to the first measurement; then `didRemove` with `.timeout`.
    public var firstMeasurement: Duration = .seconds(20)
    /// From one measurement to the next; then `didRemove` with `.timeout`.
    public var inactivity: Duration = .seconds(10)
    /// The longest suspension; then `didInvalidateWith` with `.sessionFailed`.
    public var suspension: Duration = .seconds(300)
    /// The longest time of ranging without a new `run`; then `didInvalidateWith` with
    /// `.resourceUsageTimeout`. nil: no limit.
    public var activity: Duration?

    /// Creates the default limits.
    public init() {}
  }
}

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
