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
  private var turns = TurnQueue()
  /// Whether a job for the next turn is already scheduled.
  private var turnIsScheduled = false
  private nonisolated let set: Int32
  private var startedWatch: DescriptorWatch?
  /// The sockets of all connections.
  var watch: DescriptorWatch {
    if let startedWatch { return startedWatch }
    let watch = DescriptorWatch(set, in: ServiceQueue.shared.queue) { [weak self] in
      ServiceQueue.shared.handle { self?.serve() }
    }
    startedWatch = watch
    return watch
  }

  /// Creates a server, which `start` starts.
  ///
  /// - Throws: `Errno` when no descriptor is left for the watch of its sockets.
  nonisolated package init(_ service: VarlinkService) throws(Errno) {
    self.service = service
    set = try DescriptorWatch.openSet()
  }

  // A watch closes the descriptor itself.
  deinit { if startedWatch == nil { close(set) } }

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
  ///
  /// - Parameter user: The user of the client. Users have their turns one after the other.
  package func connect(_ descriptor: Int32, of user: UInt32 = 0) -> VarlinkConnection {
    nextNumber += 1
    let connection = VarlinkConnection(descriptor, number: nextNumber, of: user, self)
    connections[nextNumber] = connection
    watch.add(descriptor, as: nextNumber)
    return connection
  }

  /// Gives turns to the clients that have sent data or have disconnected. The first turn is now.
  private func serve() {
    for (number, hasHungUp) in watch.next() {
      guard let connection = connections[number] else { continue }
      // Turns for programs that only connect and disconnect would hold up the others.
      if hasHungUp, connection.hasNoCalls { connection.close() } else { connection.goOnLater() }
    }
    takeTurn()
  }

  /// Gives a connection a turn in which it reads and takes calls.
  func scheduleTurn(of connection: VarlinkConnection) {
    turns.add(connection.number, of: connection.user)
    scheduleTurn()
  }

  private func scheduleTurn() {
    guard !turnIsScheduled, !turns.isEmpty else { return }
    turnIsScheduled = true
    ServiceQueue.shared.later { [weak self] in
      self?.turnIsScheduled = false
      self?.takeTurn()
    }
  }

  private func takeTurn() {
    guard let number = turns.next() else { return }
    connections[number]?.takeTurn()
    scheduleTurn()
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
