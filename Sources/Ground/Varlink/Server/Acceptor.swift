// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System

/// Accepts connections at a listening socket, on a queue of its own. The kernel queues the
/// connections of all users in one line, which must not wait for calls.
final class Acceptor: Sendable {
  private let watch: DescriptorWatch
  private let arrivals: Locked<Arrivals>

  private static let backlog: Int32 = 512

  /// Begins to accept.
  ///
  /// - Parameters:
  ///   - socket: A non-blocking socket that listens. The acceptor closes it when it stops.
  ///   - limits: The numbers of connections that may wait: as many as the service serves.
  ///   - arrived: Called when `announced()` returns users.
  init(
    _ socket: Int32, _ limits: ConnectionLimits,
    _ arrived: @escaping @Sendable @ServiceActor () -> Void
  ) {
    // Bounds the time of a new connection behind the ones of a program that connects in a loop.
    Glibc.listen(socket, Self.backlog)
    let arrivals = Locked(Arrivals(limits))
    self.arrivals = arrivals
    watch = DescriptorWatch(socket, label: "varlink accept") {
      // Without a free descriptor, the queue would call this in a busy loop.
      if !Self.accept(from: socket, to: arrivals, arrived) { usleep(100_000) }
      return true
    } ended: {
      close(socket)
      for arrival in arrivals.withLock({ $0.removeAll() }) { close(arrival.descriptor) }
    }
  }

  /// Returns the users of the connections that were accepted since the last call.
  func announced() -> [UInt32] { arrivals.withLock { $0.announced() } }

  /// Returns the next connection of an announced user, and whether the user needs a further turn.
  func next(of user: UInt32) -> (arrival: Arrival?, needsTurn: Bool) {
    arrivals.withLock { $0.next(of: user) }
  }

  /// Ends accepting.
  ///
  /// - Returns: The connections that were accepted.
  func stop() -> [Arrival] {
    watch.cancel()
    return arrivals.withLock { $0.removeAll() }
  }

  /// Accepts connections; the event source fires again for the rest.
  ///
  /// - Returns: False when no descriptor is free.
  private static func accept(
    from socket: Int32, to arrivals: Locked<Arrivals>,
    _ arrived: @escaping @Sendable @ServiceActor () -> Void
  ) -> Bool {
    for _ in 0..<256 {
      let descriptor = Glibc.accept(socket, nil, nil)
      guard descriptor >= 0 else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        return ![EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno)
      }
      makeNonBlocking(descriptor)
      guard let user = PeerCredentials(of: descriptor) else {
        close(descriptor)
        continue
      }
      let (announces, removed) = arrivals.withLock {
        $0.add(Arrival(descriptor, of: user), hasHungUp)
      }
      for descriptor in removed { close(descriptor) }
      if announces { ServiceActor.atOnceOrLater(arrived) }
    }
    return true
  }
}

/// Returns whether the program at the other end of a Unix socket has closed it. Calls that it sent
/// before may be unread.
func hasHungUp(_ descriptor: Int32) -> Bool {
  var polled = pollfd(fd: descriptor, events: 0, revents: 0)
  return unsafe poll(&polled, 1, 0) > 0 && polled.revents & Int16(POLLHUP) != 0
}

/// An accepted connection.
package struct Arrival: Sendable {
  package var descriptor: Int32
  package var user: PeerCredentials

  package init(_ descriptor: Int32, of user: PeerCredentials) {
    (self.descriptor, self.user) = (descriptor, user)
  }
}

/// The accepted connections that wait for a turn of their users.
package struct Arrivals {
  private let limits: ConnectionLimits
  /// The connections of each user who has a turn or needs one.
  private var waiting: [UInt32: [Arrival]] = [:]
  private var news: [UInt32] = []

  package init(_ limits: ConnectionLimits) { self.limits = limits }

  /// Adds a connection, if necessary in place of the user's closed ones.
  ///
  /// - Parameter hasHungUp: Returns whether a program has closed its connection.
  /// - Returns: Whether `announced()` returns users from now on, and the descriptors that no longer
  ///   wait, which include a connection without room.
  package mutating func add(
    _ arrival: Arrival, _ hasHungUp: (Int32) -> Bool
  ) -> (announces: Bool, removed: [Int32]) {
    let user = arrival.user.uid
    guard let present = waiting[user] else {
      waiting[user] = [arrival]
      news.append(user)
      return (news.count == 1, [])
    }
    guard present.count >= limits.most(of: user) else {
      waiting[user]?.append(arrival)
      return (false, [])
    }
    let removed = present.map(\.descriptor).filter(hasHungUp)
    guard !removed.isEmpty else { return (false, [arrival.descriptor]) }
    let closed = Set(removed)
    waiting[user] = present.filter { !closed.contains($0.descriptor) } + [arrival]
    return (false, removed)
  }

  /// Returns the users who need a turn since the last call, in their order.
  package mutating func announced() -> [UInt32] {
    defer { news = [] }
    return news
  }

  /// Removes the connection of a user that has waited longest.
  ///
  /// - Returns: The connection, and whether further ones need a turn of the user.
  package mutating func next(of user: UInt32) -> (arrival: Arrival?, needsTurn: Bool) {
    guard var present = waiting[user], !present.isEmpty else {
      waiting[user] = nil
      return (nil, false)
    }
    let arrival = present.removeFirst()
    waiting[user] = present.isEmpty ? nil : present
    return (arrival, !present.isEmpty)
  }

  package mutating func removeAll() -> [Arrival] {
    defer { (waiting, news) = ([:], []) }
    return waiting.values.flatMap { $0 }
  }
}
