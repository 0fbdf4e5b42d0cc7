// SPDX-License-Identifier: Apache-2.0
package import JSON
package import Varlink

/// One hour in milliseconds.
private let hour = 3_600_000
/// The longest time in milliseconds for which a session may continue without a program.
private let longestLinger = 24 * hour

/// A call of the service. Its parameters are within the limits of the interface.
///
/// The name of a chip is as in the reply of `List`, or the path of its device without symbolic
/// links. Nil means the only chip.
package enum ChipCall: Sendable, Hashable {
  case service
  case list
  case describe(chip: String?)
  /// - Parameter linger: The time for which the session continues after its last connection.
  case start(chip: String?, Profile, Chips.Share, linger: Duration)
  case stop(chip: String?, sessionID: UInt32)
  case setShare(chip: String?, sessionID: UInt32, Chips.Share)
  case end(chip: String?, sessionID: UInt32)
  case explain(chip: String?, sessionID: UInt32)
  case monitor(Monitor)
  case watch(Watch)
  case attach(chip: String?, linger: Duration)
  case borrow(chip: String?, reason: String)

  package enum Profile: Sendable, Hashable {
    case object([String: JSON])
    /// The text of a file, comments included.
    case text(String)
    /// The profile of an existing session with this id.
    case session(UInt32)
    /// The profile of the existing session with this peer, whose address is in its text form.
    case peer(String)
  }

  /// The measurements that a client requests.
  package struct Monitor: Sendable, Hashable {
    /// The chip, or nil for all chips.
    package var chip: String?
    package var sessionID: UInt32?
    /// The addresses of peers in their text form, or nil for all peers.
    package var peers: Set<String>?
    /// The shortest time between two measurements of a peer. Earlier ones are skipped.
    package var interval = Duration.zero
    package var keep = Chips.Keep.all
    /// The greatest number of measurements that wait for the client.
    package var queue = 1_000
    /// The time for which measurements are collected before they are sent together.
    package var pause = Duration.zero
    /// Whether the members of a measurement that are null are sent.
    package var hasNulls = true
    /// Whether the origin of each measurement is sent.
    package var hasIdentity = false
    /// Whether messages of one-way ranging are sent, too.
    package var hasOneWay = false
    /// Whether the events that concern the measurements are sent, too.
    package var hasEvents = false

    package init() {}
  }

  /// The events that a client requests.
  package struct Watch: Sendable, Hashable {
    /// The run of the service to which `after` refers.
    package var run: String?
    /// The number of the last event that the client has received; nil for the newest event.
    package var after: Int?
    /// The interval between two counts of the sessions; nil for no counts.
    package var countInterval: Duration?

    package init() {}
  }

  /// The name of the chip in the call.
  package var chip: String? {
    switch self {
    case .service, .list, .watch: nil
    case .describe(let chip), .start(let chip, _, _, _), .stop(let chip, _),
      .setShare(let chip, _, _), .end(let chip, _), .explain(let chip, _), .attach(let chip, _),
      .borrow(let chip, _):
      chip
    case .monitor(let monitor): monitor.chip
    }
  }
}

extension ChipCall {
  /// Decodes a call whose parameters have the types of the interface.
  ///
  /// - Parameter method: The name without its interface.
  /// - Throws: `ServiceError.invalidParameter` for a value outside of its limits.
  package init(_ method: String, _ parameters: [String: JSON]) throws(ServiceError) {
    let members = Members(values: parameters)
    let chip = members.string("chip")
    switch method {
    case "GetService": self = .service
    case "List": self = .list
    case "Describe": self = .describe(chip: chip)
    case "Start":
      self = .start(
        chip: chip, try members.profile(),
        members.string("share").flatMap(Chips.Share.init) ?? .everyone,
        linger: try members.milliseconds("linger_ms", longestLinger))
    case "Stop": self = .stop(chip: chip, sessionID: try members.namedSession())
    case "SetShare":
      guard let share = members.string("share").flatMap(Chips.Share.init) else {
        throw .invalidParameter("share")
      }
      self = .setShare(chip: chip, sessionID: try members.namedSession(), share)
    case "End": self = .end(chip: chip, sessionID: try members.namedSession())
    case "Explain": self = .explain(chip: chip, sessionID: try members.namedSession())
    case "Monitor": self = .monitor(try members.monitor(of: chip))
    case "Watch":
      var watch = Watch()
      watch.run = members.string("run")
      watch.after = try members.integer("after", 0...Int.max)
      watch.countInterval = try members.integer("counters_ms", 100...hour).map {
        .milliseconds($0)
      }
      self = .watch(watch)
    case "Attach":
      self = .attach(chip: chip, linger: try members.milliseconds("linger_ms", longestLinger))
    case "Borrow": self = .borrow(chip: chip, reason: members.string("reason") ?? "")
    default: preconditionFailure("\(method) is not in the description of the interface")
    }
  }

  private struct Members {
    let values: [String: JSON]

    func string(_ name: String) -> String? { values[name]?.string }

    func integer(_ name: String, _ limits: ClosedRange<Int>) throws(ServiceError) -> Int? {
      guard let number = values[name]?.integer else { return nil }
      guard let number = Int(exactly: number), limits.contains(number) else {
        throw .invalidParameter(name)
      }
      return number
    }

    func milliseconds(_ name: String, _ most: Int) throws(ServiceError) -> Duration {
      .milliseconds(try integer(name, 0...most) ?? 0)
    }

    func sessionID() throws(ServiceError) -> UInt32? {
      try integer("session_id", 0...Int(UInt32.max)).map { UInt32($0) }
    }

    func monitor(of chip: String?) throws(ServiceError) -> Monitor {
      var monitor = Monitor()
      monitor.chip = chip
      let peers = values["peers"]?.array?.compactMap(\.string)
      guard peers.map({ 1...1_000 ~= $0.count && string("peer") == nil }) ?? true else {
        throw .invalidParameter("peers")
      }
      monitor.peers = peers.map { Set($0) } ?? string("peer").map { [$0] }
      monitor.sessionID = try sessionID()
      monitor.interval = try milliseconds("peer_ms", hour)
      monitor.queue = try integer("queue", 1...10_000) ?? monitor.queue
      monitor.pause = try milliseconds("every_ms", 10_000)
      monitor.keep = string("keep").flatMap(Chips.Keep.init) ?? .all
      monitor.hasNulls = values["nulls"]?.bool ?? true
      monitor.hasIdentity = values["identity"]?.bool ?? false
      monitor.hasOneWay = values["one_way"]?.bool ?? false
      monitor.hasEvents = values["events"]?.bool ?? false
      return monitor
    }

    func namedSession() throws(ServiceError) -> UInt32 {
      guard let id = try sessionID() else { throw .invalidParameter("session_id") }
      return id
    }

    func profile() throws(ServiceError) -> Profile {
      let given: [Profile?] = [
        values["profile"]?.object.map { .object($0) }, string("profile_text").map { .text($0) },
        try sessionID().map { .session($0) }, string("peer").map { .peer($0) },
      ]
      let profiles = given.compactMap { $0 }
      guard profiles.count == 1 else { throw .invalidParameter("profile") }
      return profiles[0]
    }
  }
}

extension ChipCall {
  /// The call as a message. Parameters with their default value are omitted, because older services
  /// reject unknown parameters.
  package var message: VarlinkCall {
    let method: String
    var members: [String: JSON] = [:]
    members["chip"] = chip.map { .string($0) }
    switch self {
    case .service: method = "GetService"
    case .list: method = "List"
    case .describe: method = "Describe"
    case .start(_, let profile, let share, let linger):
      method = "Start"
      switch profile {
      case .object(let object): members["profile"] = .object(object)
      case .text(let text): members["profile_text"] = .string(text)
      case .session(let id): members["session_id"] = .integer(Int64(id))
      case .peer(let address): members["peer"] = .string(address)
      }
      if share != .everyone { members["share"] = .string(share.rawValue) }
      members["linger_ms"] = Self.milliseconds(linger)
    case .stop(_, let id), .end(_, let id), .explain(_, let id), .setShare(_, let id, _):
      members["session_id"] = .integer(Int64(id))
      switch self {
      case .stop: method = "Stop"
      case .end: method = "End"
      case .setShare(_, _, let share):
        method = "SetShare"
        members["share"] = .string(share.rawValue)
      default: method = "Explain"
      }
    case .monitor(let monitor):
      method = "Monitor"
      members.merge(monitor.members) { $1 }
    case .watch(let watch):
      method = "Watch"
      members["run"] = watch.run.map { .string($0) }
      members["after"] = watch.after.map { .integer(Int64($0)) }
      members["counters_ms"] = watch.countInterval.flatMap(Self.milliseconds)
    case .attach(_, let linger):
      method = "Attach"
      members["linger_ms"] = Self.milliseconds(linger)
    case .borrow(_, let reason):
      method = "Borrow"
      members["reason"] = .string(reason)
    }
    let name = "\(Chips.interface).\(method)"
    return VarlinkCall(name, members, upgrade: Chips.upgrading.contains(name))
  }

  fileprivate static func milliseconds(_ time: Duration) -> JSON? {
    time > .zero ? .integer(Int64(time / .milliseconds(1))) : nil
  }
}

extension ChipCall.Monitor {
  /// The parameters of the call except the chip.
  fileprivate var members: [String: JSON] {
    var members: [String: JSON] = [:]
    members["session_id"] = sessionID.map { .integer(Int64($0)) }
    if let peers {
      // Older services have only `peer`.
      if peers.count == 1 {
        members["peer"] = peers.first.map { .string($0) }
      } else {
        members["peers"] = .array(peers.sorted().map { .string($0) })
      }
    }
    members["peer_ms"] = ChipCall.milliseconds(interval)
    if keep != .all { members["keep"] = .string(keep.rawValue) }
    if queue != ChipCall.Monitor().queue { members["queue"] = .integer(Int64(queue)) }
    members["every_ms"] = ChipCall.milliseconds(pause)
    if !hasNulls { members["nulls"] = .bool(false) }
    if hasIdentity { members["identity"] = .bool(true) }
    if hasOneWay { members["one_way"] = .bool(true) }
    if hasEvents { members["events"] = .bool(true) }
    return members
  }
}
