// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
package import SystemPackage

/// A data channel over a connected TCP or Unix stream socket. Each message is preceded by its
/// length in two bytes, little-endian.
///
/// No call blocks. The channel reads when Dispatch reports bytes, and writes into the socket's
/// buffer, which holds thousands of messages. If the buffer is full, the peer has stopped reading.
/// The channel then ends with `ChannelError.Code.failed`.
public final class SocketChannel: DataChannel {
  /// The address of the host at the other end; nil for a Unix socket.
  package let host: String?
  private let inbox = MessageInbox()
  private let watch: DescriptorWatch
  private let descriptor: FileDescriptor
  /// Whether the descriptor is open. It guards against writing into a closed descriptor.
  private let isOpen = Locked(true)

  /// Creates a channel on a connected socket, which it closes at its end.
  package init(_ descriptor: FileDescriptor) {
    self.descriptor = descriptor
    host = SocketAddress.peer(of: descriptor)
    let number = descriptor.rawValue
    _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
    watch = DescriptorWatch(number, label: "uwb data channel") { [inbox] in
      Self.read(number, into: inbox)
    } ended: { [inbox, isOpen] in
      inbox.end(nil)
      isOpen.withLock { isOpen in
        isOpen = false
        _ = Glibc.close(number)
      }
    }
  }

  /// Connects to an accessory, with a time-out of ten seconds for each address of its host.
  ///
  /// - Throws: `ChannelError`.
  public static func connect(
    to endpoint: ChannelEndpoint
  ) async throws(ChannelError) -> SocketChannel {
    try await connect(to: endpoint, within: 10)
  }

  /// Connects to an accessory.
  ///
  /// - Parameter seconds: the time-out for each address.
  package static func connect(
    to endpoint: ChannelEndpoint, within seconds: Int
  ) async throws(ChannelError) -> SocketChannel {
    // Name resolution and connecting block, so they have their own thread.
    SocketChannel(
      try await onBlockingThread { () throws(ChannelError) in
        unsafe try SocketAddress.withSocket(endpoint, forListening: false) {
          number, address, length in
          unsafe SocketAddress.connect(number, address, length, within: seconds)
        }
      })
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
    let failure: ChannelError.Reason? = isOpen.withLock { isOpen in
      guard isOpen, !inbox.isEnded else { return .closed }
      var sent = 0
      while sent < frame.count {
        let count = unsafe frame.withUnsafeBytes {
          unsafe Glibc.send(
            descriptor.rawValue, $0.baseAddress! + sent, frame.count - sent,
            Int32(MSG_NOSIGNAL))
        }
        if count > 0 { sent += count }
        if count < 0 {
          switch errno {
          case EINTR: continue
          case EAGAIN: return .peerNotReading
          case EPIPE, ECONNRESET: return .closed
          default: return .system(Errno(rawValue: errno), endpoint: "the data channel")
          }
        }
      }
      return nil
    }
    guard let failure else { return }
    // A part of the message may have been sent, so that no other message can follow.
    inbox.end(failure == .closed ? nil : ChannelError(failure))
    watch.cancel()
    throw inbox.failure ?? ChannelError(failure)
  }

  /// Ends the channel.
  public func close() {
    inbox.end(nil)
    watch.cancel()
  }

  /// Reads all available bytes. Returns false at the end of the stream.
  ///
  /// No bytes may remain: Dispatch on Linux does not call again after the peer has hung up.
  private static func read(_ number: Int32, into inbox: MessageInbox) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = unsafe Glibc.read(number, &buffer, buffer.count)
      if count > 0 {
        guard inbox.receive(buffer[..<count]) else { return false }
      } else if count == 0 {
        inbox.endOfStream()
        return false
      } else if errno == EAGAIN {
        return true
      } else if errno != EINTR {
        // The kernel resets the connections of a killed program.
        inbox.end(
          errno == ECONNRESET
            ? nil : ChannelError(.system(Errno(rawValue: errno), endpoint: "the data channel")))
        return false
      }
    }
  }
}

/// Runs `body` on a thread that may block.
func onBlockingThread<R: Sendable>(
  _ body: @escaping @Sendable () throws(ChannelError) -> R
) async throws(ChannelError) -> R {
  let result: Result<R, ChannelError>
  do throws(BlockingThreads.CallFailure) {
    result = try await BlockingThreads.shared.call { Result(catching: body) }
  } catch {
    guard case .thread(let failure) = error else { throw .closed }
    throw ChannelError(.system(failure.errno, endpoint: "a thread for the data channel"))
  }
  return try result.get()
}
