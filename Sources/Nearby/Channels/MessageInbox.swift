// SPDX-License-Identifier: Apache-2.0
internal import System

/// The receiving half of a channel over a byte stream. It turns bytes into messages.
final class MessageInbox: Sendable {
  private struct State {
    var framing = MessageFraming()
    var isEnded = false
    var failure: ChannelError?
  }

  let messages: AsyncStream<[UInt8]>
  private let continuation: AsyncStream<[UInt8]>.Continuation
  private let state = Locked(State())

  /// The number of messages that can be queued. It is ample, because apps wait for each answer.
  private static let capacity = 64

  init() {
    (messages, continuation) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingOldest(Self.capacity))
  }

  var failure: ChannelError? { state.withLock { $0.failure } }
  var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Parses bytes into messages. Returns false after the end of this stream.
  func receive(_ bytes: some Sequence<UInt8>) -> Bool {
    do throws(ChannelError) {
      let messages = try state.withLock { state throws(ChannelError) in
        state.isEnded ? nil : try state.framing.parse(bytes)
      }
      guard let messages else { return false }
      for message in messages {
        if case .dropped = continuation.yield(message) { throw ChannelError(.receiveOverflow) }
      }
      return true
    } catch {
      end(error)
      return false
    }
  }

  /// Ends the stream. Only the first call counts.
  ///
  /// - Returns: whether this was the first call.
  @discardableResult
  func end(_ failure: ChannelError?) -> Bool {
    let isFirst = state.withLock { state in
      guard !state.isEnded else { return false }
      state.isEnded = true
      state.failure = failure
      return true
    }
    if isFirst { continuation.finish() }
    return isFirst
  }

  func endOfStream() {
    let isInMessage = state.withLock { $0.framing.isInMessage }
    end(isInMessage ? ChannelError(.invalidFraming("the stream ends within a message")) : nil)
  }
}
