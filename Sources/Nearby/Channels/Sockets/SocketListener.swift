// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
internal import SystemPackage

/// A listener that accepts apps at a socket. Each connection is a data channel.
///
/// Apps are not authenticated: every app that can connect can range. A Unix socket admits only its
/// user. TCP without a host listens only on this machine. With `0.0.0.0` or `[::]` it listens on
/// all interfaces, so that every host in each network of the machine can connect.
public final class SocketListener: Sendable {
  /// The address of the listener, with the chosen port in place of 0.
  public let endpoint: ChannelEndpoint
  /// The channels of connected apps, for one consumer. The stream ends with the listener.
  public let channels: AsyncStream<SocketChannel>

  /// Whether every host that can reach this machine can connect.
  package let isOnAllInterfaces: Bool

  private let watch: DescriptorWatch
  /// The socket; nil once it no longer listens.
  private let socket: Locked<Int32?>

  /// The number of connections that can wait to be accepted.
  private static let backlog: Int32 = 16

  /// Starts listening. Replaces the Unix socket of a program that has exited.
  ///
  /// - Throws: `ChannelError`.
  public convenience init(_ endpoint: ChannelEndpoint) async throws(ChannelError) {
    // Without a pause, the queue would call again at once.
    try await self.init(endpoint) { usleep(100_000) }
  }

  /// Starts listening, with a pause for tests.
  ///
  /// - Parameter pause: called if there was no descriptor for a connection. It blocks for a while
  ///   before the connection is accepted again.
  package init(
    _ endpoint: ChannelEndpoint, pause: @escaping @Sendable () -> Void
  ) async throws(ChannelError) {
    // Name resolution and the search for another listener block.
    let descriptor = try await onBlockingThread { () throws(ChannelError) in
      try Self.listen(at: endpoint)
    }
    let number = descriptor.rawValue
    socket = Locked(number)
    isOnAllInterfaces = SocketAddress.isUnspecified(descriptor)
    if case .tcp(let host, 0) = endpoint {
      self.endpoint = .tcp(host: host, port: SocketAddress.port(of: descriptor) ?? 0)
    } else {
      self.endpoint = endpoint
    }
    // The stream needs no limit of its own, since the number of descriptors is limited.
    let (channels, continuation) = AsyncStream<SocketChannel>.makeStream()
    self.channels = channels
    watch = DescriptorWatch(number, label: "uwb data channels") {
      while true {
        let accepted = accept(number, nil, nil)
        guard accepted >= 0 else {
          if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause() }
          return true
        }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        continuation.yield(SocketChannel(FileDescriptor(rawValue: accepted)))
      }
    } ended: {
      Glibc.close(number)
      continuation.finish()
    }
  }

  deinit { close() }

  /// Stops listening, before it returns. Connected channels stay open.
  public func close() {
    socket.withLock { socket in
      // Only once, because another program may listen at the same path afterwards.
      guard let number = socket.take() else { return }
      if case .unix(let path) = endpoint { unsafe unlink(path) }
      // The watch closes the socket later, and a child of this process may hold the socket until
      // the child runs its program.
      shutdown(number, Int32(SHUT_RDWR))
    }
    watch.cancel()
  }

  private static func listen(
    at endpoint: ChannelEndpoint
  ) throws(ChannelError) -> FileDescriptor {
    if case .unix(let path) = endpoint { try removeLeftover(path, endpoint) }
    return unsafe try SocketAddress.withSocket(endpoint, forListening: true) {
      number, address, length in
      let error: Int32
      if case .unix(let path) = endpoint {
        error = System.listen(number, at: path, mode: 0o600, backlog: backlog)
      } else {
        var yes: Int32 = 1
        unsafe setsockopt(
          number, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let isListening =
          unsafe bind(number, address, length) == 0 && Glibc.listen(number, backlog) == 0
        error = isListening ? 0 : errno
      }
      guard error == 0 else { return Errno(rawValue: error) }
      _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
      return nil
    }
  }

  /// Removes a Unix socket at which no program listens.
  private static func removeLeftover(
    _ path: String, _ endpoint: ChannelEndpoint
  ) throws(ChannelError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw ChannelError(.system(.fileExists, endpoint: endpoint.description))
    }
    do throws(ChannelError) {
      let used = unsafe try SocketAddress.withSocket(endpoint, forListening: false) {
        number, address, length in
        unsafe SocketAddress.connect(number, address, length, within: 1)
      }
      Glibc.close(used.rawValue)
    } catch {
      switch error.reason {
      case .system(.connectionRefused, _):
        unsafe unlink(path)
        return
      case .system(.timedOut, _): break  // A program listens, and is too busy to accept.
      default: throw error
      }
    }
    throw ChannelError(.system(.addressInUse, endpoint: endpoint.description))
  }
}
