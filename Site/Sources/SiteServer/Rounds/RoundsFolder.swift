// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import UWBSite

/// The rounds of a folder written by `uwbsite plan --profiles`, for the chips of this host's
/// services.
package struct RoundsFolder: Sendable {
  /// One end of a session at a chip of this host.
  struct End: Sendable, Hashable {
    var node: String
    var session: UInt32
    var isController: Bool
    /// The socket of the service that has the chip.
    var service: String
    /// The name of the chip at its service.
    var chip: String?
    var profile: JSONValue

    /// Returns the parameters of the call `Start`.
    ///
    /// - Parameter reading: the start by the clock of the chip in microseconds.
    func call(reading: UInt64? = nil) -> JSONValue {
      var profile = profile
      if let reading { profile.set("UWB_INITIATION_TIME", .number(Double(reading))) }
      return .object([
        JSONMember("chip", chip.map(JSONValue.string) ?? .null), JSONMember("profile", profile),
      ])
    }
  }

  /// The sessions whose controllers are chips of this host.
  let schedule: ControllerSchedule
  let ends: [End]

  /// Reads the folder; nodes without a service or a chip in the site file belong to other hosts.
  package init(_ path: String, _ site: Site) throws(SourceFailure) {
    let places = Dictionary(
      site.anchors.compactMap { anchor in
        anchor.service == nil && anchor.chip == nil
          ? nil : (anchor.id, (anchor.service ?? ChipService.usualPath, anchor.chip))
      }, uniquingKeysWith: { first, _ in first })
    let value = try Self.read("\(path)/schedule.json")
    guard let block = value.number("block_ms"), block >= 1, let gap = value.number("gap_ms"),
      gap >= 0, case .array(let entries)? = value["sessions"]
    else {
      throw SourceFailure(
        source: "\(path)/schedule.json",
        reason: "block_ms, gap_ms and sessions belong here; uwbsite plan --profiles writes them")
    }
    var (sessions, ends) = ([ControllerSchedule.Session](), [End]())
    for entry in entries {
      guard let id = entry.number("session_id").flatMap({ UInt32(exactly: $0) }),
        let start = entry.number("start_ms"), let length = entry.number("length_ms"),
        case .array(let nodes)? = entry["nodes"]
      else {
        throw SourceFailure(
          source: "\(path)/schedule.json",
          reason: "sessions: each has session_id, start_ms, length_ms and nodes")
      }
      for node in nodes {
        guard case .string(let name)? = node["node"], case .string(let file)? = node["profile"],
          let place = places[name]
        else { continue }
        let isController = node["controller"] == .bool(true)
        ends.append(
          End(
            node: name, session: id, isController: isController, service: place.0, chip: place.1,
            profile: try Self.read("\(path)/\(file)")))
        guard isController else { continue }
        sessions.append(
          .init(id: id, controller: name, start: start / 1000, length: length / 1000))
      }
    }
    guard !ends.isEmpty else {
      throw SourceFailure(
        source: path, reason: "no node of it has a service or a chip in the site file")
    }
    schedule = ControllerSchedule(block: block / 1000, gap: gap / 1000, sessions: sessions)
    self.ends = ends
  }

  private static func read(_ path: String) throws(SourceFailure) -> JSONValue {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw SourceFailure(source: path, reason: "the file cannot be read")
    }
    do throws(JSONFault) { return try JSONValue(Array(data)) } catch {
      throw SourceFailure(source: path, reason: "\(error)")
    }
  }
}

extension JSONValue {
  fileprivate func number(_ name: String) -> Double? {
    if case .number(let number)? = self[name] { number } else { nil }
  }

  /// Sets a parameter of a profile.
  fileprivate mutating func set(_ name: String, _ value: JSONValue) {
    guard case .object(let members) = self else { return }
    self = .object(
      members.map { member in
        guard member.name == "parameters", case .object(let list) = member.value else {
          return member
        }
        return JSONMember(
          member.name, .object(list.filter { $0.name != name } + [JSONMember(name, value)]))
      })
  }
}
