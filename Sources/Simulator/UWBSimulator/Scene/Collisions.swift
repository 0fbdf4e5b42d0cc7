// SPDX-License-Identifier: Apache-2.0

/// A round of a controller that has ended.
struct RoundOnAir: Sendable {
  var own: Endpoint
  var channel: UInt8
  var preamble: UInt64
  /// The start in nanoseconds of the scene.
  var start: UInt64
  var end: UInt64
}

extension Simulation {
  /// Returns whether a round that ends now overlaps a round of another controller in range, and
  /// remembers the round for later calls.
  ///
  /// - Parameter length: nanoseconds on the air; nil for a whole round.
  mutating func isDisturbed(
    _ own: Endpoint, _ setup: RangingSetup, length: UInt64? = nil
  ) -> Bool {
    guard scene.radio.collisions else { return false }
    let length = length ?? setup.round
    let start = now > length ? now - length : 0
    let longest: UInt64 = 1_000_000_000
    rounds.removeAll { $0.end + longest < now }
    let before = rounds.contains {
      $0.own != own && $0.channel == setup.channel && $0.preamble == setup.preamble
        && $0.end > start && isInRange(own.chip, $0.own.chip)
    }
    rounds.append(
      RoundOnAir(
        own: own, channel: setup.channel, preamble: setup.preamble, start: start, end: now))
    return before || isDisturbedByRunningRound(own, setup, since: start)
  }

  /// Returns whether another controller's round has begun and ends later.
  private func isDisturbedByRunningRound(
    _ own: Endpoint, _ setup: RangingSetup, since start: UInt64
  ) -> Bool {
    for chip in members.indices where isInRange(own.chip, chip) {
      for (index, session) in members[chip].chip.sessions.enumerated()
      where Endpoint(chip: chip, session: index) != own {
        guard let other = session.setup, other.isController, other.channel == setup.channel,
          other.preamble == setup.preamble
        else { continue }
        if session.deadline < now + other.round, session.deadline > start { return true }
      }
    }
    return false
  }
}
