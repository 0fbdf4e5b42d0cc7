// SPDX-License-Identifier: Apache-2.0

/// The connections that wait for a turn. Users have their turns one after the other, and the
/// connections of a user share the turns of the user.
package struct TurnQueue {
  /// The waiting connections of each user, in the order of their next turns.
  private var users: [(id: UInt32, connections: [Int])] = []

  package init() {}

  package var isEmpty: Bool { users.isEmpty }

  /// Adds a connection that does not wait yet.
  package mutating func add(_ connection: Int, of user: UInt32) {
    if let index = users.firstIndex(where: { $0.id == user }) {
      users[index].connections.append(connection)
    } else {
      users.append((user, [connection]))
    }
  }

  /// Removes the connection whose turn it is.
  package mutating func next() -> Int? {
    guard !users.isEmpty else { return nil }
    var user = users.removeFirst()
    let connection = user.connections.removeFirst()
    if !user.connections.isEmpty { users.append(user) }
    return connection
  }
}
