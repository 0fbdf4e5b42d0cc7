// SPDX-License-Identifier: Apache-2.0
internal import Locking

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

  /// Beyond Apple: the time limits of this session; a change also applies to those that are running.
  public var timeouts: Timeouts {
    get { core.state.withLock { $0.machine.timeouts } }
    set { core.set(newValue) }
  }

  /// Beyond Apple: calls `invalidate()`, and waits until the session is off its chip, which is closed
  /// unless another session uses it. A program should do this before it exits, because a chip continues
  /// to range without it.
  public func close() async { await core.close() }
}
