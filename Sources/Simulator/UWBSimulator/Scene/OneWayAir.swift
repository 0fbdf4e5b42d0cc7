// SPDX-License-Identifier: Apache-2.0

import UCI

// Frames for everyone: the blinks of tags and synchronisation anchors, and the frames of
// advertisers.
extension Simulation {
  /// Performs the round or blink of a session of one-way ranging that is due now.
  mutating func runOneWay(
    _ own: Endpoint, _ setup: RangingSetup, _ role: RangingSetup.OneWayRole
  ) {
    switch role {
    case .downlinkAnchor: runDownlinkRound(own, setup)
    case .uplinkTag, .uplinkSyncAnchor: blink(own, setup, role)
    case .advertiser: advertise(own, setup)
    case .uplinkAnchor, .observer, .downlinkTag: break
    }
    members[own.chip].chip.advanceOneWay(own.session, setup)
    guard role == .uplinkTag, members[own.chip].chip.sessions[own.session].setup != nil else {
      return
    }
    let (interval, window) = (setup.number(.ulTDoATXInterval), setup.number(.ulTDoARandomWindow))
    let rate = 1 + members[own.chip].clock.offset * 1e-6
    let wait = Double(interval) + Double(window) * random.uniform()
    members[own.chip].chip.sessions[own.session].deadline = now + UInt64(max(1, wait * 1e6 / rate))
  }

  /// Returns the ranging sessions of other chips in range with a role and the same parameters.
  func listeners(
    _ role: RangingSetup.OneWayRole, of own: Endpoint, _ setup: RangingSetup
  ) -> [Endpoint] {
    var found: [Endpoint] = []
    for chip in members.indices where chip != own.chip && isInRange(own.chip, chip) {
      for (index, session) in members[chip].chip.sessions.enumerated() {
        guard let other = session.setup, other.oneWayRole == role, other.receives(setup) else {
          continue
        }
        found.append(Endpoint(chip: chip, session: index))
      }
    }
    return found
  }

  /// Returns whether a single frame is lost.
  mutating func isLost() -> Bool { scene.loss > 0 && random.uniform() < scene.loss }

  /// The nanoseconds of a blink, a frame with a short payload.
  private static let blinkLength: UInt64 = 200_000

  private mutating func blink(
    _ own: Endpoint, _ setup: RangingSetup, _ role: RangingSetup.OneWayRole
  ) {
    let frame = members[own.chip].chip.sessions[own.session].oneWay.frame
    members[own.chip].chip.sessions[own.session].oneWay.frame &+= 1
    guard !isDisturbed(own, setup, length: Self.blinkLength) else { return }
    let near = Instant(now)
    let tick = members[own.chip].clock.transmitTick(at: near)
    for anchor in listeners(.uplinkAnchor, of: own, setup) where !isLost() {
      let arrived = send(
        .rangingInitiation, slot: 0, from: own, to: anchor, at: tick, near: near,
        channel: setup.channel)
      guard let theirs = members[anchor.chip].chip.sessions[anchor.session].setup else { continue }
      let profile = members[anchor.chip].chip.profile
      let width = setup.number(.ulTDoATXTimestamp)
      let name = role == .uplinkTag ? Array(setup.bytes(.ulTDoADeviceID).dropFirst()) : []
      var measurement = UplinkTDoAMeasurement()
      measurement.peer = setup.address
      measurement.controlLength = profile.dialect.traits.uplinkControlLengths[0]
      let code = UInt16([0: 0, 2: 1, 4: 2, 8: 3][name.count] ?? 0)
      measurement.control = .init(rawValue: code | UInt16(truncatingIfNeeded: width & 3) << 2)
      measurement.frameType = role == .uplinkTag ? 0 : 1
      measurement.lineOfSight = profile.lineOfSight
      (measurement.azimuth, measurement.elevation) = angles(arrived.reception, theirs, profile)
      measurement.frameNumber = frame
      measurement.rxTimestamp = arrived.reception.stamp
      measurement.deviceID = name
      let delay = UInt64(
        members[own.chip].chip.calibration.delays(channel: setup.channel).transmit)
      let sent = tick &+ delay
      measurement.txTimestamp =
        width == 0 ? nil : width == 2 ? sent : sent & SimulatedClock.stampMask
      members[anchor.chip].chip.report(.uplinkTDoA([measurement]), .uplinkTDoA, anchor.session)
    }
  }

  private mutating func advertise(_ own: Endpoint, _ setup: RangingSetup) {
    let progress = members[own.chip].chip.sessions[own.session].oneWay
    let count = max(1, setup.number(.minFramesPerRR))
    members[own.chip].chip.sessions[own.session].oneWay.frame &+= UInt32(count)
    guard !isDisturbed(own, setup) else { return }
    let near = Instant(now)
    let gap = Double(setup.number(.interFrameInterval)) * 1e6
    for observer in listeners(.observer, of: own, setup) {
      guard let theirs = members[observer.chip].chip.sessions[observer.session].setup else {
        continue
      }
      var last: (number: UInt32, reception: Reception)?
      for number in 0..<UInt32(count) where !isLost() {
        let sent = near.adding(Double(number) * gap)
        let tick = members[own.chip].clock.transmitTick(at: sent)
        let arrived = send(
          .rangingInitiation, slot: 0, from: own, to: observer, at: tick, near: sent,
          channel: setup.channel)
        last = (progress.frame &+ number, arrived.reception)
      }
      guard let last else { continue }
      let profile = members[observer.chip].chip.profile
      var measurement = OneWayAoAMeasurement()
      measurement.peer = setup.address
      measurement.lineOfSight = profile.lineOfSight
      measurement.frameSequenceNumber = UInt8(truncatingIfNeeded: last.number)
      measurement.blockIndex = UInt16(truncatingIfNeeded: progress.block)
      (measurement.azimuth, measurement.elevation) = angles(last.reception, theirs, profile)
      members[observer.chip].chip.report(.oneWayAoA([measurement]), .oneWayAoA, observer.session)
    }
  }
}
