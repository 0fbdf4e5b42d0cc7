// SPDX-License-Identifier: Apache-2.0
import Accessory
import AccessoryProtocol
import CUWBTestSupport
import Testing

/// The memory that visits of apps occupy in the accessory.
@Suite(
  .enabled(if: cuwb_test_allocations_are_counted(), "the allocator is replaced"),
  .timeLimit(.minutes(10)))
struct VisitTests {
  /// In a process of its own, because other tests use the heap at the same time. Counts the bytes
  /// of blocks: pages and the heap also depend on stacks, arenas and the blocks that malloc keeps.
  @Test func visitsKeepNoMemory() async {
    await #expect(processExitsWith: .success) {
      let visits = 200
      let chips = try await ChipFixture(phones: [])
      let accessory = try Accessory(chips.device, options: .patient)
      var events = accessory.events.makeAsyncIterator()
      // Dispatch keeps freed memory, up to a limit for each thread, so the heap may grow at times.
      // Memory that each visit keeps grows each time.
      var kept: [Int] = []
      repeat {
        let before = cuwb_test_bytes_in_use()
        try await visit(accessory, &events, times: visits)
        kept.append(Int(cuwb_test_bytes_in_use() - before) / visits)
      } while kept.last! >= 256 && kept.count < 20
      #expect(kept.last! < 256, "bytes of each visit: \(kept)")
      await accessory.close()
      await chips.end()
    }
  }
}

/// Visits an accessory as an iPhone or an Android phone, and disconnects after each step in turn:
/// connected, asked, ranged.
private func visit(
  _ accessory: Accessory, _ events: inout AsyncStream<Accessory.Event>.Iterator, times: Int
) async throws {
  for number in 0..<times {
    var app = try TestApp(of: accessory)
    let isAndroid = number % 6 > 2
    if isAndroid, number % 3 > 0 { try await visit(app, ranges: number % 3 > 1) }
    if !isAndroid, number % 3 > 0 { try await app.initialize() }
    if !isAndroid, number % 3 > 1 {
      #expect(try await app.configure(app.shareable()) == .accessoryUwbDidStart)
      #expect(try await app.stop() == .accessoryUwbDidStop)
    }
    app.channel.close()
    while let event = await events.next() {
      if case .disconnected = event { break }
    }
  }
}

/// Requests the capabilities as an Android phone, and ranges if asked to.
private func visit(_ phone: TestApp, ranges: Bool) async throws {
  var phone = phone
  try await phone.channel.send([3, 0, 1, 0])
  let answer = try AndroidAccessoryMessage(try #require(await phone.incoming.next()))
  guard case .capabilityResponse(var own?, _) = answer.content, ranges else { return }
  let offered = own
  own.address = .shortAddress(except: offered.address)
  let content = AndroidPhoneMessage.Content.configuration(
    try AndroidChoice(choosingFor: offered, by: own), wantsMotion: false)
  try await phone.channel.send(AndroidPhoneMessage(content, version: 3).bytes)
  #expect(await phone.incoming.next() == [3, 3, 1, 0])
  try await phone.channel.send([3, 6, 1, 0])
  #expect(await phone.incoming.next() == [3, 7, 1, 0])
}
