// SPDX-License-Identifier: Apache-2.0

/// The ratio of the actual to the stated variance of samples, learned from the innovations.
///
/// The square of an innovation minus the variance of the prediction is a measurement of the noise,
/// whose own variance is twice the square of the expected one: where the prediction is vague, as
/// after a long interval, the factor hardly changes.
struct RangeNoise: Sendable, Hashable {
  /// The variance of samples, as a multiple of what is stated.
  private(set) var factor = 1.0
  /// The variance of `factor`.
  private var variance = 1.0

  /// Samples after which older ones count half as much.
  private static let memory = 200.0

  /// Updates the factor with one sample's noise and the expected variance of its innovation, both as
  /// multiples of the stated variance.
  mutating func update(_ measured: Double, of expected: Double) {
    guard measured.isFinite, expected.isFinite else { return }
    let wide = min(variance * (1 + 2 / Self.memory), factor * factor)
    let gain = wide / (wide + 2 * expected * expected)
    // A fifth to ten times the stated deviation.
    factor = min(max(factor + gain * (measured - factor), 0.04), 100)
    variance = wide * (1 - gain)
  }
}
