// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport

/// The time to read all fields of a SESSION_INFO_NTF.
struct DecodeFigures {
  let frames: Frames
  /// The number of frames in one batch.
  static let batch = 1024
  private static let rounds = batch / Frames.count

  init(measurements: Int) { frames = Frames(measurements: measurements) }

  /// Decodes a batch in Swift.
  func swift() -> UInt64 {
    DecodeSink.sumOfAll(
      UnsafeRawBufferPointer(frames.bytes), length: frames.length, count: Frames.count,
      rounds: Self.rounds)
  }

  /// Decodes a batch in C.
  func c() -> UInt64 {
    cuwb_reference_decode_all(
      frames.bytes.baseAddress!, frames.length, frames.length, Frames.count, Self.rounds)
  }

  /// Measures batches in Swift and C in turn, under the same conditions.
  static func rows(_ settings: Settings) -> [Row] {
    [1, 8].map { measurements in
      let figures = DecodeFigures(measurements: measurements)
      precondition(figures.swift() == figures.c() && figures.c() != 0, "the readers disagree")
      let batches = settings.quick ? 2_000 : 6_000
      var (ours, theirs): ([Double], [Double]) = ([], [])
      ours.reserveCapacity(batches)
      theirs.reserveCapacity(batches)
      let before = cuwb_test_thread_allocations()
      var sum: UInt64 = 0
      for _ in 0..<batches {
        let start = cuwb_test_now()
        sum &+= figures.swift()
        let middle = cuwb_test_now()
        sum &-= figures.c()
        let end = cuwb_test_now()
        ours.append(Double(middle - start) / Double(batch))
        theirs.append(Double(end - middle) / Double(batch))
      }
      let allocated = cuwb_test_thread_allocations() - before
      precondition(sum == 0)
      return Row(
        figure: "decode, \(measurements) measurement\(measurements > 1 ? "s" : ""), all fields",
        unit: "ns, of \(batch)", values: Percentiles(ours),
        allocations: Double(allocated) / Double(batches * batch),
        floor: ("the same in C", Percentiles(theirs)), aim: .ratio(measurements == 1 ? 1.2 : 1.1),
        limit: measurements == 1
          ? Limit(.ratio(1.5), reason: "1.14 on an idle machine, where each is 4 ns")
          : Limit(.ratio(1.3), reason: "1.01 on an idle machine"))
    }
  }
}
