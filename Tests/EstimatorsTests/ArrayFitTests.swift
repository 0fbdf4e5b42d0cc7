// SPDX-License-Identifier: Apache-2.0
@testable import Estimators
import Foundation
import RangingScenes
import Testing
import UWBTestSupport

@testable import Ranging

private let degree = Double.pi / 180

@Suite("Calibration of arrays of antennas", .computes, .timeLimit(.minutes(30)))
struct ArrayFitTests {
  /// Effects of an array on phases that its fit does not model.
  private struct Array {
    var pairs: [AntennaPair]
    var noise = 5 * degree
    var outliers = 0.01

    func samples(
      _ azimuths: [Double], elevation: (Int) -> Double = { _ in 0 }, _ noise: inout Noise
    ) -> [ArraySample] {
      azimuths.enumerated().map { step, azimuth in
        let height = elevation(step)
        let phases = pairs.map { pair -> Double? in
          if noise.uniform() < outliers { return noise.uniform(-.pi, .pi) }
          return wrapped(
            pair.phase(azimuth: azimuth, elevation: height) + self.noise * noise.normal())
        }
        return ArraySample(azimuth: azimuth, elevation: height, phases: phases)
      }
    }
  }

  /// Four antennas, each at a radius of 0.3 wavelengths; coupling as an amplitude in radians.
  private static func ring(coupling: Double, mirrored: Bool = false) -> Array {
    var noise = Noise(seed: 5)
    let positions = [(0.3, 0.0), (0, 0.3), (-0.3, 0), (0, -0.3)]
    let side = mirrored ? -1.0 : 1
    return Array(
      pairs: [(0, 1), (1, 2), (2, 3), (3, 0)].map { a, b in
        AntennaPair(
          .baseline(
            x: positions[a].0 - positions[b].0, y: side * (positions[a].1 - positions[b].1), z: 0),
          offset: noise.uniform(-3, 3),
          harmonics: [(0, 0)]
            + (2...4).map { _ in (coupling * noise.normal(), coupling * noise.normal()) })
      })
  }

  private static func errors(_ pairs: [AntennaPair], _ samples: [ArraySample]) throws -> (
    rms: Double, one: Double, two: Double
  ) {
    let finder = try #require(DirectionFinder(pairs))
    let found = samples.map { sample in
      var track = DirectionFinder.Track()
      let direction = finder.update(&track, time: 0, sample.phases)
      return (
        wrapped((direction?.azimuth ?? .pi) - sample.azimuth), direction?.standardDeviation ?? 0
      )
    }
    let count = Double(found.count)
    // Two wrong phases in one row give another direction.
    #expect(found.count { abs($0.0) > 20 * degree } < found.count / 100)
    let near = found.filter { abs($0.0) < 20 * degree }
    return (
      (near.reduce(0) { $0 + $1.0 * $1.0 } / Double(near.count)).squareRoot() / degree,
      Double(found.count { abs($0.0) <= $0.1 }) / count,
      Double(found.count { abs($0.0) <= 2 * $0.1 }) / count
    )
  }

  @Test("A ring on a turntable", arguments: zip([0, 0.1, 0.2], [false, true, false]))
  func ring(coupling: Double, mirrored: Bool) throws {
    let array = Self.ring(coupling: coupling, mirrored: mirrored)
    var noise = Noise(seed: 12)
    // The fit uses one turn. The other turn has the directions in between.
    let turn = (0..<90).map { wrapped(4 * Double($0) * degree) }
    let fit = try ArrayFit(array.samples(turn, &noise))
    let other = array.samples((0..<240).map { wrapped((1.5 * Double($0) + 0.5) * degree) }, &noise)
    let (rms, one, two) = try Self.errors(fit.pairs, other)
    #expect(fit.harmonics == (coupling == 0 ? 1 : 4))
    #expect(rms < 3, "\(rms)")
    #expect(0.6...0.76 ~= one && 0.91...0.99 ~= two, "\(one) \(two)")
  }

  @Test("Pairs above and beside each other, and an axis that nobody told")
  func heights() throws {
    let array = Array(pairs: [
      AntennaPair(.baseline(x: 0, y: 0.45, z: 0.05), offset: 1),
      AntennaPair(.baseline(x: 0, y: 0.02, z: 0.4), offset: -2),
    ])
    var noise = Noise(seed: 3)
    let samples = array.samples(
      (0..<500).map { _ in 75 * degree * noise.uniform(-1, 1) },
      elevation: { Double($0 % 9 - 4) * 10 * degree }, &noise)
    let fit = try ArrayFit(samples)
    guard case .baseline(let x, let y, let z) = fit.pairs[0].model else { return }
    #expect(x == 0 && abs(y - 0.45) < 0.02 && abs(z - 0.05) < 0.02)
    #expect(fit.residuals.rms < 7 * degree)
  }

  /// The rows repeat a few directions. Every ninth row of 45 directions has one of only five
  /// directions, and every tenth row of 20 directions has one of only two. A fit of evenly spaced
  /// rows would have only these.
  @Test(
    "Directions that repeat themselves in any number of rows", arguments: zip([45, 20], [20, 50]))
  func repeated(directions: Int, turns: Int) throws {
    let array = Self.ring(coupling: directions == 45 ? 0 : 0.1)
    var noise = Noise(seed: 14)
    let step = 360 / Double(directions) * degree
    let fit = try ArrayFit(
      array.samples(
        (0..<directions * turns).map { wrapped(step * Double($0 % directions)) }, &noise))
    #expect(fit.residuals.rms < 3 * degree)
    #expect(fit.ambiguous + fit.otherSides < 20)
  }

  /// Objects move between two turns, and reflect a part of the amplitude.
  @Test("Reflections of one turn are no coupling", arguments: [0.05, 0.1])
  func reflections(reflection: Double) throws {
    let scene = RingScene.turns(reflection: reflection, drift: 0.02, seed: 1)
    let fit = try ArrayFit(scene.turns[0].map { .init(azimuth: $0.azimuth, phases: $0.phases) })
    // Reflections of 10 % hide the coupling, which is smaller.
    #expect(fit.harmonics <= (reflection < 0.1 ? 4 : 3), "\(fit.harmonics)")
    let next = scene.turns[1].map { ArraySample(azimuth: $0.azimuth, phases: $0.phases) }
    let (rms, one, two) = try Self.errors(fit.pairs, next)
    #expect(rms < (reflection < 0.1 ? 3.5 : 5), "\(rms)")
    #expect(one > 0.5 && two > 0.5, "\(one) \(two)")
  }

  @Test("Phases that follow no direction are refused")
  func noise() {
    var noise = Noise(seed: 4)
    let samples = (0..<400).map { step in
      ArraySample(
        azimuth: Double(step) * degree, phases: (0..<4).map { _ in noise.uniform(-.pi, .pi) })
    }
    #expect(throws: FitFailure.noCurve) { try ArrayFit(samples) }
    #expect(throws: FitFailure.noCurve) {
      try ArrayFit(samples.map { ArraySample(azimuth: $0.azimuth, phases: [1, 1]) })
    }
    #expect(throws: FitFailure.tooFew(5, needed: 16)) {
      try ArrayFit(Swift.Array(samples.prefix(5)))
    }
    #expect(throws: FitFailure.self) {
      try ArrayFit(samples.map { ArraySample(azimuth: .nan, phases: $0.phases) })
    }
  }
}
