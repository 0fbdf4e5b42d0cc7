// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Glibc
internal import Locking
public import SystemPackage

/// A data channel over a connected stream socket: TCP or Unix. Messages are framed as
/// `MessageFraming` says.
///
/// A thread of its own is not needed: bytes are read where Dispatch says that there are some. What
/// is sent goes into the socket's buffer, which holds thousands of messages; where it is full, the
/// other side has stopped reading and the channel ends with `DataChannelError.notTaken`.
public final class SocketChannel: DataChannel {
  private let inbox = MessageInbox()
  private let watch: ReadWatch
  private let descriptor: FileDescriptor
  /// Nothing is written into a descriptor that has been closed.
  private let isOpen = Locked(true)

  /// Takes a connected socket over and closes it in the end.
  public init(_ descriptor: FileDescriptor) {
    self.descriptor = descriptor
    let number = descriptor.rawValue
    _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
    watch = ReadWatch(number, label: "uwb data channel") { [inbox] in
      Self.read(number, into: inbox)
    } ended: { [inbox, isOpen] in
      inbox.end(nil)
      isOpen.withLock { isOpen in
        isOpen = false
        _ = Glibc.close(number)
      }
    }
  }

  /// Connects to an accessory; tries for ten seconds.
  ///
  /// - Throws: `DataChannelError`.
  public static func connect(
    to endpoint: ChannelEndpoint
  ) async throws(DataChannelError) -> SocketChannel {
    let outcome = await withCheckedContinuation { continuation in
      // Names are looked up and connections made on a thread that may wait.
      DispatchQueue.global().async {
        do throws(DataChannelError) {
          let descriptor = try SocketAddress.withSocket(endpoint, forListening: false) {
            number, address, length in
            SocketAddress.connect(number, address, length, within: 10)
          }
          continuation.resume(returning: Result<_, DataChannelError>.success(descriptor))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return SocketChannel(try outcome.get())
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
    let error: DataChannelError? = isOpen.withLock { isOpen in
      guard isOpen, !inbox.isEnded else { return .closed }
      var sent = 0
      while sent < frame.count {
        let count = frame.withUnsafeBytes {
          Glibc.send(
            descriptor.rawValue, $0.baseAddress! + sent, frame.count - sent,
            Int32(MSG_NOSIGNAL))
        }
        if count > 0 { sent += count }
        if count < 0 {
          switch errno {
          case EINTR: continue
          case EAGAIN: return .notTaken
          case EPIPE, ECONNRESET: return .closed
          default: return .system(Errno(rawValue: errno), endpoint: "the data channel")
          }
        }
      }
      return nil
    }
    guard let error else { return }
    // Half a message may be in there: nothing can follow it.
    inbox.end(error == .closed ? nil : error)
    watch.cancel()
    throw error
  }

  /// Ends the channel.
  public func close() {
    inbox.end(nil)
    watch.cancel()
  }

  /// Everything that is there; false at the end of the stream. Up to the last byte: once the other
  /// side has hung up, Dispatch on Linux does not call again.
  private static func read(_ number: Int32, into inbox: MessageInbox) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = Glibc.read(number, &buffer, buffer.count)
      if count > 0 {
        guard inbox.take(buffer[..<count]) else { return false }
      } else if count == 0 {
        inbox.endOfStream()
        return false
      } else if errno == EAGAIN {
        return true
      } else if errno != EINTR {
        // A reset is the way in which a program that was killed closes its connections.
        inbox.end(
          errno == ECONNRESET ? nil : .system(Errno(rawValue: errno), endpoint: "the data channel"))
        return false
      }
    }
  }
}
