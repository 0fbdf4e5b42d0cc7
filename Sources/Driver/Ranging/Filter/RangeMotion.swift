// SPDX-License-Identifier: Apache-2.0

/// Distance (r, metres) and velocity (v, metres per second) at one time with their covariance.
package struct RangeState: Sendable, Hashable {
  package var time: Double
  package var r: Double
  package var v = 0.0
  package var rr: Double
  package var rv = 0.0
  package var vv: Double

  /// Returns the state `dt` seconds later; `q` is the spectral density of the acceleration.
  package func advanced(_ dt: Double, _ q: Double) -> RangeState {
    var motion = RangeMotion(self)
    motion.advance(dt, RangeMotion.Lanes(repeating: q))
    return motion.first
  }
}

/// The state under four models of how the peer accelerates, one in each SIMD lane, with their
/// probabilities: interacting multiple models.
///
/// The kind of movement is unknown: the peer may lie on a table, be carried or fly. A filter for
/// another kind of movement has an error greater than its noise. Source of the mixture: H. A. P.
/// Blom and Y. Bar-Shalom, "The interacting multiple model algorithm for systems with Markovian
/// switching coefficients", IEEE Transactions on Automatic Control 33 (1988).
struct RangeMotion: Sendable, Hashable {
  typealias Lanes = SIMD4<Double>

  var time: Double
  var r: Lanes
  var v: Lanes
  var rr: Lanes
  var rv: Lanes
  var vv: Lanes
  /// The probability of each model; the sum is 1.
  var weight = Self.prior

  /// The initial probabilities. The last model, fast movement, has little: with more, one wrong
  /// range a second would look like a manoeuvre.
  private static let prior = Lanes(0.3, 0.4, 0.25, 0.05)

  init(_ state: RangeState) {
    time = state.time
    (r, v) = (Lanes(repeating: state.r), Lanes(repeating: state.v))
    (rr, rv) = (Lanes(repeating: state.rr), Lanes(repeating: state.rv))
    vv = Lanes(repeating: state.vv)
  }

  var first: RangeState {
    RangeState(time: time, r: r[0], v: v[0], rr: rr[0], rv: rv[0], vv: vv[0])
  }

  /// The mean and covariance of the mixture of all models.
  var mixture: RangeState {
    // The mean is computed relative to the first lane. If all lanes are equal it is exact, although
    // rounded weights do not add up to 1.
    let mean = r[0] + (weight * (r - r[0])).sum()
    let rate = v[0] + (weight * (v - v[0])).sum()
    let (dr, dv) = (r - mean, v - rate)
    return RangeState(
      time: time, r: mean, v: rate, rr: (weight * (rr + dr * dr)).sum(),
      rv: (weight * (rv + dr * dv)).sum(), vv: (weight * (vv + dv * dv)).sum())
  }

  /// Predicts the state `dt` seconds later, each model with its acceleration density.
  mutating func advance(_ dt: Double, _ q: Lanes) {
    time += dt
    r += v * dt
    let middle = vv + q * (dt / 3)
    let grown = rv * 2 + middle * dt
    // The variance is at least (1 µm)²: with a correlation near -1, rounding could make it
    // negative.
    rr = pointwiseMax(rr + grown * dt, Lanes(repeating: 1e-12))
    rv += (vv + q * (dt / 2)) * dt
    vv += q * dt
  }

  /// Lets the peer change its kind of movement with the probability `share`.
  mutating func mix(_ share: Double) {
    let all = mixture
    let kept = weight * (1 - share)
    let part = share * Self.prior
    let next = kept + part
    // Computes the moments about the mean of the mixture, for peers that keep their kind of
    // movement and for peers that change it. Then shifts them to the new mean of each model.
    let (dr, dv) = (r - all.r, v - all.v)
    let (mr, mv) = (kept * dr / next, kept * dv / next)
    let (a, b) = (kept * (rr + dr * dr), kept * (rv + dr * dv))
    let c = kept * (vv + dv * dv)
    rr = (a + part * all.rr) / next - mr * mr
    rv = (b + part * all.rv) / next - mr * mv
    vv = (c + part * all.vv) / next - mv * mv
    (r, v) = (mr + all.r, mv + all.v)
    weight = next / next.sum()
  }

  /// Updates each model. The measurement exceeds the predictions by `innovation`.
  mutating func update(_ innovation: Lanes, noise: Lanes) {
    let total = rr + noise
    let (gainR, gainV) = (rr / total, rv / total)
    r += gainR * innovation
    v += gainV * innovation
    vv -= gainV * rv
    // This form of rr - rr²/(rr + noise) is a product, so that rounding cannot make it negative.
    rv *= noise / total
    rr *= noise / total
    // Rounding must not make the magnitude of the correlation exceed 1.
    let least = rv * rv / pointwiseMax(rr, Lanes(repeating: 1e-300))
    vv = pointwiseMax(vv, least)
  }
}

/// The ratio of the actual variance of samples to their stated variance, learned from the
/// innovations.
///
/// The square of an innovation minus the variance of the prediction is a measurement of the noise.
/// The variance of that measurement is twice the square of the innovation's expected variance. So
/// the factor hardly changes where the prediction is uncertain, as after a long interval.
package struct RangeNoise: Sendable, Hashable {
  /// The ratio of the actual to the stated variance.
  private(set) var factor = 1.0
  /// The variance of `factor`.
  private var variance = 1.0

  package init() {}

  /// The number of samples after which a sample has half of its weight.
  private static let memory = 200.0

  /// Updates the factor with the noise of one sample and the expected square of its innovation,
  /// both as multiples of the stated variance.
  mutating func update(_ measured: Double, of expected: Double) {
    guard measured.isFinite, expected.isFinite else { return }
    let wide = min(variance * (1 + 2 / Self.memory), factor * factor)
    let gain = wide / (wide + 2 * expected * expected)
    // The actual deviation stays between a fifth and ten times the stated one.
    factor = min(max(factor + gain * (measured - factor), 0.04), 100)
    variance = wide * (1 - gain)
  }
}
