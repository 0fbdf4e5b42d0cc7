// SPDX-License-Identifier: Apache-2.0
internal import Locking

private let defaults = Locked<(device: String?, poses: (any PoseSource)?)>((nil, nil))

extension NISession {
  /// Beyond Apple: the chip of all sessions that name none: `/dev/ttyACM0`, `usb:SERIAL`,
  /// `tcp:host:port`. nil: the environment's `UWB_DEVICE`, else the first
  /// board that is found.
  public class var device: String? {
    get { defaults.withLock { $0.device } }
    set { defaults.withLock { $0.device = newValue } }
  }

  /// Beyond Apple: the chip of this session, from the next `run` on; nil: that of all.
  public var device: String? {
    get { options.withLock { $0.device } }
    set { options.withLock { $0.device = newValue } }
  }

  /// Beyond Apple: where this machine is, for all sessions that are given no other source.
  public class var poseSource: (any PoseSource)? {
    get { defaults.withLock { $0.poses } }
    set { defaults.withLock { $0.poses = newValue } }
  }

  /// Beyond Apple: where this machine is, from the next `run` on; nil: the source of all sessions.
  public var poseSource: (any PoseSource)? {
    get { options.withLock { $0.poseSource } }
    set {
      options.withLock {
        $0.poseSource = newValue
        $0.wantsAssistance = false
      }
    }
  }

  /// Beyond Apple: how long this session waits for what; also for what it is waiting for already.
  public var timeouts: Timeouts {
    get { core.state.withLock { $0.machine.timeouts } }
    set { core.set(newValue) }
  }

  /// Beyond Apple: `invalidate()`, and waits until nothing of the session is on its chip, which is
  /// closed where no other session uses it. For programs that end: a chip ranges on without them.
  public func close() async { await core.close() }
}
