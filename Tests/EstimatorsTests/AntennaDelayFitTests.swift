// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import Testing
import UWBTestSupport

@Suite(.computes) struct AntennaDelayFitTests {
  /// Boards in a field, each with a delay of its own, and the measurements of each pair.
  struct Field {
    var truth: [BoardAntenna: Double] = [:]
    var measurements: [DelayMeasurement] = []

    init(
      _ delays: [Double], seed: UInt64, pairs: [(Int, Int)]? = nil, distances: [Double] = [],
      rounds: Int = 60, noise deviation: Double = 0.03, outliers: Double = 0.05,
      wrong: [(pair: (Int, Int), by: Double)] = []
    ) {
      var noise = Noise(seed: seed)
      let names = delays.indices.map { BoardAntenna(String(UnicodeScalar(UInt8(65 + $0)))) }
      for (name, delay) in zip(names, delays) { truth[name] = delay }
      let all = delays.indices.flatMap { a in (a + 1..<delays.count).map { (a, $0) } }
      for (a, b) in pairs ?? all {
        for distance in distances.isEmpty ? [2 + 0.7 * Double(a) + 0.4 * Double(b)] : distances {
          let extra = wrong.first { $0.pair == (a, b) }?.by ?? 0
          for _ in 0..<rounds {
            var measured = distance + delays[a] + delays[b] + extra + deviation * noise.normal()
            // Reflections are later, never earlier.
            if noise.uniform() < outliers { measured += 5 * noise.uniform() }
            measurements.append(
              DelayMeasurement(names[a], names[b], measured: measured, truth: distance))
          }
        }
      }
    }
  }

  private func name(_ letter: String) -> BoardAntenna { BoardAntenna(letter) }

  @Test func `Three boards determine the delay of each`() throws {
    let field = Field([0.153, 0.121, 0.187], seed: 1)
    let fit = try AntennaDelayFit(field.measurements)
    #expect(fit.undetermined.isEmpty && fit.redundancy == 0)
    for (antenna, truth) in field.truth {
      let found = try #require(fit.delays[antenna])
      #expect(abs(found.metres - truth) < 0.012, "\(antenna): \(found.metres) for \(truth)")
      // Each delay is half of a sum of three distances, each with the tape's 2 cm.
      #expect(0.014...0.022 ~= found.standardDeviation)
    }
  }

  @Test func `Two boards determine only the sum`() throws {
    let field = Field([0.15, 0.12], seed: 2, distances: [2, 4])
    let fit = try AntennaDelayFit(field.measurements)
    #expect(fit.delays.isEmpty && fit.undetermined == [[name("A"), name("B")]])
    #expect(fit.sums.count == 1 && fit.redundancy == 1)
    #expect(abs(fit.sums[0].delay.metres - 0.27) < 0.01)
    #expect(0.01...0.02 ~= fit.sums[0].delay.standardDeviation)
    // A reference board makes the delay of the other one known.
    var parameters = AntennaDelayFit.Parameters()
    parameters.known = [name("A"): 0.15]
    let referred = try AntennaDelayFit(field.measurements, parameters)
    #expect(referred.undetermined.isEmpty)
    #expect(abs(try #require(referred.delays[name("B")]).metres - 0.12) < 0.01)
  }

  /// A square without diagonals has no odd ring: + on one side and - on the other changes nothing.
  @Test func `A ring of four boards determines only sums`() throws {
    let field = Field([0.1, 0.2, 0.3, 0.4], seed: 3, pairs: [(0, 1), (1, 2), (2, 3), (0, 3)])
    let fit = try AntennaDelayFit(field.measurements)
    #expect(fit.delays.isEmpty && fit.undetermined.first?.count == 4)
    #expect(fit.sums.count == 4)
    #expect(abs(fit.sums[0].delay.metres - 0.3) < 0.02)
  }

  @Test func `Identifies a wrong pair among five boards`() throws {
    let delays = [0.15, 0.12, 0.19, 0.14, 0.17]
    let field = Field(delays, seed: 4, wrong: [((1, 3), 0.35)])
    let fit = try AntennaDelayFit(field.measurements)
    let bad = fit.placements.filter { $0.verdict != .used }
    #expect(bad.map(\.verdict) == [.outlier])
    #expect(bad.first?.a == name("B") && bad.first?.b == name("D"))
    #expect(abs((bad.first?.residual ?? 0) - 0.35) < 0.04)
    for (antenna, truth) in field.truth {
      #expect(abs(try #require(fit.delays[antenna]).metres - truth) < 0.015)
    }
    #expect(fit.residuals.count == 9 && fit.redundancy == 4)
  }

  @Test func `Identifies two wrong pairs among seven boards`() throws {
    let delays = [0.15, 0.12, 0.19, 0.14, 0.17, 0.16, 0.13]
    let field = Field(delays, seed: 5, wrong: [((0, 1), 0.5), ((2, 5), 0.3)])
    let fit = try AntennaDelayFit(field.measurements)
    #expect(fit.placements.filter { $0.verdict == .outlier }.count == 2)
    for (antenna, truth) in field.truth {
      #expect(abs(try #require(fit.delays[antenna]).metres - truth) < 0.015)
    }
  }

  /// Placements whose errors agree with each other would pull least squares to their side.
  @Test func `Identifies wrong pairs that share a board`() throws {
    let delays = [0.15, 0.12, 0.19, 0.14, 0.17, 0.16, 0.13, 0.18]
    let wrong = [((0, 1), 0.6), ((0, 2), 0.6), ((0, 3), 0.6)]
    let field = Field(delays, seed: 8, wrong: wrong.map { (pair: $0.0, by: $0.1) })
    let fit = try AntennaDelayFit(field.measurements)
    #expect(fit.placements.filter { $0.verdict == .outlier }.count == 3)
    for (antenna, truth) in field.truth {
      #expect(abs(try #require(fit.delays[antenna]).metres - truth) < 0.015, "\(antenna)")
    }
  }

  /// With four boards an error of one pair looks exactly like an error of the opposite pair.
  @Test func `Four boards do not determine which pair is wrong`() throws {
    let field = Field([0.15, 0.12, 0.19, 0.14], seed: 6, wrong: [((0, 1), 0.4)])
    let fit = try AntennaDelayFit(field.measurements)
    let suspects = fit.placements.filter { $0.verdict == .suspect }.map { $0.a.board + $0.b.board }
    #expect(suspects == ["AB", "CD"])
    #expect(fit.delays.count == 4)
    for (antenna, truth) in field.truth {
      let found = try #require(fit.delays[antenna])
      // The result is not exact, and its deviation includes the error.
      #expect(found.standardDeviation > 0.04)
      #expect(abs(found.metres - truth) < 3 * found.standardDeviation)
      // Least squares would attribute a third of the error to A and B.
      #expect(abs(found.metres - truth) < 0.3 * 0.4)
    }
  }

  @Test func `Separates channels and antennas`() throws {
    var measurements: [DelayMeasurement] = []
    let delays: [BoardAntenna: Double] = [
      BoardAntenna("A", channel: 5): 0.1, BoardAntenna("A", channel: 9): 0.14,
      BoardAntenna("B", channel: 5): 0.12, BoardAntenna("B", channel: 9): 0.17,
      BoardAntenna("C", channel: 5): 0.13, BoardAntenna("C", channel: 9): 0.11,
      BoardAntenna("C", channel: 9, antenna: 1): 0.16,
    ]
    for (a, x) in delays {
      for (b, y) in delays where a < b && a.board != b.board && a.port.channel == b.port.channel {
        measurements.append(DelayMeasurement(a, b, measured: 3 + x + y, truth: 3))
      }
    }
    let fit = try AntennaDelayFit(measurements)
    for (antenna, truth) in delays {
      #expect(abs(try #require(fit.delays[antenna]).metres - truth) < 1e-9, "\(antenna)")
    }
    #expect(fit.residuals.rms < 1e-9)
  }

  /// The standard deviation equals the scatter of repeated calibrations.
  @Test func `The stated deviation matches the error`() throws {
    var spread = Spread()
    var said = 0.0
    var noise = Noise(seed: 7)
    for seed in 0..<100 {
      var field = Field([0.15, 0.12, 0.19, 0.14, 0.17], seed: UInt64(100 + seed), rounds: 20)
      var tape: [Double: Double] = [:]
      for index in field.measurements.indices {
        let truth = field.measurements[index].truth
        let error = tape[truth] ?? 0.02 * noise.normal()
        tape[truth] = error
        field.measurements[index].measured += error
      }
      let fit = try AntennaDelayFit(field.measurements)
      let found = try #require(fit.delays[BoardAntenna("A")])
      spread.add(found.metres - 0.15)
      said += found.standardDeviation / 100
    }
    #expect(0.75...1.3 ~= spread.deviation / said, "\(spread.deviation) for \(said)")
    #expect(abs(spread.mean) < 0.004)
  }

  @Test func `Refuses invalid input`() {
    #expect(throws: FitFailure.tooFew(0, needed: 1)) { try AntennaDelayFit([]) }
    #expect(throws: FitFailure.sameAntenna(BoardAntenna("A"))) {
      try AntennaDelayFit([DelayMeasurement(name("A"), name("A"), measured: 1, truth: 1)])
    }
    #expect(throws: FitFailure.tooFew(0, needed: 1)) {
      try AntennaDelayFit([
        DelayMeasurement(BoardAntenna("A"), BoardAntenna("B"), measured: .nan, truth: 1)
      ])
    }
  }

  /// The delays are the ones that two-way ranging subtracts, channel by channel.
  @Test func `Two-way ranging uses fitted delays`() throws {
    var calibration = RangingCalibration()
    calibration.antennaDelays = [
      ("own", 9, 0, 0.15), ("own", 5, 0, .nan), ("peer", 9, 1, 0.12),
    ].map { board, channel, antenna, metres in
      .init(
        BoardAntenna(board, channel: channel, antenna: antenna),
        .init(metres: metres, standardDeviation: 0.01))
    }
    let own = calibration.delay(of: BoardAntenna("own"))
    let peer = calibration.delay(of: BoardAntenna("peer", antenna: 1))
    var scene = TwoWayScene(seed: 8)
    scene.distance = 10.27
    let exchange = scene.exchange()
    var parameters = TwoWayParameters()
    parameters.antennaDelay = try #require(own).metres + #require(peer).metres
    #expect(abs(try exchange.distance(parameters).distance - 10) < 1e-3)
    #expect(
      abs(try exchange.singleSided.distance(offset: ClockOffset(0), parameters).distance - 10)
        < 1e-3)
    #expect(calibration.delay(of: BoardAntenna("peer")) == nil)
    #expect(calibration.delay(of: BoardAntenna("own", channel: 5)) == nil)
  }

  /// On a walk nearly every distance differs, but reflections do not.
  @Test(arguments: [1, 5], [0, 0.1])
  func aWalkIsAsManyPlacementsAsItHasHalvesOfAMetre(passes: Int, rounding: Double) throws {
    var noise = Noise(seed: 31)
    let (a, b) = (BoardAntenna("A"), BoardAntenna("B"))
    // 10 m there and back.
    let walk = (0..<400 * passes).map { step in
      var truth = 5 + (Double(step % 400) / 20 - 10).magnitude
      if rounding > 0 { truth = (truth / rounding).rounded() * rounding }
      return DelayMeasurement(a, b, measured: truth + 0.3 + 0.02 * noise.normal(), truth: truth)
    }
    let fit = try AntennaDelayFit(walk, AntennaDelayFit.Parameters())
    #expect(16...21 ~= fit.placements.count, "\(fit.placements.count)")
    #expect(fit.placements.reduce(0) { $0 + $1.count } == walk.count)
    #expect(abs(try #require(fit.sums.first).delay.metres - 0.3) < 0.01)
    let bias = try #require(
      RangeBiasFit(
        walk.map { KnownRange(measured: $0.measured, truth: $0.truth, power: nil, pair: 0) }))
    #expect(bias.positions == fit.placements.count)
  }

  /// A person who stands still at four distances has four placements, in any order, and also with
  /// the noise of a motion capture.
  @Test func whoStandsStillHasFewPlacements() throws {
    var noise = Noise(seed: 32)
    let still = (0..<400).map { step in
      DelayMeasurement(
        BoardAntenna("A"), BoardAntenna("B"), measured: 1.3,
        truth: [1, 1.2, 2, 3][step % 4] + 0.005 * noise.normal())
    }
    #expect(try AntennaDelayFit(still, AntennaDelayFit.Parameters()).placements.count == 4)
  }
}
