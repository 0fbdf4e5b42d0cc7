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
  /// Counts the bytes of allocated blocks, because pages and the heap also depend on stacks, arenas
  /// and the blocks that malloc keeps. The test runs in a process of its own, because other tests
  /// use the heap at the same time.
  @Test func visitsKeepNoMemory() async {
    await #expect(processExitsWith: .success) {
      let visits = 500
      let chips = try await ChipFixture(phones: [])
      let accessory = try Accessory(chips.device, options: .patient)
      var events = accessory.events.makeAsyncIterator()
      // Dispatch keeps freed memory up to a limit for each thread, so the heap may grow at times.
      // If each visit kept memory, the heap would grow each time.
      var kept: [Int] = []
      repeat {
        let before = cuwb_test_bytes_in_use()
        for number in 0..<visits { try await visit(accessory, &events, number) }
        kept.append(Int(cuwb_test_bytes_in_use() - before) / visits)
        #expect(try await chips.sessions() == 0)
      } while kept.count < 2 || kept.last! >= 256 && kept.count < 20
      #expect(kept.last! < 256, "bytes of each visit: \(kept)")
      #expect(accessory.rangingApps.isEmpty)
      await accessory.close()
      await chips.end()
    }
  }
}

/// Visits an accessory as one of 200 iPhones or 50 Android phones, and disconnects after each step
/// in turn: connected, asked, stopped, ranging. In the last case, the app returns to stop.
private func visit(
  _ accessory: Accessory, _ events: inout AsyncStream<Accessory.Event>.Iterator, _ number: Int
) async throws {
  let name = "phone \(number % 250)"
  let isAndroid = number % 5 == 4
  let step = number % 4
  func meet() throws -> TestApp { try TestApp(of: accessory, as: name) }
  func disconnect(_ app: TestApp) async {
    app.channel.close()
    while let event = await events.next() {
      if case .disconnected = event { return }
    }
  }
  let app = try meet()
  if step > 0 { try await (isAndroid ? visitAsAndroid : visitAsIPhone)(app, step > 1) }
  if step == 2 { try await stop(app, isAndroid) }
  await disconnect(app)
  guard step == 3 else { return }
  let again = try meet()
  try await stop(again, isAndroid)
  await disconnect(again)
}

private func stop(_ app: TestApp, _ isAndroid: Bool) async throws {
  var app = app
  guard isAndroid else {
    #expect(try await app.stop() == .accessoryUwbDidStop)
    return
  }
  try await app.channel.send([3, 6, 1, 0])
  // A connection without a request has version 1.
  #expect(await app.incoming.next()?.dropFirst() == [7, 1, 0])
}

private func visitAsIPhone(_ app: TestApp, ranges: Bool) async throws {
  var app = app
  try await app.initialize()
  guard ranges else { return }
  #expect(try await app.configure(app.shareable()) == .accessoryUwbDidStart)
}

private func visitAsAndroid(_ phone: TestApp, ranges: Bool) async throws {
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
}
