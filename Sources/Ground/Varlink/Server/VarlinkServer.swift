// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
package import SystemPackage

/// Accepts connections, reads their calls and sends the replies.
@ServiceActor package final class VarlinkServer {
  nonisolated let service: VarlinkService
  var connections: [Int: VarlinkConnection] = [:]
  private var nextNumber = 0
  private var acceptor: Acceptor?
  /// The sockets of all connections.
  private(set) lazy var watch = DescriptorWatch(set, in: ServiceQueue.shared.queue) { [weak self] in
    ServiceQueue.shared.handle { self?.serve() }
  }
  private nonisolated let set: Int32

  /// Creates a server, which `start` starts.
  ///
  /// - Throws: `Errno` when no descriptor is left for the watch of its sockets.
  nonisolated package init(_ service: VarlinkService) throws(Errno) {
    self.service = service
    set = try DescriptorWatch.openSet()
  }

  /// The number of open connections.
  package var connectionCount: Int { connections.count }

  /// Accepts connections.
  ///
  /// - Parameters:
  ///   - socket: A non-blocking socket that listens. The server closes it when it stops.
  ///   - accepted: Takes over the descriptor of a connection, for `connect(_:)`.
  package func start(
    listeningAt socket: Int32, _ accepted: @escaping @ServiceActor (Int32) -> Void
  ) {
    _ = watch
    acceptor = Acceptor(socket, accepted)
  }

  /// Serves a client, whose calls the handler of the returned connection performs.
  package func connect(_ descriptor: Int32) -> VarlinkConnection {
    nextNumber += 1
    let connection = VarlinkConnection(descriptor, number: nextNumber, self)
    connections[nextNumber] = connection
    watch.add(descriptor, as: nextNumber)
    return connection
  }

  /// Reads from clients that have sent data, and closes the connections of clients that have
  /// disconnected.
  ///
  /// - Returns: The number of clients served.
  @discardableResult package func serve() -> Int {
    let numbers = watch.next()
    for number in numbers { connections[number]?.isReady() }
    return numbers.count
  }

  /// Accepts no further connections, and closes the present ones.
  ///
  /// - Parameter answersCalls: Whether connections stay until the calls are answered that they
  ///   have sent.
  package func stop(answersCalls: Bool = false) {
    acceptor?.stop()
    acceptor = nil
    for connection in connections.values {
      if answersCalls { connection.finish() } else { connection.close() }
    }
  }
}
