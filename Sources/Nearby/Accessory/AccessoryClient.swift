// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import Channels
internal import Ranging
internal import System
internal import UCI
internal import UWB

/// One app of an accessory: its channels, and its session on the chip.
///
/// Every event becomes a command in one inbox. One task handles the commands in order, so that the
/// outcome does not depend on timing. The task ends when there is neither a channel nor a session.
final class AccessoryClient: Sendable {
  /// A command to the client's task.
  ///
  /// A channel waits for the acknowledgement of its command. So an app that sends too fast is
  /// slowed down by its channel.
  enum Command: Sendable {
    case attached(any DataChannel, Acknowledgement)
    case message([UInt8], from: any DataChannel, Acknowledgement)
    /// The channel has ended, with its error or the reason why it was closed here.
    case detached(any DataChannel, ChannelError?, Acknowledgement)
    case inactive(run: Int)
    case idle
    /// The channel has been lost for too long.
    case unlinked(run: Int)
    /// The recovery of the device has succeeded or failed.
    case settled(run: Int, isBack: Bool)
    case ended(run: Int, DriverError)
    case region(run: Int, RegionChange)
    case close
  }
  typealias Acknowledgement = CheckedContinuation<Void, Never>

  private struct State {
    /// The number of channels being served, including replaced channels that have not ended yet.
    var channels = 1
    var isRanging = false
    var isFinished = false
    var task: Task<Void, Never>?
  }

  let app: Accessory.App
  /// Whether the app has the same name when it connects again.
  let isNamed: Bool
  private let accessory: Accessory
  private let state = Locked(State())
  private let commands: AsyncStream<Command>
  private let inbox: AsyncStream<Command>.Continuation

  /// Creates a client whose first channel is about to be served.
  init(_ app: Accessory.App, isNamed: Bool, of accessory: Accessory) {
    (self.app, self.isNamed) = (app, isNamed)
    self.accessory = accessory
    (commands, inbox) = AsyncStream.makeStream()
    let task = Task { await self.work() }
    state.withLock { $0.task = task }
  }

  var isRanging: Bool { state.withLock { $0.isRanging } }
  func setRanging(_ value: Bool) { state.withLock { $0.isRanging = value } }

  /// Adds a channel. Returns false if this client has ended.
  func attach() -> Bool {
    state.withLock { state in
      guard !state.isFinished else { return false }
      state.channels += 1
      return true
    }
  }

  /// Serves a channel until it ends.
  func serve(_ channel: some DataChannel) async {
    await post { .attached(channel, $0) }
    for await message in channel.messages {
      await post { .message(message, from: channel, $0) }
    }
    channel.close()
    let error =
      Task.isCancelled ? ChannelError(.closedHere("it no longer serves")) : channel.failure
    await post { .detached(channel, error, $0) }
  }

  /// Ends the session and the channel, and waits for their end.
  func close() async {
    inbox.yield(.close)
    await state.withLock { $0.task }?.value
  }

  func post(_ command: Command) { inbox.yield(command) }

  private func post(_ command: (Acknowledgement) -> Command) async {
    await withCheckedContinuation { acknowledgement in
      if case .terminated = inbox.yield(command(acknowledgement)) { acknowledgement.resume() }
    }
  }

  private func work() async {
    var session = AccessoryAppSession(self, accessory)
    for await command in commands {
      await session.handle(command)
      if case .detached = command { state.withLock { $0.channels -= 1 } }
      let isOver = state.withLock { state in
        guard !state.isFinished,
          session.isClosed || state.channels == 0 && !session.isRanging
        else { return false }
        state.isFinished = true
        return true
      }
      // The loop handles the queued commands, so that every command is acknowledged.
      if isOver {
        inbox.finish()
        accessory.forget(self)
      }
    }
  }
}
