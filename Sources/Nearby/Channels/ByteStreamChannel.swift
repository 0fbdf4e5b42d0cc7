// SPDX-License-Identifier: Apache-2.0
internal import System

/// A data channel over any pair of byte streams: an asynchronous sequence to read from, and a
/// function to write with.
///
/// Each message is preceded by its length in two bytes, little-endian.
public final class ByteStreamChannel: DataChannel {
  private let inbox = MessageInbox()
  private let write: @Sendable ([UInt8]) async throws -> Void
  private let reading = Locked<Task<Void, Never>?>(nil)

  deinit { close() }

  /// Creates a channel that reads chunks of bytes.
  ///
  /// - Parameters:
  ///   - chunks: the bytes from the peer, in chunks of any size.
  ///   - write: sends all bytes, in the order of the calls.
  ///   - closing: called once, when the channel ends.
  public init<Chunks: AsyncSequence & Sendable>(
    reading chunks: Chunks, writing write: @escaping @Sendable ([UInt8]) async throws -> Void,
    closing: @escaping @Sendable () -> Void = {}
  ) where Chunks.Element == [UInt8] {
    self.write = write
    let task = Task { [inbox] in
      do {
        for try await chunk in chunks where !inbox.receive(chunk) { break }
        inbox.endOfStream()
      } catch {
        inbox.end(.failed("\(error)"))
      }
      closing()
    }
    reading.withLock { $0 = task }
  }

  /// Creates a channel that reads single bytes.
  ///
  /// - Parameters:
  ///   - bytes: the bytes from the peer.
  ///   - write: sends all bytes, in the order of the calls.
  ///   - closing: called once, when the channel ends.
  public convenience init<Bytes: AsyncSequence & Sendable>(
    reading bytes: Bytes, writing write: @escaping @Sendable ([UInt8]) async throws -> Void,
    closing: @escaping @Sendable () -> Void = {}
  ) where Bytes.Element == UInt8 {
    self.init(reading: bytes.map { [$0] }, writing: write, closing: closing)
  }

  /// The peer's messages, for one consumer.
  public var messages: AsyncStream<[UInt8]> { inbox.messages }
  /// The error of a channel that failed; nil while it works, or if one of the sides closed it.
  public var failure: ChannelError? { inbox.failure }

  /// Sends one message.
  ///
  /// - Throws: `ChannelError`.
  public func send(_ message: [UInt8]) async throws(ChannelError) {
    let frame = try MessageFraming.frame(message)
    guard !inbox.isEnded else { throw .closed }
    do { try await write(frame) } catch { throw .failed("\(error)") }
  }

  /// Ends the channel and cancels its reading.
  public func close() {
    inbox.end(nil)
    reading.withLock { $0.take() }?.cancel()
  }
}
