// SPDX-License-Identifier: Apache-2.0

/// A time by the clock of a reference anchor.
package struct ReferenceTime: Sendable, Hashable {
  /// The ticks of the reference, in a count that does not wrap.
  package var ticks: Int64
  package var part: Double
  /// The variance of the conversion in ticks², without the noise of the stamp.
  package var variance: Double

  /// Returns the ticks after another moment.
  package func after(_ other: ReferenceTime) -> Double {
    Double(ticks - other.ticks) + (part - other.part)
  }
}

/// The clock of an anchor against the clock of a reference, from frames of synchronisation.
///
/// Offset, drift and drift rate: two states are not enough while a board warms up.
package struct AnchorClock: Sendable {
  /// The noise of stamps, and of the clock of one board. Two clocks vary against each other.
  package struct Noise: Sendable, Hashable {
    /// One standard deviation of a stamp in ticks; 9.6 ticks are 150 ps.
    package var stamp = 9.6
    /// The random walk of the drift in a second, as a fraction: 3 ppb.
    package var drift = 3e-9
    /// The random walk of the drift rate in a second, as a fraction per second.
    package var rate = 4e-9

    package init() {}
  }

  package enum Finding: Sendable, Hashable {
    case used
    /// The stamp is far from the prediction: the path is blocked, or the frame is damaged.
    case rejected
    /// The clock jumped, as after a restart of the anchor or the reference. The estimate starts
    /// again.
    case restarted
  }

  private struct Sample: Sendable {
    var local: Int64
    /// The reference's count minus the anchor's, in ticks, relative to the first difference.
    var offset: Double
  }

  /// The number of consecutive contradicting frames after which the estimate starts again.
  private static let mostRejected = 3
  /// Returns the numbers of standard deviations beyond which a frame is doubtful, and rejected.
  ///
  /// A signal on a blocked path arrives late, so that late stamps have lower limits.
  ///
  /// - Parameter share: the prediction's share of the variance. The limits grow with it, because a
  ///   deviation is then more likely an error of the clock than of the stamp.
  private static func gates(late: Bool, _ share: Double) -> (doubtful: Double, rejected: Double) {
    late ? (2.5 + 1.5 * share, 3 + 2 * share) : (5, 6)
  }
  /// The number of ticks that no drift explains: 100 ppm of a second.
  private static let jump = 100e-6 * Ticks.perSecond
  private static let mostSamples = 8
  /// The gap between two frames, in seconds, above which a prediction is better than interpolation.
  private static let longestGap = 0.6

  package let noise: Noise
  private var base: Int64 = 0
  /// The accepted frames, for the interpolation of times between two of them.
  private var samples: [Sample] = []
  /// The time of the state.
  private var newest: Sample?
  private var state = SIMD3<Double>(0, 0, 0)
  private var covariance = Matrix(diagonal: [0, 0, 0])
  private var rejected = 0

  package init(noise: Noise = Noise()) { self.noise = noise }

  /// The rate of the reference relative to the anchor, minus 1; nil before the second frame.
  package var drift: Double? { samples.count < 2 ? nil : state.y }

  /// The reference's time of the last frame in ticks; nil before the first one.
  var newestTime: Int64? { newest.map { $0.local &+ base &+ Int64($0.offset) } }

  /// Adds a frame of synchronisation.
  ///
  /// - Parameters:
  ///   - theirs: the reference's time of sending, in ticks of a count that does not wrap.
  ///   - own: the anchor's time of reception, in such a count.
  ///   - flight: ticks between the two.
  @discardableResult
  package mutating func add(sent theirs: Int64, received own: Int64, flight: Double) -> Finding {
    guard var last = newest else { return begin(own, theirs, flight) }
    let seconds = Double(own - last.local) / Ticks.perSecond
    let offset = Double(theirs &- own &- base) + flight
    guard seconds > 0 else { return .rejected }
    if abs(offset - last.offset - state.y * seconds * Ticks.perSecond) > Self.jump * max(1, seconds)
    {
      rejected += 1
      guard rejected >= Self.mostRejected else { return .rejected }
      _ = begin(own, theirs, flight)
      return .restarted
    }
    let (predicted, spread) = prediction(after: seconds)
    let innovation = offset - predicted.x
    var variance = spread[0, 0] + noise.stamp * noise.stamp
    var finding = Finding.used
    let gates = Self.gates(late: innovation < 0, spread[0, 0] / variance)
    let size = abs(innovation) / variance.squareRoot()
    // Many contradictions in sequence mean that the clock has changed: the frames are right.
    if samples.count > 3, rejected < Self.mostRejected, size > gates.doubtful {
      // The variance grows with the distance from the prediction, so that the frame has less
      // weight.
      variance = innovation * innovation / (gates.doubtful * gates.doubtful)
      if size > gates.rejected { finding = .rejected }
    }
    rejected = finding == .used ? 0 : rejected + 1
    let gain = SIMD3(spread[0, 0], spread[1, 0], spread[2, 0]) / variance
    state = predicted + innovation * gain
    covariance = spread
    for i in 0..<3 {
      for j in 0..<3 { covariance[i, j] -= gain[i] * spread[0, j] }
    }
    last.local = own
    if finding == .used {
      samples.append(Sample(local: own, offset: offset))
      if samples.count > Self.mostSamples { samples.removeFirst() }
    }
    newest = last
    newest?.offset = state.x
    return finding
  }

  private mutating func begin(_ own: Int64, _ theirs: Int64, _ flight: Double) -> Finding {
    base = theirs &- own
    samples = [Sample(local: own, offset: flight)]
    newest = samples[0]
    state = SIMD3(flight, 0, 0)
    // The prior is a drift of ± 20 ppm for each crystal, and a warm-up by some ppm in the first
    // minute.
    covariance = Matrix(diagonal: [noise.stamp * noise.stamp, 1.6e-9, 1e-14])
    rejected = 0
    return .used
  }

  private func prediction(after seconds: Double) -> (SIMD3<Double>, Matrix) {
    let ticks = seconds * Ticks.perSecond
    let predicted = SIMD3(
      state.x + ticks * state.y + ticks * seconds / 2 * state.z, state.y + seconds * state.z,
      state.z)
    var step = Matrix.identity(3)
    (step[0, 1], step[0, 2], step[1, 2]) = (ticks, ticks * seconds / 2, seconds)
    var spread = step * covariance * step.transposed
    // For a step backwards, the noise is added as well, and the covariances change their sign.
    let span = abs(seconds)
    let (drift, rate) = (2 * noise.drift * noise.drift, 2 * noise.rate * noise.rate)
    spread[0, 0] +=
      drift * ticks * ticks * span / 3 + rate * ticks * ticks * span * span * span / 20
    let both = drift * ticks * span / 2 + rate * ticks * span * span * span / 8
    spread[0, 1] += both
    spread[1, 0] += both
    let third = rate * ticks * span * seconds / 6
    spread[0, 2] += third
    spread[2, 0] += third
    spread[1, 1] += drift * span + rate * span * span * span / 3
    spread[1, 2] += rate * span * seconds / 2
    spread[2, 1] += rate * span * seconds / 2
    spread[2, 2] += rate * span
    return (predicted, spread)
  }

  /// Returns a stamp of the anchor by the reference's clock, predicted from the last frame; nil
  /// before the drift is known, and more than two seconds after the last frame.
  package func time(of own: Int64) -> ReferenceTime? {
    guard samples.count > 2, let last = newest else { return nil }
    let seconds = Double(own - last.local) / Ticks.perSecond
    guard abs(seconds) < 2 else { return nil }
    let (predicted, spread) = prediction(after: seconds)
    return ReferenceTime(
      ticks: own + base, part: predicted.x, variance: max(0, spread[0, 0]))
  }

  /// Returns a stamp of the anchor by the reference's clock, interpolated between two frames.
  ///
  /// Needs no model of the clock. Returns nil unless there are frames before and after the stamp
  /// that are close together.
  package func interpolated(_ own: Int64) -> ReferenceTime? {
    guard let next = samples.firstIndex(where: { $0.local >= own }), next > 0 else { return nil }
    let (before, after) = (samples[next - 1], samples[next])
    let gap = Double(after.local - before.local) / Ticks.perSecond
    guard gap < Self.longestGap else { return nil }
    let part = Double(own - before.local) / Double(after.local - before.local)
    let offset = before.offset + part * (after.offset - before.offset)
    let weight = part * part + (1 - part) * (1 - part)
    // Both frames determine the offset, but the drift varies between them.
    let walked = noise.drift * Ticks.perSecond * part * (1 - part) * gap
    let variance = weight * noise.stamp * noise.stamp + 2 * walked * walked * gap / 3
    return ReferenceTime(ticks: own + base, part: offset, variance: variance)
  }
}
