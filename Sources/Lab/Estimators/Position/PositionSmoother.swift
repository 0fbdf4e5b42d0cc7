// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Ranging

/// One measurement to an anchor in a recording.
package struct PositionSample: Sendable, Hashable {
  /// The time in seconds.
  package var time: Double
  package var observation: PositionObservation
  /// The index of the anchor, counted from 0; for a difference, the index of the second anchor.
  /// Samples of one anchor share its errors.
  package var source: Int
  /// The index of the first anchor of a difference.
  package var reference: Int?

  /// Creates a sample.
  package init(time: Double, observation: PositionObservation, source: Int, reference: Int? = nil) {
    (self.time, self.observation) = (time, observation)
    (self.source, self.reference) = (source, reference)
  }
}

extension [PositionSample] {
  /// The limit of the measurements of one time to each anchor or pair of anchors. Their mean has
  /// hardly any noise, and errors of the anchor remain.
  package static var mostRepetitions: Int { 50 }

  /// Returns the measurements of one time that are used.
  package var withoutSurplus: [PositionSample] {
    guard count > Self.mostRepetitions else { return self }
    return thinned(to: Self.mostRepetitions) { SIMD2($0.source, $0.reference ?? -1) }
  }

  /// Returns the measurements of one time, with deviations that account for repetitions.
  ///
  /// All ranges to one anchor together have the information of a single range. Differences between
  /// n connected anchors together have the information of n - 1.
  ///
  /// - Parameter errors: the constant errors of anchors by their index, which are not part of the
  ///   noise.
  package func observations(errors: [Int: Double]) -> [PositionObservation] {
    // The group of connected anchors that each anchor belongs to, identified by one of its anchors.
    var groups: [Int: Int] = [:]
    for sample in self {
      guard let reference = sample.reference else { continue }
      let (a, b) = (groups[sample.source] ?? sample.source, groups[reference] ?? reference)
      (groups[sample.source], groups[reference]) = (a, b)
      for (anchor, group) in groups where group == b { groups[anchor] = a }
    }
    let sizes = Dictionary(groups.values.map { ($0, 1) }, uniquingKeysWith: +)
    func group(_ sample: PositionSample) -> SIMD2<Int> {
      sample.reference == nil ? [sample.source, 0] : [groups[sample.source] ?? 0, 1]
    }
    let counts = Dictionary(map { (group($0), 1) }, uniquingKeysWith: +)
    return map { sample in
      var (observation, error) = (sample.observation, errors[sample.source] ?? 0)
      let group = group(sample)
      let independent = group.y == 0 ? 1 : Swift.max(1, (sizes[group.x] ?? 2) - 1)
      let repeats = Double(counts[group] ?? 1) / Double(independent)
      let noise = observation.standardDeviation
      observation.standardDeviation = ((noise * noise + error * error) * repeats).squareRoot()
      return observation
    }
  }
}

/// The path of a device through a recording. Each position is computed from the whole recording
/// (smoothed) or from the samples up to its time (filtered).
public struct PositionSmoother: Sendable {
  package var parameters: PositionTracker.Parameters
  /// The duration in seconds of the measurements that determine the first position.
  package var initialWindow = 1.0
  /// The seconds without a measurement after which the path begins again with a new first position.
  package var gap = 5.0

  package var errors = PositionErrorModel()
  /// Multiples of the acceleration density of `parameters`: walking, running, a drone.
  ///
  /// The most likely one is chosen. None is below 1, because errors that last for seconds would
  /// make a calm path seem too likely.
  package var accelerations = [1.0, 10, 100]
  /// Multiples of the slow error of `errors`, in ascending order, for rooms, and for drones with
  /// turning antennas.
  ///
  /// The measurements determine their weights. None is below 1, because the assumed noise includes
  /// a part of the slow error.
  package var slowErrors = [1.0, 2, 4]

  /// The position at one time.
  public struct Point: Sendable {
    /// The time in seconds, on the clock of the measurements.
    public var time: Double
    /// The position with its covariance.
    public var estimate: PositionEstimate
    /// Whether the measurement at this time was used.
    public var isAccepted: Bool
  }

  /// Creates a smoother for people, trolleys and drones.
  ///
  /// - Parameter height: the prior of the height; nil: any height is possible.
  package init(height: HeightPrior? = nil) {
    parameters = PositionTracker.Parameters()
    parameters.height = height
  }

  package init(_ parameters: PositionTracker.Parameters) { self.parameters = parameters }

  /// Returns the position at each sample.
  ///
  /// - Parameters:
  ///   - samples: in order of time.
  ///   - live: whether each position uses only the samples up to its time.
  /// - Returns: nil for samples at which no position could be determined.
  package func path(_ samples: [PositionSample], live: Bool = false) -> [Point?] {
    if live { return livePath(samples) }
    return likeliest(for: Array(samples.prefix(20_000))).pass(samples, live: false).points
  }

  /// Returns the smoother with another acceleration and slow error.
  ///
  /// - Parameters:
  ///   - acceleration: the multiple of the acceleration density of `parameters`.
  ///   - slowError: the multiple of the slow error of `errors`.
  func assuming(acceleration: Double, slowError: Double) -> PositionSmoother {
    var smoother = self
    smoother.parameters.accelerationDensity *= acceleration
    smoother.parameters.initialVelocity *= max(1, acceleration.squareRoot())
    smoother.errors.slowMultiple = slowError
    return smoother
  }

  /// Returns the smoother with the acceleration and the slow error under which the samples are most
  /// likely.
  ///
  /// One is chosen while the other stays the same.
  private func likeliest(for samples: [PositionSample]) -> PositionSmoother {
    var known: [SIMD2<Double>: Double] = [:]
    func evidence(_ model: SIMD2<Double>) -> Double {
      if let value = known[model] { return value }
      let smoother = assuming(acceleration: model.x, slowError: model.y)
      let value = smoother.pass(samples, live: true).evidence.last ?? 0
      known[model] = value
      return value
    }
    var best = SIMD2(accelerations[0], slowErrors[0])
    // The second round may choose another acceleration, because the slow error has changed.
    for _ in 0..<2 {
      let slow = best.y
      if accelerations.count > 1 {
        best.x = accelerations.max { evidence([$0, slow]) < evidence([$1, slow]) } ?? best.x
      }
      while let next = slowErrors.first(where: { $0 > best.y }),
        evidence([best.x, next]) > evidence(best)
      {
        best.y = next
      }
      if best.y == slow { break }
    }
    return assuming(acceleration: best.x, slowError: best.y)
  }

  /// Returns the position at each sample from the samples up to its time.
  ///
  /// A position may be computed again after later samples have shown that it was wrong.
  private func livePath(_ samples: [PositionSample]) -> [Point?] {
    var bank = PositionBank(self, sources: Self.sources(samples))
    bank.add(samples, errors: [:])
    var path: [Point?] = []
    while path.count < samples.count {
      let time = samples[path.count].time
      let end = samples[path.count...].firstIndex { $0.time != time } ?? samples.count
      guard let points = bank.points(path.count..<end, until: .infinity) else { break }
      path += points
      for index in bank.takeRevised(before: path.count) { path[index] = bank.mixture(index) }
    }
    return path
  }

  /// Returns a number greater than every index of an anchor.
  private static func sources(_ samples: [PositionSample]) -> Int {
    (samples.map { max($0.source, $0.reference ?? 0) }.max() ?? -1) + 1
  }

  /// Returns a pass that has processed all samples.
  private func pass(_ samples: [PositionSample], live: Bool) -> PositionPass {
    var pass = PositionPass(self, sources: Self.sources(samples), isSmoothed: !live)
    pass.add(samples)
    pass.run(until: .infinity)
    pass.smooth()
    return pass
  }

  /// Computes the first position from the measurements of a short time.
  fileprivate func begin(
    _ samples: [PositionSample], _ index: Int, _ filter: PositionTracker?, _ sources: Int,
    live: Bool
  ) -> PositionEstimate? {
    let first = samples[index].time
    var solver = PositionSolver(height: parameters.height)
    solver.tailFreedom = parameters.tailFreedom
    let window = samples[index...].prefix { $0.time - first <= initialWindow }
    let positions = solver.candidates(
      window.map { sample in
        var observation = sample.observation
        observation.value -= filter?.error(of: sample) ?? 0
        return observation
      }
    ).map { $0.beginning(parameters, within: initialWindow) }
    guard var best = positions.first else { return nil }
    // If a mirror image fits equally well, later measurements determine the right one.
    if positions.count > 1, !live {
      var most = -Double.infinity
      let trial = samples[index...].prefix { $0.time - first <= 30 }
      for position in positions {
        var run = PositionTracker(
          at: position, time: first, sources: sources, errors: errors, parameters)
        for sample in trial { run.update(sample) }
        if run.logLikelihood > most { (most, best) = (run.logLikelihood, position) }
      }
    }
    return best
  }
}

/// A pass through samples: the tracker, and its results at each sample.
struct PositionPass: Sendable {
  private var smoother: PositionSmoother
  private let sources: Int
  private let isSmoothed: Bool
  private var samples: [PositionSample] = []
  private var filter: PositionTracker?
  private(set) var points: [PositionSmoother.Point?] = []
  private(set) var evidence: [Double] = []
  /// The index of the next sample.
  private(set) var index = 0
  private var isLost = true
  /// The sample at which the position was first computed, and the sample up to which the track was
  /// consistent with the measurements.
  private var (start, consistent) = (0, 0)
  /// The first of the samples that were processed again.
  private(set) var revised = Int.max
  /// The number of anchors with a measurement.
  private var seen = 0
  /// The samples at each time with a position, and the width of the covariance at that time.
  private var marks: [(samples: Range<Int>, width: Double)] = []
  private var warnings: GeometryWarnings = []

  /// - Parameter sources: the greatest number of anchors.
  init(_ smoother: PositionSmoother, sources: Int, isSmoothed: Bool) {
    (self.smoother, self.sources, self.isSmoothed) = (smoother, sources, isSmoothed)
  }

  /// Adds later samples. All samples of one time have to be added together.
  ///
  /// - Parameter errors: additional constant errors of their anchors; see `PositionErrorModel`.
  mutating func add(_ later: [PositionSample], errors: [Int: Double] = [:]) {
    for (source, deviation) in errors where smoother.errors.single[source] == nil {
      smoother.errors.single[source] = deviation
      filter?.widen(source, by: deviation)
    }
    samples += later
    points += Array(repeating: nil, count: later.count)
    evidence += Array(repeating: 0, count: later.count)
    for sample in later { seen = max(seen, 1 + max(sample.source, sample.reference ?? 0)) }
  }

  /// Processes samples. A track starts when all samples of its first second are available.
  ///
  /// - Parameters:
  ///   - now: the time up to which all samples were added, in seconds.
  ///   - limit: the first sample that is not processed.
  mutating func run(until now: Double, before limit: Int = .max) {
    while index < min(limit, samples.count) {
      let time = samples[index].time
      let end = samples[index...].firstIndex { $0.time != time } ?? samples.count
      if index > 0, time - samples[index - 1].time > smoother.gap { isLost = true }
      if isLost {
        guard now - time > smoother.initialWindow else { return }
        guard let initial = smoother.begin(samples, index, filter, sources, live: !isSmoothed)
        else {
          // If there is no position at this sample, the search continues at the next one.
          index = end
          continue
        }
        start(at: initial, time: time)
        isLost = false
        (start, consistent) = (index, index)
      }
      take(index..<end)
      let balance = filter?.rejectionBalance ?? 0
      if balance == 0 { consistent = end }
      index = end
      if balance >= max(smoother.parameters.rejectionLimit, 2 * seen) {
        // Computes the position again from the last consistent sample. This is done only once for
        // each sample.
        isLost = true
        if consistent > start {
          for lost in consistent..<index { points[lost] = nil }
          index = consistent
          revised = min(revised, index)
        }
      }
    }
  }

  func time(of index: Int) -> Double { samples[index].time }

  /// Resets the record of samples that were processed again.
  mutating func resetRevised() { revised = .max }

  /// Continues with another acceleration or slow error.
  mutating func assume(_ smoother: PositionSmoother) {
    self.smoother.parameters = smoother.parameters
    self.smoother.errors.slowMultiple = smoother.errors.slowMultiple
    filter?.assume(smoother.parameters, slowMultiple: smoother.errors.slowMultiple)
  }

  /// The number of samples at the beginning that are no longer needed.
  var surplus: Int { min(index, consistent) - 1 }

  /// Removes samples at the beginning.
  mutating func removeFirst(_ count: Int) {
    samples.removeFirst(count)
    points.removeFirst(count)
    evidence.removeFirst(count)
    index -= count
    consistent -= count
    start -= count
  }

  private mutating func start(at initial: PositionEstimate, time: Double) {
    warnings = initial.warnings
    guard filter == nil else {
      filter?.restart(at: initial, time: time)
      return
    }
    filter = PositionTracker(
      at: initial, time: time, sources: sources, errors: smoother.errors, smoother.parameters)
    if isSmoothed { filter?.history = SmootherHistory(sources: sources) }
  }

  /// Updates the tracker with samples of one time.
  private mutating func take(_ range: Range<Int>) {
    let wasUsed = range.map { filter?.update(samples[$0]) ?? false }
    for index in range { evidence[index] = filter?.logLikelihood ?? 0 }
    guard let marked = filter?.mark() else { return }
    if isSmoothed { marks.append((range, filter?.recordedWidth ?? 1)) }
    let estimate = PositionEstimate(
      position: marked.position, covariance: marked.covariance, warnings: warnings)
    for (index, isAccepted) in zip(range, wasUsed) {
      points[index] = PositionSmoother.Point(
        time: samples[index].time, estimate: estimate, isAccepted: isAccepted)
    }
  }

  /// Corrects each position by later samples. Does nothing if the tracker has no history.
  mutating func smooth() {
    guard let history = filter?.history else { return }
    var later = 0
    for (mark, state) in zip(marks, history.smoothed()) {
      // Between two marks, the width is interpolated.
      let time = samples[mark.samples.lowerBound].time
      while later + 1 < marks.count,
        samples[marks[later + 1].samples.lowerBound].time <= time + 10
      {
        later += 1
      }
      for index in mark.samples where points[index] != nil {
        points[index]?.estimate.position = state.position
        points[index]?.estimate.covariance = state.covariance.scaled(marks[later].width)
      }
    }
  }
}

extension PositionEstimate {
  /// Returns the estimate with a greater uncertainty, as the start of a filter.
  ///
  /// The device moved although it was assumed to be at rest. The measurements since then are used
  /// again, and must not count twice.
  func beginning(_ parameters: PositionTracker.Parameters, within seconds: Double)
    -> PositionEstimate
  {
    var wide = self
    let moved = parameters.initialVelocity * seconds
    wide.covariance = covariance.scaled(9)
    wide.covariance.addToDiagonal(moved * moved)
    return wide
  }
}
