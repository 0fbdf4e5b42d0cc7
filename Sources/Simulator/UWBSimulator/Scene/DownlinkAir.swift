// SPDX-License-Identifier: Apache-2.0

import UCI

/// A message of an anchor on the air, before a tag has received it.
private struct AnchorFrame {
  var sender: Endpoint
  var setup: RangingSetup
  /// The type of the message: 0 poll, 1 response, 2 final.
  var type: UInt8
  var slot: Int
  /// The sender's counter at the transmission.
  var tick: UInt64
  /// The transmission time that the message contains.
  var sent: UInt64
  /// The initiator's clock rate relative to the responder's, minus 1.
  var offset = 0.0
  /// The ticks of the responder from the poll to its response.
  var reply: UInt32 = 0
  /// The ticks of the initiator from the response to the final message.
  var initiatorReply: UInt32 = 0
  /// The ticks of a signal's flight from the initiator to the responder.
  var flight: UInt16 = 0
}

// Rounds of downlink TDoA: poll, responses and final of a cluster, for any number of tags.
extension Simulation {
  /// Runs the round of a cluster that ends now.
  mutating func runDownlinkRound(_ own: Endpoint, _ setup: RangingSetup) {
    let progress = members[own.chip].chip.sessions[own.session].oneWay
    guard progress.place < progress.initiated.count else { return }
    let round = progress.initiated[progress.place]
    guard !isDisturbed(own, setup) else { return }
    let frames = clusterFrames(own, setup, round)
    let tags = listeners(.downlinkTag, of: own, setup)
    for tag in tags {
      let listening = members[tag.chip].chip.sessions[tag.session]
      let rounds = listening.oneWay.tagRounds
      let skipped = listening.number(.dlTDoABlockSkipping)
      guard rounds.isEmpty || rounds.contains(round.index), progress.block % (skipped + 1) == 0
      else {
        continue
      }
      report(frames, of: round, block: progress.block, to: tag, start: roundStart(setup))
    }
  }

  private func roundStart(_ setup: RangingSetup) -> Instant {
    Instant(now > setup.round ? now - setup.round : 0)
  }

  /// Returns the messages that the anchors of a cluster send. A responder that does not receive the
  /// poll is silent.
  private mutating func clusterFrames(
    _ own: Endpoint, _ setup: RangingSetup, _ round: UpdateDTAnchorRounds.Round
  ) -> [AnchorFrame] {
    let start = roundStart(setup)
    let slotTicks = UInt64(Double(setup.slot) * SimulatedClock.ticksPerNanosecond)
    func granular(_ ticks: UInt64) -> UInt64 { ticks - ticks % SimulatedClock.transmitGranularity }
    func instant(_ slot: Int) -> Instant { start.adding(Double(setup.slot) * Double(slot)) }
    let poll = members[own.chip].clock.transmitTick(at: start)
    var frames = [
      AnchorFrame(
        sender: own, setup: setup, type: 0, slot: 0, tick: poll,
        sent: stamp(own, setup, tick: poll, near: start, timeOf: own))
    ]
    var replies: [(place: Int, received: UInt64)] = []
    for (slot, responder, theirs) in responders(of: round, own, setup) where !isLost() {
      let heard = send(
        .rangingInitiation, slot: 0, from: own, to: responder, at: poll, near: start,
        channel: setup.channel
      ).reception
      let tick = granular(heard.counter &+ slotTicks * UInt64(slot))
      var frame = AnchorFrame(
        sender: responder, setup: theirs, type: 1, slot: slot, tick: tick,
        sent: stamp(responder, theirs, tick: tick, near: instant(slot), timeOf: own))
      let sent = tick &+ transmitDelay(responder, theirs)
      frame.reply = UInt32(truncatingIfNeeded: (sent &- heard.stamp) & SimulatedClock.stampMask)
      if theirs.number(.dlTDoAAnchorCFO) == 1 { frame.offset = heard.carrier }
      if theirs.number(.dlTDoAResponderToF) == 1 {
        let metres = position(own.chip, at: now).distance(to: position(responder.chip, at: now))
        frame.flight = UInt16(nearest: metres / TwoWayStamps.metresPerTick)
      }
      if !isLost() {
        let back = send(
          .rangingResponse, slot: slot, from: responder, to: own, at: tick, near: instant(slot),
          channel: setup.channel
        ).reception
        replies.append((frames.count, back.stamp))
      }
      frames.append(frame)
    }
    guard setup.number(.dlTDoARangingMethod) == 1 else { return frames }
    let last =
      (round.slotScheduling == 1 ? round.slots.max().map(Int.init) : nil)
      ?? round.responders.count
    let tick = granular(poll &+ slotTicks * UInt64(last + 1))
    let sent = tick &+ transmitDelay(own, setup)
    for (place, received) in replies {
      frames[place].initiatorReply = UInt32(
        truncatingIfNeeded: (sent &- received) & SimulatedClock.stampMask)
    }
    frames.append(
      AnchorFrame(
        sender: own, setup: setup, type: 2, slot: last + 1, tick: tick,
        sent: stamp(own, setup, tick: tick, near: instant(last + 1), timeOf: own)))
    return frames
  }

  /// Returns the responders of a round that take part in it, with their slots.
  private func responders(
    of round: UpdateDTAnchorRounds.Round, _ own: Endpoint, _ setup: RangingSetup
  ) -> [(slot: Int, Endpoint, RangingSetup)] {
    let anchors = listeners(.downlinkAnchor, of: own, setup)
    return round.responders.enumerated().compactMap { place, address in
      for end in anchors {
        let session = members[end.chip].chip.sessions[end.session]
        let takesPart = session.oneWay.anchorRounds.contains {
          $0.index == round.index && $0.role == 0
        }
        guard takesPart, let theirs = session.setup, theirs.address == address else { continue }
        return (round.slotScheduling == 1 ? Int(round.slots[place]) : place + 1, end, theirs)
      }
      return nil
    }
  }

  private func transmitDelay(_ end: Endpoint, _ setup: RangingSetup) -> UInt64 {
    UInt64(members[end.chip].chip.calibration.delays(channel: setup.channel).transmit)
  }

  /// Returns the transmission time in a message: by the sender's clock, or by the initiator's clock
  /// as the common time base.
  private func stamp(
    _ sender: Endpoint, _ setup: RangingSetup, tick: UInt64, near: Instant,
    timeOf reference: Endpoint
  ) -> UInt64 {
    let form = setup.number(.dlTDoATXTimestampConf)
    let mask = form >> 1 & 1 == 1 ? UInt64.max : SimulatedClock.stampMask
    guard form & 1 == 1, sender.chip != reference.chip else {
      return (tick &+ transmitDelay(sender, setup)) & mask
    }
    let emitted = members[sender.chip].clock.instant(showing: tick, near: near)
    let common = members[reference.chip].clock.reading(at: emitted)
    return (common.ticks &+ UInt64(common.part.rounded()) &+ transmitDelay(sender, setup)) & mask
  }

  /// Notifies a tag of the messages that it receives.
  private mutating func report(
    _ frames: [AnchorFrame], of round: UpdateDTAnchorRounds.Round, block: UInt64, to tag: Endpoint,
    start: Instant
  ) {
    let profile = members[tag.chip].chip.profile
    guard let setup = members[tag.chip].chip.sessions[tag.session].setup else { return }
    var received: [(AnchorFrame, Reception, DownlinkTDoAMessage)] = []
    for frame in frames where isInRange(frame.sender.chip, tag.chip) && !isLost() {
      let near = start.adding(Double(frame.setup.slot) * Double(frame.slot))
      let reception = send(
        .rangingInitiation, slot: frame.slot, from: frame.sender, to: tag, at: frame.tick,
        near: near,
        channel: setup.channel
      ).reception
      var message = DownlinkTDoAMessage()
      message.peer = frame.setup.address
      message.messageType = frame.type
      message.blockIndex = UInt16(truncatingIfNeeded: block)
      message.roundIndex = round.index
      message.lineOfSight = profile.lineOfSight
      (message.azimuth, message.elevation) = angles(reception, setup, profile)
      if profile.reportsRSSI, setup.reportsRSSI {
        message.rawRSSI = UInt8(max(1, min(254, (-2 * reception.level).rounded())))
      }
      message.rawAnchorClockOffset = Int16(nearest: frame.offset * 1e6 * 1_024)
      message.rawClockOffset = Int16(nearest: reception.carrier * 1e6 * 1_024)
      message.initiatorReplyTime = frame.initiatorReply
      message.responderReplyTime = frame.reply
      message.timeOfFlight = frame.flight
      received.append((frame, reception, message))
    }
    guard !received.isEmpty else { return }
    if profile.downlinkVersion == 2 {
      let list = received.map { DownlinkTDoAMeasurementV2($0.0, $0.1, $0.2, activeRounds($0.0)) }
      members[tag.chip].chip.report(.downlinkTDoAV2(list), .downlinkTDoAV2, tag.session)
    } else {
      let list = received.map { DownlinkTDoAMeasurement($0.0, $0.1, $0.2, activeRounds($0.0)) }
      members[tag.chip].chip.report(.downlinkTDoA(list), .downlinkTDoA, tag.session)
    }
  }

  private func activeRounds(_ frame: AnchorFrame) -> [UInt8] {
    guard frame.setup.number(.dlTDoATXActiveRangingRounds) == 1 else { return [] }
    let rounds = members[frame.sender.chip].chip.sessions[frame.sender.session].oneWay.anchorRounds
    return Array(rounds.map(\.index).prefix(15))
  }
}

extension AnchorFrame {
  /// The parameter DL_TDOA_ANCHOR_LOCATION without its first byte; nil without a location.
  fileprivate var location: (isRelative: Bool, bytes: [UInt8])? {
    let parameter = setup.bytes(.dlTDoAAnchorLocation)
    guard let form = parameter.first, form & 1 == 1 else { return nil }
    return (form & 2 != 0, Array(parameter.dropFirst()))
  }
  /// The value of DL_TDOA_TX_TIMESTAMP_CONF: bit 0 is the time base of the message control, bits 1
  /// and 2 the code of the length of the transmission time.
  fileprivate var form: UInt64 { setup.number(.dlTDoATXTimestampConf) }
}

extension DownlinkTDoAMeasurement {
  fileprivate init(
    _ frame: AnchorFrame, _ reception: Reception, _ message: DownlinkTDoAMessage, _ rounds: [UInt8]
  ) {
    self.init()
    self.message = message
    let place = frame.location.map { $0.isRelative ? UInt16(2) : 1 } ?? 0
    control = .init(
      rawValue: UInt16(truncatingIfNeeded: frame.form & 0b11) | place << 5
        | UInt16(rounds.count) << 7)
    (txTimestamp, rxTimestamp) = (frame.sent, reception.stamp)
    location = frame.location?.bytes ?? []
    activeRounds = rounds
  }
}

extension DownlinkTDoAMeasurementV2 {
  fileprivate init(
    _ frame: AnchorFrame, _ reception: Reception, _ message: DownlinkTDoAMessage, _ rounds: [UInt8]
  ) {
    self.init()
    self.message = message
    func bytes(_ stamp: UInt64, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: stamp >> (8 * UInt64($0))) }
    }
    rxTimestampBytes = bytes(reception.stamp, 5)
    txTimestampBytes = bytes(frame.sent, frame.form >> 1 & 1 == 1 ? 8 : 5)
    var bits = UInt32(truncatingIfNeeded: frame.form & 1)
    if !rounds.isEmpty {
      activeRounds = rounds
      bits |= 2
    }
    if let place = frame.location {
      location = [place.isRelative ? 1 : 0] + place.bytes
      bits |= 4
    }
    control = .init(rawValue: bits)
    let optional = (activeRounds.map { $0.count + 1 } ?? 0) + (location.map { $0.count + 1 } ?? 0)
    // 35 bytes are fixed. The address and the parts of variable length are added to them.
    announcedLength = UInt16(
      35 + (message.peer.isExtended ? 8 : 2) + rxTimestampBytes.count
        + txTimestampBytes.count + optional)
  }
}
