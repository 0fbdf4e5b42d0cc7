// SPDX-License-Identifier: Apache-2.0

/// One measurement of a recording of measurements to anchors.
public struct PlaceSample: Sendable, Hashable {
  /// Seconds.
  public var time: Double
  /// What was measured.
  public var observation: PlaceObservation
  /// Which anchor it is from, counted from 0, to know what shares its error; of a difference the
  /// second.
  public var source: Int
  /// The first anchor of a difference.
  public var reference: Int?

  /// From its parts.
  public init(time: Double, observation: PlaceObservation, source: Int, reference: Int? = nil) {
    (self.time, self.observation) = (time, observation)
    (self.source, self.reference) = (source, reference)
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

  /// How the measurements err beside their noise.
  public var errors = PlaceErrorModel()
  /// Multiples of the acceleration of `parameters` among which the measurements say themselves which
  /// one is the likeliest: somebody on foot, a runner, a drone. One alone: that one. None below 1:
  /// errors that last for seconds make a calmer way seem likelier than it is.
  public var accelerations = [1.0, 10, 100]

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
  /// - Parameters:
  ///   - samples: in order of time.
  ///   - live: from what was known at the time of each sample.
  /// - Returns: nil for samples from which no place could be found.
  public func way(_ samples: [PlaceSample], live: Bool = false) -> [Point?] {
    if live { return likeliestAtEachTime(samples) }
    var best = self
    var most = -Double.infinity
    let some = Array(samples.prefix(20_000))
    for multiple in accelerations where accelerations.count > 1 {
      let smoother = moving(multiple)
      let evidence = smoother.once(some, live: true).evidence.last ?? 0
      if evidence > most { (most, best) = (evidence, smoother) }
    }
    if accelerations.count == 1 { best = moving(accelerations[0]) }
    return best.once(samples, live: false).points
  }

  private func moving(_ multiple: Double) -> PlaceSmoother {
    var smoother = self
    smoother.parameters.accelerationDensity *= multiple
    smoother.parameters.initialVelocity *= max(1, multiple.squareRoot())
    return smoother
  }

  /// From all ways as they were known then, at each time the one whose acceleration had foretold the
  /// measurements of the last seconds best.
  private func likeliestAtEachTime(_ samples: [PlaceSample]) -> [Point?] {
    let ways = accelerations.map { moving($0).once(samples, live: true) }
    guard ways.count > 1 else { return ways.first?.points ?? [] }
    var merits = [Double](repeating: 0, count: ways.count)
    var chosen = accelerations.firstIndex(of: 1) ?? 0
    return samples.indices.map { index in
      guard index > 0 else { return ways[chosen].points[index] }
      let memory = Functions.exponential((samples[index - 1].time - samples[index].time) / 10)
      for way in merits.indices {
        merits[way] =
          memory * merits[way]
          + ways[way].evidence[index] - ways[way].evidence[index - 1]
      }
      for way in merits.indices where merits[way] > merits[chosen] { chosen = way }
      return ways[chosen].points[index]
    }
  }

  /// The way under one acceleration, and the logarithm of how likely all measurements until each were.
  private func once(
    _ samples: [PlaceSample], live: Bool
  ) -> (points: [Point?], evidence: [Double]) {
    let sources = (samples.map { max($0.source, $0.reference ?? 0) }.max() ?? -1) + 1
    var points = [Point?](repeating: nil, count: samples.count)
    var evidence = [Double](repeating: 0, count: samples.count)
    /// The samples of each mark, and what may be wrong with the place then.
    var marks: [(samples: Range<Int>, warnings: GeometryWarnings)] = []
    var filter: PlaceTracker?
    var warnings: GeometryWarnings = []
    var isLost = true
    var index = 0
    /// Where the place was found, and until where nothing was doubted.
    var (found, sound) = (0, 0)
    while index < samples.count {
      let time = samples[index].time
      let end = samples[index...].firstIndex { $0.time != time } ?? samples.count
      if let before = index > 0 ? samples[index - 1].time : nil, time - before > gap {
        isLost = true
      }
      if isLost {
        guard let place = begin(samples, index, filter, sources, live: live) else {
          // No place in this beginning: perhaps in the next.
          index = end
          continue
        }
        if filter == nil {
          filter = PlaceTracker(
            at: place, time: time, sources: sources, errors: errors, parameters)
          if !live { filter?.tape = PlaceTape(sources: sources) }
        } else {
          filter?.restart(at: place, time: time)
        }
        warnings = place.warnings
        isLost = false
        (found, sound) = (index, index)
      }
      guard filter != nil else { break }
      var wasUsed: [Bool] = []
      for sample in samples[index..<end] { wasUsed.append(filter?.update(sample) ?? false) }
      for one in index..<end { evidence[one] = filter?.evidence ?? 0 }
      if filter?.doubt == 0 { sound = end }
      if let marked = filter?.mark() {
        marks.append((index..<end, warnings))
        for (offset, isAccepted) in wasUsed.enumerated() {
          points[index + offset] = Point(
            time: time,
            estimate: PlaceEstimate(
              place: marked.place, covariance: marked.covariance, warnings: warnings),
            isAccepted: isAccepted)
        }
      }
      index = end
      if filter?.doubt ?? 0 >= max(parameters.rejectionLimit, 2 * sources) {
        // Lost since then: find the place anew from there. Not from where it was found already.
        isLost = true
        if sound > found {
          for lost in sound..<index { points[lost] = nil }
          index = sound
        }
      }
    }
    guard let tape = filter?.tape else { return (points, evidence) }
    for (mark, state) in zip(marks, tape.smoothed()) {
      for index in mark.samples where points[index] != nil {
        points[index]?.estimate.place = state.place
        points[index]?.estimate.covariance = state.covariance
      }
    }
    return (points, evidence)
  }

  /// Where the place is, from the measurements of a short time.
  private func begin(
    _ samples: [PlaceSample], _ index: Int, _ filter: PlaceTracker?, _ sources: Int, live: Bool
  ) -> PlaceEstimate? {
    let first = samples[index].time
    var solver = PlaceSolver(height: parameters.height)
    solver.tailFreedom = parameters.tailFreedom
    let window = samples[index...].prefix { $0.time - first <= beginning }
    let places = solver.candidates(
      window.map { sample in
        var observation = sample.observation
        observation.value -= filter?.error(of: sample) ?? 0
        return observation
      }
    ).map { $0.beginning(parameters, within: beginning) }
    guard var best = places.first else { return nil }
    // Where a mirror fits as well, what follows decides.
    if places.count > 1, !live {
      var most = -Double.infinity
      let trial = samples[index...].prefix { $0.time - first <= 30 }
      for place in places {
        var run = PlaceTracker(
          at: place, time: first, sources: sources, errors: errors, parameters)
        for sample in trial { run.update(sample) }
        if run.evidence > most { (most, best) = (run.evidence, place) }
      }
    }
    return best
  }
}

extension PlaceEstimate {
  /// To begin with: as uncertain as a place can be that was taken to be at rest while it moved, and
  /// whose measurements come again and must not count twice.
  func beginning(_ parameters: PlaceTracker.Parameters, within seconds: Double) -> PlaceEstimate {
    var wide = self
    let moved = parameters.initialVelocity * seconds
    wide.covariance.xx = 9 * covariance.xx + moved * moved
    wide.covariance.yy = 9 * covariance.yy + moved * moved
    wide.covariance.zz = 9 * covariance.zz + moved * moved
    wide.covariance.xy = 9 * covariance.xy
    wide.covariance.xz = 9 * covariance.xz
    wide.covariance.yz = 9 * covariance.yz
    return wide
  }
}
