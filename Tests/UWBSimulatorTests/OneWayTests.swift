// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI

@testable import UWBSimulator

/// Anchors and tags of one-way ranging, with octets read by this file: a second reading beside the
/// driver's.
@Suite struct OneWayTests {
  /// The parameters of an end.
  private static func session(
    _ role: UInt8, usage: UInt8, address: UInt16, _ changes: [UInt8: [UInt8]] = [:]
  ) -> TestSession {
    var all: [UInt8: [UInt8]] = [
      0x11: [role], 0x01: [usage], 0x03: [1], 0x12: [1], 0x1B: [10],
    ]
    all.merge(changes) { $1 }
    return TestSession(
      isController: [2, 4, 5].contains(role), address: address, destinations: [0x99], changes: all)
  }

  /// Millimetres of 28, 28 and 24 bits without gaps, low byte first.
  private static func relative(_ x: Double, _ y: Double, _ z: Double) -> [UInt8] {
    [3]
      + AnchorLocation.relative(x: Int32(x * 1_000), y: Int32(y * 1_000), z: Int32(z * 1_000)).bytes
  }

  private static let places: [SIMD3<Double>] = [
    SIMD3(0, 0, 2.5), SIMD3(10, 0, 2.5), SIMD3(10, 8, 2.5), SIMD3(0, 8, 2.5),
  ]

  /// Starts four anchors and a tag. Anchor 0 is the initiator of round 0.
  private func cluster(
    _ profile: ChipProfile, scene: Scene, tag place: SIMD3<Double> = SIMD3(3, 2, 1)
  ) -> (Stage, tag: Simulation.ChipID, anchors: [Simulation.ChipID]) {
    var stage = Stage(scene)
    let anchors = Self.places.enumerated().map { index, place in
      stage.add(profile, Placement(at: place, clockOffset: [3, -7, 11, -2][index]))
    }
    let tag = stage.add(profile, Placement(at: place, clockOffset: 17))
    let receiver = Self.session(8, usage: 5, address: 0x100).start(on: tag, &stage)
    var round = UpdateDTTagRounds(sessionToken: receiver, rounds: [0])
    round.rounds = [0]
    stage.send(round, to: tag)
    for index in [1, 2, 3, 0] {
      let own = Self.places[index]
      let anchor = Self.session(
        7, usage: 5, address: UInt16(index),
        [
          0x3E: [0], 0x3D: [1], 0x40: [1], 0x49: [1], 0x42: [1],
          0x41: Self.relative(own.x, own.y, own.z),
        ])
      let token = anchor.prepare(on: anchors[index], &stage)
      let part =
        index == 0
        ? UpdateDTAnchorRounds.Round(
          index: 0, responders: (1...3).map { MACAddress(UInt16($0)) }, slots: nil)
        : UpdateDTAnchorRounds.Round(index: 0)
      stage.send(UpdateDTAnchorRounds(sessionToken: token, rounds: [part]), to: anchors[index])
      stage.send(SessionStart(sessionToken: token), to: anchors[index])
    }
    _ = stage.heard(from: tag)
    return (stage, tag, anchors)
  }

  private func ticks(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reversed().reduce(0) { $0 << 8 | Int64($1) }
  }

  /// Returns the payloads of whole notifications.
  private func payloads(_ packets: [String]) -> [[UInt8]] {
    var whole: [[UInt8]] = []
    var part: [UInt8] = []
    for packet in packets.map({ bytes($0) }) where packet[0] & 0xEF == 0x62 && packet[1] == 0 {
      part += packet[4...]
      if packet[0] & 0x10 == 0 {
        whole.append(part)
        part = []
      }
    }
    return whole
  }

  @Test("Octets of the first layout lead to the true differences of distances")
  func downlinkOctets() throws {
    var scene = Scene(distanceNoise: 0.000_1)
    scene.radio.carrierNoise = 0
    var (stage, tag, _) = cluster(.fira2, scene: scene)
    stage.pass(milliseconds: 1_000)
    let all = payloads(stage.heard(from: tag))
    #expect(all.count >= 4)
    let payload = try #require(all.last)
    #expect(payload[13] == 2 && payload[24] == 5)
    // 41 octets with 40-bit stamps and a short address, 10 of the place, 1 active round.
    let length = 52
    try #require(payload.count == 25 + 5 * length)
    let entries = (0..<5).map { Array(payload[(25 + $0 * length)..<(25 + ($0 + 1) * length)]) }
    #expect(entries.map { $0[0] } == [0, 1, 2, 3, 0])
    #expect(entries.map { $0[3] } == [0, 1, 1, 1, 2])
    // No common time base, 40 bits twice, a relative place, one active round.
    #expect(entries.allSatisfy { $0[4] == 0b1100_0000 && $0[5] == 0 })
    #expect(entries.allSatisfy { $0[8] == 0 && $0[51] == 0 })
    let sent = entries.map { ticks($0[17..<22]) }
    let received = entries.map { ticks($0[22..<27]) }
    let mask = Int64(1) << 40 - 1
    let k =
      Double((sent[4] &- sent[0]) & mask) / Double((received[4] &- received[0]) & mask)
    for (index, entry) in entries.enumerated() where (1...3).contains(index) {
      let reply = Double(ticks(entry[35..<39]))
      let offset = Double(Int16(truncatingIfNeeded: ticks(entry[27..<29]))) / 1_024 * 1e-6
      let flight = Double(ticks(entry[39..<41]))
      let later = k * Double((received[index] &- received[0]) & mask)
      let difference = (later - reply * (1 + offset) - flight) * TwoWayStamps.metresPerTick
      let here = SIMD3(3.0, 2, 1)
      let truth = here.distance(to: Self.places[index]) - here.distance(to: Self.places[0])
      // One unit of the clock offset in the message is 1 ppb, which is 3 mm after 8 ms.
      #expect(abs(difference - truth) < 0.02, "anchor \(index): \(difference), \(truth)")
    }
  }

  @Test("The second layout announces its own length, and both readings agree")
  func secondLayout() throws {
    var (stage, tag, _) = cluster(.fira3, scene: Scene())
    stage.pass(milliseconds: 500)
    let payload = try #require(payloads(stage.heard(from: tag)).first)
    #expect(payload[13] == 6)
    var place = 25
    for _ in 0..<Int(payload[24]) {
      place += Int(payload[place]) | Int(payload[place + 1]) << 8
    }
    #expect(place == payload.count)
    guard case .downlinkTDoAV2(let list) = try SessionInfo(decoding: payload).measurements else {
      Issue.record("not the second layout")
      return
    }
    #expect(list.count == 5 && list.allSatisfy { $0.unknownBytes.isEmpty })
    #expect(list[1].anchorLocation == .relative(x: 10_000, y: 0, z: 2_500))
    #expect(list[1].activeRounds == [0])
  }

  @Test("Lost messages are missing, and a responder without its poll is silent")
  func losses() throws {
    var (stage, tag, _) = cluster(.fira2, scene: Scene(seed: 4, loss: 0.3))
    stage.pass(milliseconds: 20_000)
    let counts = payloads(stage.heard(from: tag)).map { Int($0[24]) }
    #expect(counts.count > 90)
    let messages = counts.reduce(0, +)
    // Polls and finals arrive at 70 %, responses at 49 %.
    #expect(abs(Double(messages) / 100 - (2 * 0.7 + 3 * 0.49)) < 0.3)
  }

  @Test("A chip without the role refuses it", arguments: [ChipProfile.qm33, .sr250])
  func refusals(_ profile: ChipProfile) {
    var stage = Stage()
    let chip = stage.add(profile, at: SIMD3(0, 0, 0))
    stage.send(SessionInit(sessionID: 7), to: chip)
    _ = stage.heard(from: chip)
    let token: UInt32 = 1
    let tag = Self.session(8, usage: 5, address: 1)
    stage.send(SetAppConfig(sessionToken: token, parameters: tag.parameters), to: chip)
    let answers = stage.heard(from: chip)
    #expect(answers.contains { $0.hasPrefix("4103") && $0.contains("1104") }, "\(answers)")
  }

  @Test("Blinks reach each anchor with its own stamp, and sync frames carry their time")
  func uplink() throws {
    var stage = Stage(Scene(distanceNoise: 0.000_1))
    let anchors = Self.places.prefix(2).map { stage.add(.fira2, Placement(at: $0)) }
    let sync = stage.add(.fira2, Placement(at: SIMD3(5, 4, 2.5)))
    let tag = stage.add(.fira2, Placement(at: SIMD3(3, 2, 1), clockOffset: -9))
    for (index, anchor) in anchors.enumerated() {
      Self.session(3, usage: 0, address: UInt16(index)).start(on: anchor, &stage)
    }
    Self.session(2, usage: 0, address: 0x50, [0x39: [1]]).start(on: sync, &stage)
    Self.session(
      4, usage: 0, address: 0x100, [0x33: [100, 0, 0, 0], 0x38: [1, 0xAA, 0xBB]]
    ).start(on: tag, &stage)
    for anchor in anchors { _ = stage.heard(from: anchor) }
    stage.pass(milliseconds: 2_000)
    for anchor in anchors {
      let lists = payloads(stage.heard(from: anchor)).map { Array($0[25...]) }
      let blinks = lists.filter { $0[4] == 0 }
      let syncs = lists.filter { $0[4] == 1 }
      #expect(blinks.count == 20 && abs(syncs.count - 10) <= 1)
      // A device id of two octets; a transmission time of 40 bits.
      #expect(
        blinks.allSatisfy { $0[3] == 0b001 && $0.count == 23 && $0.suffix(2) == [0xAA, 0xBB] })
      #expect(syncs.allSatisfy { $0[3] == 0b100 && $0.count == 26 && $0[0] == 0x50 })
      #expect(blinks.map { $0[12] } == (0..<20).map { UInt8($0) })
    }
  }

  @Test("An observer measures the angle of an advertiser")
  func angles() throws {
    var stage = Stage()
    let observer = stage.add(.fira2, Placement(at: SIMD3(0, 0, 1)))
    let sender = stage.add(.fira2, Placement(at: SIMD3(3, -3, 1)))
    Self.session(6, usage: 6, address: 1).start(on: observer, &stage)
    Self.session(5, usage: 6, address: 2).start(on: sender, &stage)
    _ = stage.heard(from: observer)
    stage.pass(milliseconds: 2_000)
    let lists = payloads(stage.heard(from: observer)).map { Array($0[25...]) }
    #expect(lists.count >= 9 && lists.allSatisfy { $0.count == 13 && $0[0] == 2 })
    let azimuths = lists.map { Double(Int16(truncatingIfNeeded: ticks($0[7..<9]))) / 128 }
    let mean = azimuths.reduce(0, +) / Double(azimuths.count)
    #expect(abs(mean - 45) < 3, "\(azimuths)")
  }

  @Test("A restarted anchor's counter jumps, and its crystal warms up again")
  func restarts() {
    var scene = Scene()
    scene.radio.clockWarmUp = 2
    var simulation = Simulation(scene: scene)
    let chip = simulation.add(.fira2, placement: Placement(at: .zero))
    simulation.powerUp(chip)
    let cold = simulation[chip].clock.rate(at: Instant(0))
    simulation.advance(to: 120_000_000_000)
    let warm = simulation[chip].clock.rate(at: Instant(simulation.now))
    let before = simulation[chip].clock.reading(at: Instant(simulation.now)).ticks
    simulation.restart(chip)
    let after = simulation[chip].clock.reading(at: Instant(simulation.now)).ticks
    #expect(abs(cold - 2e-6) < 1e-9 && warm < 0.01e-6)
    #expect(abs(simulation[chip].clock.rate(at: Instant(simulation.now)) - 2e-6) < 1e-9)
    #expect(before != after)
  }
}
