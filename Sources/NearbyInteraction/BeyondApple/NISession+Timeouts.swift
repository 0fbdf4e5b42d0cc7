// SPDX-License-Identifier: Apache-2.0

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
