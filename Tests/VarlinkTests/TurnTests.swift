// SPDX-License-Identifier: Apache-2.0
import Testing
import Varlink

@Suite struct TurnTests {
  /// One user with 240 connections that are always ready, and another with one: the other one has
  /// every second turn.
  @Test func usersTakeTurnsWhateverTheirConnections() {
    var turns = TurnQueue()
    for connection in 1...240 { turns.add(connection, of: 1_000) }
    var turnsOfBusy: [Int] = []
    for round in 0..<500 {
      turns.add(0, of: 2_000)
      var between = 0
      while let next = turns.next(), next != 0 {
        between += 1
        turnsOfBusy.append(next)
        turns.add(next, of: 1_000)
      }
      #expect(between <= 1, "round \(round)")
    }
    // The connections of a user have their turns in order.
    #expect(turnsOfBusy == (0..<turnsOfBusy.count).map { 1 + $0 % 240 })
  }

  @Test func eachConnectionHasOneTurn() {
    var turns = TurnQueue()
    #expect(turns.isEmpty && turns.next() == nil)
    for (connection, user) in [(1, 7), (2, 7), (3, 8), (4, 9), (5, 8)] as [(Int, UInt32)] {
      turns.add(connection, of: user)
    }
    var order: [Int] = []
    while let next = turns.next() { order.append(next) }
    #expect(order == [1, 3, 4, 2, 5])
    #expect(turns.isEmpty)
  }
}
