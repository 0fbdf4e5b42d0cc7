// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import System

private let defaults = Locked<(device: String?, poses: (any PoseSource)?)>((nil, nil))

extension NISession {
  /// The device of all sessions that have no device of their own. Not part of Apple's API.
  ///
  /// It has the form of `LinkEndpoint`: `/dev/ttyACM0`, `usb:SERIAL`, `tcp:host:port`. nil selects
  /// the environment variable `UWB_DEVICE`, or else the first board found.
  public class var device: String? {
    get { defaults.withLock { $0.device } }
    set { defaults.withLock { $0.device = newValue } }
  }

  /// The device of this session from the next `run`; nil for the device of all sessions. Not part
  /// of Apple's API.
  public var device: String? {
    get { options.withLock { $0.device } }
    set { options.withLock { $0.device = newValue } }
  }

  /// The source of poses of all sessions that have no source of their own. Not part of Apple's API.
  public class var poseSource: (any PoseSource)? {
    get { defaults.withLock { $0.poses } }
    set { defaults.withLock { $0.poses = newValue } }
  }

  /// The source of poses of this session from the next `run`; nil for the source of all sessions.
  /// Not part of Apple's API.
  public var poseSource: (any PoseSource)? {
    get { options.withLock { $0.poseSource } }
    set {
      options.withLock {
        $0.poseSource = newValue
        $0.wantsAssistance = false
      }
    }
  }

  /// Whether the program is in the background, as set by the program itself. Not part of Apple's
  /// API.
  ///
  /// Sessions with `init(accessoryData:bluetoothPeerIdentifier:)` keep ranging in the background
  /// without updates. In the foreground, the newest update follows. Other sessions are suspended,
  /// and can be run again in the foreground.
  public class var isInBackground: Bool {
    get { ProgramState.shared.isInBackground }
    set { ProgramState.shared.isInBackground = newValue }
  }

  /// The time limits of this session. A change also applies to running limits. Not part of Apple's
  /// API.
  public var timeouts: Timeouts {
    get { core.state.withLock { $0.machine.timeouts } }
    set { core.set(newValue) }
  }

  /// Waits until the chip has reported its capabilities, or cannot be opened. Not part of Apple's
  /// API.
  ///
  /// A chip that no session of this process has used is opened for this, which resets it. Before
  /// that, `deviceCapabilities` and tokens contain only the capabilities of every chip. These are
  /// distances without directions, and keys for a static STS instead of a provisioned STS.
  ///
  /// - Parameter device: as for `NISession.device`; nil for the device of all sessions.
  public class func prepare(_ device: String? = nil) async {
    await DeviceRegistry.shared.prepare(deviceNamed: device ?? Self.device)
  }

  /// Calls `invalidate()`, and waits until the session has ended on its chip. Not part of Apple's
  /// API.
  ///
  /// The chip is closed unless another session uses it. A program should call this before it exits,
  /// because a chip would keep ranging.
  public func close() async { await core.close() }
}

extension NISession {
  /// The time limits of a session. Apple's limits are not published. Not part of Apple's API.
  public struct Timeouts: Sendable, Hashable {
    /// The limit from the start of ranging to the first measurement; then `didRemove` with
    /// `.timeout`.
    public var firstMeasurement: Duration = .seconds(20)
    /// The limit between measurements; then `didRemove` with `.timeout`.
    public var inactivity: Duration = .seconds(10)
    /// The limit of a suspension; then `didInvalidateWith` with `.sessionFailed`.
    public var suspension: Duration = .seconds(300)
    /// The limit of ranging without a new `run`; then `didInvalidateWith` with
    /// `.resourceUsageTimeout`. nil for no limit.
    public var activity: Duration?

    /// Creates the default limits.
    public init() {}
  }
}

extension NISession {
  /// A call of the delegate as a value. Later versions may add cases, so a `switch` needs a
  /// default. Not part of Apple's API.
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

  /// A stream of the events from now on, for any number of subscribers. Not part of Apple's API.
  ///
  /// It ends after `didInvalidate`, and with `invalidate()`. A slow subscriber loses the oldest
  /// events beyond 256.
  public var events: AsyncStream<Event> { core.events() }

  /// The number of updates that were dropped because 64 were waiting for the delegate's queue. Not
  /// part of Apple's API.
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
