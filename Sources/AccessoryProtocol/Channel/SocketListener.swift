// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Locking
internal import SystemPackage

/// Waits for apps at a socket; each that connects is a data channel.
///
/// Nobody proves who they are: whoever can connect can range. A Unix socket lets in its owner only;
/// TCP without a host listens on this machine only.
public final class SocketListener: Sendable {
  /// Where it listens, with the port that was chosen for 0.
  public let endpoint: ChannelEndpoint
  /// Apps as they connect, taken in one place. It ends with the listener.
  public let channels: AsyncStream<SocketChannel>

  private let watch: ReadWatch
  private let isListening = Locked(true)

  /// Connections that wait to be taken.
  private static let backlog: Int32 = 16
  /// Microseconds until the next attempt to take a connection for which there is no descriptor.
  private static let pause: UInt32 = 100_000

  /// Listens. A Unix socket that a program has left behind is replaced.
  ///
  /// - Throws: `DataChannelError`.
  public init(_ endpoint: ChannelEndpoint) throws(DataChannelError) {
    if case .unix(let path) = endpoint { try Self.removeLeftover(path, endpoint) }
    let descriptor = try SocketAddress.withSocket(endpoint, forListening: true) {
      number, address, length in
      var yes: Int32 = 1
      if case .tcp = endpoint {
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      }
      guard bind(number, address, length) == 0 else { return Errno(rawValue: errno) }
      // Before anybody can connect.
      if case .unix(let path) = endpoint, chmod(path, 0o600) != 0 { return Errno(rawValue: errno) }
      return listen(number, Self.backlog) == 0 ? nil : Errno(rawValue: errno)
    }
    let number = descriptor.rawValue
    _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
    if case .tcp(let host, 0) = endpoint {
      self.endpoint = .tcp(host: host, port: SocketAddress.port(of: descriptor) ?? 0)
    } else {
      self.endpoint = endpoint
    }
    let (channels, continuation) = AsyncStream<SocketChannel>.makeStream(
      bufferingPolicy: .bufferingOldest(Int(Self.backlog)))
    self.channels = channels
    watch = ReadWatch(number, label: "uwb data channels") {
      while true {
        let accepted = accept(number, nil, nil)
        guard accepted >= 0 else {
          // The app waits, and so does this queue: without a pause it would be called again at once.
          if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { usleep(Self.pause) }
          return true
        }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        // Too many at once: the channel goes with its last reference, and the app sees it close.
        continuation.yield(SocketChannel(FileDescriptor(rawValue: accepted)))
      }
    } ended: {
      Glibc.close(number)
      continuation.finish()
    }
  }

  deinit { close() }

  /// Listens no more. Channels that there are stay.
  public func close() {
    // Only once: somebody else may listen there afterwards.
    let wasListening = isListening.withLock { isListening in
      defer { isListening = false }
      return isListening
    }
    if wasListening, case .unix(let path) = endpoint { unlink(path) }
    watch.cancel()
  }

  /// A socket at which nobody listens any more is in the way of a new one.
  private static func removeLeftover(
    _ path: String, _ endpoint: ChannelEndpoint
  ) throws(DataChannelError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw .system(.fileExists, endpoint: endpoint.description)
    }
    do throws(DataChannelError) {
      let used = try SocketAddress.withSocket(endpoint, forListening: false) {
        number, address, length in
        SocketAddress.connect(number, address, length, within: 1)
      }
      Glibc.close(used.rawValue)
    } catch .system(.connectionRefused, _) {
      unlink(path)
      return
    } catch .system(.timedOut, _) {
      // Somebody listens, and does not get to it.
    }
    throw .system(.addressInUse, endpoint: endpoint.description)
  }
}
