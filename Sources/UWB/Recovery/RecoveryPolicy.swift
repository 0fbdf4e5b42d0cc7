// SPDX-License-Identifier: Apache-2.0

/// What to do when a device is lost: unplugged, failed, or restarted by itself.
///
/// Its consumers are told, the driver waits for the same device, builds its sessions again with what
/// was changed in them since, and starts those that were ranging. See `UWBDevice.Options.recovery`.
public struct RecoveryPolicy: Sendable, Hashable {
  /// How long to try before the device is given up; nil: without a limit.
  public var limit: Duration?

  /// How long a chip that ranges may be silent, and ten intervals at least, before it is asked
  /// whether it still has the session: it may have restarted without reporting it.
  public var watchdogInterval: Duration

  /// Creates a policy without a limit, unless one is given.
  public init(limit: Duration? = nil, watchdogInterval: Duration = .seconds(3)) {
    self.limit = limit
    self.watchdogInterval = watchdogInterval
  }
}
