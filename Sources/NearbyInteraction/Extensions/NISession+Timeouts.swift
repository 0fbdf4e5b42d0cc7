// SPDX-License-Identifier: Apache-2.0

extension NISession {
  /// Beyond Apple: how long a session waits for what. Apple has such limits, too, and does not
  /// publish them; these are our own choice.
  public struct Timeouts: Sendable, Hashable {
    /// From the start of ranging to the first answer of the object; then `didRemove` with `.timeout`.
    public var preparedness: Duration = .seconds(20)
    /// From one answer of the object to the next; then `didRemove` with `.timeout`.
    public var silence: Duration = .seconds(10)
    /// How long a session may stay suspended; then `didInvalidateWith` with `.sessionFailed`.
    public var suspension: Duration = .seconds(300)
    /// How long a session may range without a new `run`; then `didInvalidateWith` with
    /// `.resourceUsageTimeout`. nil: for ever, because a machine on mains power may.
    public var activity: Duration?

    /// The values above.
    public init() {}
  }
}
