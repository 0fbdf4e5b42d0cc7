// SPDX-License-Identifier: Apache-2.0

import Accessory
import AccessoryProtocol
import Channels
import Testing
import UCI
import UWB
import UWBSimulator
import UWBTestSupport

/// Apps that restart, connect twice, or are not measured.
@Suite(.timeLimit(.minutes(10))) struct TurnTests {
  /// The names of the events up to a given event.
  private func names(
    _ events: AsyncStream<Accessory.Event>, until isLast: (Accessory.Event) -> Bool
  ) async -> [String] {
    var names: [String] = []
    for await event in events {
      switch event {
      case .connected: names.append("connected")
      case .offered, .offeredCapabilities: names.append("offered")
      case .started: names.append("started")
      case .measured, .regionChanged: break
      case .stopped(_, let reason): names.append("stopped \(reason)")
      case .waiting: names.append("waiting")
      case .refused: names.append("refused")
      case .ignored: names.append("ignored")
      case .disconnected(_, let error):
        names.append("disconnected" + (error.map { " \($0.reason)" } ?? ""))
      }
      if isLast(event) { break }
    }
    return names
  }

  /// The names of the events up to the end of the given number of channels.
  private func names(_ events: AsyncStream<Accessory.Event>, ends: Int) async -> [String] {
    var left = ends
    return await names(events) { event in
      if case .disconnected = event { left -= 1 }
      return left == 0
    }
  }

  @Test func initializeEndsTheSessionWithoutAMessage() async throws {
    var fixture = try await AccessoryFixture()
    let data = try fixture.phone.shareable()
    #expect(try await fixture.phone.configure(data) == .accessoryUwbDidStart)
    let before = fixture.phone.accessory?.uwb.address
    // The next message is the answer, with another address.
    try await fixture.phone.initialize()
    #expect(fixture.phone.accessory?.uwb.address != before)
    #expect(try await fixture.chips.sessions() == 0 && fixture.accessory.rangingApps.isEmpty)
    let seen = await names(fixture.events) { if case .stopped = $0 { true } else { false } }
    #expect(seen == ["connected", "offered", "started", "stopped the app started a new session"])
    await fixture.end()
  }

  @Test func replacedDataStartsWithoutStop() async throws {
    var fixture = try await AccessoryFixture()
    let first = try fixture.phone.shareable()
    #expect(try await fixture.phone.configure(first) == .accessoryUwbDidStart)
    let second = try fixture.phone.shareable()
    #expect(try await fixture.phone.configure(second) == .accessoryUwbDidStart)
    #expect(try await fixture.phone.stop() == .accessoryUwbDidStop)
    var ids: [UInt32] = []
    for await event in fixture.events {
      if case .started(_, let id) = event { ids.append(id) }
      if case .stopped(_, .byApp) = event { break }
    }
    #expect(ids == [first.sessionID, second.sessionID])
    await fixture.end()
  }

  @Test func repeatedDataStartsNoNewSession() async throws {
    var fixture = try await AccessoryFixture()
    let data = try fixture.phone.shareable()
    for _ in 0..<3 {
      #expect(try await fixture.phone.configure(data) == .accessoryUwbDidStart)
    }
    #expect(try await fixture.phone.stop() == .accessoryUwbDidStop)
    let seen = await names(fixture.events) { if case .stopped = $0 { true } else { false } }
    #expect(seen == ["connected", "offered", "started", "stopped the app stopped it"])
    await fixture.end()
  }

  /// The app reconnects before its old channel is known to be broken.
  @Test func aSecondChannelReplacesTheFirst() async throws {
    var fixture = try await AccessoryFixture(as: "phone")
    var again = try TestApp(of: fixture.accessory, as: "phone")
    try await again.initialize()
    #expect(try await fixture.phone.next() == nil)
    // After the third answer, the end of the first channel has been handled.
    for _ in 0..<3 { try await again.initialize() }
    again.channel.close()
    let expected =
      ["connected", "offered", #"disconnected closedHere("the app has connected again")"#]
      + ["connected", "offered", "offered", "offered", "offered", "disconnected"]
    let seen = await names(fixture.events, ends: 2)
    #expect(seen == expected)
    await fixture.end()
  }

  /// A channel whose messages can arrive after it was closed.
  private final class ManualChannel: DataChannel {
    let messages: AsyncStream<[UInt8]>
    let arrive: AsyncStream<[UInt8]>.Continuation
    let sent = AsyncStream<[UInt8]>.makeStream()
    let closed = AsyncStream<Void>.makeStream()
    var failure: ChannelError? { nil }

    init() { (messages, arrive) = AsyncStream.makeStream() }
    func send(_ message: [UInt8]) async throws(ChannelError) {
      sent.continuation.yield(message)
    }
    func close() { closed.continuation.finish() }
  }

  /// Messages and the end of a replaced channel are ignored.
  @Test func messagesOfReplacedChannelsAreIgnored() async throws {
    let chips = try await ChipFixture(phones: [])
    let accessory = try Accessory(chips.device)
    let events = accessory.events
    let channels = [ManualChannel(), ManualChannel()]
    let first = Task { await accessory.serve(channels[0], as: "phone") }
    for await case .connected in events { break }
    let second = Task { await accessory.serve(channels[1], as: "phone") }
    for await _ in channels[0].closed.stream {}
    channels[0].arrive.yield(AppMessage.initialize.bytes)
    channels[0].arrive.finish()
    await first.value
    channels[1].arrive.yield(AppMessage.stop.bytes)
    var answers = channels[1].sent.stream.makeAsyncIterator()
    #expect(await answers.next() == AccessoryMessage.accessoryUwbDidStop.bytes)
    channels[1].arrive.finish()
    await second.value
    let seen = await names(events, ends: 2)
    #expect(
      seen == [
        #"disconnected closedHere("the app has connected again")"#, "connected", "disconnected",
      ])
    await accessory.close()
    await chips.end()
  }

  /// A channel without messages and without ranging is closed; a channel that ranges is not.
  @Test(.timeLimit(.minutes(10))) func idleChannelsAreClosed() async throws {
    var options = Accessory.Options()
    options.idleTimeout = .seconds(1)
    options.inactivityTimeout = nil
    let time = VirtualTime()
    var fixture = try await AccessoryFixture(options: options, clock: time.clock)
    // The events are read from the beginning, because more rounds may fail than events wait.
    let events = fixture.events
    async let reported = names(events, ends: 2)
    let data = try fixture.phone.shareable()
    #expect(try await fixture.phone.configure(data) == .accessoryUwbDidStart)
    // The second reply shows that the accessory has handled the first message. The first app has no
    // timer.
    #expect(try await fixture.phone.configure(data) == .accessoryUwbDidStart)
    let silent = try TestApp(of: fixture.accessory)
    await time.timers(1)
    time.advance(.seconds(1))
    for await _ in silent.channel.messages {}
    #expect(fixture.accessory.rangingApps.count == 1)
    #expect(try await fixture.phone.stop() == .accessoryUwbDidStop)
    await time.timers(1)
    time.advance(.seconds(1))
    #expect(try await fixture.phone.next() == nil)
    let seen = await reported
    let closed = #"disconnected closedHere("nothing was received for a long time")"#
    let expected =
      [
        "connected", "offered", "started", "connected", closed, "stopped the app stopped it",
        closed,
      ]
    // Two apps end at the same time, so the order of their events varies.
    #expect(seen.sorted() == expected.sorted())
    await fixture.end()
  }

  /// Every connection that the accessory closes at its end is reported.
  @Test(.timeLimit(.minutes(10))) func closedChannelsAreReported() async throws {
    let fixture = try await AccessoryFixture()
    var other = try TestApp(of: fixture.accessory)
    try await other.initialize()
    await fixture.accessory.close()
    #expect(try await other.next() == nil)
    let seen = await names(fixture.events, ends: 2)
    let closed = #"disconnected closedHere("it is shutting down")"#
    #expect(seen == ["connected", "offered", "connected", "offered", closed, closed])
    await fixture.end()
  }

  /// An accessory and its clients are released when its apps have disconnected.
  @Test func endedClientsAreReleased() async throws {
    let chips = try await ChipFixture(phones: [])
    weak var gone: Accessory?
    do {
      let accessory = try Accessory(chips.device)
      gone = accessory
      for _ in 0..<3 {
        let channel = ManualChannel()
        channel.arrive.finish()
        await accessory.serve(channel)
      }
    }
    // The clients' tasks may end shortly after `serve` returns.
    for _ in 0..<100_000 where gone != nil { await Task.yield() }
    #expect(gone == nil)
    await chips.end()
  }

  // MARK: inactivity

  @Test func measuredAppsAreNotInactive() async throws {
    var options = Accessory.Options()
    options.inactivityTimeout = .milliseconds(100)
    var fixture = try await AccessoryFixture(phones: [.qm33PDoA], options: options)
    _ = try await fixture.range()
    // The stream lasts three times the time-out, with a round every 20 ms.
    var heard = 0
    for await event in fixture.events {
      if case .measured(_, let measurement) = event, measurement.result.status.isSuccess {
        heard += 1
      }
      if case .stopped(_, let reason) = event { Issue.record("\(reason)") }
      if heard == 15 { break }
    }
    #expect(fixture.accessory.rangingApps.count == 1)
    await fixture.end()
  }

  @Test func withoutATimeoutInactivityEndsNothing() async throws {
    var options = Accessory.Options()
    options.inactivityTimeout = nil
    var fixture = try await AccessoryFixture(options: options)
    #expect(
      try await fixture.phone.configure(fixture.phone.shareable()) == .accessoryUwbDidStart)
    var rounds = 0
    for await event in fixture.events {
      if case .stopped(_, let reason) = event { Issue.record("\(reason)") }
      if case .measured = event { rounds += 1 }
      if rounds == 10 { break }
    }
    #expect(fixture.accessory.rangingApps.count == 1)
    await fixture.end()
  }

  // MARK: the end

  @Test func closingAnAccessoryEndsServiceAndEvents() async throws {
    let fixture = try await AccessoryFixture()
    await fixture.accessory.close()
    var late = try TestApp(of: fixture.accessory)
    #expect(try await late.next() == nil)
    let told = await names(fixture.events) { _ in false }
    #expect(told.prefix(2) == ["connected", "offered"])
    await fixture.chips.end()
  }

  @Test func closingAnAccessoryEndsRanging() async throws {
    var fixture = try await AccessoryFixture()
    #expect(
      try await fixture.phone.configure(fixture.phone.shareable()) == .accessoryUwbDidStart)
    await fixture.accessory.close()
    let told = await names(fixture.events) { if case .stopped = $0 { true } else { false } }
    #expect(told == ["connected", "offered", "started", "stopped the accessory is shutting down"])
    await fixture.chips.end()
  }

  @Test func cancellingEndsServing() async throws {
    let chips = try await ChipFixture(phones: [])
    let accessory = try Accessory(chips.device)
    let listener = try await SocketListener(.tcp(host: "127.0.0.1", port: 0))
    let serving = Task { await accessory.serve(listener) }
    var phone = TestApp(try await SocketChannel.connect(to: listener.endpoint))
    try await phone.initialize()
    serving.cancel()
    await serving.value
    #expect(try await phone.next() == nil)
    await #expect(throws: ChannelError.self) {
      _ = try await SocketChannel.connect(to: listener.endpoint)
    }
    await accessory.close()
    await chips.end()
  }

  /// Closing a listener ends the channels that it accepted.
  @Test func closingAListenerEndsItsChannels() async throws {
    let chips = try await ChipFixture(phones: [])
    let accessory = try Accessory(chips.device)
    let listener = try await SocketListener(.tcp(host: "127.0.0.1", port: 0))
    let serving = Task { await accessory.serve(listener) }
    var phone = TestApp(try await SocketChannel.connect(to: listener.endpoint))
    try await phone.initialize()
    listener.close()
    await serving.value
    #expect(try await phone.next() == nil)
    await accessory.close()
    await chips.end()
  }
}
