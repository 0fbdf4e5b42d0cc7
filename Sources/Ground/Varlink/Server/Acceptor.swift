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
  ///   - arrived: Called when `announced()` returns users.
  init(_ socket: Int32, _ arrived: @escaping @Sendable @ServiceActor () -> Void) {
    // Bounds the time of a new connection behind the ones of a program that connects in a loop.
    Glibc.listen(socket, Self.backlog)
    let arrivals = Locked(Arrivals())
    self.arrivals = arrivals
    watch = DescriptorWatch(socket, label: "varlink accept") {
      // Without a free descriptor, the queue would call this in a busy loop.
      if !Self.accept(from: socket, to: arrivals, arrived) { usleep(100_000) }
      return true
    } ended: {
      close(socket)
      for descriptor in arrivals.withLock({ $0.removeAll() }) { close(descriptor) }
    }
  }

  /// Returns the users of the connections that were accepted since the last call.
  func announced() -> [UInt32] { arrivals.withLock { $0.announced() } }

  /// Returns the next connection of an announced user, and whether the user needs a further turn.
  func next(of user: UInt32) -> (descriptor: Int32?, needsTurn: Bool) {
    arrivals.withLock { $0.next(of: user) }
  }

  /// Ends accepting.
  ///
  /// - Returns: The connections that were accepted.
  func stop() -> [Int32] {
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
      guard let user = Self.user(of: descriptor) else {
        close(descriptor)
        continue
      }
      let (added, closed) = arrivals.withLock { $0.add(descriptor, of: user, isClosed) }
      for descriptor in closed { close(descriptor) }
      if added == .first { ServiceActor.atOnceOrLater(arrived) }
    }
    return true
  }

  /// Returns the user at the other end of a connection.
  private static func user(of descriptor: Int32) -> UInt32? {
    // The members of struct ucred: pid, uid, gid.
    var credentials: [UInt32] = [0, 0, 0]
    var length = socklen_t(12)
    let status = unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
    return status == 0 ? credentials[1] : nil
  }

  /// Returns whether a program has closed a connection without a call.
  private static func isClosed(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
  }
}

/// The accepted connections that wait for a turn of their users.
package struct Arrivals {
  /// The connections of each user who has a turn or needs one.
  private var waiting: [UInt32: [Int32]] = [:]
  private var news: [UInt32] = []

  package init() {}

  package enum Added: Sendable {
    /// No other user is to be announced.
    case first
    case further
    /// The user has too many connections that wait.
    case full
  }

  /// The most connections that may wait: as many as a service serves.
  private static func most(of user: UInt32) -> Int { user == 0 ? 1_000 : 250 }

  /// Adds a connection, if necessary in place of the user's closed ones.
  ///
  /// - Returns: The connections that no longer wait, which include a connection without room.
  package mutating func add(
    _ descriptor: Int32, of user: UInt32, _ isClosed: (Int32) -> Bool
  ) -> (added: Added, removed: [Int32]) {
    guard let present = waiting[user] else {
      waiting[user] = [descriptor]
      news.append(user)
      return (news.count == 1 ? .first : .further, [])
    }
    var closed: [Int32] = []
    if present.count >= Self.most(of: user) {
      closed = present.filter(isClosed)
      guard !closed.isEmpty else { return (.full, [descriptor]) }
      let rest = Set(present).subtracting(closed)
      waiting[user] = present.filter(rest.contains)
    }
    waiting[user]?.append(descriptor)
    return (.further, closed)
  }

  /// Returns the users who need a turn since the last call, in their order.
  package mutating func announced() -> [UInt32] {
    defer { news = [] }
    return news
  }

  /// Removes the connection of a user that has waited longest.
  ///
  /// - Returns: The connection, and whether further ones need a turn of the user.
  package mutating func next(of user: UInt32) -> (descriptor: Int32?, needsTurn: Bool) {
    guard var present = waiting[user], !present.isEmpty else {
      waiting[user] = nil
      return (nil, false)
    }
    let descriptor = present.removeFirst()
    waiting[user] = present.isEmpty ? nil : present
    return (descriptor, !present.isEmpty)
  }

  package mutating func removeAll() -> [Int32] {
    defer { (waiting, news) = ([:], []) }
    return waiting.values.flatMap { $0 }
  }
}
