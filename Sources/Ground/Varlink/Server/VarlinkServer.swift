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
  /// Takes over the descriptors of connections.
  private var accepted: (@ServiceActor (Int32, PeerCredentials) -> Void)?
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
  ///   - limits: The numbers of new connections that may wait; `accepted` refuses further ones.
  ///   - accepted: Takes over the descriptor of a connection of a user, for `connect(_:of:)`.
  package func start(
    listeningAt socket: Int32, _ limits: ConnectionLimits = ConnectionLimits(),
    _ accepted: @escaping @ServiceActor (_ descriptor: Int32, _ user: PeerCredentials) -> Void
  ) {
    _ = watch
    self.accepted = accepted
    acceptor = Acceptor(socket, limits) { [weak self] in self?.serveArrivals() }
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

  /// Gives turns to the clients with events. The first turn is now.
  private func serve() {
    takeEvents()
    takeTurn()
  }

  /// Gives turns to the users with new connections. The first turn is now.
  private func serveArrivals() {
    // Connections that have closed before the new ones come first, to make room.
    takeEvents()
    for user in acceptor?.announced() ?? [] { turns.add(.arrival(of: user), of: user) }
    takeTurn()
  }

  /// Adds turns for all clients that have sent data or have disconnected. If some events stayed,
  /// the connections of one user would delay the events of the others.
  package func takeEvents() {
    var left = connections.count
    while left >= 0 {
      let events = watch.next()
      for (number, hasHungUp) in events {
        guard let connection = connections[number] else { continue }
        // Turns for programs that only connect and disconnect would hold up the others.
        if hasHungUp, connection.hasNoCalls { connection.close() } else { connection.goOnLater() }
      }
      guard !events.isEmpty else { return }
      left -= events.count
    }
  }

  /// Gives a connection a turn in which it reads and takes calls.
  func scheduleTurn(of connection: VarlinkConnection) {
    turns.add(.connection(connection.number), of: connection.user)
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
    switch turns.next() {
    case .connection(let number): connections[number]?.takeTurn()
    case .arrival(let user): takeArrival(of: user)
    case nil: return
    }
    scheduleTurn()
  }

  /// Serves a new connection, whose first call has usually arrived.
  private func takeArrival(of user: UInt32) {
    guard let acceptor, let accepted else { return }
    let (arrival, needsTurn) = acceptor.next(of: user)
    if needsTurn { turns.add(.arrival(of: user), of: user) }
    guard let arrival else { return }
    let last = nextNumber
    accepted(arrival.descriptor, arrival.user)
    if nextNumber > last { connections[nextNumber]?.isReady() }
  }

  /// Accepts no further connections, and closes the present ones.
  ///
  /// - Parameter answersCalls: Whether connections stay until the calls are answered that they
  ///   have sent.
  package func stop(answersCalls: Bool = false) {
    let arrived = acceptor?.stop() ?? []
    for arrival in arrived { close(arrival.descriptor) }
    (acceptor, accepted) = (nil, nil)
    for connection in connections.values {
      if answersCalls { connection.finish() } else { connection.close() }
    }
  }
}
