// SPDX-License-Identifier: Apache-2.0

import UCI

/// The progress of a session of one-way ranging.
struct OneWayProgress: Sendable {
  /// The rounds of a DT-anchor.
  var anchorRounds: [UpdateDTAnchorRounds.Round] = []
  /// The rounds that a DT-tag receives; empty for all rounds.
  var tagRounds: [UInt8] = []
  /// The start of the first block in nanoseconds.
  var start: UInt64 = 0
  /// The number of the current block.
  var block: UInt64 = 0
  /// The position in `initiated` of the next round of the current block.
  var place = 0
  /// The number of the next frame.
  var frame: UInt32 = 0

  /// The rounds that the anchor initiates, in their order in a block.
  var initiated: [UpdateDTAnchorRounds.Round] {
    anchorRounds.filter { $0.role == 1 }.sorted { $0.index < $1.index }
  }
}

extension RangingSetup {
  /// The roles of one-way ranging, by DEVICE_ROLE.
  enum OneWayRole: UInt64 {
    case uplinkSyncAnchor = 2
    case uplinkAnchor = 3
    case uplinkTag = 4
    case advertiser = 5
    case observer = 6
    case downlinkAnchor = 7
    case downlinkTag = 8

    /// The value of RANGING_ROUND_USAGE for the role.
    var usage: UInt64 {
      switch self {
      case .uplinkSyncAnchor, .uplinkAnchor, .uplinkTag: 0
      case .downlinkAnchor, .downlinkTag: 5
      case .advertiser, .observer: 6
      }
    }
  }

  /// The role of one-way ranging; nil for two-way ranging.
  var oneWayRole: OneWayRole? {
    OneWayRole(rawValue: number(.deviceRole)).flatMap { $0.usage == usage ? $0 : nil }
  }

  /// Returns whether this end receives the messages of an end with the parameters `other`.
  func receives(_ other: RangingSetup) -> Bool {
    sessionID == other.sessionID && air == other.air && sts == other.sts
  }
}

extension SimulatedChip {
  /// Handles SESSION_UPDATE_DT_ANCHOR_RANGING_ROUNDS.
  mutating func updateAnchorRounds(_ command: UpdateDTAnchorRounds) throws(Refusal) {
    let index = try known(command.sessionToken)
    guard sessions[index].number(.deviceRole) == 7 else { throw Refusal(.notApplicable) }
    guard
      isWithin(
        profile.maximumAnchorRounds, command.rounds.map(\.index), UpdateDTAnchorRounds.opcode)
    else { return }
    sessions[index].oneWay.anchorRounds = command.rounds
    respond(UpdateDTAnchorRounds.opcode, RangingRoundsResponse(status: .ok, failedRounds: []))
    if let setup = sessions[index].setup {
      sessions[index].oneWay.place = 0
      sessions[index].deadline = nextDeadline(index, setup)
    }
  }

  /// Handles SESSION_UPDATE_DT_TAG_RANGING_ROUNDS.
  mutating func updateTagRounds(_ command: UpdateDTTagRounds) throws(Refusal) {
    let index = try known(command.sessionToken)
    guard sessions[index].number(.deviceRole) == 8 else { throw Refusal(.notApplicable) }
    guard isWithin(profile.maximumTagRounds, command.rounds, UpdateDTTagRounds.opcode) else {
      return
    }
    sessions[index].oneWay.tagRounds = command.rounds
    respond(UpdateDTTagRounds.opcode, RangingRoundsResponse(status: .ok, failedRounds: []))
  }

  /// Returns whether the chip can follow this many rounds; otherwise refuses the rounds beyond its
  /// limit.
  private mutating func isWithin(_ most: Int, _ rounds: [UInt8], _ opcode: Opcode) -> Bool {
    guard rounds.count > most else { return true }
    respond(
      opcode,
      RangingRoundsResponse(status: .activeRoundsExceeded, failedRounds: Array(rounds[most...])))
    return false
  }

  /// Returns the parameters that a session with the given parameters needs to be IDLE. One-way
  /// ranging has no peers.
  func required(_ parameters: [AppConfigID: [UInt8]]) -> [AppConfigID] {
    guard [0, 5, 6].contains(parameters.bytes(.rangingRoundUsage).number) else {
      return profile.requiredParameters
    }
    return profile.requiredParameters.filter { $0 != .deviceType && $0 != .dstMACAddress }
  }

  /// Begins one-way ranging at a time in nanoseconds.
  mutating func startOneWay(_ index: Int, _ setup: RangingSetup, at first: UInt64) {
    sessions[index].oneWay.start = first
    sessions[index].oneWay.block = 0
    sessions[index].oneWay.place = 0
    sessions[index].deadline = nextDeadline(index, setup)
  }

  /// Returns the time of the next event: for an initiator the end of its next round, for other ends
  /// the next time to send or to count a block.
  func nextDeadline(_ index: Int, _ setup: RangingSetup) -> UInt64 {
    let progress = sessions[index].oneWay
    let block = progress.start + progress.block * blockLength(setup)
    switch setup.oneWayRole {
    case .downlinkAnchor:
      let rounds = progress.initiated
      guard progress.place < rounds.count else { return block + blockLength(setup) }
      return block + (UInt64(rounds[progress.place].index) + 1) * setup.round
    default: return block + setup.slot
    }
  }

  /// Moves a session of one-way ranging to its next round or block.
  mutating func advanceOneWay(_ index: Int, _ setup: RangingSetup) {
    sessions[index].rounds &+= 1
    sessions[index].oneWay.place += 1
    let isAnchor = setup.oneWayRole == .downlinkAnchor
    if !isAnchor || sessions[index].oneWay.place >= sessions[index].oneWay.initiated.count {
      sessions[index].oneWay.place = 0
      sessions[index].oneWay.block += 1
    }
    sessions[index].deadline = nextDeadline(index, setup)
    if setup.maxMeasurements > 0, UInt64(sessions[index].rounds) >= setup.maxMeasurements {
      leaveActive(index, reason: .maxMeasurementsReached)
    }
  }

  /// Notifies the host of received messages.
  mutating func report(
    _ measurements: SessionInfo.Measurements, _ type: MeasurementType, _ index: Int
  ) {
    guard let setup = sessions[index].setup, setup.notificationConfig != 0 else { return }
    var info = SessionInfo()
    info.sequenceNumber = sessions[index].sequenceNumber
    info.sessionToken = sessions[index].token
    info.intervalMilliseconds = profile.reportsInterval ? UInt32(setup.rangingDuration) : 0
    info.type = type
    info.addressIndicator = setup.address.isExtended ? 1 : 0
    info.measurements = measurements
    sessions[index].sequenceNumber &+= 1
    notify(.sessionInfo, info.encoded(dialect: profile.dialect))
  }
}
