// SPDX-License-Identifier: Apache-2.0

import UCI

/// The relation of two sessions on the air.
enum Match {
  /// The sessions range with each other.
  case agree
  /// The frames are received, but their STS does not match.
  case stsDiffers
  /// No session receives frames of the other.
  case strangers
}

/// A session of a chip in the scene.
struct Endpoint: Hashable, Sendable {
  var chip: Int
  var session: Int
}

extension Simulation {
  /// Runs a round of a controller, or ends a controlee's wait for one.
  mutating func runRound(chip: Int, session: Int) {
    guard let setup = members[chip].chip.sessions[session].setup else { return }
    if let role = setup.oneWayRole {
      return runOneWay(Endpoint(chip: chip, session: session), setup, role)
    }
    let next = now + members[chip].chip.blockLength(setup)
    guard setup.isController else {
      // A controlee that receives no control message keeps waiting for it, in slot 0.
      let controller = members[chip].chip.sessions[session].destinations[0]
      let entry = members[chip].chip.failure(of: controller, .rangingRxTimeout, slot: 0)
      members[chip].chip.finishRound(session, [entry], seen: [], next: next)
      return
    }
    let destinations = members[chip].chip.sessions[session].destinations
    var entries: [TwoWayMeasurement] = []
    var frames: [AirFrame] = []
    let own = Endpoint(chip: chip, session: session)
    let isDisturbed = isDisturbed(own, setup)
    for (place, destination) in destinations.enumerated() {
      guard let (peer, match) = findPeer(destination, of: own, setup) else {
        entries.append(
          members[chip].chip.failure(of: destination, .rangingRxTimeout, slot: 2 + place))
        continue
      }
      let result = exchange(own, peer, match, place: place, isDisturbed: isDisturbed)
      let (mine, theirs) = (result.mine, result.theirs)
      entries.append(mine)
      frames += result.frames
      if mine.status.isSuccess, theirs.status.isSuccess { exchangeData(own, peer) }
      // The controlee has received the controller's schedule and allows one slot of delay.
      let expected = next + setup.slot
      members[peer.chip].chip.finishRound(
        peer.session, [theirs], seen: observations(of: result.frames, by: peer), next: expected)
    }
    for message in members[chip].chip.sessions[session].data.outgoing {
      members[chip].chip.reportData(
        message.sessionToken, message.sequenceNumber, .transferError, transmissions: 1)
    }
    members[chip].chip.sessions[session].data.outgoing = []
    members[chip].chip.finishRound(
      session, entries,
      seen: observations(of: frames, by: own), next: next)
  }

  /// Transfers data in both directions with a successful round.
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

  /// Notifies the controlees that a session has ended, unless every attempt is lost.
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

  // MARK: matching sessions

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

  func isInRange(_ a: Int, _ b: Int) -> Bool {
    position(a, at: now).distance(to: position(b, at: now)) <= scene.range
  }
}
