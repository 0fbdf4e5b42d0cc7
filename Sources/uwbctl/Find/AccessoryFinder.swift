// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import NearbyInteraction

/// There is somebody at the other end, but no accessory.
struct SilentAccessory: Error {
  var description: String { "The accessory does not answer." }
  var suggestion: String { "Check that an accessory listens there, such as uwbctl accessory." }
}

/// The app's end of the conversation with an accessory: does the handshake, and does it again when the
/// accessory has fallen silent or the chip was away.
struct AccessoryFinder {
  /// What happens.
  enum Event: Sendable {
    case session(NISession.Event)
    /// The accessory began.
    case accessoryStarted
    /// The accessory ranges no more, or will not.
    case accessoryStopped
  }

  private enum Input: Sendable {
    case message([UInt8])
    case session(NISession.Event)
    case disconnected
    case timeIsOver
    /// The time for the answer to so many questions is over.
    case questionIsOld(Int)
  }

  private let session = NISession()
  private let channel: SocketChannel
  private let answerTime: Duration

  /// - Parameters:
  ///   - chip: as `NISession.device` takes it.
  ///   - patience: how long a chip that is away is waited for.
  ///   - answerTime: how long the accessory may take to say what it is.
  init(
    chip: String, patience: Duration, channel: SocketChannel, answerTime: Duration = .seconds(10)
  ) {
    self.answerTime = answerTime
    session.device = chip
    session.timeouts.suspension = patience
    self.channel = channel
  }

  /// Finds until `body` returns false, the time is over or the task is cancelled; the chip is tidy
  /// then.
  ///
  /// - Throws: `NIError` when the session has ended, `DataChannelError` when the accessory is gone,
  ///   `SilentAccessory`.
  func run(seconds: Double?, _ body: (Event) -> Bool) async throws {
    let (inputs, input) = AsyncStream<Input>.makeStream()
    let (messages, events) = (channel.messages, session.events)
    var sources = [
      Task {
        for await message in messages { input.yield(.message(message)) }
        input.yield(.disconnected)
      },
      Task { for await event in events { input.yield(.session(event)) } },
    ]
    if let seconds {
      sources.append(
        Task {
          try? await Task.sleep(for: .seconds(seconds))
          input.yield(.timeIsOver)
        })
    }
    var failure: (any Error)?
    do { try await handle(inputs, input, body) } catch { failure = error }
    for source in sources { source.cancel() }
    try? await channel.send(AppMessage.stop.bytes)
    await session.close()
    channel.close()
    if let failure { throw failure }
  }

  private func handle(
    _ inputs: AsyncStream<Input>, _ input: AsyncStream<Input>.Continuation,
    _ body: (Event) -> Bool
  ) async throws {
    var (asked, answered) = (0, 0)
    var clock: Task<Void, Never>?
    defer { clock?.cancel() }
    func ask() async throws {
      asked += 1
      clock?.cancel()
      clock = Task { [asked, answerTime] in
        do { try await Task.sleep(for: answerTime) } catch { return }
        input.yield(.questionIsOld(asked))
      }
      try await send(.initialize)
    }
    try await ask()
    for await input in inputs {
      let event: Event
      switch input {
      case .questionIsOld(let number):
        if number > answered { throw SilentAccessory() }
        continue
      case .timeIsOver: return
      case .disconnected: throw channel.failure ?? DataChannelError.closed
      case .session(let what): event = .session(what)
      case .message(let bytes):
        // Messages of vendors' own are no concern of this app.
        guard let message = try? AccessoryMessage(bytes) else { continue }
        switch message {
        case .accessoryConfigurationData(let data):
          answered = asked
          session.run(try NINearbyAccessoryConfiguration(data: Data(data)))
          continue
        case .accessoryUwbDidStart: event = .accessoryStarted
        case .accessoryUwbDidStop: event = .accessoryStopped
        }
      }
      guard body(event) else { return }
      if case .session(let what) = event, try await answer(what) { try await ask() }
    }
  }

  /// What an app does at each event, beside showing it.
  ///
  /// - Returns: whether to begin anew.
  private func answer(_ event: NISession.Event) async throws -> Bool {
    switch event {
    case .didGenerateShareableConfigurationData(let data, _):
      try await send(.configureAndStart([UInt8](data)))
    case .didRemove, .suspensionEnded: return true
    case .wasSuspended: try await send(.stop)
    case .didInvalidate(let error): throw error
    case .didStartRunning, .didUpdate, .didUpdateAlgorithmConvergence, .didUpdateDLTDOA: break
    }
    return false
  }

  private func send(_ message: AppMessage) async throws {
    try await channel.send(message.bytes)
  }
}
