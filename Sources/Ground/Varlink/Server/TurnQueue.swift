// SPDX-License-Identifier: Apache-2.0

/// The connections that wait for a turn. Users have their turns one after the other, and the
/// connections of a user share the turns of the user.
package struct TurnQueue {
  package enum Turn: Hashable {
    /// A connection that has data.
    case connection(Int)
    /// The next new connection of a user.
    case arrival(of: UInt32)
  }

  /// The waiting turns of each user, in their order.
  private var users: [(id: UInt32, turns: [Turn])] = []

  package init() {}

  package var isEmpty: Bool { users.isEmpty }

  /// Adds a connection that does not wait yet.
  package mutating func add(_ turn: Turn, of user: UInt32) {
    if let index = users.firstIndex(where: { $0.id == user }) {
      users[index].turns.append(turn)
    } else {
      users.append((user, [turn]))
    }
  }

  /// Removes the next turn.
  package mutating func next() -> Turn? {
    guard !users.isEmpty else { return nil }
    var user = users.removeFirst()
    let turn = user.turns.removeFirst()
    if !user.turns.isEmpty { users.append(user) }
    return turn
  }
}
