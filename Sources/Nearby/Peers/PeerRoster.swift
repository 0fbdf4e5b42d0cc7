// SPDX-License-Identifier: Apache-2.0

/// The peers that announce themselves. Its size is limited, whatever is announced.
struct PeerRoster: Sendable {
  enum Change: Sendable, Hashable {
    case found(id: UInt64)
    case lost(id: UInt64)
  }

  struct Entry: Sendable {
    var name: String
    var address: String
    var port: UInt16
    /// The time of the last announcement in seconds.
    var heard: Double
  }

  /// The seconds without an announcement after which a peer is lost: five intervals.
  static let patience = 5.0
  private static let capacity = 64
  /// The greatest number of peers of one machine, so that a machine cannot take the places of all
  /// others.
  private static let capacityOfOne = 8

  private let own: UInt64
  private let service: String
  private(set) var entries: [UInt64: Entry] = [:]

  init(own: UInt64, service: String) { (self.own, self.service) = (own, service) }

  mutating func update(_ heard: PeerBeacon.Heard, at time: Double) -> Change? {
    let said = heard.announcement
    guard said.id != own, said.service == service else { return nil }
    if let known = entries[said.id] {
      // A machine is received at each of its addresses. Other machines cannot change its entry.
      guard known.address == heard.address else { return nil }
      guard said.port != 0 else {
        entries[said.id] = nil
        return .lost(id: said.id)
      }
      entries[said.id]?.port = said.port
      entries[said.id]?.heard = time
      return nil
    }
    guard said.port != 0, entries.count < Self.capacity,
      entries.values.lazy.filter({ $0.address == heard.address }).count < Self.capacityOfOne
    else { return nil }
    entries[said.id] = Entry(
      name: said.name, address: heard.address, port: said.port, heard: time)
    return .found(id: said.id)
  }

  /// Removes the peers whose announcements have stopped.
  mutating func expire(at time: Double) -> [Change] {
    let silent = entries.filter { time - $0.value.heard >= Self.patience }.keys.sorted()
    for id in silent { entries[id] = nil }
    return silent.map { .lost(id: $0) }
  }
}
