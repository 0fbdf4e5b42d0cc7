// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import JSON
internal import System
internal import SystemPackage

/// The socket of a client: sends calls, and reads replies when they are wanted.
@ServiceActor final class ClientConnection {
  /// Nil once closed.
  private var socket: Int32?
  private var watch: DescriptorWatch?
  private var framing = VarlinkFraming(limit: longest)
  /// The read that waits for bytes.
  private var waiting: CheckedContinuation<Void, Never>?
  /// Whether bytes have arrived, or the connection has ended, while no read waited.
  private var hasNews = false
  /// Whether a call has not got its last reply.
  private var isBusy = false

  /// The length of the longest reply in bytes.
  nonisolated static let longest = 16 << 20
  /// The time in which the service accepts a call.
  private nonisolated static let patience = Duration.seconds(5)

  /// - Parameter descriptor: A connected socket, which the connection closes.
  nonisolated init(_ descriptor: Int32) {
    makeNonBlocking(descriptor)
    socket = descriptor
  }

  deinit { if let socket { Glibc.close(socket) } }

  func close() {
    // Closing the socket also removes it from the watch.
    if let socket = socket.take() { Glibc.close(socket) }
    watch = nil
    wake()
  }

  private func wake() {
    if let waiting = waiting.take() { waiting.resume() } else { hasNews = true }
  }

  /// Closes the connection after the present job of the actor.
  nonisolated func closeSoon() { ServiceQueue.shared.later { [weak self] in self?.close() } }

  // MARK: calls

  /// Sends a call, whose replies `next()` returns.
  func begin(
    _ method: String, _ parameters: [UInt8], more: Bool
  ) async throws(VarlinkError) {
    guard let socket else { throw .ended("it is closed") }
    guard !isBusy else {
      throw VarlinkError(
        "Connection.Busy", reason: "Another call of this connection waits for its reply.",
        advice: "Use a connection for each stream.")
    }
    isBusy = true
    let bytes = Self.message(method, parameters, more)
    // Its own descriptor, because the connection may close meanwhile.
    let descriptor = FileDescriptor(rawValue: dup(socket))
    let isSent = try? await BlockingThreads.shared.call { () -> Bool in
      defer { try? descriptor.close() }
      let deadline = Deadline(after: Self.patience)
      return (try? VarlinkClient.send(bytes, descriptor, deadline)) != nil
    }
    guard isSent == true else {
      close()
      throw .ended("the service accepts no call")
    }
  }

  private static func message(_ method: String, _ parameters: [UInt8], _ more: Bool) -> [UInt8] {
    var bytes = Array(#"{"method":\#(JSON.string(method))"#.utf8)
    if !parameters.isEmpty { bytes += #","parameters":"#.utf8 + parameters }
    return bytes + (more ? #","more":true}"# : "}").utf8 + [0]
  }

  /// Returns the parameters of the next reply to the call; nil after the last one.
  ///
  /// - Throws: `VarlinkError`. The connection stays open after an error of the service only.
  func next() async throws(VarlinkError) -> [UInt8]? {
    guard isBusy else { return nil }
    let parts: ReplyParts?
    do throws(VarlinkMessageError) {
      let message = try await message()
      parts = try message.map { bytes throws(VarlinkMessageError) in try ReplyParts(bytes) }
    } catch {
      close()
      throw .ended("a reply is not a message of varlink")
    }
    guard let parts else {
      throw .ended(Task.isCancelled ? "the call was cancelled" : "the service has closed it")
    }
    isBusy = parts.continues
    guard let error = parts.error else { return parts.parameters }
    isBusy = false
    throw VarlinkError(error, parts.parameters)
  }

  // MARK: bytes

  /// Returns the next message; nil when the connection has ended.
  private func message() async throws(VarlinkMessageError) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      if let message = try framing.next() { return message }
      guard let socket else { return nil }
      hasNews = false
      let count = unsafe recv(socket, &buffer, buffer.count, 0)
      if count > 0 {
        framing.append(buffer[..<count])
      } else if count == 0 || errno != EAGAIN && errno != EINTR {
        close()
      } else if errno == EAGAIN {
        await bytesOrEnd()
      }
    }
  }

  /// Returns when bytes have arrived or the connection has ended.
  private func bytesOrEnd() async {
    guard startWatch() else { return close() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // Other jobs may run before the continuation is created.
        guard !hasNews, !Task.isCancelled else { return continuation.resume() }
        waiting = continuation
      }
    } onCancel: {
      closeSoon()
    }
    if Task.isCancelled { close() }
  }

  /// Watches the socket: an event follows each arrival after a read that has found no bytes.
  private func startWatch() -> Bool {
    guard watch == nil, let socket else { return watch != nil }
    guard let set = try? DescriptorWatch.openSet() else { return false }
    let watch = DescriptorWatch(set, in: ServiceQueue.shared.queue) { [weak self] in
      ServiceQueue.shared.handle { self?.haveBytes() }
    }
    watch.add(socket, as: 0)
    self.watch = watch
    return true
  }

  private func haveBytes() {
    _ = watch?.next()
    wake()
  }
}

/// A call with several replies. The connection closes when its program no longer reads them.
@ServiceActor final class StreamedCall {
  private let connection: ClientConnection
  private let method: String
  private let parameters: [UInt8]
  private enum Phase { case new, begun, ended }
  private var phase = Phase.new

  nonisolated init(_ connection: ClientConnection, _ method: String, _ parameters: [UInt8]) {
    (self.connection, self.method, self.parameters) = (connection, method, parameters)
  }

  deinit { if phase == .begun { connection.closeSoon() } }

  func next() async throws(VarlinkError) -> [UInt8]? {
    if phase == .new {
      phase = .ended
      try await connection.begin(method, parameters, more: true)
      phase = .begun
    }
    do throws(VarlinkError) {
      let reply = try await connection.next()
      if reply == nil { phase = .ended }
      return reply
    } catch {
      phase = .ended
      throw error
    }
  }
}
