// SPDX-License-Identifier: Apache-2.0

import Glibc
import UCI

/// How two sessions on the air relate.
private enum Match {
  /// They range.
  case agree
  /// The frames are heard but their scrambled timestamps do not match.
  case stsDiffers
  /// Nothing is heard.
  case strangers
}

/// A session somewhere in the scene.
private struct Endpoint {
  var chip: Int
  var session: Int
}

extension Simulation {
  /// A round of a controller, or a controlee's waiting for one that has not come.
  mutating func runRound(chip: Int, session: Int) {
    guard let setup = members[chip].chip.sessions[session].setup else { return }
    let next = now + members[chip].chip.blockLength(setup)
    guard setup.isController else {
      // Nothing came: a controlee listens for the control message in slot 0.
      let controller = members[chip].chip.sessions[session].destinations[0]
      let entry = members[chip].chip.failure(of: controller, .rangingRxTimeout, slot: 0)
      members[chip].chip.finishRound(session, [entry], next: next)
      return
    }
    let destinations = members[chip].chip.sessions[session].destinations
    var entries: [TwoWayMeasurement] = []
    for (place, destination) in destinations.enumerated() {
      let own = Endpoint(chip: chip, session: session)
      guard let (peer, match) = findPeer(destination, of: own, setup) else {
        entries.append(
          members[chip].chip.failure(of: destination, .rangingRxTimeout, slot: 2 + place))
        continue
      }
      let (mine, theirs) = exchange(own, peer, match, place: place)
      entries.append(mine)
      if mine.status.isSuccess, theirs.status.isSuccess { exchangeData(own, peer) }
      // The controlee knows the controller's schedule now and allows one slot of delay.
      let expected = next + setup.slot
      members[peer.chip].chip.finishRound(peer.session, [theirs], next: expected)
    }
    for message in members[chip].chip.sessions[session].data.outgoing {
      members[chip].chip.reportData(
        message.sessionToken, message.sequenceNumber, .transferError, transmissions: 1)
    }
    members[chip].chip.sessions[session].data.outgoing = []
    members[chip].chip.finishRound(session, entries, next: next)
  }

  /// Data goes with the messages of a round that succeeds, both ways.
  private mutating func exchangeData(_ a: Endpoint, _ b: Endpoint) {
    for (from, to) in [(a, b), (b, a)] {
      guard let sender = members[from.chip].chip.sessions[from.session].setup?.address,
        let receiver = members[to.chip].chip.sessions[to.session].setup?.address
      else { continue }
      let all = members[from.chip].chip.sessions[from.session].data.outgoing
      members[from.chip].chip.sessions[from.session].data.outgoing = all.filter {
        $0.destination != receiver.value
      }
      for message in all where message.destination == receiver.value {
        members[to.chip].chip.deliver(message, from: sender, to: to.session)
        members[from.chip].chip.reportData(
          message.sessionToken, message.sequenceNumber, .ok, transmissions: 1)
      }
    }
  }

  /// The controlees of a session that ended learn of it, unless every attempt is lost.
  mutating func terminate(_ termination: SimulatedChip.Termination, from chip: Int) {
    for destination in termination.destinations {
      for candidate in members.indices where candidate != chip {
        for index in members[candidate].chip.sessions.indices {
          guard let other = members[candidate].chip.sessions[index].setup, !other.isController,
            other.address == destination,
            members[candidate].chip.sessions[index].destinations.contains(
              termination.setup.address),
            relation(termination.setup, other) == .agree,
            isInRange(chip, candidate)
          else { continue }
          var isHeard = false
          for _ in 0..<termination.setup.terminationAttempts where !isHeard {
            isHeard = scene.loss == 0 || random.uniform() >= scene.loss
          }
          if isHeard { members[candidate].chip.leaveActive(index, reason: .stoppedInBand) }
        }
      }
    }
  }

  // MARK: who hears whom

  private func findPeer(
    _ address: MACAddress, of own: Endpoint, _ setup: RangingSetup
  ) -> (Endpoint, Match)? {
    var heard: Endpoint?
    for chip in members.indices where chip != own.chip && isInRange(own.chip, chip) {
      for (index, session) in members[chip].chip.sessions.enumerated() {
        guard let other = session.setup, !other.isController, other.address == address,
          session.destinations.contains(setup.address)
        else { continue }
        switch relation(setup, other) {
        case .agree: return (Endpoint(chip: chip, session: index), .agree)
        case .stsDiffers: heard = heard ?? Endpoint(chip: chip, session: index)
        case .strangers: continue
        }
      }
    }
    return heard.map { ($0, .stsDiffers) }
  }

  private func relation(_ a: RangingSetup, _ b: RangingSetup) -> Match {
    guard a.sessionID == b.sessionID, a.air == b.air, a.isInitiator != b.isInitiator else {
      return .strangers
    }
    return a.sts == b.sts ? .agree : .stsDiffers
  }

  private func isInRange(_ a: Int, _ b: Int) -> Bool {
    position(a, at: now).distance(to: position(b, at: now)) <= scene.range
  }

  // MARK: measuring

  private mutating func exchange(
    _ own: Endpoint, _ peer: Endpoint, _ match: Match, place: Int
  ) -> (mine: TwoWayMeasurement, theirs: TwoWayMeasurement) {
    let controller = members[own.chip].chip
    let controlee = members[peer.chip].chip
    guard let a = controller.sessions[own.session].setup,
      let b = controlee.sessions[peer.session].setup
    else { preconditionFailure("only ranging sessions exchange messages") }
    let lateFailure = controller.failure(of: b.address, .rangingRxTimeout, slot: 2 + place)
    guard match == .agree else {
      return (lateFailure, controlee.failure(of: a.address, .rangingRxPhyStsFailed, slot: 1))
    }
    if scene.loss > 0, random.uniform() < scene.loss {
      // Most often an early message is lost and both fail; at times only the last report is.
      if random.uniform() < 0.75 {
        return (lateFailure, controlee.failure(of: a.address, .rangingRxTimeout, slot: 1))
      }
      return (lateFailure, measure(peer, own, distance: distance(own, peer, a, place)))
    }
    let metres = distance(own, peer, a, place)
    var mine = measure(own, peer, distance: metres)
    var theirs = measure(peer, own, distance: metres)
    let (ours, others) = (mine, theirs)
    mine.adoptDestination(others, resultReport: b.resultReport)
    theirs.adoptDestination(ours, resultReport: a.resultReport)
    return (mine, theirs)
  }

  /// Metres as both ends compute them: with noise, and with what their antenna delays add.
  private mutating func distance(
    _ own: Endpoint, _ peer: Endpoint, _ setup: RangingSetup, _ place: Int
  ) -> Double {
    let a = members[own.chip].placement
    let b = members[peer.chip].placement
    let real = position(own.chip, at: now).distance(to: position(peer.chip, at: now))
    var deviation = scene.distanceNoise
    if setup.usage == 1 || setup.usage == 3 {
      // Single-sided ranging: what is left of the clock difference, 0.05 ppm, over the reply time.
      let reply = Double(setup.slot) * 1e-9 * Double(1 + place)
      let drift = 299_792_458 * reply * 0.05e-6 / 2
      deviation = (deviation * deviation + drift * drift).squareRoot()
    }
    return real + a.antennaDelayError + b.antennaDelayError + deviation * random.normal()
  }

  /// What `own` makes of an exchange with `peer`.
  private mutating func measure(
    _ own: Endpoint, _ peer: Endpoint, distance metres: Double
  ) -> TwoWayMeasurement {
    let profile = members[own.chip].chip.profile
    guard let setup = members[own.chip].chip.sessions[own.session].setup,
      let other = members[peer.chip].chip.sessions[peer.session].setup
    else { preconditionFailure("only ranging sessions exchange messages") }
    let centimetres = (metres * 100).rounded()
    var result = TwoWayMeasurement(
      peer: other.address, status: centimetres < 0 ? .okNegativeDistance : .ok,
      lineOfSight: profile.lineOfSight, rawDistance: UInt16(min(abs(centimetres), 65_534)))
    let here = position(own.chip, at: now)
    let there = position(peer.chip, at: now)
    let (azimuth, elevation) = here.direction(to: there, yaw: members[own.chip].placement.yaw)
    let wantsAll = setup.aoaRequest == 1 || setup.aoaRequest == 0xF0
    if wantsAll || setup.aoaRequest == 2,
      !profile.angles.isDisjoint(with: [.azimuth90, .azimuth180])
    {
      let isAllRound = profile.angles.contains(.azimuth180)
      let folded =
        isAllRound || abs(azimuth) <= 90 ? azimuth : (azimuth < 0 ? -180 : 180) - azimuth
      result.azimuth = angle(
        folded, limit: isAllRound ? 180 : 90, quality: isAllRound ? 1 : cos(folded * .pi / 180),
        profile)
    }
    if wantsAll || setup.aoaRequest == 3, profile.angles.contains(.elevation) {
      result.elevation = angle(elevation, limit: 90, quality: cos(elevation * .pi / 180), profile)
    }
    if profile.reportsRSSI, setup.reportsRSSI {
      // -14 dBm sent, 50 dB lost over the first metre at 8 GHz.
      let dBm = -64 - 20 * log10(max(0.05, here.distance(to: there))) + 0.5 * random.normal()
      result.rawRSSI = UInt8(max(1, min(255, (-2 * dBm).rounded())))
    }
    return result
  }

  private mutating func angle(
    _ degrees: Double, limit: Double, quality: Double, _ profile: ChipProfile
  ) -> Angle {
    let noisy = degrees + scene.angleNoise * random.normal()
    let kept =
      limit == 180 ? noisy.remainder(dividingBy: 360) : max(-limit, min(limit, noisy))
    let merit = profile.angles.contains(.figureOfMerit) ? 50 + 50 * max(0, quality) : 0
    return Angle(
      raw: Int16((kept * 128).rounded()), figureOfMerit: UInt8(merit.rounded()))
  }
}

extension TwoWayMeasurement {
  /// Takes over the angles the peer measured, as far as its report carries them.
  fileprivate mutating func adoptDestination(_ theirs: TwoWayMeasurement, resultReport: UInt64) {
    func reported(_ angle: Angle, _ bit: UInt64) -> Angle {
      guard resultReport & bit != 0 else { return Angle(raw: 0, figureOfMerit: 0) }
      return Angle(
        raw: angle.raw, figureOfMerit: resultReport & 8 != 0 ? angle.figureOfMerit : 0)
    }
    destinationAzimuth = reported(theirs.azimuth, 2)
    destinationElevation = reported(theirs.elevation, 4)
  }
}
