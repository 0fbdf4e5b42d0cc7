// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite struct JointFilterTests {
  /// A filter in which all states depend on each other.
  private func filter() -> JointFilter {
    var filter = JointFilter(slots: 4)
    filter.restart(
      [1, 2, 3], Spread(xx: 2, xy: 0.3, xz: 0.1, yy: 1, yz: 0.2, zz: 1), speed: [1, 1, 1])
    filter.set(6, 0, variance: 0.02)
    for slot in 0..<3 { filter.begin(slot: slot, constant: 0.01, slow: 0.02) }
    for slot in 0..<3 {
      let variance = filter.project(sight(slot))
      filter.correct(innovation: 0.3 - 0.2 * Double(slot), variance: variance + 0.01)
    }
    filter.advance(step(0.3))
    return filter
  }

  private func sight(_ slot: Int) -> Sight {
    var sight = Sight()
    sight.slot = slot
    sight.lanes = [0.6, 0.64, 0.48 - Double(slot) / 10, -0.06, -0.08, 0, 1, 0]
    sight.isMoving = true
    return sight
  }

  private func step(_ dt: Double, turn: Double = 0) -> MotionStep {
    MotionStep(.walk, dt, height: .free, turn: turn, slow: (0.02, 2))
  }

  private func dense(_ filter: JointFilter) -> Matrix {
    var result = Matrix(rows: 14, columns: 14)
    for row in 0..<14 {
      for column in 0..<14 {
        result[row, column] = filter.covariance(row, column)
      }
    }
    return result
  }

  private func states(_ filter: JointFilter) -> [Double] {
    (0..<14).map { index in
      let chunk: SIMD8<Double> = filter.mean[index / 8]
      return chunk[index % 8]
    }
  }

  private func expectEqual(_ a: Matrix, _ b: Matrix) {
    for (x, y) in zip(a.elements, b.elements) { #expect(abs(x - y) < 1e-12) }
  }

  @Test("A measurement corrects the states as dense matrices do")
  func correction() {
    var filter = filter()
    let before = dense(filter)
    let mean = states(filter)
    var gradient = Array(repeating: 0.0, count: 14)
    let sight = sight(1)
    for state in 0..<8 { gradient[state] = sight.lanes[state] }
    (gradient[10], gradient[11]) = (1, 1)
    let column = before * gradient
    let own = zip(column, gradient).reduce(0) { $0 + $1.0 * $1.1 }
    #expect(abs(filter.project(sight) - own) < 1e-12)
    filter.correct(innovation: 0.4, variance: own + 0.05)
    var expected = before
    for row in 0..<14 {
      for other in 0..<14 { expected[row, other] -= column[row] * column[other] / (own + 0.05) }
      let state = mean[row] + column[row] / (own + 0.05) * 0.4
      #expect(abs(filter.mean[row / 8][row % 8] - state) < 1e-12)
    }
    expectEqual(dense(filter), expected)
  }

  @Test("A step of time moves the states as dense matrices do", arguments: [0.0, 0.4])
  func prediction(turn: Double) {
    var filter = filter()
    let before = dense(filter)
    let (dt, memory, speed) = (0.5, MotionModel.walk.memory, MotionModel.walk.speed)
    let left = Math.exp(-dt / memory)
    var motion = Matrix.identity(14)
    for axis in 0..<3 {
      motion[axis, axis + 3] = memory * (1 - left)
      motion[axis + 3, axis + 3] = left
    }
    (motion[3, 3], motion[4, 4]) = (left * Math.cos(turn), left * Math.cos(turn))
    (motion[3, 4], motion[4, 3]) = (-left * Math.sin(turn), left * Math.sin(turn))
    for row in [9, 11, 13] { motion[row, row] = Math.exp(-dt / 2) }
    filter.advance(step(dt, turn: turn))
    var expected = motion * before * motion.transposed
    let variance = speed * speed
    for axis in 0..<3 {
      let rest: Double = memory * (3 - 4 * left + left * left)
      expected[axis, axis] += variance * memory * (2 * dt - rest)
      let both: Double = variance * memory * (1 - left) * (1 - left)
      expected[axis, axis + 3] += both
      expected[axis + 3, axis] += both
      expected[axis + 3, axis + 3] += variance * (1 - left * left)
    }
    for row in [9, 11, 13] { expected[row, row] += 0.02 * (1 - Math.exp(-dt)) }
    expectEqual(dense(filter), expected)
  }

  @Test("Mixed filters have the mean and the covariance of the mixture")
  func mixture() {
    var (one, two) = (filter(), filter())
    two.advance(step(1))
    _ = two.project(sight(0))
    two.correct(innovation: 1, variance: 3)
    let (a, b) = (dense(one), dense(two))
    let (first, second) = (states(one), states(two))
    let apart = zip(first, second).map { $1 - $0 }
    JointFilter.mix(&one, &two, share: 0.25, other: 0.75)
    for (filter, weight) in [(one, 0.25), (two, 0.75)] {
      var expected = Matrix(rows: 14, columns: 14)
      for row in 0..<14 {
        for other in 0..<14 {
          let mean: Double = a[row, other] * (1 - weight) + b[row, other] * weight
          let product: Double = apart[row] * apart[other]
          expected[row, other] = mean + weight * (1 - weight) * product
        }
      }
      expectEqual(dense(filter), expected)
    }
  }

  @Test("More anchors leave the states as they are")
  func growth() {
    var filter = filter()
    let before = dense(filter)
    filter.grow(slots: 12)
    #expect(filter.chunks == 4)
    expectEqual(dense(filter), before)
  }

  @Test("A known height returns to its middle, and its variance to the stated one")
  func height() {
    var filter = JointFilter(slots: 4)
    filter.restart([0, 0, 3], .zero, speed: [1, 1, 0])
    filter.advance(
      MotionStep(.walk, 100, height: .fixed(1, deviation: 0.2), slow: (0.01, 2)))
    #expect(abs(filter.position.z - 1) < 1e-6)
    #expect(abs(filter.spread.zz - 0.04) < 1e-6)
  }
}
