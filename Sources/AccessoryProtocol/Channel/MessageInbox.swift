// SPDX-License-Identifier: Apache-2.0
internal import Locking

/// The receiving half of the channels over byte streams: bytes in, messages out.
final class MessageInbox: Sendable {
  private struct State {
    var framing = MessageFraming()
    var isEnded = false
    var failure: DataChannelError?
  }

  let messages: AsyncStream<[UInt8]>
  private let continuation: AsyncStream<[UInt8]>.Continuation
  private let state = Locked(State())

  /// Messages that wait to be taken; the other side of a slow accessory waits for an answer to each.
  private static let capacity = 64

  init() {
    (messages, continuation) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingOldest(Self.capacity))
  }

  var failure: DataChannelError? { state.withLock { $0.failure } }
  var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Takes bytes; false when nothing more can come of this stream.
  func take(_ bytes: some Sequence<UInt8>) -> Bool {
    let found: Result<[[UInt8]], DataChannelError> = state.withLock { state in
      guard !state.isEnded else { return .failure(.closed) }
      do throws(DataChannelError) { return .success(try state.framing.take(bytes)) } catch {
        return .failure(error)
      }
    }
    switch found {
    case .success(let messages):
      for message in messages {
        if case .dropped = continuation.yield(message) {
          end(.flooded)
          return false
        }
      }
      return true
    case .failure(let error):
      end(error == .closed ? nil : error)
      return false
    }
  }

  /// The stream ended; only the first cause counts.
  ///
  /// - Returns: whether this was the first time.
  @discardableResult
  func end(_ failure: DataChannelError?) -> Bool {
    let isFirst = state.withLock { state in
      guard !state.isEnded else { return false }
      state.isEnded = true
      state.failure = failure
      return true
    }
    if isFirst { continuation.finish() }
    return isFirst
  }

  /// The other side ended the stream.
  func endOfStream() {
    let isInMessage = state.withLock { $0.framing.isInMessage }
    end(isInMessage ? .notFramed("the stream ends within a message") : nil)
  }
}
