// SPDX-License-Identifier: Apache-2.0

import UCI

/// Chips in one scene, driven by a clock that the caller advances.
///
/// A value: the same calls with the same seed give the same bytes. `SimulatedBench` runs one on
/// pseudo-terminals against the real clock.
package struct Simulation: Sendable {
  package struct ChipID: Hashable, Sendable {
    /// The index in the order in which the chips were added, from 0.
    package let index: Int
  }

  package struct Member: Sendable {
    package let name: String
    package var placement: Placement {
      didSet { adjustClock() }
    }
    package var chip: SimulatedChip
    /// The clock, which runs from the start of the scene, with or without power.
    var clock: SimulatedClock
    /// The chip's additional clock error in parts per million, besides the placement's.
    let spread: Double
    var output: [[UInt8]] = []

    mutating func adjustClock() {
      clock.offset = placement.clockOffset + spread
      chip.clockOffset = clock.offset
    }

    /// Returns the actual delays between counter and air, in ticks.
    func delays(channel: UInt8) -> AntennaDelays {
      let error = placement.delayErrors[channel] ?? .init(transmit: 0, receive: 0)
      // Returns metres as ticks. A distance contains half of the sum of four delays, two of each
      // board.
      func ticks(_ metres: Double) -> Double {
        (placement.antennaDelayError + 2 * metres) / TwoWayStamps.metresPerTick
      }
      var delays = chip.profile.calibration.delays(channel: channel)
      delays.transmit += ticks(error.transmit)
      delays.receive += ticks(error.receive)
      return delays
    }
  }

  /// The conditions that all chips share. Only `init` reads the seed.
  package var scene: Scene
  /// The nanoseconds since the start of the scene.
  package private(set) var now: UInt64 = 0
  var members: [Member] = []
  var random: RandomSource
  /// Whether the stamps of exchanges are recorded for `takeExchanges()`.
  package var recordsExchanges = false
  var exchanges: [RecordedExchange] = []
  /// The last rounds on the air; empty unless rounds can collide.
  var rounds: [RoundOnAir] = []

  package init(scene: Scene = Scene()) {
    self.scene = scene
    random = RandomSource(seed: scene.seed)
  }

  /// All chips, in the order in which they were added.
  package var chips: [ChipID] { members.indices.map { ChipID(index: $0) } }

  /// Adds a chip without power.
  package mutating func add(
    _ profile: ChipProfile, placement: Placement, name: String? = nil
  ) -> ChipID {
    // The chip has a random source of its own, so that another chip does not change the other
    // random numbers.
    var own = RandomSource(seed: scene.seed &+ UInt64(members.count + 1) &* 0xA24B_AED4_963E_E407)
    var clock = SimulatedClock(
      origin: own.next() & SimulatedClock.stampMask,
      offset: scene.radio.clockSpread * (2 * own.uniform() - 1), wander: scene.radio.clockWander)
    clock.warmUp = scene.radio.clockWarmUp
    members.append(
      Member(
        name: name ?? "chip\(members.count + 1)", placement: placement,
        chip: SimulatedChip(profile: profile), clock: clock, spread: clock.offset))
    members[members.count - 1].adjustClock()
    return ChipID(index: members.count - 1)
  }

  package mutating func powerUp(_ id: ChipID) {
    if now > 0 { members[id.index].clock.restart(at: now) }
    members[id.index].output += members[id.index].chip.powerUp(at: now)
  }

  /// Powers a chip down; unsent packets are lost.
  package mutating func powerDown(_ id: ChipID) {
    members[id.index].chip.powerDown()
    members[id.index].output = []
  }

  /// Restarts a chip, as after a brownout.
  package mutating func restart(_ id: ChipID) {
    powerDown(id)
    powerUp(id)
  }

  /// Simulates an internal failure: DEVICE_STATUS ERROR, then nothing until a reset.
  package mutating func fail(_ id: ChipID) {
    members[id.index].chip.fail()
    members[id.index].output += members[id.index].chip.takeOutput()
  }

  /// Passes bytes from the host to a chip.
  package mutating func receive(_ bytes: [UInt8], by id: ChipID) {
    members[id.index].output += members[id.index].chip.receive(bytes, at: now)
  }

  /// Returns the packets that a chip has sent since the last call, header included.
  package mutating func takeOutput(of id: ChipID) -> [[UInt8]] {
    defer { members[id.index].output.removeAll(keepingCapacity: true) }
    return members[id.index].output
  }

  package subscript(id: ChipID) -> Member {
    get { members[id.index] }
    set { members[id.index] = newValue }
  }

  package func position(of id: ChipID) -> SIMD3<Double> { position(id.index, at: now) }

  func position(_ index: Int, at time: UInt64) -> SIMD3<Double> {
    members[index].placement.motion.position(at: time)
  }

  // MARK: time

  private enum Event {
    case termination(chip: Int, index: Int)
    case round(chip: Int, session: Int)
    case radioTest(chip: Int)
    case report(chip: Int)
  }

  /// The time of the next scheduled event in nanoseconds; nil if there is none.
  package var nextDeadline: UInt64? { nextEvent()?.time }

  /// Advances time and runs every ranging round that is due. Does nothing for an earlier time.
  package mutating func advance(to time: UInt64) {
    while let (event, due) = nextEvent(), due <= time {
      now = max(now, due)
      switch event {
      case .termination(let chip, let index):
        terminate(members[chip].chip.terminations.remove(at: index), from: chip)
      case .round(let chip, let session): runRound(chip: chip, session: session)
      case .radioTest(let chip): finishRadioTest(of: chip)
      case .report(let chip): members[chip].chip.sendReports(until: now)
      }
      for index in members.indices where !members[index].chip.output.isEmpty {
        members[index].output += members[index].chip.takeOutput()
      }
    }
    now = max(now, time)
  }

  private func nextEvent() -> (event: Event, time: UInt64)? {
    var best: (event: Event, time: UInt64)?
    func offer(_ event: Event, _ time: UInt64) {
      if best.map({ time < $0.time }) ?? true { best = (event, time) }
    }
    for chip in members.indices {
      for (index, termination) in members[chip].chip.terminations.enumerated() {
        offer(.termination(chip: chip, index: index), termination.time)
      }
      if let due = radioTestDeadline(of: chip) { offer(.radioTest(chip: chip), due) }
      if let report = members[chip].chip.unreported.first { offer(.report(chip: chip), report.due) }
      for (index, session) in members[chip].chip.sessions.enumerated()
      where session.setup != nil {
        offer(.round(chip: chip, session: index), session.deadline)
      }
    }
    return best
  }
}
