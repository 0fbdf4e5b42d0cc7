// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Testing
import UCI
import UWB
import UWBSimulator

/// What an accessory makes of an app that begins anew, comes by a second channel, or is not heard.
@Suite struct TurnTests {
  /// What was reported up to the answer that has come last.
  private func names(
    _ events: AsyncStream<Accessory.Event>, until isLast: (Accessory.Event) -> Bool
  ) async -> [String] {
    var names: [String] = []
    for await event in events {
      switch event {
      case .connected: names.append("connected")
      case .offered: names.append("offered")
      case .started: names.append("started")
      case .measured: break
      case .stopped(_, let reason): names.append("stopped \(reason)")
      case .refused: names.append("refused")
      case .ignored: names.append("ignored")
      case .disconnected: names.append("disconnected")
      }
      if isLast(event) { break }
    }
    return names
  }

  @Test func initializeWhileItRangesEndsTheSessionSilently() async throws {
    var meeting = try await Meeting()
    let data = try meeting.phone.shareable()
    #expect(try await meeting.phone.configure(data) == .accessoryUwbDidStart)
    let before = meeting.phone.accessory?.uwb.address
    // The next message is the answer, with another address.
    try await meeting.phone.initialize()
    #expect(meeting.phone.accessory?.uwb.address != before)
    #expect(try await meeting.stage.sessions() == 0 && meeting.accessory.rangingApps.isEmpty)
    #expect(
      await names(meeting.events) { if case .stopped = $0 { true } else { false } }
        == ["connected", "offered", "started", "stopped replaced"])
    await meeting.end()
  }

  @Test func replacedDataSaysStartAndNotStop() async throws {
    var meeting = try await Meeting()
    let first = try meeting.phone.shareable()
    #expect(try await meeting.phone.configure(first) == .accessoryUwbDidStart)
    let second = try meeting.phone.shareable()
    #expect(try await meeting.phone.configure(second) == .accessoryUwbDidStart)
    #expect(try await meeting.phone.stop() == .accessoryUwbDidStop)
    var ids: [UInt32] = []
    for await event in meeting.events {
      if case .started(_, let id) = event { ids.append(id) }
      if case .stopped(_, .byApp) = event { break }
    }
    #expect(ids == [first.sessionID, second.sessionID])
    await meeting.end()
  }

  @Test func doubledDataIsNoNewSession() async throws {
    var meeting = try await Meeting()
    let data = try meeting.phone.shareable()
    for _ in 0..<3 {
      #expect(try await meeting.phone.configure(data) == .accessoryUwbDidStart)
    }
    #expect(try await meeting.phone.stop() == .accessoryUwbDidStop)
    #expect(
      await names(meeting.events) { if case .stopped = $0 { true } else { false } }
        == ["connected", "offered", "started", "stopped byApp"])
    await meeting.end()
  }

  /// The app has come back before its old channel was found to be broken.
  @Test func aSecondChannelTakesThePlaceOfTheFirst() async throws {
    var meeting = try await Meeting(as: "phone")
    var again = try Phone(of: meeting.accessory, as: "phone")
    try await again.initialize()
    #expect(try await meeting.phone.next() == nil)
    // What the end of the first brings has been handled when the third answer is there.
    for _ in 0..<3 { try await again.initialize() }
    again.channel.close()
    #expect(
      await names(meeting.events) { if case .disconnected = $0 { true } else { false } }
        == ["connected", "offered", "connected"] + [String](repeating: "offered", count: 4)
        + ["disconnected"])
    await meeting.end()
  }

  /// A channel of whose messages some are still on their way when it is closed.
  private final class LooseChannel: DataChannel {
    let messages: AsyncStream<[UInt8]>
    let arrive: AsyncStream<[UInt8]>.Continuation
    let sent = AsyncStream<[UInt8]>.makeStream()
    let closed = AsyncStream<Void>.makeStream()
    var failure: DataChannelError? { nil }

    init() { (messages, arrive) = AsyncStream.makeStream() }
    func send(_ message: [UInt8]) async throws(DataChannelError) {
      sent.continuation.yield(message)
    }
    func close() { closed.continuation.finish() }
  }

  /// What the app said over the one before counts no more, nor does its end.
  @Test func messagesOfAChannelThatWasReplacedAreNotTaken() async throws {
    let stage = try await Stage(phones: [])
    let accessory = try Accessory(stage.device)
    let events = accessory.events
    let channels = [LooseChannel(), LooseChannel()]
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
    #expect(
      await names(events) { if case .disconnected = $0 { true } else { false } }
        == ["connected", "disconnected"])
    await accessory.close()
    await stage.end()
  }

  /// Neither the accessory nor who talked to it is kept when its apps have gone.
  @Test func whatHasGoneIsNotKept() async throws {
    let stage = try await Stage(phones: [])
    weak var gone: Accessory?
    do {
      let accessory = try Accessory(stage.device)
      gone = accessory
      for _ in 0..<3 {
        let channel = LooseChannel()
        channel.arrive.finish()
        await accessory.serve(channel)
      }
    }
    // The tasks of the apps end behind the answer to who served them.
    for _ in 0..<100_000 where gone != nil { await Task.yield() }
    #expect(gone == nil)
    await stage.end()
  }

  // MARK: silence

  @Test func whoIsHeardIsNotSilent() async throws {
    var options = Accessory.Options()
    options.silence = 100
    var meeting = try await Meeting(phones: [.qm33PDoA], options: options)
    _ = try await meeting.range()
    // Three times as long as the silence that ends it: rounds are 20 ms apart.
    var heard = 0
    for await event in meeting.events {
      if case .measured(_, let measurement) = event, measurement.result.status.isSuccess {
        heard += 1
      }
      if case .stopped(_, let reason) = event { Issue.record("\(reason)") }
      if heard == 15 { break }
    }
    #expect(meeting.accessory.rangingApps.count == 1)
    await meeting.end()
  }

  @Test func withoutALimitSilenceEndsNothing() async throws {
    var options = Accessory.Options()
    options.silence = 0
    var meeting = try await Meeting(options: options)
    #expect(
      try await meeting.phone.configure(meeting.phone.shareable()) == .accessoryUwbDidStart)
    var rounds = 0
    for await event in meeting.events {
      if case .stopped(_, let reason) = event { Issue.record("\(reason)") }
      if case .measured = event { rounds += 1 }
      if rounds == 10 { break }
    }
    #expect(meeting.accessory.rangingApps.count == 1)
    await meeting.end()
  }

  // MARK: the end

  @Test func aClosedAccessoryServesNobodyAndItsEventsEnd() async throws {
    let meeting = try await Meeting()
    await meeting.accessory.close()
    var late = try Phone(of: meeting.accessory)
    #expect(try await late.next() == nil)
    let told = await names(meeting.events) { _ in false }
    #expect(told.prefix(2) == ["connected", "offered"])
    await meeting.stage.end()
  }

  @Test func whatRangesEndsWithTheAccessory() async throws {
    var meeting = try await Meeting()
    #expect(
      try await meeting.phone.configure(meeting.phone.shareable()) == .accessoryUwbDidStart)
    await meeting.accessory.close()
    let told = await names(meeting.events) { if case .stopped = $0 { true } else { false } }
    #expect(told == ["connected", "offered", "started", "stopped closed"])
    await meeting.stage.end()
  }

  @Test func aTaskThatServesEndsWithItsCancellation() async throws {
    let stage = try await Stage(phones: [])
    let accessory = try Accessory(stage.device)
    let listener = try SocketListener(.tcp(host: "127.0.0.1", port: 0))
    let serving = Task { await accessory.serve(listener) }
    var phone = Phone(try await SocketChannel.connect(to: listener.endpoint))
    try await phone.initialize()
    serving.cancel()
    await serving.value
    #expect(try await phone.next() == nil)
    await #expect(throws: DataChannelError.self) {
      _ = try await SocketChannel.connect(to: listener.endpoint)
    }
    await accessory.close()
    await stage.end()
  }

  /// A listener that is closed ends those whom it has brought.
  @Test func aListenerThatIsClosedEndsItsChannels() async throws {
    let stage = try await Stage(phones: [])
    let accessory = try Accessory(stage.device)
    let listener = try SocketListener(.tcp(host: "127.0.0.1", port: 0))
    let serving = Task { await accessory.serve(listener) }
    var phone = Phone(try await SocketChannel.connect(to: listener.endpoint))
    try await phone.initialize()
    listener.close()
    await serving.value
    #expect(try await phone.next() == nil)
    await accessory.close()
    await stage.end()
  }
}
