// SPDX-License-Identifier: Apache-2.0
public import Dispatch
public import Foundation
internal import System
internal import Peers
public import SIMDMath

/// A session of ranging with a peer or an accessory, or of listening to anchors, on a UWB chip.
///
/// Which chip: `NISession.device` of the session or of the class, else the environment's `UWB_DEVICE`,
/// else the first board that is found. Sessions of one process share a chip; each has its own on as
/// many chips as there are.
///
/// All methods are thread-safe. Releasing a session also invalidates it.
open class NISession: NSObject, @unchecked Sendable {
  // Sendable: all mutable state is behind locks.
  let core: SessionCore
  let options = Locked(Options())

  struct Options {
    var configuration: NIConfiguration?
    var device: String?
    var poseSource: (any PoseSource)?
    /// `setARSession` was called, which is an error without camera assistance.
    var wantsAssistance = false
    /// The object given to `setARSession` is not a `PoseSource`.
    var isPoseSourceWrong: Bool { wantsAssistance && poseSource == nil }
  }

  private let peerIdentity = Locked<PeerIdentity?>(nil)

  /// Creates a session, which does nothing until it is run.
  public override init() {
    core = SessionCore()
    super.init()
    core.state.withLock { $0.session = self }
  }

  init(core: SessionCore) {
    self.core = core
    super.init()
    core.state.withLock { $0.session = self }
  }

  deinit { core.handle(.invalidate) }

  /// Whether there is a chip that measures distances. See `deviceCapabilities`.
  @available(iOS, introduced: 14, deprecated: 16, message: "use deviceCapabilities")
  open class var isSupported: Bool { deviceCapabilities.supportsPreciseDistanceMeasurement }

  /// What the chip supports; nothing without a chip, or without permission to open it. Answers at once:
  /// until the chip has been opened the first time, which the first call does in the background and which
  /// resets it, only that it measures distances is known. See `prepare(_:)`.
  open class var deviceCapabilities: any NIDeviceCapability {
    ChipCapabilities.ofDevice(named: device, hasPoses: poseSource != nil)
  }

  /// The delegate, which the session does not retain.
  open weak var delegate: (any NISessionDelegate)? {
    get { core.state.withLock { $0.delegate } }
    set { core.state.withLock { $0.delegate = newValue } }
  }

  /// The serial queue on which the delegate is called; nil: the main queue, which needs
  /// `dispatchMain()` or `RunLoop.main.run()`.
  open var delegateQueue: DispatchQueue? {
    get { core.state.withLock { $0.queue } }
    set { core.state.withLock { $0.queue = newValue } }
  }

  /// Identifies this session to peers, to whom it has to be sent. Stays the same for the life of the
  /// session. It holds what is known of the chip at the first call, like `deviceCapabilities`: see
  /// `prepare(_:)`. nil where OpenSSL's libcrypto is missing, without which `run` with a peer's token says
  /// so.
  open var discoveryToken: NIDiscoveryToken? {
    (try? identity).map { NIDiscoveryToken(.peer, $0.token.bytes) }
  }

  /// This end of a session with a peer. Made on first use, because its token holds the capabilities of
  /// the chip, and sessions with accessories need none.
  var identity: PeerIdentity {
    get throws(PeerTokenError) {
      let (device, poses) = options.withLock { ($0.device, $0.poseSource) }
      return try peerIdentity.withLock { identity throws(PeerTokenError) in
        if let identity { return identity }
        let made = try PeerIdentity.ofDevice(
          named: device ?? Self.device, hasPoses: (poses ?? Self.poseSource) != nil)
        identity = made
        return made
      }
    }
  }

  /// A copy of the configuration that was run last.
  open var configuration: NIConfiguration? {
    options.withLock { $0.configuration }?.copy() as? NIConfiguration
  }

  /// Starts the session, or restarts it with another configuration. Leads to one of
  /// `sessionDidStartRunning`, `sessionWasSuspended` and `session(_:didInvalidateWith:)`.
  open func run(_ configuration: NIConfiguration) {
    guard let copy = configuration.copy() as? NIConfiguration else { return }
    options.withLock { $0.configuration = copy }
    let request = RunRequest(copy, of: self)
    core.run(
      request.plan, token: request.token, finder: request.finder, problem: request.problem)
  }

  /// Stops until `run`. The peer is not told; it stops receiving measurements.
  open func pause() { core.handle(.pause) }

  /// Ends the session for good, without further calls of the delegate. The peer is told where this side
  /// is the controller.
  open func invalidate() { core.handle(.invalidate) }

  /// Sets a `PoseSource`, which takes the place of ARKit's session. With any other object, or with a
  /// configuration that does not enable camera assistance, `run` ends with
  /// `NIError.invalidARConfiguration`. Call it before `run`.
  open func setARSession(_ session: AnyObject) {
    options.withLock {
      $0.poseSource = session as? any PoseSource
      $0.wantsAssistance = true
    }
  }

  /// The position of an object in the coordinates of the `PoseSource`, without rotation; nil until it
  /// has converged in all directions.
  open func worldTransform(for object: NINearbyObject) -> simd_float4x4? {
    core.state.withLock { $0.token == object.token ? $0.finder : nil }?.worldTransform
  }

  /// Does nothing: the estimates detect movement themselves.
  open func updateMotionState(
    _ motionState: NIMotionActivityState, forObjectWithToken token: NIDiscoveryToken
  ) {}
}
