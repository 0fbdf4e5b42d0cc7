// SPDX-License-Identifier: Apache-2.0
import Ranging
import RangingScenes
import Testing
import UWBTestSupport

@testable import Estimators

/// Sparse equations, compared with full matrices.
@Suite(.computes) struct ProfileMatrixTests {
  /// Related unknowns as lines between points.
  enum Shape: String, CaseIterable {
    case single, line, ring, star, grid, complete, random, groups

    func lines(_ noise: inout Noise) -> (count: Int, lines: [(Int, Int)]) {
      func all(_ points: Range<Int>) -> [(Int, Int)] {
        points.flatMap { a in (a + 1..<points.upperBound).map { (a, $0) } }
      }
      switch self {
      case .single: return (1, [])
      case .line: return (9, (0..<8).map { ($0, $0 + 1) })
      case .ring: return (11, (0..<11).map { ($0, ($0 * 4 + 4) % 11) }.filter { $0.0 != $0.1 })
      case .star: return (12, (0..<12).filter { $0 != 5 }.map { (5, $0) })
      case .grid:
        let right = (0..<20).filter { $0 % 5 != 4 }.map { ($0, $0 + 1) }
        return (20, right + (0..<15).map { ($0, $0 + 5) })
      case .complete: return (8, all(0..<8))
      case .random: return (25, all(0..<25).filter { _ in noise.uniform() < 0.15 })
      case .groups: return (14, all(0..<4) + all(4..<9))
      }
    }
  }

  /// The sparse and the full matrix of the same random observations, and a right side.
  private func equations(
    _ shape: Shape, seed: UInt64
  ) -> (sparse: ProfileMatrix, full: NormalEquations, lines: [(Int, Int)]) {
    var noise = Noise(seed: seed)
    let (count, lines) = shape.lines(&noise)
    var neighbours = [Set<Int>](repeating: [], count: count)
    for (a, b) in lines {
      neighbours[a].insert(b)
      neighbours[b].insert(a)
    }
    var sparse = ProfileMatrix(MatrixProfile(neighbours: neighbours))
    var full = NormalEquations(count: count)
    for unknowns in lines.map({ [$0.0, $0.1] }) + (0..<count).map({ [$0] }) {
      let (weight, value) = (0.1 + noise.uniform(), noise.normal())
      sparse.add(unknowns, weight: weight)
      full.observe(unknowns.map { ($0, 1) }, value, weight)
    }
    return (sparse, full, lines)
  }

  @Test(arguments: Shape.allCases, [UInt64(1), 2, 3])
  func `Has the solution and the inverse of a full matrix`(_ shape: Shape, seed: UInt64) throws {
    let (sparse, full, lines) = equations(shape, seed: seed)
    let factor = try #require(sparse.factored())
    let values = try #require(full.solved())
    for (a, b) in zip(factor.solved(full.right), values) { #expect(abs(a - b) < 1e-9) }
    let (inverse, whole) = (factor.inverse(), try #require(full.inverse()))
    for unknowns in lines.map({ [$0.0, $0.1] }) + (0..<full.count).map({ [$0] }) {
      let sum = unknowns.reduce(0) { sum, a in
        unknowns.reduce(sum) { $0 + whole[a * full.count + $1] }
      }
      #expect(abs(inverse.sum(unknowns) - sum) < 1e-9 * max(1, abs(sum)), "\(unknowns)")
    }
  }

  /// Without a weight, an unknown is not determined.
  @Test(arguments: Shape.allCases) func `Has no factor if it is singular`(_ shape: Shape) {
    var noise = Noise(seed: 4)
    let (count, lines) = shape.lines(&noise)
    var neighbours = [Set<Int>](repeating: [], count: count)
    for (a, b) in lines {
      neighbours[a].insert(b)
      neighbours[b].insert(a)
    }
    #expect(ProfileMatrix(MatrixProfile(neighbours: neighbours)).factored() == nil)
    #expect(ProfileMatrix(MatrixProfile(neighbours: [])).factored() != nil)
  }

  /// The work grows with the number of boards, whatever their names, except if all are related.
  @Test func `Keeps related unknowns close together`() {
    func work(_ count: Int, _ others: (Int) -> [Int]) -> Double {
      var neighbours = [Set<Int>](repeating: [], count: count)
      for one in 0..<count {
        for other in others(one) where other != one {
          neighbours[one].insert(other)
          neighbours[other].insert(one)
        }
      }
      return MatrixProfile(neighbours: neighbours).work
    }
    // 373 and 1000 have no common factor: a ring in an order of its own.
    #expect(work(1000) { [($0 + 373) % 1000, ($0 + 746) % 1000] } < 1000 * 36)
    #expect(work(1000) { _ in [500] } < 1000 * 1005)
    #expect(work(100) { _ in Array(0..<100) } == (1...100).reduce(0) { $0 + Double($1 * $1) })
  }

  /// Each board was measured with the next two of a ring; some distances are wrong.
  @Test func `Determines the delays of a thousand boards`() throws {
    var noise = Noise(seed: 5)
    let delays = (0..<1000).map { _ in 0.1 + 0.1 * noise.uniform() }
    func name(_ index: Int) -> BoardAntenna { BoardAntenna("\(index)") }
    var measurements: [DelayMeasurement] = []
    for a in delays.indices {
      for b in [(a + 1) % 1000, (a + 2) % 1000] {
        let wrong = a % 100 == 0 && b == a + 1 ? 0.5 : 0
        measurements.append(
          DelayMeasurement(
            name(a), name(b), measured: 3 + delays[a] + delays[b] + 0.01 * noise.normal() + wrong,
            truth: 3))
      }
    }
    let fit = try AntennaDelayFit(measurements)
    #expect(fit.delays.count == 1000 && fit.redundancy > 900)
    let bad = fit.placements.filter { $0.verdict != .used && $0.residual > 0.2 }
    #expect(bad.count == 10)
    for (index, truth) in delays.enumerated() {
      let found = try #require(fit.delays[name(index)])
      #expect(abs(found.metres - truth) < 5 * found.standardDeviation, "\(index)")
      #expect(found.standardDeviation < 0.03)
    }
  }

  @Test func `Refuses too many boards`() {
    var measurements: [DelayMeasurement] = []
    for a in 0..<5000 {
      for step in [7919, 4391, 1013] {
        let b = (a * step + step) % 5003
        guard b != a else { continue }
        measurements.append(
          DelayMeasurement(BoardAntenna("\(a)"), BoardAntenna("\(b)"), measured: 3, truth: 3))
      }
    }
    #expect(throws: FitFailure.tooMany(5003)) { try AntennaDelayFit(measurements) }
  }

  /// The delays of more boards would not fit into a file that can be read.
  @Test func aLongChainOfBoardsIsRefused() {
    let chain = (0..<20_000).map {
      DelayMeasurement(BoardAntenna("\($0)"), BoardAntenna("\($0 + 1)"), measured: 3, truth: 3)
    }
    #expect(throws: FitFailure.tooMany(20_001)) { try AntennaDelayFit(chain) }
  }
}
