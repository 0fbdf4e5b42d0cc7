// SPDX-License-Identifier: Apache-2.0

/// Distance (r, metres) and velocity (v, metres per second) at one time with their covariance.
struct RangeState: Sendable, Hashable {
  var time: Double
  var r: Double
  var v = 0.0
  var rr: Double
  var rv = 0.0
  var vv: Double

  /// The state `dt` seconds later, with acceleration of density `q`.
  func advanced(_ dt: Double, _ q: Double) -> RangeState {
    var motion = RangeMotion(self)
    motion.advance(dt, RangeMotion.Lanes(repeating: q))
    return motion.first
  }
}

/// The same under four suppositions of how the peer accelerates, a lane each, with their
/// probabilities: interacting multiple models.
///
/// Nobody says whether the peer lies on a table, is carried or flies; a filter for one of them is
/// wrong for the others by more than its noise. Source of the mixture: H. A. P. Blom and
/// Y. Bar-Shalom, "The interacting multiple model algorithm for systems with Markovian switching
/// coefficients", IEEE Transactions on Automatic Control 33 (1988).
struct RangeMotion: Sendable, Hashable {
  typealias Lanes = SIMD4<Double>

  var time: Double
  var r: Lanes
  var v: Lanes
  var rr: Lanes
  var rv: Lanes
  var vv: Lanes
  /// How likely each lane is; together 1.
  var weight = Self.usual

  /// How likely each lane is before anything is known. Of peers few fly; a greater share of the last
  /// lane would make one wrong range in a second a manoeuvre.
  private static let usual = Lanes(0.3, 0.4, 0.25, 0.05)

  /// The same in all lanes.
  init(_ state: RangeState) {
    time = state.time
    (r, v) = (Lanes(repeating: state.r), Lanes(repeating: state.v))
    (rr, rv) = (Lanes(repeating: state.rr), Lanes(repeating: state.rv))
    vv = Lanes(repeating: state.vv)
  }

  /// What the first lane says.
  var first: RangeState {
    RangeState(time: time, r: r[0], v: v[0], rr: rr[0], rv: rv[0], vv: vv[0])
  }

  /// What all say together.
  var mixture: RangeState {
    // About the first lane: where all agree, that is what they say, whatever the weights' rounding.
    let mean = r[0] + (weight * (r - r[0])).sum()
    let rate = v[0] + (weight * (v - v[0])).sum()
    let (dr, dv) = (r - mean, v - rate)
    return RangeState(
      time: time, r: mean, v: rate, rr: (weight * (rr + dr * dr)).sum(),
      rv: (weight * (rv + dr * dv)).sum(), vv: (weight * (vv + dv * dv)).sum())
  }

  /// Goes on by `dt` seconds, each lane with its density of acceleration.
  mutating func advance(_ dt: Double, _ q: Lanes) {
    time += dt
    r += v * dt
    let grown: Lanes = rv * 2 + (vv + q * (dt / 3)) * dt
    // Not below a micrometre: rounding could make it negative where both are nearly one.
    rr = pointwiseMax(rr + grown * dt, Lanes(repeating: 1e-12))
    rv += (vv + q * (dt / 2)) * dt
    vv += q * dt
  }

  /// Lets the peer begin to move in any way, with this probability.
  mutating func mix(_ share: Double) {
    let all = mixture
    let kept = weight * (1 - share)
    let part = share * Self.usual
    let next = kept + part
    // Moments about the mixture's mean: what stays and what comes in, then about each new mean.
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

  /// Takes a measurement in that is `surprise` more than each lane expects, with each lane's noise.
  mutating func join(_ surprise: Lanes, noise: Lanes) {
    let total = rr + noise
    let (gainR, gainV) = (rr / total, rv / total)
    r += gainR * surprise
    v += gainV * surprise
    vv -= gainV * rv
    // rr·noise/(rr + noise) rather than a difference, so that rounding cannot make it negative.
    rv *= noise / total
    rr *= noise / total
    // Rounding must not leave more correlation than there is variance.
    let least = rv * rv / pointwiseMax(rr, Lanes(repeating: 1e-300))
    vv = pointwiseMax(vv, least)
  }
}
