// SPDX-License-Identifier: Apache-2.0

import CUWBTestSupport
import Foundation
import Ranging
import Synchronization
import Testing
import UCI
import UWB
import UWBSimulator

/// The path from frames on a line to estimates allocates nothing. Each thread counts its own
/// allocations.
@Suite(.serialized, .enabled(if: cuwb_test_allocations_are_counted()), .timeLimit(.minutes(10)))
struct EstimateAllocationTests {
  /// The allocations of the reader's thread at some estimates.
  final class Count: Sendable {
    let estimates = Atomic<Int>(0)
    let angles = Atomic<Int>(0)
    let before = Atomic<UInt64>(0)
    let after = Atomic<UInt64>(0)

    func take(_ estimate: EstimatedMeasurement, warmUp: Int, total: Int) {
      let now = cuwb_test_thread_allocations()
      let number = estimates.load(ordering: .relaxed) + 1
      if number == warmUp { before.store(now, ordering: .relaxed) }
      if number <= total { after.store(now, ordering: .relaxed) }
      if estimate.azimuth != nil { angles.add(1, ordering: .relaxed) }
      estimates.store(number, ordering: .releasing)
    }
  }

  @Test(arguments: [ChipProfile.qm33PDoA, .sr250])
  func anEstimateIsMadeWithoutAllocating(_ profile: ChipProfile) async throws {
    let (warmUp, total) = (10, 60)
    let bench = try await Bench(
      profile, Scene(seed: 3), peer: Placement(at: SIMD3(3, -1, 0)),
      diagnostics: DiagnosticsRequest(.usual, antennaPairs: [1, 2]))
    var settings = EstimationSettings()
    settings.azimuth = PhaseTable(spacing: 0.45)
    settings.elevation = PhaseTable(spacing: 0.45)
    settings.expectsDiagnostics = true
    let count = Count()
    let (done, finish) = AsyncStream<Void>.makeStream()
    bench.sessions[0].onEstimates(settings) { estimate in
      count.take(estimate, warmUp: warmUp, total: total)
      // This step is not part of the count, because resuming a task allocates.
      if count.estimates.load(ordering: .relaxed) == total { finish.finish() }
    }
    try await bench.start()
    for await _ in done {}
    await bench.close()
    #expect(count.estimates.load(ordering: .acquiring) >= total)
    #expect(count.angles.load(ordering: .relaxed) >= total)
    #expect(
      count.after.load(ordering: .relaxed) - count.before.load(ordering: .relaxed) == 0)
  }
}
