// SPDX-License-Identifier: Apache-2.0
import Testing
import Varlink

@Suite struct TurnTests {
  /// One user with 240 connections that are always ready, and another with one: the other one has
  /// every second turn.
  @Test func usersTakeTurnsWhateverTheirConnections() {
    var turns = TurnQueue()
    for connection in 1...240 { turns.add(.connection(connection), of: 1_000) }
    var turnsOfBusy: [TurnQueue.Turn] = []
    for round in 0..<500 {
      turns.add(.connection(0), of: 2_000)
      var between = 0
      while let next = turns.next(), next != .connection(0) {
        between += 1
        turnsOfBusy.append(next)
        turns.add(next, of: 1_000)
      }
      #expect(between <= 1, "round \(round)")
    }
    // The connections of a user have their turns in order.
    #expect(turnsOfBusy == (0..<turnsOfBusy.count).map { .connection(1 + $0 % 240) })
  }

  @Test func eachConnectionHasOneTurn() {
    var turns = TurnQueue()
    #expect(turns.isEmpty && turns.next() == nil)
    for (connection, user) in [(1, 7), (2, 7), (3, 8), (4, 9), (5, 8)] as [(Int, UInt32)] {
      turns.add(.connection(connection), of: user)
    }
    turns.add(.arrival(of: 7), of: 7)
    var order: [TurnQueue.Turn] = []
    while let next = turns.next() { order.append(next) }
    let connections = [1, 3, 4, 2, 5].map { TurnQueue.Turn.connection($0) }
    #expect(order == connections + [.arrival(of: 7)])
    #expect(turns.isEmpty)
  }

  private static func arrival(_ descriptor: Int32, of user: UInt32) -> Arrival {
    Arrival(descriptor, of: PeerCredentials(uid: user, pid: 1, groups: []))
  }

  /// One user connects as fast as the service accepts. New connections of another user do not wait.
  @Test func newConnectionsWaitForTheirUserOnly() {
    var arrivals = Arrivals(ConnectionLimits(ofUser: 250))
    func add(_ descriptor: Int32, of user: UInt32) -> (announces: Bool, removed: [Int32]) {
      arrivals.add(Self.arrival(descriptor, of: user)) { _ in false }
    }
    for descriptor in 1...250 as ClosedRange<Int32> {
      let (announces, removed) = add(descriptor, of: 1_000)
      #expect(announces == (descriptor == 1) && removed.isEmpty)
    }
    #expect(add(251, of: 1_000).removed == [251])
    #expect(add(500, of: 2_000) == (false, []))
    var turns = TurnQueue()
    for user in arrivals.announced() { turns.add(.arrival(of: user), of: user) }
    #expect(turns.next() == .arrival(of: 1_000) && turns.next() == .arrival(of: 2_000))
    #expect(turns.isEmpty && arrivals.announced().isEmpty)
    let (busy, other) = (arrivals.next(of: 1_000), arrivals.next(of: 2_000))
    #expect(busy.arrival?.descriptor == 1 && busy.needsTurn)
    #expect(other.arrival?.descriptor == 500 && !other.needsTurn)
    #expect(arrivals.next(of: 2_000).arrival == nil)
    // The user who has had a turn may connect again.
    #expect(add(252, of: 1_000) == (false, []))
    #expect(add(501, of: 2_000) == (true, []))
    #expect(arrivals.removeAll().map(\.descriptor).sorted() == Array(2...250) + [252, 501])
  }

  /// A program connects and disconnects in a loop: its closed connections make room.
  @Test func closedConnectionsDoNotWait() {
    var arrivals = Arrivals(ConnectionLimits(ofUser: 250))
    var removed: [Int32] = []
    for descriptor in 1...1_000 as ClosedRange<Int32> {
      removed += arrivals.add(Self.arrival(descriptor, of: 1_000)) { $0 % 2 == 0 }.removed
    }
    let odd = (1...1_000 as ClosedRange<Int32>).filter { $0 % 2 == 1 }
    #expect(removed.allSatisfy { $0 % 2 == 0 || $0 > odd[249] })
    #expect(arrivals.announced() == [1_000])
    var rest: [Int32] = []
    while let arrival = arrivals.next(of: 1_000).arrival { rest.append(arrival.descriptor) }
    #expect(rest.filter { $0 % 2 == 1 } == Array(odd.prefix(rest.count { $0 % 2 == 1 })))
    #expect(rest.count <= 250 && rest.count + removed.count == 1_000)
  }

  /// Root reaches the limit of all users only; another user also the limit of a user.
  @Test(
    arguments: [
      (0, 0, 0, nil), (9, 9, 0, nil), (10, 0, 0, .all), (10, 10, 0, .all),
      (3, 3, 1_000, nil), (9, 3, 1_000, nil), (4, 4, 1_000, .ofUser), (10, 4, 1_000, .all),
    ] as [(Int, Int, UInt32, ConnectionLimits.Reached?)])
  func aFurtherConnectionReachesALimit(
    _ all: Int, _ ofUser: Int, _ user: UInt32, _ reached: ConnectionLimits.Reached?
  ) {
    #expect(ConnectionLimits(all: 10, ofUser: 4).reached(all, ofUser: ofUser, user) == reached)
  }

  /// As many connections of a user wait as the service serves.
  @Test(arguments: [(0, 5), (1_000, 3)] as [(UInt32, Int)])
  func asManyWaitAsAreServed(_ user: UInt32, _ most: Int) {
    var arrivals = Arrivals(ConnectionLimits(all: 5, ofUser: 3))
    var refused: [Int32] = []
    for descriptor in 1...8 as ClosedRange<Int32> {
      refused += arrivals.add(Self.arrival(descriptor, of: user)) { _ in false }.removed
    }
    #expect(refused == Array(Int32(most + 1)...8))
    #expect(arrivals.removeAll().map(\.descriptor) == Array(1...Int32(most)))
    #expect(arrivals.announced().isEmpty && arrivals.next(of: user).arrival == nil)
  }

  /// A limit of all users that is below the limit of one holds for each of them.
  @Test func theLimitOfAllHoldsForEachUser() {
    var arrivals = Arrivals(ConnectionLimits(all: 1, ofUser: 250))
    for user in [0, 7, 8] as [UInt32] {
      #expect(arrivals.add(Self.arrival(1, of: user)) { _ in false }.removed == [])
      #expect(arrivals.add(Self.arrival(2, of: user)) { _ in false }.removed == [2])
      // The first one has hung up in the middle of a call.
      let replaced = arrivals.add(Self.arrival(3, of: user)) { $0 == 1 }
      #expect(replaced == (false, [1]))
      #expect(arrivals.next(of: user).arrival?.descriptor == 3)
    }
    #expect(arrivals.announced() == [0, 7, 8])
  }
}
