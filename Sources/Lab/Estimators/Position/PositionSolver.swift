// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import Ranging

/// A position computed from several anchors at one time.
public struct PositionEstimate: Sendable, Hashable {
  /// The position in metres, in the frame of the anchors.
  public var position: SIMD3<Double>
  /// The covariance of the position in square metres.
  public var covariance: Symmetric3
  /// The reasons to doubt the position.
  public var warnings: GeometryWarnings

  /// The radius in metres of a horizontal circle around `position` that contains the device with a
  /// probability of 95 %.
  public var r95: Double {
    let (mean, half) = ((covariance.xx + covariance.yy) / 2, (covariance.xx - covariance.yy) / 2)
    let spread = (half * half + covariance.xy * covariance.xy).squareRoot()
    let longest = max(0, mean + spread)
    guard longest > 0 else { return 0 }
    // The factor on the longest standard deviation is 1.96 if the ellipse is a line, and 2.448 if
    // it is a circle. A polynomial interpolates between them.
    let q = max(0, mean - spread) / longest
    return (1.9614 + q * (0.1965 + q * (0.4478 - q * 0.157))) * longest.squareRoot()
  }
}

/// The reasons to doubt a position.
public struct GeometryWarnings: OptionSet, Sendable, Hashable {
  /// One bit for each warning.
  public let rawValue: UInt8
  /// Creates a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Another position, such as a mirror image, fits the measurements as well.
  public static let mirror = GeometryWarnings(rawValue: 1)
  /// The anchors are nearly in a plane: heights above and below it cannot be distinguished.
  public static let coplanar = GeometryWarnings(rawValue: 2)
  /// All anchors are in nearly the same direction from the position. The error of the position is
  /// much greater than the error of a range.
  public static let dilution = GeometryWarnings(rawValue: 4)
  /// The measurements contradict each other.
  public static let inconsistent = GeometryWarnings(rawValue: 8)
}

extension GeometryWarnings: CustomStringConvertible {
  /// The names of the warnings, most important first, such as `mirror+dilution`; `ok` without
  /// warnings.
  public var description: String {
    let names: [(Self, String)] = [
      (.inconsistent, "inconsistent"), (.mirror, "mirror"), (.coplanar, "coplanar"),
      (.dilution, "dilution"),
    ]
    return isEmpty
      ? "ok" : names.compactMap { contains($0.0) ? $0.1 : nil }.joined(separator: "+")
  }
}

/// Computes a position from measurements to several anchors.
///
/// The method is robust non-linear least squares from several starting points. An outlier hardly
/// affects the result, and a mirror image is recognised as one.
package struct PositionSolver: Sendable {
  /// The degrees of freedom of the noise; see `RangeEstimator.Parameters.tailFreedom`.
  package var tailFreedom = 4.0
  /// The prior of the height.
  package var height: HeightPrior?
  /// One standard deviation in metres of a constant error that all ranges share. It does not change
  /// positions, only their covariance.
  package var sharedDeviation = 0.0

  /// The number of observations above which the search uses only some of them. All observations
  /// then refine the minima that were found.
  private static let mostSearched = 512

  /// Creates a solver. Without `height`, any height is possible.
  package init(height: HeightPrior? = nil) { self.height = height }

  /// Returns the position; nil if the measurements do not determine one.
  ///
  /// - Parameters:
  ///   - observations: ranges and differences of ranges, all of one time.
  ///   - guess: an additional starting point in metres, for example the last position.
  package func solve(
    _ observations: [PositionObservation], near guess: SIMD3<Double>? = nil
  ) -> PositionEstimate? {
    candidates(observations, near: guess).first
  }

  /// Returns the best position, then other positions that are nearly as likely.
  func candidates(
    _ observations: [PositionObservation], near guess: SIMD3<Double>? = nil
  ) -> [PositionEstimate] {
    let usable = observations.filter(\.isUsable)
    let anchors = usable.flatMap(\.anchors).filter(\.isFinite)
    guard Set(anchors).count >= (height == nil ? 3 : 2), usable.count >= 2 else { return [] }
    let middle = anchors.reduce(.zero, +) * (1 / Double(anchors.count))
    let reach = max(1, anchors.map { ($0 - middle).length }.max() ?? 1)
    let prior = height ?? HeightPrior(middle.z, standardDeviation: 3 * reach)
    let heightIsKnown = (height?.standardDeviation ?? 1) < 0.1
    let far = usable.reduce(reach) { far, one in
      if case .range = one.kind { return max(far, min(one.value, 100 * reach)) }
      return far
    }
    var searched = usable.thinned(to: Self.mostSearched)
    var found: [(position: SIMD3<Double>, cost: Double, information: Symmetric3)] = []
    func search(from position: SIMD3<Double>) {
      guard let result = descend(searched, from: position, prior) else { return }
      if !found.contains(where: { ($0.position - result.position).length < 0.05 * reach }) {
        found.append(result)
      }
    }
    if let guess, guess.isFinite { search(from: guess) }
    search(from: middle)
    for turn in 0..<8 {
      let angle = Double(turn) * .pi / 4
      let arm = SIMD3<Double>(cos(angle), sin(angle), 0)
      for distance in [0.5 * reach, far] {
        for lift in heightIsKnown ? [0] : [-0.5, 0.5] {
          search(
            from:
              SIMD3<Double>(middle.x, middle.y, prior.height) + arm * distance
              + SIMD3<Double>(0, 0, lift * min(prior.standardDeviation, reach)))
        }
      }
    }
    found.sort { $0.cost < $1.cost }
    if searched.count < usable.count {
      let starts = found.prefix(8).map(\.position)
      (searched, found) = (usable, [])
      for start in starts { search(from: start) }
      found.sort { $0.cost < $1.cost }
    }
    guard let best = found.first, let covariance = best.information.inverse else { return [] }
    var warnings: GeometryWarnings = []
    // A cost that is 2 higher corresponds to two standard deviations of a normal distribution.
    if found.contains(where: { $0.position != best.position && $0.cost < best.cost + 2 }) {
      warnings.insert(.mirror)
    }
    if isCoplanar(anchors), !heightIsKnown { warnings.insert(.coplanar) }
    let noise = usable.map(\.standardDeviation).min() ?? 1
    if (covariance.xx + covariance.yy).squareRoot() > 5 * noise { warnings.insert(.dilution) }
    if best.cost > 3 * Double(usable.count) { warnings.insert(.inconsistent) }
    return found.prefix(4).filter { $0.cost < best.cost + 12 }.compactMap { one in
      one.information.inverse.map { estimate(one.position, $0, usable, warnings) }
    }
  }

  /// Returns an estimate whose covariance includes the shared error.
  private func estimate(
    _ position: SIMD3<Double>, _ covariance: Symmetric3, _ observations: [PositionObservation],
    _ warnings: GeometryWarnings
  ) -> PositionEstimate {
    var result = PositionEstimate(position: position, covariance: covariance, warnings: warnings)
    guard sharedDeviation > 0 else { return result }
    var slope = SIMD3<Double>.zero
    for one in observations {
      guard case .range = one.kind else { continue }
      let precision = 1 / (one.standardDeviation * one.standardDeviation)
      slope += one.expected(at: position).gradient * precision
    }
    result.covariance.add(covariance.times(slope), sharedDeviation * sharedDeviation)
    return result
  }

  /// Minimises the robust cost by Levenberg–Marquardt steps.
  private func descend(
    _ observations: [PositionObservation], from start: SIMD3<Double>, _ prior: HeightPrior
  ) -> (position: SIMD3<Double>, cost: Double, information: Symmetric3)? {
    var position = start
    var damping = 1e-3
    var current = evaluate(observations, position, prior)
    for _ in 0..<40 {
      var damped = current.information
      damped.xx *= 1 + damping
      damped.yy *= 1 + damping
      damped.zz *= 1 + damping
      damped.addToDiagonal(1e-9)
      guard let step = damped.inverse?.times(current.slope), step.isFinite else { return nil }
      let next = evaluate(observations, position + step, prior)
      if next.cost <= current.cost {
        position = position + step
        let isDone = current.cost - next.cost < 1e-9 && step.length < 1e-6
        current = next
        damping = max(1e-9, damping / 5)
        if isDone { break }
      } else {
        damping *= 8
        if damping > 1e9 { break }
      }
    }
    return position.isFinite ? (position, current.cost, current.information) : nil
  }

  private func evaluate(
    _ observations: [PositionObservation], _ position: SIMD3<Double>, _ prior: HeightPrior
  ) -> (cost: Double, slope: SIMD3<Double>, information: Symmetric3) {
    let up = 1 / (prior.standardDeviation * prior.standardDeviation)
    let lift = prior.height - position.z
    var cost = lift * lift * up / 2
    var slope = SIMD3<Double>(0, 0, lift * up)
    var information = Symmetric3(xx: 0, xy: 0, xz: 0, yy: 0, yz: 0, zz: up)
    for index in 0..<observations.count {
      let one = observations[index]
      let (value, gradient) = one.expected(at: position)
      let precision = 1 / (one.standardDeviation * one.standardDeviation)
      let residual = one.value - value
      let normalised = residual * residual * precision
      // The weight of a measurement decreases with its residual (Student's t-distribution).
      let weight = precision * (tailFreedom + 1) / (tailFreedom + normalised)
      cost += (tailFreedom + 1) / 2 * log(1 + normalised / tailFreedom)
      slope = slope + gradient * (weight * residual)
      information.add(gradient, weight)
    }
    return (cost, slope, information)
  }

  /// Returns whether the anchors are nearly in a plane: within a tenth of their extent.
  private func isCoplanar(_ anchors: [SIMD3<Double>]) -> Bool {
    let middle = anchors.reduce(.zero, +) * (1 / Double(anchors.count))
    var spread = Symmetric3.zero
    for anchor in anchors { spread.add(anchor - middle, 1) }
    let trace = spread.xx + spread.yy + spread.zz
    guard trace > 0 else { return true }
    // The determinant divided by the sum of the minors approximates the least eigenvalue.
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

extension PositionObservation {
  fileprivate var isUsable: Bool {
    value.isFinite && standardDeviation > 0 && standardDeviation.isFinite
  }
}

extension [PositionObservation] {
  /// Returns about `count` observations, in equal shares for each anchor or pair of anchors.
  ///
  /// At least one is returned for each; all are returned if there are fewer than `count`.
  fileprivate func thinned(to count: Int) -> [PositionObservation] {
    guard self.count > count else { return self }
    return thinned(to: Swift.max(1, count / Set(map(\.kind)).count), of: \.kind)
  }
}

extension Array {
  /// Returns at most `most` elements of each kind, spread evenly.
  func thinned<Kind: Hashable>(to most: Int, of kind: (Element) -> Kind) -> [Element] {
    let totals = Dictionary(map { (kind($0), 1) }, uniquingKeysWith: +)
    var seen: [Kind: Int] = [:]
    return filter { one in
      let kind = kind(one)
      let (total, index) = (totals[kind] ?? 1, seen[kind] ?? 0)
      seen[kind] = index + 1
      return total <= most || (index + 1) * most / total > index * most / total
    }
  }
}
