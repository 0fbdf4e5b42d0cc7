// SPDX-License-Identifier: Apache-2.0

/// The session profiles of all nodes of a plan, as `uwbctl` and `uwbd` read them.
package struct PlanProfiles: Sendable, Hashable {
  package struct Profile: Sendable, Hashable {
    /// The name of the anchor or tag.
    package let node: String
    package let session: UInt32
    package let isController: Bool
    package let text: String
  }

  struct Node {
    let name: String
    let address: Address
    /// The name in blinks of a tag, in hexadecimal digits.
    var blink: String?
    /// Whether the site file gives the anchor the role of sending frames of synchronisation.
    var isSync = false
  }

  package let schedule: ControllerSchedule
  package let profiles: [Profile]

  /// - Parameter site: The names and short addresses of anchors and tags; nodes beyond the site's
  ///   are numbered.
  package init(_ plan: Plan, _ site: Site?) throws(PlanRefusal) {
    let (anchors, tags) = try Self.nodes(plan.request, site)
    switch plan.scheme {
    case .twoWayByTags, .twoWayByAnchors:
      (schedule, profiles) = try Self.twoWay(plan, anchors, tags)
    case .differencesUp:
      schedule = Self.differenceSchedule(plan, anchors.first { $0.isSync } ?? anchors[0])
      profiles = Self.uplink(plan, anchors, tags)
    case .differencesDown:
      schedule = Self.differenceSchedule(plan, anchors[0])
      profiles = Self.downlink(plan, anchors, tags)
    }
  }

  private static func twoWay(
    _ plan: Plan, _ anchors: [Node], _ tags: [Node]
  ) throws(PlanRefusal) -> (ControllerSchedule, [Profile]) {
    let isByTags = plan.scheme == .twoWayByTags
    func node(_ text: String) -> Node {
      // The text has a form such as `anchor 3`.
      let number = Int(text.split(separator: " ").last ?? "") ?? 1
      return isByTags ? tags[number - 1] : anchors[number - 1]
    }
    let schedule = try ControllerSchedule(plan) { node($0).name }
    var profiles: [Profile] = []
    for (round, session) in zip(plan.rounds, schedule.sessions) {
      let controller = node(round.controller)
      let range = (round.others.lowerBound - 1)..<round.others.upperBound
      let others = round.areAnchors ? anchors[range] : tags[range]
      let common = Common(plan, schedule, round, session.id)
      profiles.append(
        Profile(
          node: controller.name, session: session.id, isController: true,
          text: common.text(controller.address, others.map(\.address), isController: true)))
      profiles += others.map { other in
        Profile(
          node: other.name, session: session.id, isController: false,
          text: common.text(other.address, [controller.address], isController: false))
      }
    }
    return (schedule, profiles)
  }

  private static func nodes(
    _ request: PlanRequest, _ site: Site?
  ) throws(PlanRefusal) -> (anchors: [Node], tags: [Node]) {
    func short(_ addresses: [Address]) -> Address? { addresses.first { !$0.isExtended } }
    let known = (site?.anchors.map(\.addresses) ?? []) + (site?.tags.map(\.addresses) ?? [])
    var used = Set(known.compactMap(short))
    var free = UInt16(0)
    func node(_ name: String, _ addresses: [Address]) -> Node {
      if let own = short(addresses) { return Node(name: name, address: own) }
      repeat { free += 1 } while used.contains(Address(free))
      used.insert(Address(free))
      return Node(name: name, address: Address(free))
    }
    guard request.anchors + request.tags + used.count < 65_000 else {
      throw PlanRefusal(
        description: "\(request.anchors + request.tags) boards; short addresses are for 65000")
    }
    let anchors = (0..<request.anchors).map { index in
      let anchor = site.flatMap { index < $0.anchors.count ? $0.anchors[index] : nil }
      var own = node(anchor?.id ?? "anchor-\(index + 1)", anchor?.addresses ?? [])
      own.isSync = anchor?.roles.contains(.sync) ?? false
      return own
    }
    let tags = (0..<request.tags).map { index in
      let tag = site.flatMap { index < $0.tags.count ? $0.tags[index] : nil }
      var own = node(tag?.id ?? "tag-\(index + 1)", tag?.addresses ?? [])
      own.blink = tag?.blinks.first
      return own
    }
    return (anchors, tags)
  }

  /// The files by their names: the profiles, and `schedule.json` with the starts of the rounds.
  package var files: [(name: String, text: String)] {
    var used: Set<String> = ["schedule.json"]
    var list: [(name: String, text: String)] = []
    var entries: [String: [JSONValue]] = [:]
    for profile in profiles {
      let allowed = profile.node.map { letter in
        letter.isASCII && (letter.isLetter || letter.isNumber || "-_.".contains(letter))
          ? letter : "_"
      }
      var name = "\(String(allowed))-\(profile.session).json"
      while !used.insert(name).inserted { name = "_" + name }
      list.append((name, profile.text))
      entries["\(profile.session)", default: []].append(
        .object([
          JSONMember("node", .string(profile.node)), JSONMember("profile", .string(name)),
          JSONMember("controller", .bool(profile.isController)),
        ]))
    }
    let sessions = schedule.sessions.map { session in
      JSONValue.object([
        JSONMember("session_id", .number(Double(session.id))),
        JSONMember("start_ms", .number((1e6 * session.start).rounded() / 1000)),
        JSONMember("length_ms", .number((1e6 * session.length).rounded() / 1000)),
        JSONMember("nodes", .array(entries["\(session.id)"] ?? [])),
      ])
    }
    let whole = JSONValue.object([
      JSONMember("version", .number(1)),
      JSONMember("block_ms", .number((1000 * schedule.block).rounded())),
      JSONMember("gap_ms", .number((1e6 * schedule.gap).rounded(.down) / 1000)),
      JSONMember("sessions", .array(sessions)),
    ])
    list.append(("schedule.json", "\(whole)\n"))
    return list
  }
}

/// The parameters that both ends of a session share.
private struct Common {
  let plan: Plan
  let schedule: ControllerSchedule
  let round: Plan.Round
  let session: UInt32

  init(_ plan: Plan, _ schedule: ControllerSchedule, _ round: Plan.Round, _ session: UInt32) {
    (self.plan, self.schedule, self.round, self.session) = (plan, schedule, round, session)
  }

  /// Returns a profile. Controlees continue their sessions when the controller stops.
  func text(_ own: Address, _ peers: [Address], isController: Bool) -> String {
    let list = peers.count == 1 ? "\"\(peers[0])\"" : "[\(quoted(peers))]"
    let isMany = round.others.count > 1
    let end = isController ? ",\n    \"IN_BAND_TERMINATION_ATTEMPT_COUNT\": 0" : ""
    return """
      {
        "session_id": \(session),
        "session_type": "ranging",
        "parameters": {
          "DEVICE_TYPE": "\(isController ? "controller" : "controlee")",
          "DEVICE_ROLE": "\(isController ? "initiator" : "responder")",
          "MULTI_NODE_MODE": "\(isMany ? "one to many" : "unicast")",
          "RANGING_ROUND_USAGE": "DS-TWR deferred",
          "SCHEDULE_MODE": "time scheduled",
          "MAC_ADDRESS_MODE": "short",
          "DEVICE_MAC_ADDRESS": "\(own)",
          "NUMBER_OF_CONTROLEES": \(isController ? peers.count : 1),
          "DST_MAC_ADDRESS": \(list),
          "CHANNEL_NUMBER": 9,
          "PREAMBLE_CODE_INDEX": 10,
          "SFD_ID": 2,
          "RFRAME_CONFIG": "SP3",
          "SLOT_DURATION": "\(Int((1.2e6 * plan.request.slot).rounded())) RSTU",
          "SLOTS_PER_RR": "\(round.slots) slots",
          "RANGING_DURATION": "\(Int((1000 * schedule.block).rounded())) ms",
          "STS_CONFIG": "static",
          "VENDOR_ID": "08:07",
          "STATIC_STS_IV": "01:02:03:04:05:06",
          "AOA_RESULT_REQ": "off",
          "HOPPING_MODE": "off",
          "RESULT_REPORT_CONFIG": "ToF",
          "STS_LENGTH": "64 symbols"\(end)
        }
      }

      """
  }

  private func quoted(_ addresses: [Address]) -> String {
    addresses.map { "\"\($0)\"" }.joined(separator: ", ")
  }
}
