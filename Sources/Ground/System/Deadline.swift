// SPDX-License-Identifier: Apache-2.0
internal import CUWB

/// A moment on CLOCK_MONOTONIC.
package struct Deadline {
  private let nanoseconds: UInt64

  /// - Parameter time: From now; a negative one has passed already.
  package init(after time: Duration) {
    // A year is as good as for ever, and cannot overflow.
    let left = min(max(time, .zero), .seconds(31_536_000))
    nanoseconds = cuwb_monotonic_ns() + UInt64(left / .nanoseconds(1))
  }

  /// What is left, rounded up so that a wait does not end before its time; 0 when it has passed.
  package var milliseconds: Int32 {
    let now = cuwb_monotonic_ns()
    return now < nanoseconds ? Int32(clamping: (nanoseconds - now + 999_999) / 1_000_000) : 0
  }
}

extension Duration {
  /// For the kernel: rounded up, never negative.
  package var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard self > .zero else { return 0 }
    let whole = Int64(clamping: seconds).multipliedReportingOverflow(by: 1_000)
    let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return whole.overflow ? .max : Int32(clamping: whole.partialValue + part)
  }
}
