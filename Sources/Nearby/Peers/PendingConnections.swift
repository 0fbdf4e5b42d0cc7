// SPDX-License-Identifier: Apache-2.0

/// The connections whose invitations have not arrived or not been answered.
///
/// They are counted by address, so that no machine takes the places of others. An address at its
/// limit loses its oldest connection, preferably one without an invitation.
struct PendingConnections: Sendable {
  struct Entry: Sendable {
    let id: Int
    let address: String
    /// Whether the invitation has arrived.
    var hasInvited = false
    /// Ends the connection, without waiting.
    var end: @Sendable () -> Void
  }

  /// The limit for all machines.
  static let capacity = 64
  /// The limit for one machine.
  static let capacityOfOne = 8

  /// The connections in the order of their arrival.
  private(set) var entries: [Entry] = []
  private var next = 0

  /// Adds a connection.
  ///
  /// - Returns: its number, or nil if there is no place for it, and the connection that it
  ///   replaces, which has to be ended.
  mutating func add(
    from address: String, end: @escaping @Sendable () -> Void
  ) -> (id: Int?, replaced: Entry?) {
    let own = entries.count { $0.address == address }
    var replaced: Entry?
    if own >= Self.capacityOfOne {
      replaced = removeOldest(of: address)
    } else if entries.count >= Self.capacity {
      let counts = Dictionary(grouping: entries, by: \.address).mapValues(\.count)
      let most = counts.max { ($0.value, $0.key) < ($1.value, $1.key) }
      guard let most, most.value > own + 1 else { return (nil, nil) }
      replaced = removeOldest(of: most.key)
    }
    next += 1
    entries.append(Entry(id: next, address: address, end: end))
    return (next, replaced)
  }

  private mutating func removeOldest(of address: String) -> Entry? {
    let index =
      entries.firstIndex { $0.address == address && !$0.hasInvited }
      ?? entries.firstIndex { $0.address == address }
    return index.map { entries.remove(at: $0) }
  }

  /// Records that an invitation has arrived.
  mutating func invites(_ id: Int, end: @escaping @Sendable () -> Void) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    (entries[index].hasInvited, entries[index].end) = (true, end)
  }

  mutating func remove(_ id: Int) { entries.removeAll { $0.id == id } }
}
