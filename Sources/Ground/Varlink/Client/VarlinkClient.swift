// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
package import SystemPackage

/// A connection to a service.
///
/// Calls are made one after the other; a call during another one fails. While a program reads no
/// replies, the service waits. When the task of a call is cancelled, the connection ends.
///
/// ```swift
/// let client = try await VarlinkClient.connect(to: "/run/uwbd/control")
/// for try await reply in client.replies(to: "org.swift-uwb.Chips.Monitor") {
///   print(String(decoding: reply, as: UTF8.self))
/// }
/// ```
public final class VarlinkClient: Sendable {
  private let connection: ClientConnection

  private init(_ descriptor: FileDescriptor) {
    connection = ClientConnection(descriptor.rawValue)
  }

  /// Connects to the service at a Unix socket.
  ///
  /// - Throws: `VarlinkError` with the name `Connection.Unreachable`.
  public static func connect(to path: String) async throws(VarlinkError) -> VarlinkClient {
    let connected: Result<FileDescriptor, Errno>
    do throws(BlockingThreads.CallFailure) {
      connected = try await BlockingThreads.shared.call {
        Result { () throws(Errno) in try Self.connected(to: path, 5) }
      }
    } catch { throw .unreachable(path, "the system has no thread to connect") }
    do throws(Errno) { return VarlinkClient(try connected.get()) } catch {
      throw .unreachable(path, "\(error)")
    }
  }

  /// Calls a method, and returns the parameters of the reply.
  ///
  /// - Parameters:
  ///   - method: The name of the method with its interface.
  ///   - parameters: An object of JSON; empty for none.
  /// - Returns: An object of JSON. Its ends are checked, and the rest is as the service sent it.
  /// - Throws: `VarlinkError`: the error of the service, or the end of the connection.
  public func call(
    _ method: String, _ parameters: [UInt8] = []
  ) async throws(VarlinkError) -> [UInt8] {
    try await connection.begin(method, parameters, more: false)
    guard let reply = try await connection.next() else { throw .ended("the reply is missing") }
    return reply
  }

  /// Calls a method with the flag `more`, and returns the parameters of all replies.
  ///
  /// The call is made when the first reply is awaited. Ending before the last reply closes the
  /// connection.
  ///
  /// - Parameters:
  ///   - method: The name of the method with its interface.
  ///   - parameters: An object of JSON; empty for none.
  /// - Returns: A sequence that throws `VarlinkError`.
  public func replies(
    to method: String, _ parameters: [UInt8] = []
  ) -> AsyncThrowingStream<[UInt8], any Error> {
    let call = StreamedCall(connection, method, parameters)
    return AsyncThrowingStream(unfolding: { try await call.next() })
  }

  /// Closes the connection. A call that waits for a reply fails.
  public func close() { connection.closeSoon() }
  /// The reason why a call has no reply.
  package enum Failure: Error, Sendable, Hashable {
    /// No program accepts the connection. The time-out is `wouldBlock`.
    case unreachable(Errno)
    /// The service does not answer, or the connection has ended.
    case silent(Errno)
  }

  /// Sends the first call over a new connection, and returns both the connection and the reply.
  ///
  /// - Parameters:
  ///   - path: The path of the service's Unix socket.
  ///   - patience: The time-out in seconds for connecting, and for the whole call after it.
  package static func call(
    _ call: VarlinkCall, at path: String, patience: Int = 5
  ) throws(Failure) -> (descriptor: FileDescriptor, reply: VarlinkReply) {
    let descriptor: FileDescriptor
    do throws(Errno) { descriptor = try connected(to: path, patience) } catch {
      throw .unreachable(error)
    }
    do throws(Errno) {
      let deadline = Deadline(after: .seconds(patience))
      try send(call.bytes, descriptor, deadline)
      let message = try receive(descriptor, deadline)
      guard let reply = try? VarlinkReply(message) else { throw Errno.badMessage }
      return (descriptor, reply)
    } catch {
      try? descriptor.close()
      throw .silent(error)
    }
  }

  private static func connected(
    to path: String, _ patience: Int
  ) throws(Errno) -> FileDescriptor {
    let number = Glibc.socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw Errno(rawValue: errno) }
    // The time-out for sending also limits connecting (socket(7)).
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      var time = timeval(tv_sec: patience, tv_usec: 0)
      unsafe setsockopt(
        number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
    let result = unsafe withUnixAddress(path) {
      unsafe Glibc.connect(number, $0, $1) == 0 ? nil : Errno(rawValue: errno)
    }
    if case .some(.none) = result { return FileDescriptor(rawValue: number) }
    _ = Glibc.close(number)
    throw (result ?? .fileNameTooLong) ?? .fileNameTooLong
  }

  private static func wait(
    _ descriptor: FileDescriptor, _ events: Int32, _ deadline: Deadline
  ) throws(Errno) {
    var polled = pollfd(fd: descriptor.rawValue, events: Int16(events), revents: 0)
    var result: Int32
    repeat {
      result = unsafe poll(&polled, 1, deadline.milliseconds)
    } while result < 0
      && errno == EINTR
    guard result != 0 else { throw .wouldBlock }
  }

  static func send(
    _ bytes: [UInt8], _ descriptor: FileDescriptor, _ deadline: Deadline
  ) throws(Errno) {
    let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
    var sent = 0
    while sent < bytes.count {
      try wait(descriptor, POLLOUT, deadline)
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.send(
          descriptor.rawValue, $0.baseAddress! + sent, bytes.count - sent, flags)
      }
      // A service that refuses the connection may have closed it, after an error for this call.
      if count < 0, errno == EPIPE { return }
      if count < 0, errno != EINTR { throw Errno(rawValue: errno) }
      sent += max(count, 0)
    }
  }

  /// Receives one message without its zero byte, and no byte after it.
  private static func receive(
    _ descriptor: FileDescriptor, _ deadline: Deadline
  ) throws(Errno) -> [UInt8] {
    var message: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while message.count < 1 << 20 {
      try wait(descriptor, POLLIN, deadline)
      var count = unsafe recv(descriptor.rawValue, &buffer, buffer.count, Int32(MSG_PEEK))
      let end = buffer.prefix(max(count, 0)).firstIndex(of: 0)
      if count > 0 { count = unsafe recv(descriptor.rawValue, &buffer, (end ?? count - 1) + 1, 0) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw Errno(rawValue: errno) }
      guard count > 0 else { throw .connectionReset }
      message += buffer.prefix(end ?? count)
      if end != nil { return message }
    }
    throw .badMessage
  }
}
