// SPDX-License-Identifier: Apache-2.0

/// One measurement of a recording of measurements to anchors.
public struct PlaceSample: Sendable, Hashable {
  /// Seconds.
  public var time: Double
  /// What was measured.
  public var observation: PlaceObservation
  /// Which anchor or pair of anchors it is from, counted from 0: to know what shares its error.
  public var source: Int

  /// From its parts.
  public init(time: Double, observation: PlaceObservation, source: Int) {
    self.time = time
    self.observation = observation
    self.source = source
  }
}

/// The way of a place through a recording, with all of it known or as it was known then.
public struct PlaceSmoother: Sendable {
  /// How the place moves and the measurements err.
  public var parameters: PlaceTracker.Parameters
  /// Seconds from whose measurements the first place is found.
  public var beginning = 1.0
  /// Seconds without a measurement after which the place is found anew.
  public var gap = 5.0

  /// Rounds in which the constant error of each source is learned from what the whole way leaves
  /// over; 0: none. Needs movement: errors of places look different from everywhere, errors of an
  /// anchor do not.
  public var biasRounds = 20
  /// How great those errors are, in metres, one standard deviation.
  public var biasDeviation = 0.3

  /// One time of the way.
  public struct Point: Sendable {
    /// Seconds.
    public var time: Double
    /// The place with its uncertainty.
    public var estimate: PlaceEstimate
    /// Whether the measurement of this time was used.
    public var isAccepted: Bool
  }

  /// A smoother for a place that moves so.
  public init(_ parameters: PlaceTracker.Parameters = PlaceTracker.Parameters()) {
    self.parameters = parameters
  }

  /// The place at each sample.
  ///
  /// - Parameter samples: in order of time.
  /// - Returns: nil for samples from which no place could be found.
  public func way(_ samples: [PlaceSample], live: Bool = false) -> [Point?] {
    var corrected = samples
    var result = once(corrected, live: live)
    guard !live else { return result }
    for _ in 0..<biasRounds {
      var rests: [Int: [Double]] = [:]
      for (sample, point) in zip(corrected, result) {
        guard let point, point.isAccepted else { continue }
        let expected = sample.observation.expected(at: point.estimate.place).value
        rests[sample.source, default: []].append(sample.observation.value - expected)
      }
      let noise = samples.first?.observation.standardDeviation ?? 1
      let biases = rests.mapValues { rest in
        // Of a few measurements little is believed; hundreds within a second are few.
        let count = Double(rest.count) / 10
        let prior = biasDeviation * biasDeviation
        return 1.5 * rest.quantile(0.5) * count * prior / (count * prior + noise * noise)
      }
      for index in corrected.indices {
        corrected[index].observation.value -= biases[corrected[index].source] ?? 0
      }
      result = once(corrected, live: false)
      if biases.values.allSatisfy({ abs($0) < 0.003 }) { break }
    }
    return result
  }

  private func once(_ samples: [PlaceSample], live: Bool) -> [Point?] {
    var result = [Point?](repeating: nil, count: samples.count)
    var start = 0
    while start < samples.count {
      var end = start + 1
      while end < samples.count, samples[end].time - samples[end - 1].time <= gap { end += 1 }
      var from = start
      while from < end {
        guard let stretch = follow(samples, from..<end, live: live) else {
          // No place in this beginning: perhaps in the next.
          from += 1
          continue
        }
        for (offset, point) in stretch.points.enumerated() { result[from + offset] = point }
        from += max(1, stretch.points.count)
      }
      start = end
    }
    return result
  }

  private struct Step {
    var state: PlaceTracker.State
    var predicted: PlaceTracker.State
    var isAccepted: Bool
  }

  /// Follows the place until the end or until it is lost.
  private func follow(
    _ samples: [PlaceSample], _ range: Range<Int>, live: Bool
  ) -> (points: [Point], isLost: Bool)? {
    let first = samples[range.lowerBound].time
    var solver = PlaceSolver(height: parameters.height)
    solver.tailFreedom = parameters.tailFreedom
    let window = range.prefix { samples[$0].time - first <= beginning }
    let places = solver.candidates(window.map { samples[$0].observation })
    guard !places.isEmpty else { return nil }
    // Where a mirror fits as well, what follows decides.
    let trial = range.prefix { samples[$0].time - first <= (places.count > 1 ? 30 : 0) }
    var best = places[0]
    if places.count > 1 {
      var most = -Double.infinity
      for place in places {
        let evidence = forward(samples, trial, from: place).evidence
        if evidence > most { (most, best) = (evidence, place) }
      }
    }
    let run = forward(samples, range, from: best)
    guard !run.steps.isEmpty else { return nil }
    let states = live ? run.steps.map(\.state) : backward(run.steps)
    let points = states.enumerated().map { offset, state in
      Point(
        time: samples[range.lowerBound + offset].time,
        estimate: PlaceEstimate(
          place: Vector3(state.mean[0], state.mean[1], state.mean[2]),
          covariance: state.placeCovariance, warnings: best.warnings),
        isAccepted: run.steps[offset].isAccepted)
    }
    return (points, run.isLost)
  }

  private func forward(
    _ samples: [PlaceSample], _ range: Range<Int>, from place: PlaceEstimate
  ) -> (steps: [Step], evidence: Double, isLost: Bool) {
    var wide = place
    // The same measurements come again: they must not count twice.
    wide.covariance = wide.covariance.scaled(9)
    var tracker = PlaceTracker(at: wide, time: samples[range.lowerBound].time, parameters)
    var last: [Int: Double] = [:]
    var steps: [Step] = []
    steps.reserveCapacity(range.count)
    for index in range {
      let sample = samples[index]
      tracker.advance(to: sample.time)
      let predicted = tracker.state
      let interval = last[sample.source].map { sample.time - $0 } ?? .infinity
      last[sample.source] = sample.time
      let isAccepted = tracker.update(
        sample.observation, time: sample.time, interval: interval)
      steps.append(Step(state: tracker.state, predicted: predicted, isAccepted: isAccepted))
      if tracker.rejections >= parameters.rejectionLimit * max(1, last.count) {
        // Lost since the last accepted one: find the place anew from there.
        while let step = steps.last, !step.isAccepted { steps.removeLast() }
        return (steps, tracker.evidence, true)
      }
    }
    return (steps, tracker.evidence, false)
  }

  /// Rauch, Tung and Striebel's pass.
  private func backward(_ steps: [Step]) -> [PlaceTracker.State] {
    var states = steps.map(\.state)
    for index in (0..<states.count - 1).reversed() {
      let own = steps[index].state
      let predicted = steps[index + 1].predicted
      let dt = predicted.time - own.time
      guard let inverse = predicted.covariance.inverse else { continue }
      // P·Fᵀ: the columns of the place take dt times those of the velocity.
      var gain = own.covariance
      for row in 0..<6 {
        for axis in 0..<3 { gain[row, axis] += dt * own.covariance[row, axis + 3] }
      }
      gain = gain.times(inverse)
      let next = states[index + 1]
      var difference = Vector6()
      for row in 0..<6 { difference[row] = next.mean[row] - predicted.mean[row] }
      let change = gain.times(difference)
      let spread = gain.times(next.covariance.minus(predicted.covariance)).times(gain.transposed)
      for row in 0..<6 {
        states[index].mean[row] += change[row]
        for column in 0..<6 { states[index].covariance[row, column] += spread[row, column] }
        states[index].covariance[row, row] = max(states[index].covariance[row, row], 1e-12)
      }
    }
    return states
  }
}

extension Symmetric3 {
  func scaled(_ factor: Double) -> Symmetric3 {
    Symmetric3(
      xx: xx * factor, xy: xy * factor, xz: xz * factor, yy: yy * factor, yz: yz * factor,
      zz: zz * factor)
  }
}
