// SPDX-License-Identifier: Apache-2.0

/// Which peers are there, of what is announced. Bounded, whoever announces what.
struct PeerRoster: Sendable {
  enum Change: Sendable, Hashable {
    case found(id: UInt64)
    case lost(id: UInt64)
  }

  struct Entry: Sendable {
    var name: String
    var address: String
    var port: UInt16
    /// Seconds.
    var heard: Double
  }

  /// Seconds without an announcement after which a peer is lost: five of them.
  static let patience = 5.0
  private static let capacity = 64
  /// One machine must not take the positions of all others.
  private static let capacityOfOne = 8

  private let own: UInt64
  private let service: String
  private(set) var entries: [UInt64: Entry] = [:]

  init(own: UInt64, service: String) { (self.own, self.service) = (own, service) }

  mutating func take(_ heard: PeerBeacon.Heard, at time: Double) -> Change? {
    let said = heard.announcement
    guard said.id != own, said.service == service else { return nil }
    if let known = entries[said.id] {
      // A machine is heard at each of its addresses; another one cannot speak for it.
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

  /// Removes the peers that are silent.
  mutating func expire(at time: Double) -> [Change] {
    let silent = entries.filter { time - $0.value.heard >= Self.patience }.keys.sorted()
    for id in silent { entries[id] = nil }
    return silent.map { .lost(id: $0) }
  }
}
