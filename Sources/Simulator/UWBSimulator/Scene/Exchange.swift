// SPDX-License-Identifier: Apache-2.0

import UCI

struct ExchangeResult {
  var mine, theirs: TwoWayMeasurement
  var frames: [AirFrame] = []
}

// Frames stamped by the clocks of both ends.
extension Simulation {
  /// Standard deviation of a reception stamp in ticks. With it, double-sided distances with equal
  /// replies have the noise of the scene: the three reception stamps count 1/4, 1/2 and 1/4.
  private var stampNoise: Double {
    scene.distanceNoise / 0.375.squareRoot() / TwoWayStamps.metresPerTick
  }

  /// Sends a frame when the sender's counter shows `tick`.
  mutating func send(
    _ message: RoundMessage, slot: Int, from sender: Endpoint, to receiver: Endpoint,
    at tick: UInt64,
    near: Instant, channel number: UInt8
  ) -> AirFrame {
    let (a, b) = (members[sender.chip], members[receiver.chip])
    let (sending, receiving) = (a.delays(channel: number), b.delays(channel: number))
    let begins = a.clock.instant(showing: tick, near: near)
    let emitted = begins.adding(sending.transmit / SimulatedClock.ticksPerNanosecond)
    let here = position(sender.chip, at: emitted.nanoseconds)
    let there = position(receiver.chip, at: emitted.nanoseconds)
    let channel = Channel(from: here, to: there, scene.radio)
    let flight = here.distance(to: there) / TwoWayStamps.speedOfLight * 1e9
    let arrival = emitted.adding(flight + channel.firstPath.delay)
    let level = channel.level + scene.radio.levelNoise * random.normal()
    let seen = b.clock.reading(at: arrival)
    let bias = scene.radio.powerBias.value(at: channel.level) / TwoWayStamps.metresPerTick
    let late = receiving.receive + bias + stampNoise * random.normal()
    let counter = seen.ticks &+ UInt64(bitPattern: Int64(nearest: seen.part + late))
    let configuredSend = UInt64(a.chip.calibration.delays(channel: number).transmit)
    let configuredReceive = UInt64(b.chip.calibration.delays(channel: number).receive)
    let ratio = (1 + a.clock.rate(at: arrival)) / (1 + b.clock.rate(at: arrival)) - 1
    let (azimuth, elevation) = there.direction(to: here, yaw: b.placement.yaw)
    let phases = Phases(azimuth: azimuth, elevation: elevation, antenna: b.placement.antenna)
    // The noise of an angle in front of ideal antennas, as a phase.
    let phaseNoise = scene.angleNoise * .pi / 180 * 2 * .pi * Phases.spacing
    let reception = Reception(
      stamp: (counter &- configuredReceive) & SimulatedClock.stampMask, counter: counter,
      carrier: ratio + scene.radio.carrierNoise * 1e-6 * random.normal(),
      phases: phases.received { phaseNoise * random.normal() }, level: level,
      firstPathLevel: channel.firstPath.level + scene.radio.levelNoise * random.normal(),
      channel: channel)
    return AirFrame(
      message: message, slot: slot, sender: sender, receiver: receiver,
      sentStamp: (tick &+ configuredSend) & SimulatedClock.stampMask, reception: reception)
  }

  /// Returns the messages of a round between a controller and one of its controlees.
  ///
  /// - Parameter place: the index of the controlee in the controller's list.
  private mutating func frames(
    controller: Endpoint, controlee: Endpoint, _ setup: RangingSetup, place: Int
  ) -> [AirFrame] {
    let count = members[controller.chip].chip.sessions[controller.session].destinations.count
    let (initiator, responder) =
      setup.isInitiator ? (controller, controlee) : (controlee, controller)
    let isDoubleSided = setup.usage == 2 || setup.usage == 4
    let isDeferred = setup.usage == 1 || setup.usage == 2
    let length = setup.slot * UInt64(setup.slotsPerRound)
    let start = Instant(now > length ? now - length : 0)
    let slotTicks = UInt64(Double(setup.slot) * SimulatedClock.ticksPerNanosecond)
    let clock = members[initiator.chip].clock
    func after(_ slots: Int) -> Instant { start.adding(Double(setup.slot) * Double(slots)) }
    func granular(_ ticks: UInt64) -> UInt64 { ticks - ticks % SimulatedClock.transmitGranularity }

    var frames: [AirFrame] = []
    func add(_ message: RoundMessage, _ slot: Int, _ sender: Endpoint, at tick: UInt64) {
      let isOfController = sender == controller
      frames.append(
        send(
          message, slot: slot, from: sender, to: isOfController ? controlee : controller, at: tick,
          near: after(slot), channel: setup.channel))
    }
    add(.control, 0, controller, at: members[controller.chip].clock.transmitTick(at: start))
    let poll = clock.transmitTick(at: after(1))
    add(.rangingInitiation, 1, initiator, at: poll)
    // The initiator counts its slots from its poll, and the responder from the reception of the
    // poll, each by its own clock.
    let heard = frames[1].reception.counter
    func ofInitiator(_ slot: Int) -> UInt64 { granular(poll &+ slotTicks * UInt64(slot - 1)) }
    func ofResponder(_ slot: Int) -> UInt64 { granular(heard &+ slotTicks * UInt64(slot - 1)) }
    add(.rangingResponse, 2 + place, responder, at: ofResponder(2 + place))
    var next = 2 + count
    if isDoubleSided {
      add(.rangingFinal, next, initiator, at: ofInitiator(next))
      next += 1
    }
    guard isDeferred else { return frames }
    add(.measurementReport, next, initiator, at: ofInitiator(next))
    let last = next + 1 + place
    if last < setup.slotsPerRound { add(.resultReport, last, responder, at: ofResponder(last)) }
    return frames
  }

  mutating func exchange(
    _ own: Endpoint, _ peer: Endpoint, _ match: Match, place: Int, isDisturbed: Bool = false
  ) -> ExchangeResult {
    let controller = members[own.chip].chip
    let controlee = members[peer.chip].chip
    guard let a = controller.sessions[own.session].setup,
      let b = controlee.sessions[peer.session].setup
    else { preconditionFailure("only ranging sessions exchange messages") }
    let lateFailure = controller.failure(of: b.address, .rangingRxTimeout, slot: 2 + place)
    guard match == .agree else {
      return ExchangeResult(
        mine: lateFailure,
        theirs: controlee.failure(of: a.address, .rangingRxPhyStsFailed, slot: 1))
    }
    let nothing = ExchangeResult(
      mine: lateFailure, theirs: controlee.failure(of: a.address, .rangingRxTimeout, slot: 1))
    guard !isDisturbed else { return nothing }
    var isReportLost = false
    if scene.loss > 0, random.uniform() < scene.loss {
      // Usually an early message is lost and both ends fail; sometimes only the last report is
      // lost.
      if random.uniform() < 0.75 { return nothing }
      isReportLost = true
    }
    let frames = frames(controller: own, controlee: peer, a, place: place)
    let metres = distance(frames, a)
    let theirs = measure(peer, own, distance: metres, frames)
    if isReportLost { return ExchangeResult(mine: lateFailure, theirs: theirs, frames: frames) }
    var result = ExchangeResult(
      mine: measure(own, peer, distance: metres, frames), theirs: theirs, frames: frames)
    let ours = result.mine
    result.mine.adoptDestination(theirs, resultReport: b.resultReport)
    result.theirs.adoptDestination(ours, resultReport: a.resultReport)
    return result
  }

  /// Returns the metres that the chips compute from their stamps.
  private mutating func distance(_ frames: [AirFrame], _ setup: RangingSetup) -> Double {
    func frame(_ message: RoundMessage) -> AirFrame? { frames.first { $0.message == message } }
    guard let poll = frame(.rangingInitiation), let response = frame(.rangingResponse) else {
      return 0
    }
    let final = frame(.rangingFinal)
    let stamps = TwoWayStamps(
      t1: poll.sentStamp, t2: poll.reception.stamp, t3: response.sentStamp,
      t4: response.reception.stamp,
      final: final.map { .init(t5: $0.sentStamp, t6: $0.reception.stamp) })
    record(stamps, poll, response)
    // The receiver of the response measures the responder's clock relative to its own, the inverse
    // of the ratio in the formula.
    return stamps.distance(carrier: 1 / (1 + response.reception.carrier) - 1)
  }

  /// Returns the frames of a round from the point of view of one of the two ends.
  func observations(of frames: [AirFrame], by own: Endpoint) -> [Observation] {
    var list: [Observation] = []
    for frame in frames {
      let isOwn = frame.sender == own
      let emitter = members[frame.sender.chip].chip.sessions[frame.sender.session].setup?.address
      // A message to several controlees is listed once.
      if isOwn, list.contains(where: { $0.reception == nil && $0.message == frame.message }) {
        continue
      }
      list.append(
        Observation(
          message: frame.message, slot: frame.slot, emitter: emitter ?? MACAddress(0),
          reception: isOwn ? nil : frame.reception))
    }
    return list.sorted { $0.slot < $1.slot }
  }
}
