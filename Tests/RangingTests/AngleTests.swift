// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing
import UWBTestSupport

private let degree = Double.pi / 180

@Suite(.computes) struct AngleTests {
  static let table = PhaseTable(
    stride(from: -90.0, through: 90, by: 6).map { ($0 * degree, Sweep.curve($0)) })

  @Test func `Inverts a table of phases`() throws {
    let table = try #require(Self.table)
    #expect(table.span.lowerBound < -.pi)
    for degrees in stride(from: -80.0, through: 80, by: 3) {
      let found = table.angle(of: Sweep.curve(degrees))
      #expect(abs(found.angle / degree - degrees) < 0.7)
    }
    #expect(table.angle(of: 100).angle == 90 * degree)
    // Wrapped points give the same table.
    let again = PhaseTable(
      stride(from: -90.0, through: 90, by: 6).map {
        let phase = Sweep.curve($0)
        return ($0 * degree, phase - 2 * .pi * (phase / (2 * .pi)).rounded())
      })
    let shift = try #require(again).phases[0] - table.phases[0]
    let turns = shift / (2 * .pi)
    #expect(abs(turns - turns.rounded()) < 1e-9)
    #expect(PhaseTable([]) == nil && PhaseTable([(0, 0), (1, .nan)]) == nil)
    #expect(PhaseTable([(0, 1), (1, 1)]) == nil)
    // A dent becomes flat; a falling curve is kept.
    let dented = try #require(PhaseTable([(0, 0), (1, 1), (2, 0.8), (3, 2)]))
    #expect(dented.phases == [0, 0.9, 0.9, 2])
    let falling = try #require(PhaseTable([(0, 2), (1, 1), (2, 0)]))
    #expect(falling.angle(of: 0.5).angle == 1.5)
    #expect(dented.span == 0...2 && falling.span == 0...2)
  }

  /// The figures to reach: 2.1, 2.6 and 3.6 degrees with 5 degrees of phase noise.
  @Test(arguments: [(45.0, 2.1), (60, 2.6), (80, 3.6)])
  func `Unwraps phases by the prediction`(_ limit: Double, _ figure: Double) throws {
    var tracker = AngleTracker(try #require(Self.table))
    var errors = Spread()
    for (step, one) in Sweep.rows(to: limit).enumerated() {
      if let estimate = tracker.update(phase: one.phase, time: one.time), step > 5 {
        errors.add(estimate.angle / degree - one.angle)
        #expect(estimate.standardDeviation < 45 * degree && estimate.disposition != .invalid)
      }
    }
    let rms = (errors.deviation * errors.deviation + errors.mean * errors.mean).squareRoot()
    #expect(rms < figure * 1.1)
  }

  @Test func `Converts cone angles and averages phasors`() throws {
    let cone = Cone.cone(azimuth: 45 * degree, elevation: 45 * degree)
    #expect(abs(cone / degree - 30) < 1e-9)
    #expect(abs(Cone.azimuth(cone: cone, elevation: 45 * degree) / degree - 45) < 1e-9)
    #expect(Cone.azimuth(cone: 1.5, elevation: 1.5).isFinite)
    var mean = PhasorMean()
    #expect(mean.phase == nil)
    mean.add(3.1)
    mean.add(-3.1)
    mean.add(.nan)
    #expect(abs(abs(try #require(mean.phase)) - .pi) < 1e-9)
    #expect(mean.concentration > 0.99)
  }
}
