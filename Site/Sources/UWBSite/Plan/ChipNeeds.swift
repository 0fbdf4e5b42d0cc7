// SPDX-License-Identifier: Apache-2.0

/// The abilities that a plan needs of the chips of its anchors and tags.
package struct ChipNeeds: Sendable, Hashable {
  /// The number of sessions that one chip keeps at a time.
  package let anchorSessions: Int
  package let tagSessions: Int
  /// The method of ranging, as `uwbctl caps` names it.
  package let method: String
  /// The greatest number of controlees in a round.
  package let controlees: Int
  /// The shortest interval in milliseconds.
  package let interval: Int

  package init(_ plan: Plan) {
    let (anchors, tags) = (plan.request.anchors, plan.request.tags)
    // The first anchor also controls the round of the anchors with one another.
    let perAnchor = (plan.rounds.count + anchors - 1) / max(1, anchors)
    interval = Int(1000 * plan.block)
    switch plan.scheme {
    case .twoWayByTags:
      (anchorSessions, tagSessions) = (tags, 1)
      (method, controlees) = ("DS-TWR deferred", anchors)
    case .twoWayByAnchors:
      (anchorSessions, tagSessions) = (perAnchor, anchors)
      (method, controlees) = (
        "DS-TWR deferred", plan.rounds.map(\.others.count).max() ?? 0
      )
    case .differencesUp: (anchorSessions, tagSessions, method, controlees) = (1, 1, "UL-TDoA", 0)
    case .differencesDown:
      (anchorSessions, tagSessions, controlees) = (1, 1, 0)
      method = "DL-TDoA"
    }
  }

  /// The needs as a sentence for people.
  package var description: String {
    var words = [method]
    if controlees > 1 { words.append("one to many with \(controlees) controlees") }
    words.append("\(anchorSessions) \(anchorSessions == 1 ? "session" : "sessions") at an anchor")
    words.append("\(tagSessions) at a tag")
    return words.joined(separator: ", ")
  }

  /// Returns the reasons why chips with these capabilities cannot follow the plan, with numbers.
  ///
  /// - Parameter sessions: The sessions that a chip of this kind has to keep at a time.
  package func refusals(_ chip: ChipAbilities, sessions: Int) -> [PlanRefusal] {
    var reasons: [String] = []
    if let methods = chip.methods, !methods.contains(method) {
      reasons.append("the chip has no \(method); it has \(methods.joined(separator: ", "))")
    }
    if controlees > 1, let modes = chip.modes, !modes.contains("one to many") {
      reasons.append("a round has \(controlees) controlees; the chip has 1 (no one to many)")
    }
    if let most = chip.mostSessions, sessions > most {
      reasons.append("\(sessions) sessions at a time are needed; the chip has \(most)")
    }
    if let least = chip.shortestInterval, interval < least {
      reasons.append("rounds repeat after \(interval) ms; the chip needs \(least) ms")
    }
    return reasons.map { PlanRefusal(description: $0) }
  }
}

/// The capabilities of a chip, as `uwbctl caps --format json` prints them. A capability that the
/// chip does not report is nil.
package struct ChipAbilities: Sendable, Hashable {
  package var methods: [String]?
  package var modes: [String]?
  package var mostSessions: Int?
  package var shortestInterval: Int?
  /// Whether a session can start at a given time.
  package var hasInitiationTime: Bool?

  package init() {}

  /// Reads an object of JSON from each line.
  ///
  /// - Throws: `PlanRefusal` with the line.
  package init(lines bytes: [UInt8]) throws(PlanRefusal) {
    var count = 0
    for (index, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
      guard line.contains(where: { $0 > 32 }) else { continue }
      guard let value = try? JSONValue(Array(line)), case .string(let name)? = value["name"],
        case .string(let meaning)? = value["meaning"]
      else {
        throw PlanRefusal(
          description: "line \(index + 1): name and meaning belong here, as uwbctl caps prints them"
        )
      }
      count += 1
      add(name, meaning)
    }
    guard count > 0 else { throw PlanRefusal(description: "there are no capabilities") }
  }

  private mutating func add(_ name: String, _ meaning: String) {
    func list() -> [String] {
      meaning.split(separator: ",").map { word in
        String(word.drop { $0 == " " })
      }
    }
    let number = meaning.split(separator: " ").first.flatMap { Int($0) }
    switch name {
    case "RANGING_METHOD": methods = list()
    case "MULTI_NODE_MODE": modes = list()
    case "MAX_SESSIONS": mostSessions = number
    case "MIN_RANGING_INTERVAL": shortestInterval = number
    case "UWB_INITIATION_TIME": hasInitiationTime = meaning == "yes"
    default: break
    }
  }
}
