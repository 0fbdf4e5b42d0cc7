// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UWBTestSupport

@testable import UWBSimulator

/// Two pairs with rounds of 50 ms in blocks of 200 ms, and clocks that differ by 40 ppm.
@Suite(.computes) struct CollisionTests {
  private struct Pairs {
    var stage: Stage
    var controllers: [Simulation.ChipID] = []
    var tokens: [UInt32] = []
    private var changes: [UInt8: [UInt8]]

    init(collisions: Bool, changes: [UInt8: [UInt8]] = [:]) {
      var scene = Scene(seed: 4)
      scene.radio.collisions = collisions
      stage = Stage(scene)
      self.changes = changes
      for (pair, offset) in [20.0, -20].enumerated() {
        let address = UInt16(2 * pair)
        let place = SIMD3(Double(pair), 0, 0)
        let controller = stage.add(.qm33, Placement(at: place, clockOffset: offset))
        let controlee = stage.add(.qm33, at: place + SIMD3(0, 3, 0))
        session(pair, isController: false, address + 1, address).start(on: controlee, &stage)
        tokens.append(
          session(pair, isController: true, address, address + 1)
            .prepare(on: controller, &stage))
        controllers.append(controller)
      }
    }

    private func session(
      _ pair: Int, isController: Bool, _ own: UInt16, _ other: UInt16
    ) -> TestSession {
      TestSession(
        isController: isController, address: own, destinations: [other], id: UInt32(7 + pair),
        // The value lets the controlee's session continue when the controller stops for a new
        // start.
        changes: (pair == 1 ? changes : [:]).merging([
          AppConfigID.inBandTerminationAttemptCount.rawValue: [0]
        ]) { one, _ in one })
    }

    /// Starts the rounds of a pair at milliseconds from now, by the clock of its controller.
    mutating func start(_ pair: Int, in milliseconds: UInt64) {
      let chip = controllers[pair]
      let microseconds = stage.simulation[chip].chip.microseconds(at: stage.simulation.now)
      let first = microseconds + 1000 * milliseconds
      let time = TLV(.uwbInitiationTime, first.littleEndianBytes)
      stage.send(SetAppConfig(sessionToken: tokens[pair], parameters: [time]), to: chip)
      stage.send(SessionStart(sessionToken: tokens[pair]), to: chip)
      _ = stage.heard(from: chip)
    }

    mutating func stop(_ pair: Int) {
      stage.send(SessionStop(sessionToken: tokens[pair]), to: controllers[pair])
      _ = stage.heard(from: controllers[pair])
    }

    /// Passes time; returns the rounds of both pairs, and the failed ones.
    mutating func pass(seconds: UInt64) -> (rounds: Int, failed: Int) {
      stage.pass(milliseconds: 1000 * seconds)
      var entries: [TwoWayMeasurement] = []
      for chip in controllers { entries += stage.infos(from: chip).flatMap(\.entries) }
      return (entries.count, entries.count { !$0.status.isSuccess })
    }
  }

  @Test("Rounds that overlap are lost, where the scene has collisions")
  func overlap() {
    for collisions in [false, true] {
      var pairs = Pairs(collisions: collisions)
      pairs.start(0, in: 100)
      pairs.start(1, in: 130)
      let (rounds, failed) = pairs.pass(seconds: 20)
      #expect(rounds > 190 && failed == (collisions ? rounds : 0))
    }
  }

  @Test("Other channels and preambles do not disturb", arguments: [0x04, 0x14] as [UInt8])
  func elsewhere(_ parameter: UInt8) {
    var pairs = Pairs(collisions: true, changes: [parameter: [parameter == 0x04 ? 5 : 11]])
    pairs.start(0, in: 100)
    pairs.start(1, in: 130)
    let (rounds, failed) = pairs.pass(seconds: 20)
    #expect(rounds > 190 && failed == 0)
  }

  @Test("Initiation times keep rounds apart, until clocks have drifted or a new start")
  func initiationTimes() {
    var pairs = Pairs(collisions: true)
    // The rounds of the faster clock begin 10 ms after the rounds of the slower clock end. At 40
    // ppm, this gap closes in 250 s.
    pairs.start(1, in: 100)
    pairs.start(0, in: 160)
    #expect(pairs.pass(seconds: 240).failed == 0)
    let (rounds, failed) = pairs.pass(seconds: 100)
    #expect(failed > rounds / 2)
    pairs.stop(0)
    pairs.stop(1)
    _ = pairs.pass(seconds: 1)
    pairs.start(1, in: 100)
    pairs.start(0, in: 160)
    // Without a new start, each round would fail at once.
    #expect(pairs.pass(seconds: 20).failed == 0)
  }
}
