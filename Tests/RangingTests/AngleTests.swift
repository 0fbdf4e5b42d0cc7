// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing
import UWBTestSupport

private let degree = Double.pi / 180

@Suite(.ownThreads) struct AngleTests {
  /// An antenna that saturates, is not symmetric and runs past half a turn.
  static func curve(_ degrees: Double) -> Double {
    let angle = degrees * degree
    let sine = angle - angle * angle * angle / 6 + angle * angle * angle * angle * angle / 120
    return degree * (175 * sine - 14 + 6 * sine * sine)
  }

  static let table = PhaseTable(
    stride(from: -90.0, through: 90, by: 6).map { ($0 * degree, curve($0)) })

  @Test func `Inverts a table of phases`() throws {
    let table = try #require(Self.table)
    #expect(table.span.lowerBound < -.pi)
    for degrees in stride(from: -80.0, through: 80, by: 3) {
      let found = table.angle(of: Self.curve(degrees))
      #expect(abs(found.angle / degree - degrees) < 0.7)
    }
    #expect(table.angle(of: 100).angle == 90 * degree)
    // Wrapped points are the same table.
    let again = PhaseTable(
      stride(from: -90.0, through: 90, by: 6).map {
        let phase = Self.curve($0)
        return ($0 * degree, phase - 2 * .pi * (phase / (2 * .pi)).rounded())
      })
    let shift = try #require(again).phases[0] - table.phases[0]
    let turns = shift / (2 * .pi)
    #expect(abs(turns - turns.rounded()) < 1e-9)
    #expect(PhaseTable([]) == nil && PhaseTable([(0, 0), (1, .nan)]) == nil)
    #expect(PhaseTable([(0, 1), (1, 1)]) == nil)
    // A dent becomes flat; a falling curve stays one.
    let dented = try #require(PhaseTable([(0, 0), (1, 1), (2, 0.8), (3, 2)]))
    #expect(dented.phases == [0, 0.9, 0.9, 2])
    let falling = try #require(PhaseTable([(0, 2), (1, 1), (2, 0)]))
    #expect(falling.angle(of: 0.5).angle == 1.5)
    #expect(dented.span == 0...2 && falling.span == 0...2)
  }

  /// The figures to reach: 2.1, 2.6 and 3.6 degrees with 5 degrees of phase noise.
  @Test(arguments: [(45.0, 2.1), (60, 2.6), (80, 3.6)])
  func `Unwraps phases by the prediction`(_ limit: Double, _ figure: Double) throws {
    let table = try #require(Self.table)
    var noise = Noise(seed: UInt64(limit))
    var tracker = AngleTracker(table)
    var rows: [(time: Double, phases: [Double?])] = []
    var truth: [Double] = []
    var errors = Spread()
    for step in 0..<500 {
      let time = Double(step) * 0.1
      // To and fro at up to 20 degrees a second, slower towards the ends.
      let phase = time * 20 / limit
      let turns = phase / (2 * .pi)
      let bend = phase - 2 * .pi * turns.rounded()
      let angle = limit * (1 - 2 * bend * bend / (.pi * .pi))
      let measured = Self.curve(angle) + 5 * degree * noise.normal()
      let wrapped = measured - 2 * .pi * (measured / (2 * .pi)).rounded()
      rows.append((time, [wrapped]))
      truth.append(angle)
      if let estimate = tracker.update(phase: wrapped, time: time), step > 5 {
        errors.add(estimate.angle / degree - angle)
        #expect(estimate.figureOfMerit > 0)
      }
    }
    let rms = (errors.deviation * errors.deviation + errors.mean * errors.mean).squareRoot()
    #expect(rms < figure * 1.1, "tracker: \(rms)")
    let finder = try #require(
      DirectionFinder([AntennaPair(.table(table, x: 0, y: 1, z: 0))]))
    var squares = 0.0
    for (direction, angle) in zip(finder.directions(rows), truth) {
      let error = try #require(direction).azimuth / degree - angle
      squares += error * error
    }
    #expect((squares / 500).squareRoot() < figure)
  }

  /// Four antennas in a ring, all round, one phase in a hundred wrong.
  @Test func `Estimates directions over the full circle`() throws {
    let positions = [(0.35, 0.0), (0, 0.35), (-0.35, 0), (0, -0.35)]
    let pairs = [(0, 1), (1, 2), (2, 3), (3, 0)].map { a, b in
      AntennaPair(
        .baseline(
          x: positions[a].0 - positions[b].0, y: positions[a].1 - positions[b].1, z: 0),
        offset: 0.2)
    }
    let finder = try #require(DirectionFinder(pairs))
    var noise = Noise(seed: 9)
    let rows = (0..<360).map { step in
      let azimuth = Double(step) * degree
      let phases = pairs.map { pair -> Double? in
        if noise.uniform() < 0.01 { return 6 * noise.uniform() - 3 }
        return pair.phase(azimuth: azimuth, elevation: 0) + 5 * degree * noise.normal()
      }
      return (time: Double(step) / 10, phases: phases)
    }
    for live in [false, true] {
      var squares = 0.0
      for (step, direction) in finder.directions(rows, live: live).enumerated() {
        let error = try #require(direction).azimuth / degree - Double(step)
        let wrapped = error - 360 * (error / 360).rounded()
        squares += wrapped * wrapped
      }
      #expect((squares / 360).squareRoot() < 2)
    }
  }

  /// Antennas more than half a wavelength apart hear the same phase from several directions.
  @Test func `The probability is that of the highest peak`() throws {
    let finder = try #require(DirectionFinder([AntennaPair(.baseline(x: 0, y: 1, z: 0))]))
    let found = try #require(finder.directions([(0, [0])])[0])
    #expect(0.2...0.6 ~= found.probability, "\(found.probability)")
  }

  @Test func `Estimates elevation if the antennas determine it`() throws {
    let pairs = [
      AntennaPair(.baseline(x: 0, y: 0.45, z: 0)), AntennaPair(.baseline(x: 0, y: 0, z: 0.45)),
    ]
    let finder = try #require(DirectionFinder(pairs))
    let phases = pairs.map { $0.phase(azimuth: 30 * degree, elevation: 25 * degree) as Double? }
    let found = try #require(finder.directions([(0, phases), (0.1, phases)])[1])
    #expect(abs(found.azimuth / degree - 30) < 1)
    #expect(abs(found.elevation / degree - 25) < 2)
    #expect(found.probability > 0.9)
    #expect(finder.directions([(0, [nil, .nan])]) == [nil])
    #expect(DirectionFinder([]) == nil)
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
