// SPDX-License-Identifier: Apache-2.0

/// The percentiles of measured values.
struct Percentiles {
  var p50 = 0.0
  var p90 = 0.0
  var p99 = 0.0
  var p999 = 0.0

  init(_ values: some Sequence<Double>) {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return }
    func at(_ part: Double) -> Double {
      sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }
    p50 = at(0.5)
    p90 = at(0.9)
    p99 = at(0.99)
    p999 = at(0.999)
  }
}

/// Memory for values that one thread writes without allocating. They are read after it has ended.
final class Samples: @unchecked Sendable {
  let values: UnsafeMutableBufferPointer<UInt64>

  init(_ count: Int) {
    values = .allocate(capacity: count)
    values.initialize(repeating: 0)
  }

  deinit { values.deallocate() }
}

/// Returns the times in 32-bit samples that C writes.
func nanoseconds(_ count: Int, _ body: (UnsafeMutablePointer<UInt32>) -> Void) -> [Double] {
  [UInt32](unsafeUninitializedCapacity: count) { buffer, filled in
    buffer.initialize(repeating: 0)
    body(buffer.baseAddress!)
    filled = count
  }.map(Double.init)
}
