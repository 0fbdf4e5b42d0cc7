// SPDX-License-Identifier: Apache-2.0
import Ranging
import RangingScenes

/// Figures of distances from simulated stamps: T1 to T4.
enum TwoWayFigures {
  static func rows(_ settings: Settings) -> [AccuracyFigure] {
    let rounds = settings.quick ? 20_000 : 100_000
    return doubleSided(rounds) + singleSided(rounds) + [oneToMany(rounds / 10)]
      + uncalibrated()
  }

  /// Measures double-sided distances: 10 m, replies of 2 and 8 ms, 100 ps. The clocks differ by 20
  /// ppm in alternating directions, then at random.
  private static func doubleSided(_ rounds: Int) -> [AccuracyFigure] {
    var (here, textbook) = (Errors(), Errors())
    for seed in 1...3 {
      var scene = TwoWayScene(seed: UInt64(seed))
      scene.deviation = 100e-12
      var (errors, symmetric): ([Double], [Double]) = ([], [])
      for _ in 0..<rounds {
        (scene.initiator, scene.responder) =
          switch seed {
          case 1: (20e-6, -20e-6)
          case 2: (-20e-6, 20e-6)
          default: (scene.noise.uniform(-20e-6, 20e-6), scene.noise.uniform(-20e-6, 20e-6))
          }
        scene.anyOffsets()
        let exchange = scene.exchange()
        // A distance that cannot be computed counts as an error of 100 m.
        errors.append(((try? exchange.distance().distance) ?? 110) - 10)
        symmetric.append(symmetricDistance(exchange) - 10)
      }
      here.add(errors)
      textbook.add(symmetric)
    }
    let bias = textbook.parts.map { abs(Errors.mean($0)) }.max() ?? 0
    // The mean of this many distances has an error of 0.01 cm.
    return [
      here.figure(
        "T1", "DS-TWR bias, +-20 ppm, replies 2 and 8 ms", "mm", scale: 1000,
        textbook: ("symmetric formula", bias * 1000), aim: .atMost(1)
      ) { abs(Errors.mean($0)) },
      here.figure(
        "T1", "the same, standard deviation", "cm", scale: 100,
        textbook: ("symmetric formula", Errors.deviation(textbook.parts[0]) * 100),
        aim: .atMost(1.95), Errors.deviation),
    ]
  }

  private static func symmetricDistance(_ e: TwoWayExchange) -> Double {
    let counter = TickCounter.bits40
    let round1 = counter.interval(from: e.pollSent, to: e.responseReceived)
    let reply1 = counter.interval(from: e.pollReceived, to: e.responseSent)
    let reply2 = counter.interval(from: e.responseReceived, to: e.finalSent ?? 0)
    let round2 = counter.interval(from: e.responseSent, to: e.finalReceived ?? 0)
    let flight = (round1 - reply1 + round2 - reply2) / 4
    return flight * DeviceTick.seconds * SpeedOfLight.inAir
  }

  /// Measures single-sided distances: replies of 1 ms, 100 ps, 20 ppm between the clocks, and an
  /// error of the carrier offset of 0.05 ppm.
  private static func singleSided(_ rounds: Int) -> [AccuracyFigure] {
    var (here, textbook) = (Errors(), Errors())
    for (seed, (initiator, responder)) in [(10e-6, -10e-6), (-10e-6, 10e-6), (3e-6, 17e-6)]
      .enumerated()
    {
      var scene = TwoWayScene(seed: UInt64(seed + 11))
      (scene.deviation, scene.reply1) = (100e-12, 1e-3)
      (scene.initiator, scene.responder) = (initiator, responder)
      let ratio = (1 + initiator) / (1 + responder) - 1
      var (errors, plain): ([Double], [Double]) = ([], [])
      for _ in 0..<rounds {
        scene.anyOffsets()
        let exchange = scene.exchange().singleSided
        let carrier = ClockOffset(
          ratio + 0.05e-6 * scene.noise.normal(), standardDeviation: 0.05e-6)
        errors.append(((try? exchange.distance(offset: carrier).distance) ?? 110) - 10)
        plain.append(((try? exchange.distance(offset: ClockOffset(0)).distance) ?? 110) - 10)
      }
      here.add(errors)
      textbook.add(plain)
    }
    let bias = textbook.parts.map { abs(Errors.mean($0)) }.max() ?? 0
    return [
      here.figure(
        "T2", "SS-TWR with carrier offset, bias, reply 1 ms", "mm", scale: 1000,
        textbook: ("without offset", bias * 1000), aim: .atMost(3)
      ) { abs(Errors.mean($0)) },
      here.figure(
        "T2", "the same, standard deviation", "cm", scale: 100,
        textbook: ("without offset", Errors.deviation(textbook.parts[0]) * 100),
        aim: .atMost(2.3), Errors.deviation),
    ]
  }

  /// Measures the worst of eight responders that answer 2 ms apart, with one final. One frame in
  /// ten is lost.
  private static func oneToMany(_ rounds: Int) -> AccuracyFigure {
    var here: [Double] = []
    var textbook = 0.0
    for slot in 0..<8 {
      var scene = TwoWayScene(seed: 21 + UInt64(slot))
      scene.deviation = 120e-12
      scene.reply1 = 2e-3 * Double(slot + 1)
      scene.reply2 = 2e-3 * Double(8 - slot)
      (scene.initiator, scene.responder) = (20e-6, -20e-6 * Double(slot) / 7)
      scene.anyOffsets()
      let ratio = (1 + scene.initiator) / (1 + scene.responder) - 1
      var responder = ResponderRanging()
      var (errors, plain): ([Double], [Double]) = ([], [])
      for round in 0..<rounds {
        let exchange = scene.exchange(at: Double(round) * 0.1)
        let isFinalLost = scene.noise.uniform() < 0.1
        let found = try? responder.distance(isFinalLost ? exchange.singleSided : exchange)
        // In the first round, there is no distance without a known clock offset.
        if round > 0 || found != nil { errors.append((found?.distance ?? 110) - 10) }
        let carrier = ClockOffset(ratio + 0.05e-6 * scene.noise.normal())
        let single = try? exchange.singleSided.distance(offset: carrier)
        plain.append((single?.distance ?? 110) - 10)
      }
      here.append(Errors.deviation(errors) * 100)
      textbook = max(textbook, Errors.deviation(plain) * 100)
    }
    return AccuracyFigure(
      id: "T3", quantity: "one to eight, 2 ms slots: worst slot, standard deviation", unit: "cm",
      textbook: ("SS with the carrier", textbook), value: here.max() ?? .infinity, parts: here,
      aim: .atMost(2.5))
  }

  /// Measures uncalibrated pairs of boards, 10 m apart. The error of each pair is constant, so only
  /// many pairs show whether the stated deviation is correct. Their delays differ from the
  /// firmware's delays by 0.3 m, the vendor's figure (APS014).
  private static func uncalibrated() -> [AccuracyFigure] {
    var honest = Honesty()
    for group in 0..<4 {
      var scene = TwoWayScene(seed: 31 + UInt64(group))
      scene.deviation = 100e-12
      var ratios: [Double] = []
      for _ in 0..<50 {
        scene.distance = 10 + 0.3 * scene.noise.normal()
        for _ in 0..<20 {
          guard let found = try? scene.exchange().distance() else { continue }
          ratios.append((found.distance - 10) / found.standardDeviation)
        }
      }
      honest.add(ratios)
    }
    return honest.figures("T4", "200 pairs of boards, not calibrated")
  }
}
