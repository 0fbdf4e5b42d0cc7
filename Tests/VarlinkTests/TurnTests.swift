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

  /// One user connects as fast as the service accepts. New connections of another user do not wait.
  @Test func newConnectionsWaitForTheirUserOnly() {
    var arrivals = Arrivals()
    for descriptor in 1...250 as ClosedRange<Int32> {
      let (added, removed) = arrivals.add(descriptor, of: 1_000) { _ in false }
      #expect(added == (descriptor == 1 ? .first : .further) && removed.isEmpty)
    }
    let (added, removed) = arrivals.add(251, of: 1_000) { _ in false }
    #expect(added == .full && removed == [251])
    #expect(arrivals.add(500, of: 2_000) { _ in false }.added == .further)
    var turns = TurnQueue()
    for user in arrivals.announced() { turns.add(.arrival(of: user), of: user) }
    #expect(turns.next() == .arrival(of: 1_000) && turns.next() == .arrival(of: 2_000))
    #expect(turns.isEmpty && arrivals.announced().isEmpty)
    let (busy, other) = (arrivals.next(of: 1_000), arrivals.next(of: 2_000))
    #expect(busy.descriptor == 1 && busy.needsTurn)
    #expect(other.descriptor == 500 && !other.needsTurn)
    #expect(arrivals.next(of: 2_000).descriptor == nil)
    // The user who has had a turn may connect again.
    #expect(arrivals.add(252, of: 1_000) { _ in false }.added == .further)
    #expect(arrivals.add(501, of: 2_000) { _ in false }.added == .first)
    #expect(arrivals.removeAll().sorted() == Array(2...250) + [252, 501])
  }

  /// A program connects and disconnects in a loop: its closed connections make room.
  @Test func closedConnectionsDoNotWait() {
    var arrivals = Arrivals()
    var removed: [Int32] = []
    for descriptor in 1...1_000 as ClosedRange<Int32> {
      removed += arrivals.add(descriptor, of: 1_000) { $0 % 2 == 0 }.removed
    }
    let odd = (1...1_000 as ClosedRange<Int32>).filter { $0 % 2 == 1 }
    #expect(removed.allSatisfy { $0 % 2 == 0 || $0 > odd[249] })
    #expect(arrivals.announced() == [1_000])
    var rest: [Int32] = []
    while case (let descriptor?, _) = arrivals.next(of: 1_000) { rest.append(descriptor) }
    #expect(rest.filter { $0 % 2 == 1 } == Array(odd.prefix(rest.count { $0 % 2 == 1 })))
    #expect(rest.count <= 250 && rest.count + removed.count == 1_000)
  }
}
