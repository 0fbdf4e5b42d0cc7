// SPDX-License-Identifier: Apache-2.0
import Estimators
import Foundation
import Ranging
import Testing
import UWBTestSupport

private let degree = Double.pi / 180

@Suite(.computes) struct PhaseTableFitTests {
  private func wrapped(_ phase: Double) -> Double {
    phase - 2 * .pi * (phase / (2 * .pi)).rounded()
  }

  /// Phases of the asymmetric antenna of `AngleTests`, whose span is more than a turn.
  private func samples(
    seed: UInt64, offset: Double, outliers: Double = 0.03, from low: Double = -90,
    to high: Double = 90
  ) -> [PhaseSample] {
    var noise = Noise(seed: seed)
    return (0..<1500).map { index in
      let degrees = low + (high - low) * Double(index % 181) / 180
      var phase = Sweep.curve(degrees) + offset + 5 * degree * noise.normal()
      if noise.uniform() < outliers { phase = 2 * .pi * noise.uniform() }
      return PhaseSample(angle: degrees * degree, phase: wrapped(phase))
    }
  }

  @Test(arguments: [0.0, 1.3, -2.9, 3.1])
  func `A turntable determines offset and table`(_ offset: Double) throws {
    let samples = samples(seed: 1, offset: offset)
    let fit = try PhaseTableFit(samples)
    let ahead = Sweep.curve(0) + offset
    #expect(abs(wrapped(fit.offset - ahead)) < 0.03)
    #expect(abs(fit.table.phase(at: 0)) < 1e-9)
    // From end to end, the phases span more than a turn, as the true phases do.
    let span = Sweep.curve(90) - Sweep.curve(-90)
    #expect(abs(fit.table.span.upperBound - fit.table.span.lowerBound - span) < 0.15)
    for degrees in stride(from: -84.0, through: 84, by: 4) {
      let found = fit.table.phase(at: degrees * degree)
      let truth = Sweep.curve(degrees) - Sweep.curve(0)
      #expect(abs(found - truth) < 0.06, "\(degrees) degrees: \(found) for \(truth)")
    }
    #expect(4...6 ~= fit.phaseDeviation / degree)
    #expect(fit.flattened < 0.1)
    let outliers = fit.isUsed.count { !$0 }
    #expect(25...60 ~= outliers)
    #expect(fit.angleResiduals.median < 2.5 * degree)
  }

  /// Angles of another recording of the same antenna are as good as its noise allows.
  @Test func `Angles of another recording match`() throws {
    let fit = try PhaseTableFit(samples(seed: 2, offset: 0.7))
    var spread = Spread()
    var noise = Noise(seed: 3)
    for step in 0..<2000 {
      let degrees = -60 + 120 * Double(step) / 2000
      let phase = Sweep.curve(degrees) + 0.7 + 5 * degree * noise.normal()
      let near = fit.table.phase(at: degrees * degree)
      let rest = wrapped(phase - fit.offset - near)
      spread.add(fit.table.angle(of: near + rest).angle / degree - degrees)
    }
    // 5 degrees of phase at half a wavelength are 1.6 to 3.2 degrees of angle.
    #expect(abs(spread.mean) < 0.2 && spread.deviation < 2.6)
  }

  @Test func `Fits a sector without the middle`() throws {
    let fit = try PhaseTableFit(samples(seed: 4, offset: 0.5, from: 20, to: 80))
    #expect(fit.offset == 0)
    let rest = fit.table.phase(at: 50 * degree) - Sweep.curve(50) - 0.5
    #expect(abs(wrapped(rest)) < 0.05)
  }

  @Test func `Refuses invalid input`() {
    #expect(throws: FitFailure.tooFew(2, needed: 8)) {
      try PhaseTableFit([.init(angle: 0, phase: 0), .init(angle: 1, phase: 1)])
    }
    #expect(throws: FitFailure.self) {
      try PhaseTableFit((0..<20).map { _ in PhaseSample(angle: 0.1, phase: 1) })
    }
    #expect(throws: FitFailure.noCurve) {
      try PhaseTableFit((0..<90).map { PhaseSample(angle: Double($0) * degree, phase: 1) })
    }
    var noise = Noise(seed: 5)
    let nothing = (0..<900).map { index in
      PhaseSample(angle: Double(index % 90) * degree, phase: 2 * .pi * noise.uniform())
    }
    #expect(throws: FitFailure.noCurve) { try PhaseTableFit(nothing) }
    let bad = [PhaseSample(angle: .nan, phase: 0), PhaseSample(angle: 0, phase: .infinity)]
    #expect(throws: FitFailure.tooFew(0, needed: 8)) { try PhaseTableFit(bad) }
  }

  // MARK: a walk

  /// A person walks back and forth in front of the antennas, 3 m away, and carries the tag a metre
  /// above them. The clock of the phases is late.
  private func walk(
    seed: UInt64, lag: Double, bothWays: Bool = true
  ) -> (way: [WalkaroundCalibration.Point], phases: [(time: Double, phase: Double)]) {
    var noise = Noise(seed: seed)
    let antennas = Pose(position: SIMD3<Double>(1, 2, 1.5), w: cos(0.35), z: sin(0.35))
    func position(_ time: Double) -> SIMD3<Double> {
      let swing = bothWays ? -cos(time * .pi / 12) : time / 30 - 1
      let azimuth = 85 * degree * swing + 0.7
      return SIMD3<Double>(1 + 3 * cos(azimuth), 2 + 3 * sin(azimuth), 2.5)
    }
    let way = (0..<600).map { step in
      let time = Double(step) / 10
      let here = position(time)
      return WalkaroundCalibration.Point(
        time: time,
        position: here + SIMD3<Double>(0.03 * noise.normal(), 0.03 * noise.normal(), 0),
        antennas: antennas)
    }
    let phases = (0..<420).map { step in
      let time = 0.5 + Double(step) / 7.3
      let seen = antennas.toDevice(position(time) - antennas.position)
      let cone = asin(seen.y / seen.length)
      var phase = Sweep.curve(cone / degree) + 1.1 + 5 * degree * noise.normal()
      if noise.uniform() < 0.05 { phase = 2 * .pi * noise.uniform() }
      return (time: time - lag, phase: wrapped(phase))
    }
    return (way, phases)
  }

  @Test(arguments: [0.34, -0.6])
  func `A walk in both directions determines lag and table`(_ lag: Double) throws {
    let (way, phases) = walk(seed: 6, lag: lag)
    let walk = try WalkaroundCalibration(path: way, phases: phases)
    #expect(walk.isLagKnown)
    #expect(abs(walk.lag - lag) < 0.04, "\(walk.lag) for \(lag)")
    #expect(abs(wrapped(walk.fit.offset - 1.1 - Sweep.curve(0))) < 0.04)
    for degrees in stride(from: -66.0, through: 66, by: 6) {
      let truth = Sweep.curve(degrees) - Sweep.curve(0)
      #expect(abs(walk.fit.table.phase(at: degrees * degree) - truth) < 0.12, "\(degrees)")
    }
    #expect(walk.samples.count == walk.indices.count && walk.samples.count > 350)
  }

  @Test func `A walk in one direction does not determine the lag`() throws {
    let (way, phases) = walk(seed: 7, lag: 0, bothWays: false)
    let walk = try WalkaroundCalibration(path: way, phases: phases)
    #expect(!walk.isLagKnown && walk.lag == 0)
    let truth = Sweep.curve(0.5 / degree) - Sweep.curve(0)
    #expect(abs(walk.fit.table.phase(at: 0.5) - truth) < 0.08)
    #expect(throws: FitFailure.self) { try WalkaroundCalibration(path: [], phases: phases) }
  }
}
