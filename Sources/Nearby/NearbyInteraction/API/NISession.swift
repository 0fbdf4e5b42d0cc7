// SPDX-License-Identifier: Apache-2.0
public import Dispatch
public import Foundation
internal import System
internal import Peers
public import SIMDMath

/// A session on a UWB chip. It ranges with a peer or an accessory, or receives messages of anchors.
///
/// The chip is `NISession.device` of the session or of the class, else the environment's
/// `UWB_DEVICE`, else the first board found. Sessions of one process share a chip. With several
/// chips, each session can have its own.
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
    /// Whether `setARSession` was called, which is an error without camera assistance.
    var wantsAssistance = false
    /// Whether the object given to `setARSession` is not a `PoseSource`.
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

  /// The capabilities of the chip; none without a chip, or without permission to open it.
  ///
  /// The property returns at once. Until the chip has been opened for the first time, it reports
  /// only the measurement of distances. The first call opens the chip in the background, which
  /// resets it. See `prepare(_:)`.
  open class var deviceCapabilities: any NIDeviceCapability {
    ChipCapabilities.ofDevice(named: device, hasPoses: poseSource != nil)
  }

  /// The delegate, which the session does not retain.
  open weak var delegate: (any NISessionDelegate)? {
    get { core.state.withLock { $0.delegate } }
    set { core.state.withLock { $0.delegate = newValue } }
  }

  /// The serial queue on which the delegate is called; nil for the main queue, which needs
  /// `dispatchMain()` or `RunLoop.main.run()`.
  open var delegateQueue: DispatchQueue? {
    get { core.state.withLock { $0.queue } }
    set { core.state.withLock { $0.queue = newValue } }
  }

  /// The token that identifies this session to peers. Apps have to send it to them. It does not
  /// change during the life of the session.
  ///
  /// It contains the capabilities of the chip at the first call, as `deviceCapabilities` does: see
  /// `prepare(_:)`. It is nil if OpenSSL's libcrypto is missing; `run` with a peer's token then
  /// reports the cause.
  open var discoveryToken: NIDiscoveryToken? {
    (try? identity).map { NIDiscoveryToken(.peer, $0.token.bytes) }
  }

  /// This end of a session with a peer. It is created on first use, because its token contains the
  /// capabilities of the chip. Sessions with accessories need none.
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

  /// Starts the session, or restarts it with another configuration. The delegate receives one of
  /// `sessionDidStartRunning`, `sessionWasSuspended` and `session(_:didInvalidateWith:)`.
  open func run(_ configuration: NIConfiguration) {
    guard let copy = configuration.copy() as? NIConfiguration else { return }
    options.withLock { $0.configuration = copy }
    let request = RunRequest(copy, of: self)
    core.run(
      request.plan, token: request.token, finder: request.finder, problem: request.problem)
  }

  /// Stops ranging until `run`. The peer is not notified; it stops receiving measurements.
  open func pause() { core.handle(.pause) }

  /// Ends the session for good, and no longer calls the delegate. A controller also notifies its
  /// peer.
  open func invalidate() { core.handle(.invalidate) }

  /// Sets a `PoseSource`, which replaces ARKit's session. Call it before `run`.
  ///
  /// With any other object, `run` ends with `NIError.invalidARConfiguration`. It also does if the
  /// configuration does not enable camera assistance.
  open func setARSession(_ session: AnyObject) {
    options.withLock {
      $0.poseSource = session as? any PoseSource
      $0.wantsAssistance = true
    }
  }

  /// Returns the position of an object in the coordinates of the `PoseSource`, without rotation;
  /// nil until it has converged in all directions.
  open func worldTransform(for object: NINearbyObject) -> simd_float4x4? {
    core.state.withLock { $0.token == object.token ? $0.finder : nil }?.worldTransform
  }

  /// Does nothing: the estimates detect movement themselves.
  open func updateMotionState(
    _ motionState: NIMotionActivityState, forObjectWithToken token: NIDiscoveryToken
  ) {}
}
