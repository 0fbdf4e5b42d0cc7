// SPDX-License-Identifier: Apache-2.0
internal import JSON
package import Varlink

/// An error reply of the service.
package enum ServiceError: Error, Sendable, Hashable {
  /// The message is not a call. The service closes the connection.
  case invalidMessage(_ reason: String)
  /// A parameter has a value outside of its limits.
  case invalidParameter(String)
  /// The chip is unknown, or the call names none although there are several.
  case noChip(_ reason: String, advice: String)
  case chipUnavailable(_ chip: String, _ reason: String, advice: String?)
  /// Other programs use the chip: the borrower, or the owners of its sessions.
  case busy(
    _ chip: String, _ reason: String, advice: String, borrower: Chips.Borrower? = nil,
    owners: [Chips.User] = [])
  case invalidProfile(_ reason: String, advice: String?)
  /// A session with this ID exists and has other parameters.
  case conflict(
    _ chip: String, sessionID: UInt32, owners: [Chips.User], differences: [Chips.Difference])
  /// The user does not have the right to do this.
  case denied(_ reason: String, advice: String)
  /// The greatest number of connections is open. The service closes this one.
  case limitReached(_ limit: Limit, most: Int, _ reason: String, advice: String)
  /// The chip rejects the session.
  case refused(_ chip: String, _ reason: String, advice: String?)
  /// The connection does not own the session.
  case noSession(_ reason: String, advice: String)
  case sessionEnded(_ chip: String, sessionID: UInt32, _ reason: String, advice: String?)
  /// An error that this version does not know by name.
  case other(VarlinkReply)

  /// A limit of the service.
  package enum Limit: String, Sendable {
    case connections
    case connectionsOfUser = "connections_of_user"
  }
}

extension ServiceError {
  /// The reason in one line, for logs.
  package var reason: String {
    switch self {
    case .invalidParameter(let name): "The value of \(name) is not allowed."
    case .conflict(_, _, _, let differences):
      "Conflict: \(differences.map(\.parameter).joined(separator: ", "))"
    case .other(let reply): reply.parameters["reason"]?.string ?? reply.error ?? ""
    case .invalidMessage(let reason), .noChip(let reason, _), .chipUnavailable(_, let reason, _),
      .busy(_, let reason, _, _, _), .invalidProfile(let reason, _), .denied(let reason, _),
      .limitReached(_, _, let reason, _), .refused(_, let reason, _), .noSession(let reason, _),
      .sessionEnded(_, _, let reason, _):
      reason
    }
  }

  /// The next step for the user.
  package var advice: String? {
    switch self {
    case .invalidMessage, .invalidParameter, .conflict: nil
    case .other(let reply): reply.parameters["advice"]?.string
    case .noChip(_, let advice), .busy(_, _, let advice, _, _), .denied(_, let advice),
      .limitReached(_, _, _, let advice), .noSession(_, let advice):
      advice
    case .chipUnavailable(_, _, let advice), .invalidProfile(_, let advice),
      .refused(_, _, let advice), .sessionEnded(_, _, _, let advice):
      advice
    }
  }
}

extension ServiceError {
  /// The error as a reply.
  package var reply: VarlinkReply {
    let named: (name: String, parameters: [String: JSON])
    switch self {
    case .invalidParameter(let name): return .invalidParameter(name)
    case .other(let reply): return reply
    case .invalidMessage(let reason): named = ("InvalidMessage", ["reason": .string(reason)])
    case .noChip: named = ("NoChip", explanation())
    case .chipUnavailable(let chip, _, _): named = ("ChipUnavailable", explanation(chip))
    case .busy(let chip, _, _, let borrower, let owners):
      named = (
        "Busy",
        explanation(chip).merging([
          "borrower": borrower?.json ?? .null, "owners": owners.json,
        ]) { $1 }
      )
    case .invalidProfile: named = ("InvalidProfile", explanation())
    case .conflict(let chip, let id, let owners, let differences):
      named = (
        "Conflict",
        [
          "chip": .string(chip), "session_id": .integer(Int64(id)), "owners": owners.json,
          "differences": differences.json,
        ]
      )
    case .denied: named = ("Denied", explanation())
    case .limitReached(let limit, let most, _, _):
      named = (
        "LimitReached",
        explanation().merging([
          "limit": .string(limit.rawValue), "most": .integer(Int64(most)),
        ]) { $1 }
      )
    case .refused(let chip, _, _): named = ("Refused", explanation(chip))
    case .noSession: named = ("NoSession", explanation())
    case .sessionEnded(let chip, let id, _, _):
      named = (
        "SessionEnded", explanation(chip).merging(["session_id": .integer(Int64(id))]) { $1 }
      )
    }
    return VarlinkReply(named.parameters, error: "\(Chips.interface).\(named.name)")
  }

  private func explanation(_ chip: String? = nil) -> [String: JSON] {
    var members: [String: JSON] = ["reason": .string(reason), "advice": JSON(advice)]
    members["chip"] = chip.map { .string($0) }
    return members
  }

  /// Decodes an error reply; nil for the reply of a call that succeeded.
  package init?(_ reply: VarlinkReply) {
    guard let name = reply.error else { return nil }
    let members = JSON.object(reply.parameters)
    let chip = members["chip"]?.string ?? ""
    let (reason, advice) = (members["reason"]?.string ?? name, members["advice"]?.string)
    let id = UInt32(clamping: members["session_id"]?.integer ?? 0)
    self =
      switch name.split(separator: ".").last {
      case "InvalidMessage": .invalidMessage(reason)
      case "InvalidParameter": .invalidParameter(members["parameter"]?.string ?? "")
      case "NoChip": .noChip(reason, advice: advice ?? "")
      case "ChipUnavailable": .chipUnavailable(chip, reason, advice: advice)
      case "Busy":
        .busy(
          chip, reason, advice: advice ?? "",
          borrower: members["borrower"].flatMap(Chips.Borrower.init),
          owners: .init(members["owners"]))
      case "InvalidProfile": .invalidProfile(reason, advice: advice)
      case "Conflict":
        .conflict(
          chip, sessionID: id, owners: .init(members["owners"]),
          differences: .init(members["differences"]))
      case "Denied": .denied(reason, advice: advice ?? "")
      case "LimitReached":
        .limitReached(
          members["limit"]?.string.flatMap(Limit.init) ?? .connections,
          most: Int(clamping: members["most"]?.integer ?? 0), reason, advice: advice ?? "")
      case "Refused": .refused(chip, reason, advice: advice)
      case "NoSession": .noSession(reason, advice: advice ?? "")
      case "SessionEnded":
        .sessionEnded(chip, sessionID: id, reason, advice: advice)
      default: .other(reply)
      }
  }
}
