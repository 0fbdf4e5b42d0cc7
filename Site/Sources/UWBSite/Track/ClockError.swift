// SPDX-License-Identifier: Apache-2.0

/// The error of a clock without synchronisation, as a part of the constant error of its anchor.
///
/// The error is the integral of a drift that varies. Its errors at two times are nearly
/// proportional, so that the next one is an extrapolation of the last one.
struct ClockError: Sendable, Codable {
  /// The constant error before synchronisation was lost, and its variance, in m and m².
  private let base, own: Double
  /// The variance of the error of the clock in m².
  private var variance = 0.0

  init(base: Double, own: Double) { (self.base, self.own) = (base, own) }

  /// Returns the change of the anchor's error while the variance of the clock becomes `next`.
  mutating func change(to next: Double) -> ErrorChange {
    defer { variance = next }
    guard variance > 0 else { return ErrorChange(base: base, factor: 1, variance: next) }
    // The clock's part of a deviation from the former error.
    let part = variance / (own + variance)
    let factor = 1 + (Self.growth(next / variance) - 1) * part
    let rest = own + next - factor * factor * (own + variance)
    return ErrorChange(base: base, factor: factor, variance: max(0, rest))
  }

  /// Returns the expected factor of the error of a clock while its variance grows by a ratio.
  ///
  /// The variance grows with the third power of the time without synchronisation. For steps of up
  /// to half of this time, the squared correlation of both errors is near 1 - 0.7 · step². A
  /// variance that falls is a new synchronisation, after which the former error is gone.
  private static func growth(_ ratio: Double) -> Double {
    guard ratio >= 1 else { return 0 }
    let step = Math.exp(Math.log(ratio) / 3) - 1
    return (ratio * max(0, 1 - 0.7 * step * step)).squareRoot()
  }
}

/// A linear change of an error: its deviation from `base` is multiplied, and a variance is added.
struct ErrorChange: Sendable {
  var base, factor, variance: Double
}
