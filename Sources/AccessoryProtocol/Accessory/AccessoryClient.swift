// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import UCI
internal import UWB

/// What an accessory has with one app: its channel and its session on the chip.
///
/// Everything that happens goes through one mailbox and is handled by one task, one after the other,
/// so that nothing here depends on who is faster. The task ends when there is neither a channel nor
/// a session.
final class AccessoryClient: Sendable {
  /// What the task is told. A channel waits until its letter has been handled, so that an app that
  /// sends faster is held up in its channel.
  enum Letter: Sendable {
    case attached(any DataChannel, Receipt)
    case message([UInt8], from: any DataChannel, Receipt)
    case detached(any DataChannel, Receipt)
    case silent(run: Int)
    case ended(run: Int, DriverError)
    case close
  }
  typealias Receipt = CheckedContinuation<Void, Never>

  private struct State {
    /// Channels that are being served, lost ones included until they have ended.
    var channels = 1
    var isRanging = false
    var isFinished = false
    var task: Task<Void, Never>?
  }

  let app: Accessory.App
  private let accessory: Accessory
  private let state = Locked(State())
  private let letters: AsyncStream<Letter>
  private let mailbox: AsyncStream<Letter>.Continuation

  /// A client whose first channel is about to be served.
  init(_ app: Accessory.App, of accessory: Accessory) {
    self.app = app
    self.accessory = accessory
    (letters, mailbox) = AsyncStream.makeStream()
    let task = Task { await self.work() }
    state.withLock { $0.task = task }
  }

  var isRanging: Bool { state.withLock { $0.isRanging } }
  func setRanging(_ value: Bool) { state.withLock { $0.isRanging = value } }

  /// One more channel is about to be served; false when this client has ended.
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
    await post { .detached(channel, $0) }
  }

  /// Ends the session and the channel, and waits until that is done.
  func close() async {
    mailbox.yield(.close)
    await state.withLock { $0.task }?.value
  }

  func post(_ letter: Letter) { mailbox.yield(letter) }

  private func post(_ letter: (Receipt) -> Letter) async {
    await withCheckedContinuation { receipt in
      if case .terminated = mailbox.yield(letter(receipt)) { receipt.resume() }
    }
  }

  // MARK: the task

  private func work() async {
    var desk = AccessoryDesk(self, accessory)
    for await letter in letters {
      await desk.handle(letter)
      if case .detached = letter { state.withLock { $0.channels -= 1 } }
      let isOver = state.withLock { state in
        guard !state.isFinished, desk.isClosed || state.channels == 0 && !desk.hasSession else {
          return false
        }
        state.isFinished = true
        return true
      }
      // What is still in the mailbox is taken out, so that nobody waits for ever.
      if isOver {
        mailbox.finish()
        accessory.forget(self)
      }
    }
  }
}
