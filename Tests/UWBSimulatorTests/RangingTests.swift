// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UWBTestSupport

@testable import UWBSimulator

@Suite(.computes) struct SimulatedRangingTests {
  /// A controller and a controlee that range every 200 ms.
  private func pair(
    _ profile: ChipProfile = .qm33, scene: Scene = Scene(), distance: Double = 3,
    controller: [UInt8: [UInt8]] = [:], controlee: [UInt8: [UInt8]] = [:]
  ) -> (Stage, Simulation.ChipID, Simulation.ChipID) {
    var stage = Stage(scene)
    let a = stage.add(profile, at: SIMD3(0, 0, 0))
    let b = stage.add(profile, at: SIMD3(distance, 0, 0))
    var one = TestSession(isController: true, address: 0, destinations: [1])
    var other = TestSession(isController: false, address: 1, destinations: [0])
    one.changes = controller
    other.changes = controlee
    other.start(on: b, &stage)
    one.start(on: a, &stage)
    _ = (stage.heard(from: a), stage.heard(from: b))
    return (stage, a, b)
  }

  @Test("Distances and their mean are within the noise", arguments: [0.5, 3, 42])
  func distances(_ metres: Double) {
    var (stage, a, b) = pair(distance: metres)
    stage.pass(milliseconds: 200 * 1_000)
    for id in [a, b] {
      let infos = stage.infos(from: id)
      #expect(infos.count >= 999)
      #expect(infos.map(\.sequenceNumber) == (0..<UInt32(infos.count)).map { $0 })
      let distances = infos.flatMap(\.entries).compactMap(\.distanceCentimetres).map(Double.init)
      #expect(distances.count == infos.count)
      #expect(distances.allSatisfy { abs($0 - metres * 100) <= 5 * 3 + 0.5 })
      let mean = distances.reduce(0, +) / Double(distances.count)
      #expect(abs(mean - metres * 100) < 0.5)
    }
  }

  /// Parameters that both ends need in common, each with another valid value.
  static let air: [TLV] = [
    TLV(0x01, [1]), TLV(0x04, [5]), TLV(0x08, [0xB0, 0x04]), TLV(0x09, [0x90, 1, 0, 0]),
    TLV(0x0B, [1]), TLV(0x0C, [2]), TLV(0x12, [1]), TLV(0x14, [9]), TLV(0x15, [0]),
    TLV(0x17, [0]), TLV(0x1B, [20]), TLV(0x22, [0]), TLV(0x2C, [1]), TLV(0x03, [1]),
    TLV(0x31, [1]), TLV(0x16, [1]),
  ]
  static let sts: [TLV] = [
    TLV(0x02, [1]), TLV(0x27, [7, 8]), TLV(0x28, [1, 2, 3, 4, 5, 7]), TLV(0x29, [2]),
    TLV(0x35, [2]), TLV(0x0A, [1, 0, 0, 0]),
  ]

  private func expectSilence(
    _ controller: [UInt8: [UInt8]], _ controlee: [UInt8: [UInt8]], controleeStatus: Status,
    _ place: SourceLocation = #_sourceLocation
  ) {
    var (stage, a, b) = pair(controller: controller, controlee: controlee)
    stage.pass(milliseconds: 2_000)
    let ends = [
      (a, Status.rangingRxTimeout, UInt8(2)),
      (b, controleeStatus, controleeStatus == .rangingRxTimeout ? 0 : 1),
    ]
    for (id, status, slot) in ends {
      let entries = stage.infos(from: id).flatMap(\.entries)
      #expect(entries.count >= 4, sourceLocation: place)
      for entry in entries {
        #expect(entry.status == status, sourceLocation: place)
        #expect(entry.rawDistance == 0xFFFF, sourceLocation: place)
        #expect(entry.lineOfSight == .notDetermined, sourceLocation: place)
        #expect(entry.slotIndex == slot, sourceLocation: place)
      }
    }
  }

  @Test("A difference on the air: both ends time out", arguments: air)
  func mismatch(_ change: TLV) {
    expectSilence([:], [change.id: change.value], controleeStatus: .rangingRxTimeout)
    expectSilence([change.id: change.value], [:], controleeStatus: .rangingRxTimeout)
  }

  @Test("A difference in the STS only: the controlee reports STS failures", arguments: sts)
  func stsMismatch(_ change: TLV) {
    expectSilence([:], [change.id: change.value], controleeStatus: .rangingRxPhyStsFailed)
  }

  @Test("Wrong addresses, equal roles and a different PRF: both ends time out")
  func strangers() {
    for change in [TLV(0x06, [9, 0]), TLV(0x07, [9, 0]), TLV(0x11, [1])] {
      expectSilence([:], [change.id: change.value], controleeStatus: .rangingRxTimeout)
    }
    expectSilence(
      [:], [0x1F: [1], 0x14: [25], 0x15: [2]], controleeStatus: .rangingRxTimeout)
  }

  @Test("Different session IDs: both ends time out")
  func sessionID() {
    var stage = Stage()
    let a = stage.add(.qm33, at: SIMD3(0, 0, 0))
    let b = stage.add(.qm33, at: SIMD3(2, 0, 0))
    TestSession(isController: true, address: 0, destinations: [1], id: 7).start(on: a, &stage)
    TestSession(isController: false, address: 1, destinations: [0], id: 8).start(on: b, &stage)
    stage.pass(milliseconds: 1_000)
    for id in [a, b] {
      let entries = stage.infos(from: id).flatMap(\.entries)
      #expect(entries.count >= 4)
      #expect(entries.allSatisfy { $0.status == .rangingRxTimeout })
    }
  }

  @Test("Out of range there is no distance; back in range there is")
  func range() {
    var (stage, a, _) = pair(distance: 61)
    stage.pass(milliseconds: 1_000)
    let timeouts = stage.infos(from: a).flatMap(\.entries)
    #expect(timeouts.count >= 4)
    #expect(timeouts.allSatisfy { $0.status == .rangingRxTimeout })
    stage.simulation[stage.simulation.chips[1]].placement = Placement(at: SIMD3(59, 0, 0))
    stage.pass(milliseconds: 1_000)
    let distances = stage.infos(from: a).flatMap(\.entries).compactMap(\.distanceCentimetres)
    #expect(distances.count == 5)
    #expect(distances.allSatisfy { abs($0 - 5_900) <= 15 })
  }

  @Test("Uncalibrated boards close to each other report negative distances")
  func negative() {
    var stage = Stage(Scene(distanceNoise: 0))
    let a = stage.add(.qm33, Placement(at: SIMD3(0, 0, 0), antennaDelayError: -0.1))
    let b = stage.add(.qm33, Placement(at: SIMD3(0.1, 0, 0), antennaDelayError: -0.04))
    TestSession(isController: false, address: 1, destinations: [0]).start(on: b, &stage)
    TestSession(isController: true, address: 0, destinations: [1]).start(on: a, &stage)
    _ = stage.heard(from: a)
    stage.pass(milliseconds: 200)
    let entry = stage.infos(from: a).first?.entries.first
    #expect(entry?.status == .okNegativeDistance)
    #expect(entry?.rawDistance == 4)
    #expect(entry?.distanceCentimetres == -4)
  }

  @Test("Lost exchanges appear as timeouts at the configured rate")
  func loss() {
    var (stage, a, _) = pair(scene: Scene(loss: 0.3))
    stage.pass(milliseconds: 200 * 1_000)
    let entries = stage.infos(from: a).flatMap(\.entries)
    let lost = entries.filter { $0.status == .rangingRxTimeout }.count
    #expect((250...350).contains(lost))
  }

  @Test("Angles follow geometry and yaw at both ends if the board measures them")
  func angles() {
    var stage = Stage(Scene(angleNoise: 0))
    // The peer is 30 degrees to the left of the antenna and above it.
    let a = stage.add(.sr250, Placement(at: SIMD3(0, 0, 0), yaw: 60))
    let b = stage.add(.sr250, Placement(at: SIMD3(0, 4, 3), yaw: 0))
    let report: [UInt8: [UInt8]] = [0x2E: [15]]
    TestSession(isController: false, address: 1, destinations: [0], changes: report)
      .start(on: b, &stage)
    TestSession(isController: true, address: 0, destinations: [1], changes: report)
      .start(on: a, &stage)
    _ = stage.heard(from: a)
    stage.pass(milliseconds: 200)
    let entry = stage.infos(from: a).first?.entries.first
    #expect(entry?.azimuth.raw == Int16(-30 * 128))
    #expect(abs((entry?.elevation.degrees ?? 0) - 36.87) < 0.01)
    #expect(entry?.destinationAzimuth.raw == Int16(90 * 128))
    #expect((entry?.azimuth.figureOfMerit ?? 0) > 0)

    var (single, c, _) = pair(.qm33)
    single.pass(milliseconds: 200)
    let flat = single.infos(from: c).first?.entries.first
    #expect(flat?.azimuth == Angle(raw: 0, figureOfMerit: 0))
    #expect(flat?.elevation == Angle(raw: 0, figureOfMerit: 0))
  }

  @Test("RSSI is reported on request and falls with distance")
  func rssi() {
    var (near, a, _) = pair(distance: 1, controller: [0x13: [1]])
    var (far, b, other) = pair(distance: 30, controller: [0x13: [1]])
    near.pass(milliseconds: 200)
    far.pass(milliseconds: 200)
    let strong = near.infos(from: a).first?.entries.first?.rssiDBm ?? 0
    let weak = far.infos(from: b).first?.entries.first?.rssiDBm ?? 0
    #expect(strong < -50 && weak < strong - 20)
    #expect(far.infos(from: other).first?.entries.first?.rawRSSI == 0)
  }

  @Test("eight responders: one notification of 273 bytes in two packets")
  func oneToMany() {
    var stage = Stage(Scene(distanceNoise: 0))
    let a = stage.add(.qm33, at: SIMD3(0, 0, 0))
    let peers = (1...8).map { stage.add(.qm33, at: SIMD3(Double($0), 0, 0)) }
    for (index, peer) in peers.enumerated() {
      TestSession(
        isController: false, address: UInt16(index + 1), destinations: [0], changes: [0x03: [1]]
      ).start(on: peer, &stage)
      _ = stage.heard(from: peer)
    }
    TestSession(isController: true, address: 0, destinations: Array(1...8)).start(on: a, &stage)
    _ = stage.heard(from: a)
    stage.pass(milliseconds: 50)
    var copy = stage
    let packets = copy.heard(from: a)
    #expect(packets.map { $0.prefix(8) } == ["720000ff", "62000012"])
    let info = stage.infos(from: a).first
    let distances: [UInt16] = info?.entries.map { $0.rawDistance } ?? []
    let expected: [UInt16] = (1...8).map { $0 * 100 }
    #expect(distances == expected)
    let heard = info?.entries.map { $0.peer.value } ?? []
    #expect(heard == Array(1...8))
    for (index, peer) in peers.enumerated() {
      let entries = stage.infos(from: peer).flatMap(\.entries)
      let raw: [UInt16] = entries.map { $0.rawDistance }
      #expect(raw == [UInt16(index + 1) * 100])
      let from = entries.map { $0.peer.value }
      #expect(from == [0])
    }
  }

  @Test("an SR250 sends long notifications in one packet once extended ones are on")
  func extendedLength() {
    var stage = Stage()
    let a = stage.add(.sr250, at: SIMD3(0, 0, 0))
    stage.send("20040005 01 e4 33 01 01", to: a)
    TestSession(isController: true, address: 0, destinations: Array(1...8)).start(on: a, &stage)
    _ = stage.heard(from: a)
    stage.pass(milliseconds: 50)
    let packets = stage.heard(from: a)
    #expect(packets.count == 1)
    // 273 bytes and a tail of 16: 0x0121, low byte first.
    #expect(packets.first?.hasPrefix("62802101") == true)
    let length = 4 + 273 + 16
    #expect(packets.first?.count == 2 * length)
  }

  @Test("equal seeds give equal bytes, other seeds others")
  func determinism() {
    func run(_ seed: UInt64) -> [String] {
      var (stage, a, b) = pair(
        .qm33PDoA, scene: Scene(seed: seed, loss: 0.1), controller: [0x13: [1]])
      stage.pass(milliseconds: 20_000)
      return stage.heard(from: a) + stage.heard(from: b)
    }
    #expect(run(5) == run(5))
    #expect(run(5) != run(6))
  }

  @Test("The step of time does not change the result")
  func steps() {
    var (fine, a, _) = pair()
    var (coarse, b, _) = pair()
    for _ in 0..<5_000 { fine.pass(milliseconds: 1) }
    coarse.pass(milliseconds: 5_000)
    #expect(fine.heard(from: a) == coarse.heard(from: b))
  }

  @Test("chips of different makers range with each other")
  func mixed() {
    var stage = Stage()
    let a = stage.add(.qm33, at: SIMD3(0, 0, 0))
    let b = stage.add(.sr250, at: SIMD3(5, 0, 0))
    TestSession(isController: false, address: 1, destinations: [0]).start(on: b, &stage)
    TestSession(isController: true, address: 0, destinations: [1]).start(on: a, &stage)
    _ = (stage.heard(from: a), stage.heard(from: b))
    stage.pass(milliseconds: 1_000)
    for id in [a, b] {
      let distances = stage.infos(from: id).flatMap(\.entries).compactMap(\.distanceCentimetres)
      #expect(distances.count == 5)
      #expect(distances.allSatisfy { abs($0 - 500) <= 15 })
    }
  }
}
