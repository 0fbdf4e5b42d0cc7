// SPDX-License-Identifier: Apache-2.0

/// A place out of several anchors at one time.
public struct PlaceEstimate: Sendable, Hashable {
  /// Metres.
  public var place: Vector3
  /// Its uncertainty in square metres.
  public var covariance: Symmetric3
  /// What may be wrong with it.
  public var warnings: GeometryWarnings
}

/// Why a place may be another one than it seems.
public struct GeometryWarnings: OptionSet, Sendable, Hashable {
  /// The warnings, a bit each.
  public let rawValue: UInt8
  /// From bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Another place fits as well: a mirror.
  public static let mirror = GeometryWarnings(rawValue: 1)
  /// The anchors are nearly in a plane: heights above and below it look the same.
  public static let coplanar = GeometryWarnings(rawValue: 2)
  /// Seen from the place the anchors are in nearly one direction: the error is much greater than that
  /// of a range.
  public static let dilution = GeometryWarnings(rawValue: 4)
  /// The measurements contradict each other.
  public static let inconsistent = GeometryWarnings(rawValue: 8)
}

/// Finds a place from measurements to several anchors: robust non-linear least squares from several
/// beginnings, so that neither a wrong measurement nor a mirror passes as the place.
public struct PlaceSolver: Sendable {
  /// Freedom of the tails; see `RangeEstimator.Parameters.tailFreedom`.
  public var tailFreedom = 4.0
  /// What is known of the height.
  public var height: HeightPrior?

  /// A solver that knows nothing of the height, or this.
  public init(height: HeightPrior? = nil) { self.height = height }

  /// The place; nil when the measurements do not determine one.
  ///
  /// - Parameter guess: where to begin as well, for example the last place.
  public func solve(
    _ observations: [PlaceObservation], near guess: Vector3? = nil
  ) -> PlaceEstimate? {
    candidates(observations, near: guess).first
  }

  /// The place and the others that fit nearly as well, the best first.
  func candidates(
    _ observations: [PlaceObservation], near guess: Vector3? = nil
  ) -> [PlaceEstimate] {
    let usable = observations.filter {
      $0.value.isFinite && $0.standardDeviation > 0 && $0.standardDeviation.isFinite
    }
    let anchors = usable.flatMap(\.anchors).filter(\.isFinite)
    guard Set(anchors).count >= (height == nil ? 3 : 2), usable.count >= 2 else { return [] }
    let middle = anchors.reduce(.zero, +) * (1 / Double(anchors.count))
    let reach = max(1, anchors.map { ($0 - middle).length }.max() ?? 1)
    let prior = height ?? HeightPrior(middle.z, standardDeviation: 3 * reach)
    let far = usable.reduce(reach) { far, one in
      if case .range = one.kind { return max(far, min(one.value, 100 * reach)) }
      return far
    }
    var found: [(place: Vector3, cost: Double, information: Symmetric3)] = []
    func begin(_ place: Vector3) {
      guard let result = descend(usable, from: place, prior) else { return }
      if !found.contains(where: { ($0.place - result.place).length < 0.05 * reach }) {
        found.append(result)
      }
    }
    if let guess, guess.isFinite { begin(guess) }
    begin(middle)
    for turn in 0..<8 {
      let angle = Double(turn) * .pi / 4
      let arm = Vector3(Functions.cosine(angle), Functions.sine(angle), 0)
      for distance in [0.5 * reach, far] {
        for lift in (height?.standardDeviation ?? 1) < 0.1 ? [0] : [-0.5, 0.5] {
          begin(
            Vector3(middle.x, middle.y, prior.height) + arm * distance
              + Vector3(0, 0, lift * min(prior.standardDeviation, reach)))
        }
      }
    }
    found.sort { $0.cost < $1.cost }
    guard let best = found.first, let covariance = best.information.inverse else { return [] }
    var warnings: GeometryWarnings = []
    // Two standard deviations of a likelihood: a cost of 2.
    if found.contains(where: { $0.place != best.place && $0.cost < best.cost + 2 }) {
      warnings.insert(.mirror)
    }
    if isCoplanar(anchors) { warnings.insert(.coplanar) }
    let noise = usable.map(\.standardDeviation).min() ?? 1
    if (covariance.xx + covariance.yy).squareRoot() > 5 * noise { warnings.insert(.dilution) }
    if best.cost > 3 * Double(usable.count) { warnings.insert(.inconsistent) }
    return found.prefix(4).filter { $0.cost < best.cost + 12 }.compactMap { one in
      one.information.inverse.map {
        PlaceEstimate(place: one.place, covariance: $0, warnings: warnings)
      }
    }
  }

  /// Levenberg and Marquardt's descent with weights that robust loss gives.
  private func descend(
    _ observations: [PlaceObservation], from start: Vector3, _ prior: HeightPrior
  ) -> (place: Vector3, cost: Double, information: Symmetric3)? {
    var place = start
    var damping = 1e-3
    var current = evaluate(observations, place, prior)
    for _ in 0..<40 {
      var damped = current.information
      damped.xx *= 1 + damping
      damped.yy *= 1 + damping
      damped.zz *= 1 + damping
      damped.xx += 1e-9
      damped.yy += 1e-9
      damped.zz += 1e-9
      guard let step = damped.inverse?.times(current.slope), step.isFinite else { return nil }
      let next = evaluate(observations, place + step, prior)
      if next.cost <= current.cost {
        place = place + step
        let isDone = current.cost - next.cost < 1e-9 && step.length < 1e-6
        current = next
        damping = max(1e-9, damping / 5)
        if isDone { break }
      } else {
        damping *= 8
        if damping > 1e9 { break }
      }
    }
    return place.isFinite ? (place, current.cost, current.information) : nil
  }

  private func evaluate(
    _ observations: [PlaceObservation], _ place: Vector3, _ prior: HeightPrior
  ) -> (cost: Double, slope: Vector3, information: Symmetric3) {
    let up = 1 / (prior.standardDeviation * prior.standardDeviation)
    let lift = prior.height - place.z
    var cost = lift * lift * up / 2
    var slope = Vector3(0, 0, lift * up)
    var information = Symmetric3(xx: 0, xy: 0, xz: 0, yy: 0, yz: 0, zz: up)
    for one in observations {
      let (value, gradient) = one.expected(at: place)
      let precision = 1 / (one.standardDeviation * one.standardDeviation)
      let rest = one.value - value
      let normalised = rest * rest * precision
      // Student's t: far ones count less and less.
      let weight = precision * (tailFreedom + 1) / (tailFreedom + normalised)
      cost += (tailFreedom + 1) / 2 * Functions.logarithm(1 + normalised / tailFreedom)
      slope = slope + gradient * (weight * rest)
      information.add(gradient, weight)
    }
    return (cost, slope, information)
  }

  /// Whether the anchors are within a tenth of their extent of one plane.
  private func isCoplanar(_ anchors: [Vector3]) -> Bool {
    let middle = anchors.reduce(.zero, +) * (1 / Double(anchors.count))
    var spread = Symmetric3.zero
    for anchor in anchors { spread.add(anchor - middle, 1) }
    let trace = spread.xx + spread.yy + spread.zz
    guard trace > 0 else { return true }
    // The least eigenvalue from the determinant, for three that are not all equal.
    let determinant =
      spread.xx * (spread.yy * spread.zz - spread.yz * spread.yz)
      - spread.xy * (spread.xy * spread.zz - spread.yz * spread.xz)
      + spread.xz * (spread.xy * spread.yz - spread.yy * spread.xz)
    let minors =
      spread.xx * spread.yy - spread.xy * spread.xy + spread.xx * spread.zz
      - spread.xz * spread.xz + spread.yy * spread.zz - spread.yz * spread.yz
    guard minors > 1e-12 * trace * trace else { return true }
    return determinant / minors < 0.01 * trace
  }
}
