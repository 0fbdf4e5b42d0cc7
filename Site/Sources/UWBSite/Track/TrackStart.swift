// SPDX-License-Identifier: Apache-2.0

/// Finds the first place of a tag from the measurements of a short time, without a start value.
///
/// Uses robust non-linear least squares from many starting points. All minima that the measurements
/// do not exclude are kept, including mirror images.
struct TrackStart {
  struct Candidate {
    var position: SIMD3<Double>
    var spread: Spread
    /// The negative log-likelihood.
    var cost: Double
  }

  private struct Row {
    var measurement: TagMeasurement
    /// The inverse of the variance.
    var precision: Double
  }

  /// The extra cost above which a minimum is excluded: 12 is a likelihood ratio of 1 : 160,000.
  private static let exclusion = 12.0
  private static let most = 4
  /// The degrees of freedom of Student's t, by which outliers weigh less.
  private static let freedom = 4.0

  private let anchors: [TagTrack.Anchor]
  private var rows: [Row] = []
  private let prior: (middle: Double, variance: Double)
  private let middle: SIMD3<Double>
  private let reach: Double
  /// The number of coordinates that the measurements have to determine.
  private let unknown: Int

  init(
    _ measurements: some Collection<TagMeasurement>, _ anchors: [TagTrack.Anchor],
    _ height: TagTrack.Height, _ errors: TagTrack.Errors
  ) {
    self.anchors = anchors
    let one = Self.combined(Self.paired(Array(measurements)))
    let places = Set(one.flatMap { [$0.anchors.anchor, $0.anchors.reference] }).filter { $0 >= 0 }
      .sorted().map { anchors[$0].position }
    let middle = places.reduce(SIMD3<Double>.zero, +) / Double(max(1, places.count))
    let reach = max(1, places.map { ($0 - middle).length }.max() ?? 1)
    (self.middle, self.reach) = (middle, reach)
    prior = height.prior(near: middle, reach: reach)
    unknown = prior.variance < 4 ? 2 : 3
    rows = one.map { one in
      var variance = one.deviation * one.deviation
      if case .azimuth = one.kind { return Row(measurement: one, precision: 1 / variance) }
      if case .elevation = one.kind { return Row(measurement: one, precision: 1 / variance) }
      let (anchor, reference) = one.anchors
      variance += errors.pair * errors.pair + errors.slow * errors.slow
      variance += one.blocked * 0.25
      for index in [anchor, reference] where index >= 0 {
        let (own, delay) = (anchors[index].deviation, anchors[index].delayDeviation)
        variance += own * own + delay * delay
      }
      // The common delay of the tag is unknown, so it adds to the variance of ranges.
      if reference < 0 { variance += errors.delay * errors.delay / 4 }
      return Row(measurement: one, precision: 1 / variance)
    }
  }

  /// Replaces the arrivals of each round by all differences of pairs, which have no unknown time.
  ///
  /// The sum of their squares equals the sum for the arrivals about their mean.
  private static func paired(_ all: [TagMeasurement]) -> [TagMeasurement] {
    var rounds: [Int: [(anchor: Int, one: TagMeasurement)]] = [:]
    var result: [TagMeasurement] = []
    for one in all {
      guard case .arrival(let anchor, let round) = one.kind else {
        result.append(one)
        continue
      }
      let others = rounds[round, default: []]
      for other in others where other.anchor != anchor {
        let (first, second) = other.anchor < anchor ? (other.one, one) : (one, other.one)
        var variance = first.deviation * first.deviation + second.deviation * second.deviation
        variance += (first.shared ?? 0) + (second.shared ?? 0)
        result.append(
          TagMeasurement(
            time: one.time, .difference(min(other.anchor, anchor), max(other.anchor, anchor)),
            second.value - first.value, deviation: variance.squareRoot(),
            blocked: max(first.blocked, second.blocked)))
      }
      rounds[round] = others + [(anchor, one)]
    }
    return result
  }

  /// Combines the measurements of each kind into their median, so that each anchor counts once.
  private static func combined(_ all: [TagMeasurement]) -> [TagMeasurement] {
    var groups: [[TagMeasurement]] = []
    for one in all {
      if case .odometry = one.kind { continue }
      if let index = groups.firstIndex(where: { $0[0].kind == one.kind }) {
        groups[index].append(one)
      } else {
        groups.append([one])
      }
    }
    return groups.map { group in group.sorted { $0.value < $1.value }[group.count / 2] }
  }

  /// Returns the best place, then other places that are nearly as likely.
  func candidates() -> [Candidate] {
    guard rows.count >= unknown else { return [] }
    var found: [Candidate] = []
    for start in starts() {
      guard let minimum = descend(from: start), minimum.spread.r95 < 200 * reach,
        // The measurements alone, without the prior, must determine the place.
        !found.contains(where: { ($0.position - minimum.position).length < 0.03 * reach })
      else { continue }
      found.append(minimum)
    }
    found.sort { $0.cost < $1.cost }
    guard let best = found.first else { return [] }
    return Array(found.prefix(Self.most).filter { $0.cost < best.cost + Self.exclusion })
  }

  private func starts() -> [SIMD3<Double>] {
    let far = rows.reduce(reach) { far, row in
      guard case .range = row.measurement.kind else { return far }
      return max(far, min(row.measurement.value, 100 * reach))
    }
    let heights =
      unknown == 2
      ? [prior.middle]
      : [-0.7, 0.7].map { prior.middle + $0 * min(prior.variance.squareRoot(), far) }
    var result: [SIMD3<Double>] = []
    for height in heights {
      result.append([middle.x, middle.y, height])
      for turn in 0..<8 {
        let angle = (Double(turn) + 0.3) * .pi / 4
        for distance in [0.5 * reach, far] {
          result.append(
            [
              middle.x + distance * Math.cos(angle), middle.y + distance * Math.sin(angle), height,
            ])
        }
      }
    }
    return result
  }

  /// Minimises the robust loss by Levenberg–Marquardt steps.
  private func descend(from start: SIMD3<Double>) -> Candidate? {
    var position = start
    var damping = 1e-3
    var current = evaluate(position)
    for _ in 0..<30 {
      var damped = current.information
      damped.xx *= 1 + damping
      damped.yy *= 1 + damping
      damped.zz *= 1 + damping
      for axis in 0..<3 {
        damped.add([axis == 0 ? 1 : 0, axis == 1 ? 1 : 0, axis == 2 ? 1 : 0], 1e-9)
      }
      guard let step = damped.inverse?.times(current.slope) else { return nil }
      let next = evaluate(position + step)
      guard next.cost <= current.cost else {
        damping *= 8
        if damping > 1e9 { break }
        continue
      }
      position += step
      let isDone = current.cost - next.cost < 1e-6 && step.length < 1e-4
      current = next
      damping = max(1e-9, damping / 5)
      if isDone { break }
    }
    guard let spread = current.information.inverse else { return nil }
    return Candidate(position: position, spread: spread, cost: current.cost)
  }

  private func evaluate(
    _ position: SIMD3<Double>
  ) -> (cost: Double, slope: SIMD3<Double>, information: Spread) {
    let up = 1 / prior.variance
    let lift = prior.middle - position.z
    var cost = lift * lift * up / 2
    var slope = SIMD3<Double>(0, 0, lift * up)
    var information = Spread(xx: 0, xy: 0, xz: 0, yy: 0, yz: 0, zz: up)
    for row in rows {
      let (value, gradient) = row.measurement.expected(at: position, anchors)
      let residual = row.measurement.difference(from: value)
      let normalised = residual * residual * row.precision
      let weight = row.precision * (Self.freedom + 1) / (Self.freedom + normalised)
      cost += (Self.freedom + 1) / 2 * Math.log(1 + normalised / Self.freedom)
      slope += gradient * (weight * residual)
      information.add(gradient, weight)
    }
    return (cost, slope, information)
  }
}
