// SPDX-License-Identifier: Apache-2.0

/// A Kalman filter on the motion of a tag together with the errors of its measurements.
///
/// The states are position, velocity, the delay of the tag, and two errors for each anchor: a
/// constant one, and one that changes slowly. They are stored in groups of eight, so that a
/// measurement costs some hundred vector operations and no allocation.
///
/// | states | meaning |
/// |---|---|
/// | 0, 1, 2 | position in metres |
/// | 3, 4, 5 | velocity in metres per second |
/// | 6 | delay of the tag, in metres |
/// | 7 | not used |
/// | 8 + 2k, 9 + 2k | constant and slow error of the anchor in slot k, in metres |
struct JointFilter: Sendable {
  typealias Lanes = SIMD8<Double>

  /// The number of groups of eight states.
  private(set) var chunks: Int
  private(set) var mean: [Lanes]
  /// The group `c` of row `r` stands at `r * chunks + c`.
  private(set) var covariance: [Lanes]
  /// The covariance of all states with the last measurement.
  private var column: [Lanes]
  /// The number of states in use.
  private(set) var rows = 8

  /// Creates a filter without anchors, whose states are all known to be zero.
  init(slots: Int) {
    chunks = 1 + (2 * slots + 7) / 8
    mean = Array(repeating: .zero, count: chunks)
    column = mean
    covariance = Array(repeating: .zero, count: 8 * chunks * chunks)
  }

  var position: SIMD3<Double> { SIMD3(mean[0][0], mean[0][1], mean[0][2]) }
  var velocity: SIMD3<Double> { SIMD3(mean[0][3], mean[0][4], mean[0][5]) }

  /// Returns the learned error of the anchor in `slot`, without the delay of the tag.
  func error(_ slot: Int) -> Double { Self.errors(mean, slot) }

  /// The covariance of the position.
  var spread: Spread {
    let (x, y, z) = (covariance[0], covariance[chunks], covariance[2 * chunks])
    return Spread(xx: x[0], xy: x[1], xz: x[2], yy: y[1], yz: y[2], zz: z[2])
  }

  /// The variance of the state `row`.
  func variance(_ row: Int) -> Double { covariance[row * chunks + row / 8][row % 8] }

  // MARK: states

  /// Makes room for more anchors.
  mutating func grow(slots: Int) {
    var wider = JointFilter(slots: slots)
    guard wider.chunks > chunks else { return }
    wider.rows = rows
    for chunk in 0..<chunks { wider.mean[chunk] = mean[chunk] }
    for row in 0..<rows {
      for chunk in 0..<chunks {
        wider.covariance[row * wider.chunks + chunk] = covariance[row * chunks + chunk]
      }
    }
    self = wider
  }

  /// Sets a state to `value` with `variance`, independent of all others.
  mutating func set(_ state: Int, _ value: Double, variance: Double) {
    rows = max(rows, state + 1)
    mean[state / 8][state % 8] = value
    for chunk in 0..<chunks { covariance[state * chunks + chunk] = .zero }
    for row in 0..<rows { covariance[row * chunks + state / 8][state % 8] = 0 }
    covariance[state * chunks + state / 8][state % 8] = variance
  }

  /// Sets the errors of the anchor in `slot` to their prior.
  mutating func begin(slot: Int, constant: Double, slow: Double) {
    set(8 + 2 * slot, 0, variance: constant)
    set(9 + 2 * slot, 0, variance: slow)
  }

  /// Sets position and velocity; the learned errors stay.
  mutating func restart(_ position: SIMD3<Double>, _ spread: Spread, speed: SIMD3<Double>) {
    for axis in 0..<3 {
      set(axis, position[axis], variance: 0)
      set(axis + 3, 0, variance: speed[axis] * speed[axis])
    }
    let lines = spread.lines
    for (row, line) in [lines.0, lines.1, lines.2].enumerated() {
      for axis in 0..<3 { covariance[row * chunks][axis] = line[axis] }
    }
  }

  // MARK: time

  /// Predicts the states after a step of time.
  mutating func advance(_ step: MotionStep) {
    mean[0] = step.moved(mean[0], towards: step.height)
    for chunk in 1..<chunks { mean[chunk] *= step.fade }
    let (chunks, rows) = (chunks, rows)
    var all = covariance.mutableSpan
    for chunk in 0..<chunks { step.moveRows(&all, chunk, chunks) }
    for row in 0..<8 {
      let start = row * chunks
      all[start] = step.moved(all[start])
      for chunk in 1..<chunks { all[start + chunk] *= step.fade }
    }
    for row in 8..<max(8, rows) {
      let start = row * chunks
      let factor = row % 2 == 1 ? step.fade[1] : 1
      all[start] = step.moved(all[start]) * factor
      for chunk in 1..<chunks { all[start + chunk] *= step.fade * factor }
    }
    for axis in 0..<3 {
      let (near, far) = (axis * chunks, (axis + 3) * chunks)
      all[near][axis] += step.noise.position[axis]
      all[near][axis + 3] += step.noise.both[axis]
      all[far][axis] += step.noise.both[axis]
      all[far][axis + 3] += step.noise.velocity[axis]
    }
    for row in stride(from: 9, to: rows, by: 2) {
      all[row * chunks + row / 8][row % 8] += step.noise.slow
    }
  }

  // MARK: measurements

  /// Computes the covariance of all states with a measurement.
  ///
  /// - Returns: the variance of the expected measurement.
  mutating func project(_ sight: Sight) -> Double {
    Self.project(covariance, sight, chunks, &column)
    var variance = (column[0] * sight.lanes).sum()
    if sight.slot >= 0 { variance += Self.errors(column, sight.slot) }
    if sight.reference >= 0 { variance -= Self.errors(column, sight.reference) }
    return variance
  }

  private static func project(
    _ covariance: [Lanes], _ sight: Sight, _ chunks: Int, _ column: inout [Lanes]
  ) {
    var result = column.mutableSpan
    let all = covariance.span
    for chunk in 0..<chunks {
      var sum: Lanes = all[chunk] * sight.lanes[0]
      sum += all[chunks + chunk] * sight.lanes[1]
      sum += all[2 * chunks + chunk] * sight.lanes[2]
      sum += all[6 * chunks + chunk] * sight.lanes[6]
      if sight.isMoving {
        for axis in 3..<6 { sum += all[axis * chunks + chunk] * sight.lanes[axis] }
      }
      if sight.slot >= 0 {
        let start = (8 + 2 * sight.slot) * chunks + chunk
        sum += all[start] + all[start + chunks]
      }
      if sight.reference >= 0 {
        let start = (8 + 2 * sight.reference) * chunks + chunk
        sum -= all[start] + all[start + chunks]
      }
      result[chunk] = sum
    }
  }

  /// Returns the sum of both errors of the anchor in `slot`.
  private static func errors(_ states: [Lanes], _ slot: Int) -> Double {
    let state = 8 + 2 * slot
    return states[state / 8][state % 8] + states[state / 8][state % 8 + 1]
  }

  /// Corrects the states by the measurement of the last call of `project`.
  mutating func correct(innovation: Double, variance: Double) {
    let inverse = 1 / variance
    for chunk in 0..<chunks { mean[chunk] += column[chunk] * (inverse * innovation) }
    Self.reduce(&covariance, column, inverse, chunks, groups: (rows + 7) / 8)
  }

  private static func reduce(
    _ covariance: inout [Lanes], _ column: [Lanes], _ inverse: Double, _ chunks: Int, groups: Int
  ) {
    let column = column.span
    var all = covariance.mutableSpan
    for group in 0..<groups {
      let gains = column[group] * inverse
      for lane in 0..<8 {
        let gain = gains[lane]
        let start = (8 * group + lane) * chunks
        for chunk in 0..<chunks { all[start + chunk] -= column[chunk] * gain }
      }
    }
  }

  // MARK: mixing

  /// Takes mean and covariance of two weighted filters of the same tag, each with its own weights.
  ///
  /// - Parameters:
  ///   - share: the weight of `second` in `first`.
  ///   - other: the weight of `second` in itself.
  static func mix(
    _ first: inout JointFilter, _ second: inout JointFilter, share: Double, other: Double
  ) {
    let (chunks, rows) = (first.chunks, first.rows)
    for chunk in 0..<chunks { first.column[chunk] = second.mean[chunk] - first.mean[chunk] }
    for chunk in 0..<chunks {
      let start = first.mean[chunk]
      first.mean[chunk] = start + first.column[chunk] * share
      second.mean[chunk] = start + first.column[chunk] * other
    }
    mix(
      &first.covariance, &second.covariance, first.column, rows: rows, chunks, share: share,
      other: other)
  }

  private static func mix(
    _ first: inout [Lanes], _ second: inout [Lanes], _ apart: [Lanes], rows: Int, _ chunks: Int,
    share: Double, other: Double
  ) {
    let apart = apart.span
    var one = first.mutableSpan
    var two = second.mutableSpan
    for row in 0..<rows {
      let distance = apart[row / 8][row % 8]
      for chunk in 0..<chunks {
        let index = row * chunks + chunk
        let a: Lanes = one[index]
        let product: Lanes = apart[chunk] * distance
        let difference: Lanes = two[index] - a
        one[index] = a + difference * share
        one[index] += product * (share * (1 - share))
        two[index] = a + difference * other
        two[index] += product * (other * (1 - other))
      }
    }
  }
}

/// A measurement as its filter expects it.
struct Sight: Sendable {
  /// The expected value.
  var value = 0.0
  /// The gradient by the first eight states.
  var lanes = SIMD8<Double>.zero
  /// The slot whose errors the measurement contains, and the slot of the first anchor of a
  /// difference, whose errors it contains with the other sign; -1 for none.
  var slot = -1
  var reference = -1
  /// Whether the gradient has a part by the velocity.
  var isMoving = false
  /// The variance that the curvature of the measurement adds.
  var curvature = 0.0
}

/// The covariance of a position, in square metres.
package struct Spread: Sendable, Hashable {
  package var xx, xy, xz, yy, yz, zz: Double

  package init(xx: Double, xy: Double, xz: Double, yy: Double, yz: Double, zz: Double) {
    (self.xx, self.xy, self.xz) = (xx, xy, xz)
    (self.yy, self.yz, self.zz) = (yy, yz, zz)
  }

  static let zero = Spread(xx: 0, xy: 0, xz: 0, yy: 0, yz: 0, zz: 0)

  /// The rows of the matrix.
  var lines: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>) {
    (SIMD3(xx, xy, xz), SIMD3(xy, yy, yz), SIMD3(xz, yz, zz))
  }

  func times(_ v: SIMD3<Double>) -> SIMD3<Double> {
    let lines = lines
    return SIMD3((lines.0 * v).sum(), (lines.1 * v).sum(), (lines.2 * v).sum())
  }

  /// Adds the outer product of `v` with itself, multiplied by `weight`.
  mutating func add(_ v: SIMD3<Double>, _ weight: Double) {
    xx += weight * v.x * v.x
    xy += weight * v.x * v.y
    xz += weight * v.x * v.z
    yy += weight * v.y * v.y
    yz += weight * v.y * v.z
    zz += weight * v.z * v.z
  }

  mutating func add(_ other: Spread, _ weight: Double) {
    xx += weight * other.xx
    xy += weight * other.xy
    xz += weight * other.xz
    yy += weight * other.yy
    yz += weight * other.yz
    zz += weight * other.zz
  }

  func scaled(_ factor: Double) -> Spread {
    var result = Spread.zero
    result.add(self, factor)
    return result
  }

  /// The inverse; nil unless the matrix is positive definite.
  var inverse: Spread? {
    let (a, b, c) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy)
    let determinant = xx * a + xy * b + xz * c
    guard xx > 0, xx * yy > xy * xy, determinant > 0, determinant.isFinite else { return nil }
    return Spread(
      xx: a, xy: b, xz: c, yy: xx * zz - xz * xz, yz: xy * xz - xx * yz, zz: xx * yy - xy * xy
    ).scaled(1 / determinant)
  }

  /// The variances along the longest and the shortest axis of the ellipse seen from above.
  package var axes: (long: Double, short: Double) {
    let (mean, half) = ((xx + yy) / 2, (xx - yy) / 2)
    let spread = (half * half + xy * xy).squareRoot()
    return (max(0, mean + spread), max(0, mean - spread))
  }

  /// The radius in metres of the circle, seen from above, that holds 95 of 100 places.
  package var r95: Double {
    let axes = axes
    guard axes.long > 0 else { return 0 }
    // In units of the longest deviation: 1.96 for a line, 2.448 for a circle, a polynomial between.
    let q = axes.short / axes.long
    return (1.9614 + q * (0.1965 + q * (0.4478 - q * 0.157))) * axes.long.squareRoot()
  }
}

extension SIMD3<Double> {
  var length: Double { (self * self).sum().squareRoot() }
}
