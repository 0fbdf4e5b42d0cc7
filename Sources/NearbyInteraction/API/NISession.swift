// SPDX-License-Identifier: Apache-2.0
public import Dispatch
public import Foundation
internal import Locking
public import SIMDMath

/// A session of ranging with a peer or an accessory, or of listening to anchors, on a UWB chip.
///
/// Which chip: `NISession.device` of the session or of the class, else the environment's `UWB_DEVICE`,
/// else the first board that is found. Sessions of one process share a chip; each has its own on as
/// many chips as there are.
///
/// Every method may be called on any thread. A session that is released without `invalidate()` ends
/// in the same way.
open class NISession: NSObject, @unchecked Sendable {
  // Sound: all that changes is in `core`, behind its lock.
  let core: SessionCore
  let options = Locked(Options())

  struct Options {
    var configuration: NIConfiguration?
    var device: String?
    var poseSource: (any PoseSource)?
    /// `setARSession` was called, which is an error without assistance.
    var wantsAssistance = false
    /// Something that is no source of poses was set as one.
    var isPoseSourceWrong: Bool { wantsAssistance && poseSource == nil }
  }

  private let end = Locked<PeerIdentity?>(nil)

  /// A session that does nothing yet.
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

  /// Whether there is a chip that measures distances.
  @available(iOS, introduced: 14, deprecated: 16, message: "use deviceCapabilities")
  open class var isSupported: Bool { deviceCapabilities.supportsPreciseDistanceMeasurement }

  /// What the chip can do, as it says itself; nothing where there is none, or where this user may not
  /// open it. The first call opens the chip, unless a session has it open, and waits for it: a
  /// fraction of a second.
  open class var deviceCapabilities: any NIDeviceCapability {
    ChipCapabilities.ofDevice(named: device, hasPoses: poseSource != nil)
  }

  /// Who is told what happens. Not kept alive by the session.
  open weak var delegate: (any NISessionDelegate)? {
    get { core.state.withLock { $0.delegate } }
    set { core.state.withLock { $0.delegate = newValue } }
  }

  /// Where the delegate is called; nil: on the main queue, which has to run (`dispatchMain()` or
  /// `RunLoop.main.run()`). Give a serial queue.
  open var delegateQueue: DispatchQueue? {
    get { core.state.withLock { $0.queue } }
    set { core.state.withLock { $0.queue = newValue } }
  }

  /// Names this session for peers: to be sent to them. The same for the life of the session. The
  /// first call asks the chip what it can do, like `deviceCapabilities`.
  open var discoveryToken: NIDiscoveryToken? { NIDiscoveryToken(.peer, identity.token.bytes) }

  /// This end of a session with a peer. Not made before it is needed: the token says what the chip
  /// can do, and who ranges with accessories needs none.
  var identity: PeerIdentity {
    let (device, poses) = options.withLock { ($0.device, $0.poseSource) }
    return end.withLock { end in
      if let end { return end }
      let made = PeerIdentity.ofDevice(
        named: device ?? Self.device, hasPoses: (poses ?? Self.poseSource) != nil)
      end = made
      return made
    }
  }

  /// What was given to `run` last, a copy.
  open var configuration: NIConfiguration? {
    options.withLock { $0.configuration }?.copy() as? NIConfiguration
  }

  /// Begins, or begins anew with this configuration. One of three follows: `sessionDidStartRunning`,
  /// `sessionWasSuspended` or `session(_:didInvalidateWith:)`.
  open func run(_ configuration: NIConfiguration) {
    guard let copy = configuration.copy() as? NIConfiguration else { return }
    options.withLock { $0.configuration = copy }
    let request = RunRequest(copy, of: self)
    core.run(
      request.plan, token: request.token, finder: request.finder, problem: request.problem)
  }

  /// Stops until `run`. The object's side notices by silence.
  open func pause() { core.handle(.pause) }

  /// Ends for good; the delegate is told nothing more. The other side learns of it where the chip can
  /// say so: when this side is the controller.
  open func invalidate() { core.handle(.invalidate) }

  /// Takes the place of ARKit's session: an object that is a `PoseSource`. With anything else, or
  /// with a configuration that does not enable camera assistance, `run` ends with
  /// `NIError.invalidARConfiguration`. To be called before `run`.
  open func setARSession(_ session: AnyObject) {
    options.withLock {
      $0.poseSource = session as? any PoseSource
      $0.wantsAssistance = true
    }
  }

  /// Where an object is in the world of the `PoseSource`; nil until movement has told in every
  /// direction. Its axes are the world's.
  open func worldTransform(for object: NINearbyObject) -> simd_float4x4? {
    core.state.withLock { $0.token == object.token ? $0.finder : nil }?.worldTransform
  }

  /// Says whether an object moves. Kept for compatibility; the estimates find out for themselves.
  open func updateMotionState(
    _ motionState: NIMotionActivityState, forObjectWithToken token: NIDiscoveryToken
  ) {}
}
