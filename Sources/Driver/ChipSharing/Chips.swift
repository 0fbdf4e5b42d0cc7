// SPDX-License-Identifier: Apache-2.0
package import JSON

/// The varlink interface of the service that shares chips, and its types.
///
/// `org.swift-uwb.Chips.varlink` describes each field. The service and its clients encode and
/// decode these types only.
package enum Chips {
  package static let interface = "org.swift-uwb.Chips"

  /// The description of the interface, in the varlink language.
  package static var description: String {
    String(decoding: PackageResources.org_swift_uwb_Chips_varlink, as: UTF8.self)
  }

  /// The methods after which a connection no longer carries varlink, with the name of the
  /// interface.
  package static let upgrading: Set<String> = ["\(interface).Attach"]

  /// The users who may join a session and see its measurements.
  package enum Share: String, Sendable { case user, everyone }

  /// The measurements that are dropped if a client is too slow.
  package enum Keep: String, Sendable {
    /// Drops all but the newest measurement of each peer in each session.
    case newest
    /// Drops the oldest measurements.
    case all
  }

  /// A user and the connected process.
  package struct User: Sendable, Hashable {
    package var uid: UInt32
    package var pid: Int32

    package init(uid: UInt32, pid: Int32) { (self.uid, self.pid) = (uid, pid) }
  }

  package struct Session: Sendable, Hashable {
    package var id: UInt32
    /// `starting`, `ranging`, `waiting` or `ending`. Later services may have further states.
    package var state: String
    package var share: String
    package var owners: [User]
    /// The chip's own address in the session.
    package var address: String?
    package var counters = Counters()

    package init(id: UInt32, state: String, share: String, owners: [User]) {
      (self.id, self.state, self.share, self.owners) = (id, state, share, owners)
    }
  }

  /// A program with exclusive use of a chip.
  package struct Borrower: Sendable, Hashable {
    package var user: User
    /// The purpose of the loan, for users.
    package var reason: String
    /// The start of the loan in microseconds since 1970.
    package var since: Int64

    package init(_ user: User, reason: String, since: Int64) {
      (self.user, self.reason, self.since) = (user, reason, since)
    }
  }

  package struct Chip: Sendable, Hashable {
    /// The name of the chip in calls.
    package var name: String
    /// The reason why the chip cannot be used; nil while it works.
    package var problem: String?
    package var sessions: [Session]
    package var borrower: Borrower?
    /// The name by which the same chip is found after it was plugged in elsewhere.
    package var device: String?
    package var serial: String?
    /// The family of the chip.
    package var model: String?

    package init(
      name: String, problem: String? = nil, sessions: [Session] = [], borrower: Borrower? = nil
    ) {
      (self.name, self.problem) = (name, problem)
      (self.sessions, self.borrower) = (sessions, borrower)
    }
  }

  /// A parameter whose value in the requested session differs from the value in the existing one.
  package struct Difference: Sendable, Hashable {
    package var parameter: String
    package var present: String?
    package var wanted: String?

    package init(_ parameter: String, present: String?, wanted: String?) {
      (self.parameter, self.present, self.wanted) = (parameter, present, wanted)
    }
  }
}

/// A type of the interface. Decoding ignores unknown members. It returns nil for wrong types.
package protocol ChipsValue {
  init?(_ json: JSON)
  var json: JSON { get }
}

extension Chips.User: ChipsValue {
  package init?(_ json: JSON) {
    guard let uid = json["uid"]?.integer, let pid = json["pid"]?.integer else { return nil }
    self.init(uid: UInt32(clamping: uid), pid: Int32(clamping: pid))
  }

  package var json: JSON { ["uid": .integer(Int64(uid)), "pid": .integer(Int64(pid))] }
}

extension Chips.Session: ChipsValue {
  package init?(_ json: JSON) {
    guard let id = json["session_id"]?.integer else { return nil }
    self.init(
      id: UInt32(clamping: id), state: json["state"]?.string ?? "",
      share: json["share"]?.string ?? "", owners: .init(json["owners"]))
    address = json["address"]?.string
    counters = json["counters"].flatMap(Chips.Counters.init) ?? counters
  }

  package var json: JSON {
    [
      "session_id": .integer(Int64(id)), "state": .string(state), "share": .string(share),
      "owners": owners.json, "address": .init(address), "counters": counters.json,
    ]
  }
}

extension Chips.Borrower: ChipsValue {
  package init?(_ json: JSON) {
    guard let user = json["user"].flatMap(Chips.User.init) else { return nil }
    self.init(user, reason: json["reason"]?.string ?? "", since: json["since_us"]?.integer ?? 0)
  }

  package var json: JSON {
    ["user": user.json, "reason": .string(reason), "since_us": .integer(since)]
  }
}

extension Chips.Chip: ChipsValue {
  package init?(_ json: JSON) {
    guard let name = json["chip"]?.string else { return nil }
    self.init(
      name: name, problem: json["problem"]?.string, sessions: .init(json["sessions"]),
      borrower: json["borrower"].flatMap(Chips.Borrower.init))
    (device, serial, model) = (
      json["device"]?.string, json["serial"]?.string, json["model"]?.string
    )
  }

  package var json: JSON {
    [
      "chip": .string(name), "problem": .init(problem), "sessions": sessions.json,
      "borrower": borrower?.json ?? .null, "device": .init(device), "serial": .init(serial),
      "model": .init(model),
    ]
  }
}

extension Chips.Difference: ChipsValue {
  package init?(_ json: JSON) {
    guard let parameter = json["parameter"]?.string else { return nil }
    self.init(parameter, present: json["present"]?.string, wanted: json["wanted"]?.string)
  }

  package var json: JSON {
    ["parameter": .string(parameter), "present": .init(present), "wanted": .init(wanted)]
  }
}

extension Array where Element: ChipsValue {
  /// Decodes the elements of the right type, and skips others.
  init(_ json: JSON?) { self = (json?.array ?? []).compactMap(Element.init) }

  var json: JSON { .array(map(\.json)) }
}

extension JSON: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Dictionary(uniqueKeysWithValues: elements))
  }

  init(_ string: String?) { self = string.map { .string($0) } ?? .null }

  subscript(name: String) -> JSON? { object?[name] }
}
