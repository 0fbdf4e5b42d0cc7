// SPDX-License-Identifier: Apache-2.0

/// What to do when a device is lost: unplugged, failed, or started anew by itself.
///
/// Its consumers are told, the same device is waited for, its sessions are built again with what was
/// changed in them since, and those that were ranging range on. See `UWBDevice.Options.recovery`.
public struct Recovery: Sendable, Hashable {
  /// After so long without success the device is given up; nil: never.
  public var limit: Duration?

  /// A chip that ranges, and has said nothing for this long and for ten intervals, is asked whether
  /// it still has the session: it may have started anew without a word.
  public var silence: Duration

  /// Recovers, for ever unless told otherwise.
  public init(limit: Duration? = nil, silence: Duration = .seconds(3)) {
    self.limit = limit
    self.silence = silence
  }
}
