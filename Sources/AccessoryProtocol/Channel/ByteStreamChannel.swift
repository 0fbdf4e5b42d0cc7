// SPDX-License-Identifier: Apache-2.0
internal import Locking

/// A data channel over any pair of byte streams: an asynchronous sequence to read from, a function
/// to write with. Messages are framed as `MessageFraming` says.
public final class ByteStreamChannel: DataChannel {
  private let inbox = MessageInbox()
  private let write: @Sendable ([UInt8]) async throws -> Void
  private let closing: @Sendable () -> Void
  private let reading = Locked<Task<Void, Never>?>(nil)

  private init(
    _ write: @escaping @Sendable ([UInt8]) async throws -> Void,
    _ closing: @escaping @Sendable () -> Void
  ) {
    self.write = write
    self.closing = closing
  }

  deinit { close() }

  /// From a stream of chunks of bytes.
  ///
  /// - Parameters:
  ///   - chunks: what the other side sends, cut anywhere.
  ///   - write: sends all of the bytes, in the order of the calls.
  ///   - closing: called once, when the channel ends for whatever reason.
  public convenience init<Chunks: AsyncSequence & Sendable>(
    reading chunks: Chunks, writing write: @escaping @Sendable ([UInt8]) async throws -> Void,
    closing: @escaping @Sendable () -> Void = {}
  ) where Chunks.Element == [UInt8] {
    self.init(write, closing)
    begin { inbox in for try await chunk in chunks where !inbox.take(chunk) { return } }
  }

  /// From a stream of single bytes.
  ///
  /// - Parameters:
  ///   - bytes: what the other side sends.
  ///   - write: sends all of the bytes, in the order of the calls.
  ///   - closing: called once, when the channel ends for whatever reason.
  public convenience init<Bytes: AsyncSequence & Sendable>(
    reading bytes: Bytes, writing write: @escaping @Sendable ([UInt8]) async throws -> Void,
    closing: @escaping @Sendable () -> Void = {}
  ) where Bytes.Element == UInt8 {
    self.init(write, closing)
    begin { inbox in
      for try await byte in bytes where !inbox.take(CollectionOfOne(byte)) { return }
    }
  }

  private func begin(_ read: @escaping @Sendable (MessageInbox) async throws -> Void) {
    let task = Task { [inbox, closing] in
      do {
        try await read(inbox)
        inbox.endOfStream()
      } catch {
        inbox.end(.stream("\(error)"))
      }
      closing()
    }
    reading.withLock { $0 = task }
  }

  /// The other side's messages.
  public var messages: AsyncStream<[UInt8]> { inbox.messages }
  /// Why the channel ended.
  public var failure: DataChannelError? { inbox.failure }

  /// Sends one message.
  ///
  /// - Throws: `DataChannelError`.
  public func send(_ message: [UInt8]) async throws(DataChannelError) {
    let frame = try MessageFraming.frame(message)
    guard !inbox.isEnded else { throw .closed }
    do { try await write(frame) } catch { throw .stream("\(error)") }
  }

  /// Ends the channel; the task that reads is cancelled.
  public func close() {
    inbox.end(nil)
    reading.withLock { $0.take() }?.cancel()
  }
}
