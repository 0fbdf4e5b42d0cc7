// SPDX-License-Identifier: Apache-2.0
import AccessoryProtocol
import CUWBTestSupport
import Testing

/// What apps that come and go keep of the accessory's memory.
@Suite(
  .enabled(if: cuwb_test_allocations_are_counted(), "the allocator is replaced"),
  .timeLimit(.minutes(10)))
struct VisitTests {
  /// Runs in a process of its own, because other tests use the heap at the same time. Counts bytes
  /// in use: pages also depend on stacks, arenas and huge pages.
  @Test func visitsKeepNoMemory() async {
    await #expect(processExitsWith: .success) {
      let visits = 1_000
      let chips = try await ChipFixture(phones: [])
      let accessory = try Accessory(chips.device, options: .patient)
      var events = accessory.events.makeAsyncIterator()
      // Dispatch keeps some freed memory for each of its threads.
      try await visit(accessory, &events, times: visits / 2)
      let before = cuwb_test_bytes_in_use()
      try await visit(accessory, &events, times: visits)
      let after = cuwb_test_bytes_in_use()
      let kept = (Double(after) - Double(before)) / Double(visits)
      #expect(kept < 256, "bytes for each visit")
      await accessory.close()
      await chips.end()
    }
  }
}

/// Visits an accessory, and leaves after each step in turn: connected, asked, ranged.
private func visit(
  _ accessory: Accessory, _ events: inout AsyncStream<Accessory.Event>.Iterator, times: Int
) async throws {
  for number in 0..<times {
    var app = try TestApp(of: accessory)
    if number % 3 > 0 { try await app.initialize() }
    if number % 3 > 1 {
      #expect(try await app.configure(app.shareable()) == .accessoryUwbDidStart)
      #expect(try await app.stop() == .accessoryUwbDidStop)
    }
    app.channel.close()
    while let event = await events.next() {
      if case .disconnected = event { break }
    }
  }
}
