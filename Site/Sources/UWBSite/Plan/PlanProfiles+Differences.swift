// SPDX-License-Identifier: Apache-2.0

extension PlanProfiles {
  /// The greatest number of slots of a round of uplink TDoA, as in FiRa's examples.
  private static let uplinkSlots = 10
  /// The share of the interval by which a tag varies its blinks. Without it, two tags might collide
  /// for minutes.
  private static let variation = 0.1

  /// Returns the schedule of the only session, whose controller is the synchronisation anchor.
  static func differenceSchedule(_ plan: Plan, _ first: Node) -> ControllerSchedule {
    ControllerSchedule(
      block: (1000 * plan.block).rounded(.down) / 1000, gap: 0,
      sessions: [
        .init(
          id: ControllerSchedule.firstID, controller: first.name, start: 0,
          length: plan.request.slot)
      ])
  }

  /// Returns the profiles of uplink TDoA: one anchor synchronises the others, which receive.
  static func uplink(_ plan: Plan, _ anchors: [Node], _ tags: [Node]) -> [Profile] {
    let syncs = plan.rounds.count { $0.controller == "anchor 1" }
    let interval = (1000 * plan.block / Double(max(1, syncs))).rounded(.down)
    let slots = min(uplinkSlots, max(1, Int(interval / (1000 * plan.request.slot))))
    let text = DifferenceText(plan, usage: "UL-TDoA", interval: interval, slots: slots)
    let first = anchors.firstIndex { $0.isSync } ?? 0
    var profiles = [
      profile(
        anchors[first], isController: true,
        text.profile(
          anchors[first], "controller", "UT-sync anchor",
          ["\"UL_TDOA_TX_TIMESTAMP\": \"40 bits\""]))
    ]
    for (index, anchor) in anchors.enumerated() where index != first {
      profiles.append(
        profile(
          anchor, text.profile(anchor, "controlee", "UT-anchor", ["\"AOA_RESULT_REQ\": \"all\""])))
    }
    let block = (1000 * plan.block).rounded(.down)
    let window = (variation * block).rounded(.down)
    profiles += tags.map { tag in
      var members = [
        "\"UL_TDOA_TX_INTERVAL\": \"\(Int(block - window / 2)) ms\"",
        "\"UL_TDOA_RANDOM_WINDOW\": \"\(Int(window)) ms\"",
      ]
      if let blink = tag.blink { members.append("\"UL_TDOA_DEVICE_ID\": \"\(named(blink))\"") }
      return profile(tag, text.profile(tag, "controller", "UT-tag", members))
    }
    return profiles
  }

  /// Returns the name of a tag in blinks, with the code of its length before it.
  private static func named(_ digits: String) -> String {
    let code = [4: "01", 8: "02", 16: "03"][digits.count] ?? "00"
    var (bytes, rest) = ([code], digits[...])
    while !rest.isEmpty {
      bytes.append(String(rest.prefix(2)))
      rest = rest.dropFirst(2)
    }
    return bytes.joined(separator: ":")
  }

  /// Returns the profiles of downlink TDoA: a round for each cluster, and tags that receive all
  /// rounds.
  static func downlink(_ plan: Plan, _ anchors: [Node], _ tags: [Node]) -> [Profile] {
    let text = DifferenceText(
      plan, usage: "DL-TDoA", interval: (1000 * plan.block).rounded(.down),
      slots: plan.rounds.map(\.slots).max() ?? 1)
    let members = [
      "\"DL_TDOA_RANGING_METHOD\": \"DS-TWR\"",
      "\"DL_TDOA_TX_TIMESTAMP_CONF\": \"local, 40 bits\"", "\"DL_TDOA_HOP_COUNT\": \"off\"",
      "\"DL_TDOA_ANCHOR_CFO\": \"on\"", "\"DL_TDOA_RESPONDER_TOF\": \"on\"",
    ]
    var profiles: [Profile] = []
    for (index, round) in plan.rounds.enumerated() {
      let own = anchors[(round.others.lowerBound - 1)..<round.others.upperBound]
      guard let first = own.first else { continue }
      let others = own.dropFirst().map { "\"\($0.address)\"" }.joined(separator: ", ")
      profiles.append(
        profile(
          first, isController: true,
          text.profile(
            first, "controller", "DT-anchor", members,
            rounds: "{\"index\": \(index), \"responders\": [\(others)]}")))
      profiles += own.dropFirst().map { anchor in
        profile(
          anchor,
          text.profile(anchor, "controlee", "DT-anchor", members, rounds: "\(index)"))
      }
    }
    let all = plan.rounds.indices.map { "\($0)" }.joined(separator: ", ")
    profiles += tags.map { profile($0, text.profile($0, nil, "DT-tag", [], rounds: all)) }
    return profiles
  }

  private static func profile(
    _ node: Node, isController: Bool = false, _ text: String
  ) -> Profile {
    Profile(
      node: node.name, session: ControllerSchedule.firstID, isController: isController, text: text)
  }
}

/// The parameters that all ends of a session of differences share.
private struct DifferenceText {
  let usage: String
  /// The interval in milliseconds between two rounds or blinks.
  let interval: Double
  let slots: Int
  let slot: Double

  init(_ plan: Plan, usage: String, interval: Double, slots: Int) {
    (self.usage, self.interval, self.slots) = (usage, interval, slots)
    slot = plan.request.slot
  }

  func profile(
    _ node: PlanProfiles.Node, _ type: String?, _ role: String, _ members: [String],
    rounds: String? = nil
  ) -> String {
    let first = type.map { ["\"DEVICE_TYPE\": \"\($0)\""] } ?? []
    let parameters =
      first + [
        "\"DEVICE_ROLE\": \"\(role)\"", "\"MULTI_NODE_MODE\": \"one to many\"",
        "\"RANGING_ROUND_USAGE\": \"\(usage)\"", "\"SCHEDULE_MODE\": \"time scheduled\"",
        "\"MAC_ADDRESS_MODE\": \"short\"", "\"DEVICE_MAC_ADDRESS\": \"\(node.address)\"",
        "\"CHANNEL_NUMBER\": 9", "\"PREAMBLE_CODE_INDEX\": 10", "\"SFD_ID\": 2",
        "\"RFRAME_CONFIG\": \"SP1\"",
        "\"SLOT_DURATION\": \"\(Int((1.2e6 * slot).rounded())) RSTU\"",
        "\"SLOTS_PER_RR\": \"\(slots) slots\"",
        "\"RANGING_DURATION\": \"\(Int(interval)) ms\"", "\"STS_CONFIG\": \"static\"",
        "\"VENDOR_ID\": \"08:07\"", "\"STATIC_STS_IV\": \"01:02:03:04:05:06\"",
        "\"HOPPING_MODE\": \"off\"", "\"STS_LENGTH\": \"64 symbols\"",
      ] + members
    let end = rounds.map { ",\n  \"rounds\": [\($0)]" } ?? ""
    return """
      {
        "session_id": \(ControllerSchedule.firstID),
        "session_type": "ranging",
        "parameters": {
          \(parameters.joined(separator: ",\n    "))
        }\(end)
      }

      """
  }
}
