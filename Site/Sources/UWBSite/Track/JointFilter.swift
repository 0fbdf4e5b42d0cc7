// SPDX-License-Identifier: Apache-2.0

/// A Kalman filter on the motion of a tag together with the errors of its measurements.
///
/// The states are position, velocity, the delay of the tag, and two errors for each anchor: a
/// constant error, and an error that changes slowly. They are stored in groups of eight, so that a
/// measurement costs some hundred vector operations and no allocation.
///
/// | states | meaning |
/// |---|---|
/// | 0, 1, 2 | position in metres |
/// | 3, 4, 5 | velocity in metres per second |
/// | 6 | delay of the tag, in metres |
/// | 7 | time of a round of arrivals, in metres |
/// | 8 + 2k, 9 + 2k | constant and slow error of the anchor in slot k, in metres |
struct JointFilter: Sendable {
  typealias Lanes = SIMD8<Double>

  /// The number of groups of eight states.
  private(set) var chunks: Int
  private(set) var mean: [Lanes]
  /// The blocks of 8 × 8 on and above the diagonal of the covariance, one after the other.
  private var blocks: [Lanes]
  /// The covariance of all states with the last measurement, which `project` computes.
  private var column: [Lanes]

  /// Creates a filter without anchors, whose states are all known to be zero.
  init(slots: Int) {
    chunks = 1 + (2 * slots + 7) / 8
    mean = Array(repeating: .zero, count: chunks)
    column = mean
    blocks = Array(repeating: .zero, count: 4 * chunks * (chunks + 1))
  }

  /// Returns whether a saved filter has room for a number of anchors.
  func hasRoom(for slots: Int) -> Bool { chunks >= 1 + (2 * slots + 7) / 8 }

  var position: SIMD3<Double> { SIMD3(mean[0][0], mean[0][1], mean[0][2]) }
  var velocity: SIMD3<Double> { SIMD3(mean[0][3], mean[0][4], mean[0][5]) }

  /// Returns the learned error of the anchor in `slot`, without the delay of the tag.
  func error(_ slot: Int) -> Double { Self.errors(mean, slot) }

  /// Returns the constant error of the anchor in `slot`.
  func error(constant slot: Int) -> Double { mean[1 + slot / 4][2 * (slot % 4)] }
  /// Returns the variance of the constant error of the anchor in `slot`.
  func variance(constant slot: Int) -> Double { covariance(8 + 2 * slot, 8 + 2 * slot) }

  /// The covariance of the position.
  var spread: Spread {
    let (x, y, z) = (blocks[0], blocks[1], blocks[2])
    return Spread(xx: x[0], xy: x[1], xz: x[2], yy: y[1], yz: y[2], zz: z[2])
  }

  /// Returns the covariance of two states.
  func covariance(_ row: Int, _ column: Int) -> Double {
    let (first, second) = row / 8 <= column / 8 ? (row, column) : (column, row)
    return blocks[Self.start(first / 8, second / 8, chunks) + first % 8][second % 8]
  }

  /// Returns the index of the first row of a block; `chunk` is not less than `group`.
  private static func start(_ group: Int, _ chunk: Int, _ chunks: Int) -> Int {
    8 * (group * chunks - group * (group - 1) / 2 + chunk - group)
  }

  // MARK: states

  /// Makes room for more anchors.
  mutating func grow(slots: Int) {
    var wider = JointFilter(slots: slots)
    guard wider.chunks > chunks else { return }
    for chunk in 0..<chunks {
      wider.mean[chunk] = mean[chunk]
      for group in 0...chunk {
        let (from, to) = (
          Self.start(group, chunk, chunks), Self.start(group, chunk, wider.chunks)
        )
        for row in 0..<8 { wider.blocks[to + row] = blocks[from + row] }
      }
    }
    self = wider
  }

  /// Sets a state to `value` with `variance`, independent of all others.
  mutating func set(_ state: Int, _ value: Double, variance: Double) {
    let (group, lane) = (state / 8, state % 8)
    mean[group][lane] = value
    for chunk in 0...group {
      let start = Self.start(chunk, group, chunks)
      for row in 0..<8 { blocks[start + row][lane] = 0 }
    }
    for chunk in group..<chunks { blocks[Self.start(group, chunk, chunks) + lane] = .zero }
    blocks[Self.start(group, group, chunks) + lane][lane] = variance
  }

  /// Resets the errors of the anchor in `slot` to their prior.
  mutating func begin(slot: Int, constant: Double, slow: Double) {
    set(8 + 2 * slot, 0, variance: constant)
    set(9 + 2 * slot, 0, variance: slow)
  }

  /// Changes the constant error of the anchor in `slot`.
  mutating func change(slot: Int, _ change: ErrorChange) {
    let (group, lane) = (1 + slot / 4, 2 * (slot % 4))
    mean[group][lane] = change.base + change.factor * (mean[group][lane] - change.base)
    for chunk in 0...group {
      let start = Self.start(chunk, group, chunks)
      for row in 0..<8 { blocks[start + row][lane] *= change.factor }
    }
    for chunk in group..<chunks {
      blocks[Self.start(group, chunk, chunks) + lane] *= change.factor
    }
    blocks[Self.start(group, group, chunks) + lane][lane] += change.variance
  }

  /// Sets position and velocity; the learned errors stay.
  mutating func restart(_ position: SIMD3<Double>, _ spread: Spread, speed: SIMD3<Double>) {
    for axis in 0..<3 {
      set(axis, position[axis], variance: 0)
      set(axis + 3, 0, variance: speed[axis] * speed[axis])
    }
    let lines = spread.lines
    for (row, line) in [lines.0, lines.1, lines.2].enumerated() {
      for axis in 0..<3 { blocks[row][axis] = line[axis] }
    }
  }

  // MARK: time

  /// Predicts the states after a step of time.
  mutating func advance(_ step: MotionStep) {
    mean[0] = step.moved(mean[0], towards: step.height)
    for chunk in 1..<chunks { mean[chunk] *= step.fade }
    Self.advance(&blocks, step, chunks)
  }

  private static func advance(_ blocks: inout [Lanes], _ step: MotionStep, _ chunks: Int) {
    var all = blocks.mutableSpan
    step.moveRows(&all, 0)
    for row in 0..<8 { all[row] = step.moved(all[row]) }
    for chunk in 1..<chunks {
      step.moveRows(&all, 8 * chunk)
      for row in 8 * chunk..<8 * chunk + 8 { all[row] *= step.fade }
    }
    let faded = step.fade * step.fade[1]
    for group in 1..<chunks {
      let own = start(group, group, chunks)
      for index in stride(from: own, to: start(group, chunks, chunks), by: 2) {
        all[index] *= step.fade
        all[index + 1] *= faded
      }
      all[own + 1][1] += step.noise.slow
      all[own + 3][3] += step.noise.slow
      all[own + 5][5] += step.noise.slow
      all[own + 7][7] += step.noise.slow
    }
    let (place, both, speed) = (step.noise.position, step.noise.both, step.noise.velocity)
    all[0] += Lanes(place.x, 0, 0, both.x, 0, 0, 0, 0)
    all[1] += Lanes(0, place.y, 0, 0, both.y, 0, 0, 0)
    all[2] += Lanes(0, 0, place.z, 0, 0, both.z, 0, 0)
    all[3] += Lanes(both.x, 0, 0, speed.x, 0, 0, 0, 0)
    all[4] += Lanes(0, both.y, 0, 0, speed.y, 0, 0, 0)
    all[5] += Lanes(0, 0, both.z, 0, 0, speed.z, 0, 0)
  }

  // MARK: measurements

  /// Computes the covariance of all states with a measurement.
  ///
  /// - Returns: the variance of the expected measurement.
  mutating func project(_ sight: Sight) -> Double {
    Self.project(blocks, sight, chunks, &column)
    var variance = (column[0] * sight.lanes).sum()
    if sight.slot >= 0 { variance += Self.errors(column, sight.slot) }
    if sight.reference >= 0 { variance -= Self.errors(column, sight.reference) }
    return variance
  }

  private static func project(
    _ blocks: [Lanes], _ sight: Sight, _ chunks: Int, _ column: inout [Lanes]
  ) {
    var result = column.mutableSpan
    let all = blocks.span
    precondition(all.count == 4 * chunks * (chunks + 1) && result.count == chunks)
    let lanes = sight.lanes
    for chunk in 0..<chunks {
      let start = 8 * chunk
      var sum: Lanes = unsafe all[unchecked: start] * lanes[0]
      unsafe sum += all[unchecked: start &+ 1] * lanes[1]
      unsafe sum += all[unchecked: start &+ 2] * lanes[2]
      unsafe sum += all[unchecked: start &+ 6] * lanes[6]
      if sight.isMoving {
        sum += all[start + 3] * lanes[3]
        sum += all[start + 4] * lanes[4]
        sum += all[start + 5] * lanes[5]
      }
      if sight.isArrival { sum += all[start + 7] }
      result[chunk] = sum
    }
    if sight.slot >= 0 { addErrors(all, sight.slot, 1, chunks, &result) }
    if sight.reference >= 0 { addErrors(all, sight.reference, -1, chunks, &result) }
  }

  /// Adds the covariance of all states with both errors of an anchor.
  private static func addErrors(
    _ all: Span<Lanes>, _ slot: Int, _ sign: Double, _ chunks: Int,
    _ result: inout MutableSpan<Lanes>
  ) {
    let (group, lane) = (1 + slot / 4, 2 * (slot % 4))
    precondition(slot >= 0 && group < chunks && all.count == 4 * chunks * (chunks + 1))
    for chunk in 0..<group {
      // These blocks are stored for the other side of the diagonal, so their columns are used.
      let start = Self.start(chunk, group, chunks)
      func sum(_ row: Int) -> Double {
        let lanes = unsafe pair(all, start &+ row, lane)
        return lanes.x + lanes.y
      }
      let sums = Lanes(sum(0), sum(1), sum(2), sum(3), sum(4), sum(5), sum(6), sum(7))
      result[chunk] += sums * sign
    }
    for chunk in group..<chunks {
      let start = Self.start(group, chunk, chunks) + lane
      result[chunk] += (all[start] + all[start + 1]) * sign
    }
  }

  /// Returns two neighbouring lanes of a row that exists; `lane` is even and less than 8.
  @unsafe private static func pair(_ all: Span<Lanes>, _ row: Int, _ lane: Int) -> SIMD2<Double> {
    // With a variable index, the compiler would first copy the vector to the stack.
    unsafe all.bytes.unsafeLoad(
      fromUncheckedByteOffset: 64 &* row &+ 8 &* lane, as: SIMD2<Double>.self)
  }

  /// Returns the sum of both errors of the anchor in `slot`.
  private static func errors(_ states: [Lanes], _ slot: Int) -> Double {
    precondition(slot >= 0 && 1 + slot / 4 < states.count)
    let lanes = unsafe pair(states.span, 1 + slot / 4, 2 * (slot % 4))
    return lanes.x + lanes.y
  }

  /// Corrects the states by the measurement of the last call of `project`.
  mutating func correct(innovation: Double, variance: Double) {
    let inverse = 1 / variance
    for chunk in 0..<chunks { mean[chunk] += column[chunk] * (inverse * innovation) }
    Self.reduce(&blocks, column, inverse, chunks)
  }

  private static func reduce(
    _ blocks: inout [Lanes], _ column: [Lanes], _ inverse: Double, _ chunks: Int
  ) {
    let column = column.span
    var all = blocks.mutableSpan
    precondition(all.count == 4 * chunks * (chunks + 1) && column.count == chunks)
    var start = 0
    for group in 0..<chunks {
      let gains = unsafe column[unchecked: group] * inverse
      for chunk in group..<chunks {
        let own: Lanes = unsafe column[unchecked: chunk]
        unsafe all[unchecked: start] -= own * gains[0]
        unsafe all[unchecked: start &+ 1] -= own * gains[1]
        unsafe all[unchecked: start &+ 2] -= own * gains[2]
        unsafe all[unchecked: start &+ 3] -= own * gains[3]
        unsafe all[unchecked: start &+ 4] -= own * gains[4]
        unsafe all[unchecked: start &+ 5] -= own * gains[5]
        unsafe all[unchecked: start &+ 6] -= own * gains[6]
        unsafe all[unchecked: start &+ 7] -= own * gains[7]
        start &+= 8
      }
    }
  }

  // MARK: mixing

  /// Computes mean and covariance of two weighted filters of the same tag.
  ///
  /// Each of the two mixtures has its own weights.
  ///
  /// - Parameters:
  ///   - share: the weight of `second` in the new `first`.
  ///   - other: the weight of `second` in the new `second`.
  static func mix(
    _ first: inout JointFilter, _ second: inout JointFilter, share: Double, other: Double
  ) {
    let chunks = first.chunks
    for chunk in 0..<chunks {
      let start = first.mean[chunk]
      let apart = second.mean[chunk] - start
      first.column[chunk] = apart
      first.mean[chunk] = start + apart * share
      second.mean[chunk] = start + apart * other
    }
    mix(&first.blocks, &second.blocks, first.column, chunks, share: share, other: other)
  }

  private static func mix(
    _ first: inout [Lanes], _ second: inout [Lanes], _ apart: [Lanes], _ chunks: Int,
    share: Double, other: Double
  ) {
    let apart = apart.span
    var one = first.mutableSpan
    var two = second.mutableSpan
    let (spread, otherSpread) = (share * (1 - share), other * (1 - other))
    precondition(one.count == 4 * chunks * (chunks + 1) && two.count == one.count)
    var start = 0
    for group in 0..<chunks {
      let distances: Lanes = apart[group]
      for chunk in group..<chunks {
        let own: Lanes = apart[chunk]
        for row in 0..<8 {
          let index = start &+ row
          let a: Lanes = unsafe one[unchecked: index]
          let product: Lanes = own * distances[row]
          let difference: Lanes = unsafe two[unchecked: index] - a
          unsafe one[unchecked: index] = a + difference * share + product * spread
          unsafe two[unchecked: index] = a + difference * other + product * otherSpread
        }
        start &+= 8
      }
    }
  }
}

extension JointFilter: Codable {
  private enum CodingKeys: CodingKey { case mean, blocks }

  /// The number of groups in a filter with all slots.
  private static let most = 5

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    mean = try values.decode([Lanes].self, forKey: .mean)
    blocks = try values.decode([Lanes].self, forKey: .blocks)
    chunks = mean.count
    column = Array(repeating: .zero, count: chunks)
    guard 1...Self.most ~= chunks, blocks.count == 4 * chunks * (chunks + 1) else {
      throw DecodingError.dataCorruptedError(
        forKey: .blocks, in: values, debugDescription: "the covariance has another size")
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(mean, forKey: .mean)
    try values.encode(blocks, forKey: .blocks)
  }
}

/// The expected value of a measurement, with its derivatives.
struct Sight: Sendable {
  /// The expected value.
  var value = 0.0
  /// The derivatives with respect to the first eight states.
  var lanes = SIMD8<Double>.zero
  /// The slot of the anchor whose errors are added; -1 for none.
  var slot = -1
  /// The slot of the first anchor of a difference, whose errors are subtracted; -1 for none.
  var reference = -1
  /// Whether the measurement depends on the velocity.
  var isMoving = false
  /// Whether the measurement contains the unknown time of its round.
  var isArrival = false
  /// The variance added by the curvature of the measurement.
  var curvature = 0.0
}

/// The covariance of a position, in square metres.
package struct Spread: Sendable, Hashable, Codable {
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

  /// The radius in metres of the circle, seen from above, that contains the tag with a probability
  /// of 95 %.
  package var r95: Double {
    let axes = axes
    guard axes.long > 0 else { return 0 }
    // The factor on the longest deviation is 1.96 for a line and 2.448 for a circle. A polynomial
    // interpolates between them.
    let q = axes.short / axes.long
    return (1.9614 + q * (0.1965 + q * (0.4478 - q * 0.157))) * axes.long.squareRoot()
  }
}

extension SIMD3<Double> {
  var length: Double { (self * self).sum().squareRoot() }
}
