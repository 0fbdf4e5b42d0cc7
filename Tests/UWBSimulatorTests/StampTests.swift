// SPDX-License-Identifier: Apache-2.0

import Ranging
import Testing
import UCI

@testable import UWBSimulator

/// Stamps of simulated clocks, compared with independent arithmetic.
@Suite struct StampTests {
  /// A controller and controlees at 1, 2, … metres, each measured for some rounds.
  private func exchanges(
    _ scene: Scene, offsets: [Double] = [0, 0], milliseconds: UInt64 = 40_000,
    changes: [UInt8: [UInt8]] = [:], placements: [Placement]? = nil
  ) -> (recorded: [RecordedExchange], chip: [SessionInfo]) {
    var stage = Stage(scene)
    let places =
      placements
      ?? offsets.enumerated().map {
        Placement(at: SIMD3(Double($0.offset), 0, 0), clockOffset: $0.element)
      }
    let chips = places.map { stage.add(.qm33, $0) }
    var common = changes
    if chips.count > 2 { common[0x03] = [1] }
    for (index, chip) in chips.enumerated().dropFirst() {
      TestSession(
        isController: false, address: UInt16(index), destinations: [0], changes: common
      ).start(on: chip, &stage)
    }
    TestSession(
      isController: true, address: 0, destinations: (1..<chips.count).map { UInt16($0) },
      changes: common
    ).start(on: chips[0], &stage)
    _ = stage.heard(from: chips[0])
    stage.simulation.recordsExchanges = true
    stage.pass(milliseconds: milliseconds)
    return (stage.simulation.takeExchanges(), stage.infos(from: chips[0]))
  }

  private func doubleSided(_ e: RecordedExchange) -> TwoWayExchange? {
    guard let t5 = e.t5, let t6 = e.t6 else { return nil }
    return TwoWayExchange(
      pollSent: TickStamp(e.t1), pollReceived: TickStamp(e.t2), responseSent: TickStamp(e.t3),
      responseReceived: TickStamp(e.t4), finalSent: TickStamp(t5), finalReceived: TickStamp(t6))
  }

  @Test("The host computes the true distance for any clocks, across wraps of the counter")
  func doubleSidedRanging() throws {
    var scene = Scene(seed: 3, distanceNoise: 0)
    scene.radio.clockWander = 0.3
    let offsets: [Double] = [20, -20, 20, -7, 13]
    let recorded = exchanges(scene, offsets: offsets).recorded
    #expect(recorded.count >= 4 * 199)
    // Stamps wrap every 17.2 s and begin anywhere.
    for stamps in [recorded.map(\.t1), recorded.map(\.t2)] {
      #expect(zip(stamps, stamps.dropFirst()).contains { $0 > $1 })
      #expect(stamps.allSatisfy { $0 < 1 << 40 })
    }
    #expect(recorded.allSatisfy { $0.t1 % 512 == 16_405 % 512 }, "the granularity of transmissions")
    for exchange in recorded {
      let result = try #require(doubleSided(exchange)).distance()
      // Stamps are whole ticks, and a tick is 4.7 mm one way.
      #expect(abs(result.distance - exchange.truth) < 0.0035)
      let offset = (offsets[0] - offsets[exchange.responder]) * 1e-6
      #expect(abs(result.clockOffset - offset) < 0.62e-6)
    }
    let far = try #require(recorded.first { $0.responder == 4 }.flatMap(doubleSided))
    // With exchanged stamps, the computation does not return the distance.
    var swapped = far
    (swapped.pollReceived, swapped.responseSent) = (far.responseSent, far.pollReceived)
    #expect(throws: RangingFailure.self) { try swapped.distance() }
    let late = TickCounter.bits40
    let rounds =
      late.interval(from: far.pollSent, to: far.responseReceived)
      + late.interval(from: far.responseSent, to: try #require(far.finalReceived))
    let replies =
      late.interval(from: far.pollReceived, to: far.responseSent)
      + late.interval(from: far.responseReceived, to: try #require(far.finalSent))
    let symmetric = (rounds - replies) / 4 * DeviceTick.seconds * SpeedOfLight.inAir
    #expect(abs(symmetric - 4) > 1, "replies of 8 and 2 ms and clocks 7 ppm apart: \(symmetric)")
  }

  @Test("single-sided ranging is metres off without the clocks, and right with them")
  func singleSidedRanging() throws {
    let scene = Scene(seed: 4, distanceNoise: 0)
    let (recorded, infos) = exchanges(
      scene, offsets: [15, -5], milliseconds: 20_000, changes: [0x01: [1]])
    #expect(recorded.count >= 99 && recorded.allSatisfy { $0.t5 == nil })
    var tracker = ClockOffsetTracker()
    for (number, e) in recorded.enumerated() {
      let exchange = TwoWayExchange(
        pollSent: TickStamp(e.t1), pollReceived: TickStamp(e.t2), responseSent: TickStamp(e.t3),
        responseReceived: TickStamp(e.t4))
      tracker.addPoll(sent: exchange.pollSent, received: exchange.pollReceived)
      guard number > 0, let offset = tracker.offset else { continue }
      #expect(abs(offset.value - 20e-6) < 1e-8)
      #expect(abs(try exchange.distance(offset: offset).distance - 1) < 0.01)
      let raw = try exchange.distance(offset: ClockOffset(0)).distance
      #expect(abs(raw - 7) < 0.2, "2 ms and 20 ppm are 6 m: \(raw)")
      // The clock offset from the carrier is noisier than the offset from stamps.
      #expect(abs(e.carrierOffset - 20) < 0.3)
    }
    let chip = infos.flatMap(\.entries).compactMap(\.distanceCentimetres).map(Double.init)
    #expect(chip.allSatisfy { abs($0 - 100) < 8 })
  }

  @Test("The noise of stamps gives the configured noise of distances")
  func noise() throws {
    let recorded = exchanges(Scene(seed: 8, distanceNoise: 0.03), milliseconds: 200_000).recorded
    let errors = try recorded.map { try #require(doubleSided($0)).distance().distance - $0.truth }
    let mean = errors.reduce(0, +) / Double(errors.count)
    let deviation = (errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count)).squareRoot()
    #expect(abs(mean) < 0.004)
    #expect(abs(deviation - 0.03) < 0.003)
  }

  @Test("Delays per channel and antenna are in the stamps, and calibration removes them")
  func antennaDelays() throws {
    var placement = Placement(at: SIMD3(5, 0, 0), antennaDelayError: 0.1)
    placement.delayErrors[9] = .init(transmit: 0.05, receive: 0.15)
    let places = [Placement(at: SIMD3(0, 0, 0)), placement]
    let scene = Scene(distanceNoise: 0)
    let channel9 = exchanges(scene, milliseconds: 1_000, placements: places)
    let channel5 = exchanges(
      scene, milliseconds: 1_000, changes: [0x04: [5]], placements: places)
    for (run, metres) in [(channel9, 5.3), (channel5, 5.1)] {
      for exchange in run.recorded {
        let distance = try #require(doubleSided(exchange)).distance().distance
        #expect(abs(distance - metres) < 0.004)
      }
      for entry in run.chip.flatMap(\.entries) {
        #expect(abs(Double(entry.distanceCentimetres ?? 0) - metres * 100) <= 1)
      }
    }
    // 30 cm are 64 ticks. A distance contains half of the sum of a board's two delays.
    var stage = Stage(scene)
    let chips = places.map { stage.add(.qm33, $0) }
    for antenna in [0, 1] {
      stage.send(
        QorvoSetCalibration([
          .init(key: Array("ant\(antenna).ch9.ant_delay".utf8), value: [0x55, 0x40, 0, 0])
        ]),
        to: chips[1])
    }
    TestSession(isController: false, address: 1, destinations: [0]).start(on: chips[1], &stage)
    TestSession(isController: true, address: 0, destinations: [1]).start(on: chips[0], &stage)
    _ = stage.heard(from: chips[0])
    stage.pass(milliseconds: 1_000)
    let entries = stage.infos(from: chips[0]).flatMap(\.entries)
    #expect(entries.count == 5)
    #expect(entries.allSatisfy { $0.rawDistance == 500 })
  }

  @Test("The level shifts distances by the configured curve")
  func powerBias() throws {
    var scene = Scene(distanceNoise: 0)
    scene.radio.powerBias = Curve([(-90, 0.1), (-60, -0.1)])
    for (metres, bias) in [(0.5, -0.1), (10, 0.06), (40, 0.1)] as [(Double, Double)] {
      let places = [Placement(at: SIMD3(0, 0, 0)), Placement(at: SIMD3(metres, 0, 0))]
      let recorded = exchanges(scene, milliseconds: 1_000, placements: places).recorded
      for exchange in recorded {
        let distance = try #require(doubleSided(exchange)).distance().distance
        #expect(abs(distance - metres - bias) < 0.008, "\(distance)")
      }
    }
  }

  @Test("Walls delay; behind thick ones a reflection is mistaken for the direct path")
  func walls() throws {
    let scene = Scene(seed: 2, distanceNoise: 0)
    for (loss, excess) in [(15, 0.15), (30, 2.7)] as [(Double, Double)] {
      var blocked = scene
      blocked.radio.walls = [.init(from: SIMD3(2, -3, 0), to: SIMD3(2, 3, 0), loss: loss)]
      let places = [Placement(at: SIMD3(0, 0, 0)), Placement(at: SIMD3(4, 0, 0))]
      for exchange in exchanges(blocked, milliseconds: 1_000, placements: places).recorded {
        let distance = try #require(doubleSided(exchange)).distance().distance
        #expect(abs(distance - 4 - excess) < 0.01, "\(distance)")
        #expect(exchange.truth == 4)
      }
      // Only the paths through the wall have excess distances.
      let free = [Placement(at: SIMD3(0, 0, 0)), Placement(at: SIMD3(1, 4, 0))]
      for exchange in exchanges(blocked, milliseconds: 1_000, placements: free).recorded {
        let distance = try #require(doubleSided(exchange)).distance().distance
        #expect(abs(distance - exchange.truth) < 0.01)
      }
    }
  }

  @Test("Clock readings and their inverse are exact after years")
  func clocks() {
    let clock = SimulatedClock(origin: 1 << 39, offset: -17.5, wander: 0.4)
    for nanoseconds in [0, 1, 999_999_937, 4_000_000_000_000, 90_000_000_000_000_000] as [UInt64] {
      let instant = Instant(nanoseconds, fraction: 0.25)
      let shown = clock.reading(at: instant)
      let exact = SimulatedClock(origin: 1 << 39, offset: 0, wander: 0).reading(at: instant)
      let seconds = Double(nanoseconds) * 1e-9
      let expected = -17.5e-6 * seconds * DeviceTick.perSecond
      let swing = 0.4e-6 * 32 * DeviceTick.perSecond
      #expect(abs(Double(Int64(bitPattern: shown.ticks &- exact.ticks)) - expected) < swing + 1e5)
      #expect(0..<1 ~= shown.part)
      let target = shown.ticks &+ 1_000_000_000
      let back = clock.reading(at: clock.instant(showing: target, near: instant))
      let off = Double(Int64(bitPattern: back.ticks &- target)) + back.part
      #expect(abs(off) < (nanoseconds < 1_000_000_000_000_000 ? 0.01 : 40))
    }
    // Without an offset, the reading is exact: 39936 ticks are 625 ns.
    let exact = SimulatedClock(origin: 7, offset: 0, wander: 0)
    #expect(exact.reading(at: Instant(625_000_000_000)).ticks == 39_936_000_000_007)
  }
}
