// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import Testing
import UWBTestSupport

private let degree = Double.pi / 180

@Suite(.computes) struct DirectionTests {
  /// The required figures are 2.1, 2.6 and 3.6 degrees at 5 degrees of phase noise.
  @Test(arguments: [(45.0, 2.1), (60, 2.6), (80, 3.6)])
  func `Smooths directions from a table`(_ limit: Double, _ figure: Double) throws {
    let table = try #require(
      PhaseTable(
        stride(from: -90.0, through: 90, by: 6).map { ($0 * degree, Sweep.curve($0)) }))
    let finder = try #require(
      DirectionFinder([AntennaPair(.table(table, x: 0, y: 1, z: 0))]))
    let sweep = Sweep.rows(to: limit)
    var squares = 0.0
    for (direction, one) in zip(finder.directions(sweep.map { ($0.time, [$0.phase]) }), sweep) {
      let error = try #require(direction).azimuth / degree - one.angle
      squares += error * error
    }
    #expect((squares / 500).squareRoot() < figure)
  }

  /// The four antennas of a ring.
  private static let ring: [AntennaPair] = {
    let positions = [(0.35, 0.0), (0, 0.35), (-0.35, 0), (0, -0.35)]
    return [(0, 1), (1, 2), (2, 3), (3, 0)].map { a, b in
      AntennaPair(
        .baseline(
          x: positions[a].0 - positions[b].0, y: positions[a].1 - positions[b].1, z: 0),
        offset: 0.2)
    }
  }()

  /// The peer moves through all directions, and one phase in a hundred is wrong.
  @Test func `Estimates directions over the full circle`() throws {
    let pairs = Self.ring
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

  /// The peer jumps in each row of the recording, as in single frames of many devices.
  @Test func `Rows that have nothing in common do not change each other`() throws {
    let finder = try #require(DirectionFinder(Self.ring))
    var noise = Noise(seed: 13)
    let rows = (0..<60).map { step in
      let azimuth = noise.uniform(-.pi, .pi)
      let phases = Self.ring.map { pair -> Double? in
        pair.phase(azimuth: azimuth, elevation: 0) + 5 * degree * noise.normal()
      }
      return (time: Double(step) / 10, phases: phases)
    }
    for (row, direction) in zip(rows, finder.directions(rows)) {
      let (found, alone) = (
        try #require(direction), try #require(finder.directions([row])[0])
      )
      #expect(abs(wrapped(found.azimuth - alone.azimuth)) < 1e-9)
    }
  }

  /// Antennas more than half a wavelength apart receive the same phase from several directions.
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
}
