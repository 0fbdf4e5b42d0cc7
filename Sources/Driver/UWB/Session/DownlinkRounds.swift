// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UCIReference

// Commands for the rounds of downlink TDoA, which are not parameters.
extension DeviceCore {
  /// Sends the rounds of an anchor or a tag of downlink TDoA. Does nothing for other roles.
  ///
  /// - Throws: `DriverError.refused` with the rounds that the chip refuses.
  func sendRounds(
    _ record: SessionRecord, from sender: CommandEngine.Sender
  ) async throws(DriverError) {
    let response: RangingRoundsResponse
    let name: String
    switch record.configuration.role {
    case .downlinkAnchor(let anchor) where !anchor.rounds.isEmpty:
      name = "SESSION_UPDATE_DT_ANCHOR_RANGING_ROUNDS_CMD"
      response = try await engine.send(
        UpdateDTAnchorRounds(sessionToken: record.token, rounds: anchor.rounds.map(\.command)),
        from: sender)
    case .downlinkTag(let tag) where !tag.rounds.isEmpty:
      name = "SESSION_UPDATE_DT_TAG_RANGING_ROUNDS_CMD"
      response = try await engine.send(
        UpdateDTTagRounds(sessionToken: record.token, rounds: tag.rounds), from: sender)
    default: return
    }
    guard response.status == .ok else {
      throw .roundsRefused(
        command: name, response.status, failed: response.failedRounds ?? [])
    }
  }
}

extension SessionConfiguration.DownlinkAnchor.Round {
  fileprivate var command: UpdateDTAnchorRounds.Round {
    switch part {
    case .initiator(let responders, let slots):
      .init(index: index, responders: responders, slots: slots)
    case .responder: .init(index: index)
    }
  }
}

extension SessionConfiguration {
  /// Returns the problems in the rounds of an anchor or a tag of downlink TDoA.
  func roundProblems(_ capabilities: Capabilities?) -> [ConfigurationProblem] {
    let indexes: [UInt8]
    var problems: [ConfigurationProblem] = []
    let most: CapabilityID
    switch role {
    case .downlinkAnchor(let anchor):
      (indexes, most) = (anchor.rounds.map(\.index), .dtAnchorMaxActiveRounds)
      if anchor.rounds.isEmpty {
        problems.append(
          .init(
            .preventsRanging, "The anchor takes part in no ranging round.", [.deviceRole],
            try: "Give a round with its initiator, or one to respond in."))
      }
      for round in anchor.rounds { problems += clusterProblems(round, anchor) }
    case .downlinkTag(let tag): (indexes, most) = (tag.rounds, .dtTagMaxActiveRounds)
    default: return []
    }
    if Set(indexes).count < indexes.count {
      problems.append(
        .init(.preventsRanging, "A ranging round is named twice.", [.deviceRole]))
    }
    let round = UInt64(slotDuration) * UInt64(slotsPerRound)
    let room = round == 0 ? 0 : UInt64(interval) * 1_200 / round
    if let last = indexes.max(), UInt64(last) >= room, room > 0 {
      problems.append(
        .init(
          .preventsRanging,
          "A block of \(interval) ms has room for \(counted(room, "ranging round")), and round "
            + "\(last) is not among them.", [.rangingDuration, .slotsPerRR, .slotDuration],
          try: "Lengthen the interval, or use fewer or shorter slots."))
    }
    if let listed = capabilities?[most]?.first, Int(listed) < indexes.count {
      problems.append(
        .init(
          .warning,
          "This chip lists at most \(counted(Int(listed), "active ranging round")), and the session "
            + "has \(indexes.count).", [.deviceRole],
          try: "If the chip refuses them, use fewer rounds."))
    }
    return problems
  }

  /// Returns the problems in a cluster: its responders, and their slots.
  private func clusterProblems(
    _ round: DownlinkAnchor.Round, _ anchor: DownlinkAnchor
  ) -> [ConfigurationProblem] {
    guard case .initiator(let responders, let slots) = round.part else { return [] }
    func problem(_ sentence: String, try advice: String? = nil) -> ConfigurationProblem {
      .init(.preventsRanging, sentence, [.slotsPerRR, .deviceRole], try: advice)
    }
    if responders.isEmpty {
      return [problem("The initiator of round \(round.index) has no responder.")]
    }
    if responders.contains(where: { $0.isExtended != address.isExtended }) {
      return [problem("Short and extended addresses are mixed in round \(round.index).")]
    }
    if Set(responders).count < responders.count || responders.contains(address) {
      return [problem("An anchor has two parts in round \(round.index).")]
    }
    // The initiator needs a slot for the poll, and another one for the final of double-sided
    // ranging.
    let last = slots?.max().map(Int.init) ?? responders.count
    let needed = last + 1 + (anchor.isDoubleSided ? 1 : 0)
    if let slots,
      slots.count != responders.count || Set(slots).count < slots.count
        || slots.contains(0)
    {
      return [problem("The responders of round \(round.index) need a slot each, from 1 on.")]
    }
    guard needed > Int(slotsPerRound) else { return [] }
    return [
      problem(
        "Round \(round.index) with \(counted(responders.count, "responder")) takes "
          + "\(needed) slots, and a round has \(slotsPerRound).", try: "Use \(needed) or more.")
    ]
  }
}
