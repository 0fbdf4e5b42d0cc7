// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import NearbyInteraction

/// The app's side of a session with an accessory: does the handshake, and repeats it when the
/// accessory was silent or the chip was unavailable.
struct AccessoryFinder {
  /// What happens in the session.
  enum Event: Sendable {
    case session(NISession.Event)
    /// The accessory started ranging.
    case accessoryStarted
    /// The accessory stopped ranging, or declined to.
    case accessoryStopped
  }

  private enum Input: Sendable {
    case message([UInt8])
    case session(NISession.Event)
    case disconnected
    case timeOut
    /// The time for the answer to the n-th request is over.
    case requestTimedOut(Int)
  }

  private let session = NISession()
  private let channel: SocketChannel
  private let answerTime: Duration

  /// - Parameters:
  ///   - chip: as for `NISession.device`.
  ///   - patience: how long to wait for a chip that is unavailable.
  ///   - answerTime: how long the accessory may take to answer.
  init(
    chip: String, patience: Duration, channel: SocketChannel, answerTime: Duration = .seconds(10)
  ) {
    self.answerTime = answerTime
    session.device = chip
    session.timeouts.suspension = patience
    self.channel = channel
  }

  /// Runs until `body` returns false, the time is over or the task is cancelled, and ends the session
  /// on the chip.
  ///
  /// - Throws: `NIError` when the session is invalidated, `AccessoryError` when the connection is
  ///   lost, `Failure` when the accessory does not answer.
  func run(for time: Duration?, _ body: (Event) -> Bool) async throws {
    let (inputs, input) = AsyncStream<Input>.makeStream()
    let (messages, events) = (channel.messages, session.events)
    var sources = [
      Task {
        for await message in messages { input.yield(.message(message)) }
        input.yield(.disconnected)
      },
      Task { for await event in events { input.yield(.session(event)) } },
    ]
    if let time {
      sources.append(
        Task {
          try? await Task.sleep(for: time)
          input.yield(.timeOut)
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
        input.yield(.requestTimedOut(asked))
      }
      try await send(.initialize)
    }
    try await ask()
    for await input in inputs {
      let event: Event
      switch input {
      case .requestTimedOut(let number):
        if number > answered {
          throw Failure(
            .silent, "The accessory does not answer.",
            try: "Check that an accessory listens there, such as uwbctl accessory.")
        }
        continue
      case .timeOut: return
      case .disconnected: throw channel.failure ?? AccessoryError.closed
      case .session(let what): event = .session(what)
      case .message(let bytes):
        // Ignore vendor messages.
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

  /// Reacts to an event.
  ///
  /// - Returns: whether to repeat the handshake.
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
