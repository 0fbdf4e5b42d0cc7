// SPDX-License-Identifier: Apache-2.0

/// By what factor the variances that are stated for samples are too great or too small, learned from
/// how far the samples are from what was expected of them.
///
/// The square of a surprise, less the variance of the expectation, is a measurement of the noise,
/// whose own variance is twice the square of the expected one: where the expectation is vague, as
/// after a long interval, it says nothing, and what was stated stays.
struct RangeNoise: Sendable, Hashable {
  /// The variance of samples, as a multiple of what is stated.
  private(set) var factor = 1.0
  /// The variance of `factor`.
  private var doubt = 1.0

  /// Samples after which older ones count half as much.
  private static let memory = 200.0

  /// Takes in what one sample says of the factor, and the variance that was expected of its
  /// surprise; both as multiples of the stated variance.
  mutating func take(_ measured: Double, of expected: Double) {
    guard measured.isFinite, expected.isFinite else { return }
    let wide = min(doubt * (1 + 2 / Self.memory), factor * factor)
    let gain = wide / (wide + 2 * expected * expected)
    // A fifth to ten times the stated deviation.
    factor = min(max(factor + gain * (measured - factor), 0.04), 100)
    doubt = wide * (1 - gain)
  }
}
