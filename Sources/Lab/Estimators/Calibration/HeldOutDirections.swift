// SPDX-License-Identifier: Apache-2.0

internal import Ranging

/// Divides the directions of a calibration into parts that are held out in turn.
enum DirectionParts {
  static let count = 5
  /// The width of a part in radians.
  private static let width = 4 * Double.pi / 180

  /// Returns the index of each direction's part. Nearly equal directions are in the same part.
  static func parts(of directions: [Double]) -> [Int] {
    let bins = directions.map { Int((wrapped($0) / width).rounded()) }
    var parts: [Int: Int] = [:]
    for (rank, bin) in Set(bins).sorted().enumerated() { parts[bin] = rank % count }
    return bins.map { parts[$0] ?? 0 }
  }
}

/// The errors of a model of phases in held-out directions, in radians.
struct PhaseErrors {
  typealias Residual = (direction: Double, residual: Double)

  /// Noise of one phase, one standard deviation.
  let noise: Double
  /// The error of the model in addition to the noise, one standard deviation.
  let model: Double

  /// The difference in radians within which two directions share the error of the model.
  private static let neighbourhood = 1.5 * Double.pi / 180
  /// The least number of pairs with nearly the same direction from which the noise can be
  /// estimated.
  private static let fewestNeighbours = 30

  /// - Parameters:
  ///   - residuals: the direction of each sample and the residual of its phase.
  ///   - known: the noise, if it is known; nil: it is estimated from samples with nearly the same
  ///     direction.
  init(_ residuals: [Residual], noise known: Double? = nil) {
    let sorted = residuals.sorted { wrapped($0.direction) < wrapped($1.direction) }
    let whole = max(1e-3, sorted.map { abs($0.residual) }.medianDeviation)
    noise =
      (known ?? Self.noise(Array(zip(sorted, sorted.dropFirst())))).map { min(whole, $0) }
      ?? whole / 2.0.squareRoot()
    model = max(1e-6, whole * whole - noise * noise).squareRoot()
  }

  /// Returns the noise of one phase in radians, from pairs of residuals; nil if too few of them
  /// have nearly the same direction.
  static func noise(_ pairs: [(Residual, Residual)]) -> Double? {
    let changes = pairs.filter { abs(wrapped($0.direction - $1.direction)) < neighbourhood }
      .map { abs(wrapped($0.residual - $1.residual)) / 2.0.squareRoot() }
    return changes.count >= fewestNeighbours ? max(1e-3, changes.medianDeviation) : nil
  }
}

/// Returns the indices of at most `most` of `count` samples. Each stretch has one, at a
/// pseudo-random but fixed offset, so that periodic data are not aliased.
func stretches(of count: Int, most: Int) -> [Int] {
  let parts = min(count, most)
  return (0..<parts).map { part in
    let (low, high) = (part * count / parts, (part + 1) * count / parts)
    let mixed = (UInt64(part) &+ 1) &* 0x9E37_79B9_7F4A_7C15
    return low + Int((mixed ^ mixed >> 29) % UInt64(high - low))
  }
}

extension [Double] {
  /// The standard deviation of normally distributed errors with these magnitudes, computed from the
  /// median.
  var medianDeviation: Double { 1.4826 * quantile(0.5) }
}
