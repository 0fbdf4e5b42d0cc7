// SPDX-License-Identifier: Apache-2.0
internal import CUWB

/// A time of CLOCK_MONOTONIC at which a wait ends.
package struct Deadline {
  private let nanoseconds: UInt64

  /// Creates a deadline.
  ///
  /// - Parameter time: The time from now; a negative time has already passed.
  package init(after time: Duration) {
    // A longer time counts as a year, which cannot overflow.
    let left = min(max(time, .zero), .seconds(31_536_000))
    nanoseconds = cuwb_monotonic_ns() + UInt64(left / .nanoseconds(1))
  }

  /// The remaining time, rounded up so that a wait does not end early; 0 once it has passed.
  package var milliseconds: Int32 {
    let now = cuwb_monotonic_ns()
    return now < nanoseconds ? Int32(clamping: (nanoseconds - now + 999_999) / 1_000_000) : 0
  }
}

extension Duration {
  /// The duration in milliseconds for system calls: rounded up, and never negative.
  package var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard self > .zero else { return 0 }
    let whole = Int64(clamping: seconds).multipliedReportingOverflow(by: 1_000)
    let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return whole.overflow ? .max : Int32(clamping: whole.partialValue + part)
  }
}
