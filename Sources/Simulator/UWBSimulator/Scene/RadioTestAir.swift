// SPDX-License-Identifier: Apache-2.0

import UCI

extension Simulation {
  /// Returns the time at which the test of a chip ends by itself; nil without a scheduled end.
  func radioTestDeadline(of chip: Int) -> UInt64? {
    guard let test = members[chip].chip.radioTest else { return nil }
    switch test.kind {
    case .periodicTX, .perRX, .srRX: return test.end
    case .loopback: return test.start + 1_000_000
    case .ssTWR(isInitiator: true): return test.start + test.slot
    case .ssTWR(isInitiator: false): return nil
    case .rx:
      return heard(by: chip, test).compactMap { $0.1.firstFrame(from: test.start) }.min()
    }
  }

  mutating func finishRadioTest(of chip: Int) {
    guard let test = members[chip].chip.radioTest else { return }
    switch test.kind {
    case .periodicTX: finish(chip, TestPeriodicTXNotification(status: .ok))
    case .loopback:
      let sent = timestamp(members[chip].chip.microseconds(at: now))
      finish(
        chip,
        TestLoopbackNotification(
          status: .ok,
          frame: TestFrame(
            txTimestamp: sent, rxTimestamp: sent, rawAzimuth: 0, rawElevation: 0,
            phr: UInt16(truncatingIfNeeded: test.psdu.count), psdu: test.psdu)),
        hearing: chip)
    case .rx: receiveFrame(chip, test)
    case .perRX, .srRX: receiveFrames(chip, test)
    case .ssTWR: measure(chip, test)
    }
  }

  // MARK: receivers

  /// Returns the transmissions that a receiver receives, with their senders.
  private func heard(by chip: Int, _ test: SimulatedRadioTest) -> [(Int, RadioTransmission)] {
    members.indices.flatMap { other -> [(Int, RadioTransmission)] in
      guard other != chip, isInRange(chip, other) else { return [] }
      return members[other].chip.transmissions.filter { $0.test.air == test.air }.map {
        (other, $0)
      }
    }
  }

  // MARK: results

  private mutating func receiveFrame(_ chip: Int, _ test: SimulatedRadioTest) {
    guard
      let (sender, transmission) = heard(by: chip, test).first(where: {
        $0.1.firstFrame(from: test.start) == now
      })
    else { return }
    let here = position(chip, at: now)
    let (azimuth, elevation) = here.direction(
      to: position(sender, at: now), yaw: members[chip].placement.yaw)
    let angles = members[chip].chip.profile.angles
    let frame = TestFrame(
      rxTimestamp: timestamp(members[chip].chip.microseconds(at: now)),
      rawAzimuth: angles.isDisjoint(with: [.azimuth90, .azimuth180])
        ? 0 : Int16(nearest: azimuth * 128),
      rawElevation: angles.contains(.elevation) ? Int16(nearest: elevation * 128) : 0,
      arrivalGapNanoseconds: 0, phr: UInt16(truncatingIfNeeded: transmission.test.psdu.count),
      psdu: transmission.test.psdu)
    finish(chip, TestRXNotification(status: .ok, frame: frame), hearing: sender)
  }

  private mutating func receiveFrames(_ chip: Int, _ test: SimulatedRadioTest) {
    let found = heard(by: chip, test).max { $0.1.frames(during: test) < $1.1.frames(during: test) }
    let sent = min(found?.1.frames(during: test) ?? 0, test.packets)
    var (detected, started, intact): (UInt64, UInt64, UInt64) = (0, 0, 0)
    var bitmap = [UInt8](repeating: 0, count: Int(min(test.packets, 65_000) + 7) / 8)
    for index in 0..<sent {
      // A lost frame is missed entirely, received without its beginning, or damaged, each with a
      // third of the probability.
      let fate = scene.loss > 0 && random.uniform() < scene.loss ? random.uniform() * 3 : 3
      if fate >= 1 { detected += 1 }
      if fate >= 2 { started += 1 }
      guard fate >= 3 else { continue }
      intact += 1
      if index < bitmap.count * 8 { bitmap[Int(index / 8)] |= 1 << UInt8(index % 8) }
    }
    let isExpected = test.isRandom || found.map { $0.1.test.psdu == test.psdu } ?? true
    let damaged = test.isSTSOnly ? 0 : isExpected ? started - intact : started
    let sts = test.hasSTS ? intact : 0
    let counts = { (list: [UInt64]) in list.map { UInt32(clamping: $0) } }
    let common = [
      test.packets, detected, 0, test.packets - detected, detected, detected - started, started,
    ]
    if test.kind == .srRX {
      finish(
        chip,
        TestSRRXNotification(
          status: .ok, counters: counts(common + [sts, started]),
          bitmap: test.wantsBitmap ? bitmap : []))
    } else {
      finish(
        chip,
        TestPERRXNotification(
          status: .ok, counters: counts(common + [0, 0, 0, damaged, sts, started])),
        hearing: found?.0)
    }
  }

  /// Measures by single-sided ranging. The initiator looks for its responder at the end of its
  /// slot.
  private mutating func measure(_ chip: Int, _ test: SimulatedRadioTest) {
    let responder = members.indices.first { other in
      guard other != chip, let theirs = members[other].chip.radioTest else { return false }
      return theirs.kind == .ssTWR(isInitiator: false) && theirs.air == test.air
        && theirs.start <= test.start && isInRange(chip, other)
    }
    guard let responder, scene.loss == 0 || random.uniform() >= scene.loss else {
      return finish(chip, TestSSTWRNotification(status: .rangingRxTimeout, ticks: nil))
    }
    let (initiator, answerer) = (
      Endpoint(chip: chip, session: -1), Endpoint(chip: responder, session: -1)
    )
    let channel = test.air.first?.first ?? 9
    let begin = Instant(test.start)
    let poll = send(
      .rangingInitiation, slot: 0, from: initiator, to: answerer,
      at: members[chip].clock.transmitTick(at: begin), near: begin, channel: channel)
    // The responder answers after a tenth of the slot.
    let reply = UInt64(Double(test.slot) * 0.1 * SimulatedClock.ticksPerNanosecond)
    let due = poll.reception.counter &+ reply
    let response = send(
      .rangingResponse, slot: 0, from: answerer, to: initiator,
      at: due - due % SimulatedClock.transmitGranularity,
      near: begin.adding(Double(test.slot) * 0.1), channel: channel)
    func ticks(_ from: UInt64, _ to: UInt64) -> UInt32 {
      UInt32(truncatingIfNeeded: (to &- from) & SimulatedClock.stampMask)
    }
    finish(
      responder,
      TestSSTWRNotification(
        status: .ok, ticks: ticks(poll.reception.stamp, response.sentStamp)),
      hearing: chip, poll.reception)
    finish(
      chip,
      TestSSTWRNotification(
        status: .ok, ticks: ticks(poll.sentStamp, response.reception.stamp)),
      hearing: responder, response.reception)
  }

  /// Reports the result, and receiver diagnostics if the chip has them.
  private mutating func finish(
    _ chip: Int, _ notification: some UCINotification, hearing sender: Int? = nil,
    _ reception: Reception? = nil
  ) {
    if let sender, members[chip].chip.radioTest?.hasDiagnostics == true {
      let distance = position(chip, at: now).distance(to: position(sender, at: now))
      let dBm = reception?.level ?? (sender == chip ? -40 : Channel.openLevel(distance))
      let ppm =
        reception.map { $0.carrier * 1e6 }
        ?? members[sender].clock.offset - members[chip].clock.offset
      let debug = QorvoTestDebugNotification(
        rawPDoA: [0, 0], rawRSSI: [UInt16(nearest: -dBm * 256)], rawNoise: 0, rawAngles: [0, 0],
        rawCarrierOffset: UInt32(bitPattern: Int32(nearest: ppm * 1e-6 * Double(1 << 26))))
      members[chip].chip.notify(debug)
    }
    members[chip].chip.notify(notification)
    members[chip].chip.endRadioTest(at: now)
  }

  private func timestamp(_ microseconds: UInt64) -> TestTimestamp {
    TestTimestamp(
      units: UInt32(truncatingIfNeeded: UInt64(Double(microseconds) * 124.8)), fraction: 0)
  }
}

extension RadioTransmission {
  /// Returns the time of the first frame that a receiver receives when it starts at a given time.
  fileprivate func firstFrame(from time: UInt64) -> UInt64? {
    guard time > test.start else { return test.start < end ? test.start : nil }
    let count = (time - test.start + test.gap - 1) / test.gap
    let next = test.start + count * test.gap
    return next < end ? next : nil
  }

  /// Returns the number of frames that are sent while a test receives.
  fileprivate func frames(during listener: SimulatedRadioTest) -> UInt64 {
    guard let first = firstFrame(from: listener.start) else { return 0 }
    let last = min(end, listener.end)
    return last > first ? (last - first + test.gap - 1) / test.gap : 0
  }
}
