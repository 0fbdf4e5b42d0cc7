// SPDX-License-Identifier: Apache-2.0

import UCI

/// Chips in one scene, driven by a clock that the caller advances.
///
/// A value: nothing happens between calls, and the same calls with the same seed give the same
/// bytes. `SimulatedBench` runs one on pseudo-terminals against the real clock.
package struct Simulation: Sendable {
  /// A chip of a simulation.
  package struct ChipID: Hashable, Sendable {
    /// In the order in which the chips were added, from 0.
    package let index: Int
  }

  struct Member: Sendable {
    var name: String
    var placement: Placement
    var chip: SimulatedChip
    /// Runs from the beginning of the scene on, with or without power.
    var clock: SimulatedClock
    /// Parts per million beside what the placement says.
    var spread: Double
    var output: [[UInt8]] = []

    /// Ticks between counter and air, as they really are.
    func delays(channel: UInt8) -> AntennaDelays {
      let error = placement.delayErrors[channel] ?? .init(transmit: 0, receive: 0)
      // A distance has the sum of two delays of each board, halved.
      func ticks(_ metres: Double) -> Double {
        (placement.antennaDelayError + 2 * metres) / TwoWayStamps.metresPerTick
      }
      var delays = chip.profile.calibration.delays(channel: channel)
      delays.transmit += ticks(error.transmit)
      delays.receive += ticks(error.receive)
      return delays
    }
  }

  /// The conditions all chips share. The seed is read once, by `init`.
  package var scene: Scene
  /// Nanoseconds since the beginning.
  package private(set) var now: UInt64 = 0
  var members: [Member] = []
  var random: RandomSource
  /// Whether the stamps of exchanges are kept for `takeExchanges()`.
  package var recordsExchanges = false
  var exchanges: [RecordedExchange] = []

  /// A scene without chips.
  package init(scene: Scene = Scene()) {
    self.scene = scene
    random = RandomSource(seed: scene.seed)
  }

  /// All chips, in the order in which they were added.
  package var chips: [ChipID] { members.indices.map { ChipID(index: $0) } }

  /// Adds a chip, without power yet.
  package mutating func add(
    _ profile: ChipProfile, placement: Placement, name: String? = nil
  ) -> ChipID {
    // Apart from the other random numbers, so that a chip more does not change them.
    var own = RandomSource(seed: scene.seed &+ UInt64(members.count + 1) &* 0xA24B_AED4_963E_E407)
    let clock = SimulatedClock(
      origin: own.next() & SimulatedClock.stampMask,
      offset: scene.radio.clockSpread * (2 * own.uniform() - 1), wander: scene.radio.clockWander)
    members.append(
      Member(
        name: name ?? "chip\(members.count + 1)", placement: placement,
        chip: SimulatedChip(profile: profile), clock: clock, spread: clock.offset))
    adjustClock(members.count - 1)
    return ChipID(index: members.count - 1)
  }

  /// Adds a chip that stays where it is, without power yet.
  package mutating func add(
    _ profile: ChipProfile, at position: SIMD3<Double>, name: String? = nil
  ) -> ChipID {
    add(profile, placement: Placement(at: position), name: name)
  }

  /// Gives a chip power.
  package mutating func powerUp(_ id: ChipID) {
    members[id.index].output += members[id.index].chip.powerUp(at: now)
  }

  /// Takes power away from a chip; what it has not sent yet is lost.
  package mutating func powerDown(_ id: ChipID) {
    members[id.index].chip.powerDown()
    members[id.index].output = []
  }

  /// Lets a chip start anew behind its host's back, as after a dip of its supply.
  package mutating func restart(_ id: ChipID) {
    powerDown(id)
    powerUp(id)
  }

  /// Lets a chip fail inside: DEVICE_STATUS ERROR, and nothing more before a reset.
  package mutating func fail(_ id: ChipID) {
    members[id.index].chip.fail()
    members[id.index].output += members[id.index].chip.takeOutput()
  }

  /// Gives a chip bytes from its host.
  package mutating func receive(_ bytes: [UInt8], by id: ChipID) {
    members[id.index].output += members[id.index].chip.receive(bytes, at: now)
  }

  /// The packets a chip has sent since the last call, header included.
  package mutating func takeOutput(of id: ChipID) -> [[UInt8]] {
    defer { members[id.index].output.removeAll(keepingCapacity: true) }
    return members[id.index].output
  }

  /// What a chip does wrong on purpose.
  package subscript(faults id: ChipID) -> ChipFaults {
    get { members[id.index].chip.faults }
    set { members[id.index].chip.faults = newValue }
  }

  /// Where a chip is, and how good its clock and calibration are.
  package subscript(placement id: ChipID) -> Placement {
    get { members[id.index].placement }
    set {
      members[id.index].placement = newValue
      adjustClock(id.index)
    }
  }

  private mutating func adjustClock(_ index: Int) {
    let offset = members[index].placement.clockOffset + members[index].spread
    members[index].clock.offset = offset
    members[index].chip.clockOffset = offset
  }

  /// The name of a chip.
  package func name(of id: ChipID) -> String { members[id.index].name }

  /// The kind of a chip.
  package func profile(of id: ChipID) -> ChipProfile { members[id.index].chip.profile }

  /// Where a chip is now.
  package func position(of id: ChipID) -> SIMD3<Double> { position(id.index, at: now) }

  func position(_ index: Int, at time: UInt64) -> SIMD3<Double> {
    members[index].placement.motion.position(at: time)
  }

  // MARK: time

  /// Something that happens by itself.
  private enum Event {
    case termination(chip: Int, index: Int)
    case round(chip: Int, session: Int)
    case radioTest(chip: Int)
  }

  /// When the next thing happens by itself, in nanoseconds; nil when nothing will.
  package var nextDeadline: UInt64? { nextEvent()?.time }

  /// Lets time pass, and in it every ranging round that is due. Going backwards does nothing.
  package mutating func advance(to time: UInt64) {
    while let (event, due) = nextEvent(), due <= time {
      now = max(now, due)
      switch event {
      case .termination(let chip, let index):
        terminate(members[chip].chip.terminations.remove(at: index), from: chip)
      case .round(let chip, let session): runRound(chip: chip, session: session)
      case .radioTest(let chip): finishRadioTest(of: chip)
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
      for (index, session) in members[chip].chip.sessions.enumerated()
      where session.setup != nil {
        offer(.round(chip: chip, session: index), session.deadline)
      }
    }
    return best
  }
}
