// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Ranging

/// Live passes with different accelerations and slow errors, weighted by their predictions.
///
/// There is a pass for each acceleration with the most likely slow error, and for each slow error
/// with the most likely acceleration. When one of these choices changes, the passes of the other
/// parameter continue with the new choice. The positions with all slow errors are mixed. Only the
/// most likely acceleration is used, because it may change at any time.
struct PositionBank: Sendable {
  /// The seconds after which the weight of predictions has fallen to a third.
  ///
  /// An acceleration lasts as long as a manoeuvre, the errors of anchors as long as the device
  /// stays in a place.
  private static let memory = (acceleration: 10.0, slowError: 30.0)

  /// The possible values of one parameter, with a pass for each value.
  private struct Choice: Sendable {
    let values: [Double]
    /// The index of the pass of each value.
    var passes: [Int]
    private(set) var scores: [Double]
    var chosen = 0

    init(_ values: [Double], firstPass: Int) {
      self.values = values
      // The first values of both parameters share the first pass.
      passes = values.indices.map { $0 == 0 ? 0 : firstPass + $0 - 1 }
      scores = values.map { _ in 0 }
    }

    var value: Double { values[chosen] }

    /// Adds the log-likelihoods of the last samples, which are given for each pass.
    mutating func add(_ gains: [Double], memory: Double) {
      for index in scores.indices { scores[index] = memory * scores[index] + gains[passes[index]] }
    }

    /// The index of the value under which the samples were most likely.
    var likeliest: Int {
      scores.indices.reduce(chosen) { scores[$1] > scores[$0] ? $1 : $0 }
    }
  }

  private let smoother: PositionSmoother
  private var passes: [PositionPass]
  private var acceleration, slowError: Choice
  /// The time of the last sample with a position, and the log-likelihood of each pass at that time.
  private var last: (time: Double, evidence: [Double])?

  init(_ smoother: PositionSmoother, sources: Int) {
    self.smoother = smoother
    // Multiples of a slow error of 0 are all equal.
    let slowErrors = smoother.errors.slow > 0 ? smoother.slowErrors : [1]
    acceleration = Choice(smoother.accelerations, firstPass: 1)
    slowError = Choice(slowErrors, firstPass: smoother.accelerations.count)
    let others =
      acceleration.values.dropFirst().map { ($0, slowErrors[0]) }
      + slowErrors.dropFirst().map { (smoother.accelerations[0], $0) }
    passes = ([(smoother.accelerations[0], slowErrors[0])] + others).map {
      PositionPass(
        smoother.assuming(acceleration: $0, slowError: $1), sources: sources, isSmoothed: false)
    }
  }

  /// Adds all samples of one time.
  mutating func add(_ samples: [PositionSample], errors: [Int: Double]) {
    for index in passes.indices { passes[index].add(samples, errors: errors) }
  }

  /// Returns the position at each sample of one time.
  ///
  /// - Parameter now: the time up to which all samples were added, in seconds.
  /// - Returns: nil while a pass needs later samples.
  mutating func points(_ range: Range<Int>, until now: Double) -> [PositionSmoother.Point?]? {
    for index in passes.indices { passes[index].run(until: now, before: range.upperBound) }
    guard passes.allSatisfy({ $0.index >= range.upperBound }) else { return nil }
    choose(range.upperBound - 1)
    return range.map(mixture)
  }

  /// Returns the samples whose positions a pass has revised since the last call.
  ///
  /// - Parameter limit: the first sample without a position.
  mutating func takeRevised(before limit: Int) -> Range<Int> {
    let first = passes.reduce(limit) { min($0, $1.revised) }
    for index in passes.indices { passes[index].resetRevised() }
    return first..<limit
  }

  /// Removes the samples at the beginning that no pass needs.
  ///
  /// - Parameter limit: the first sample without a position.
  /// - Returns: the number of removed samples.
  mutating func removeSurplus(_ limit: Int) -> Int {
    let surplus = passes.reduce(limit) { min($0, $1.surplus) }
    guard surplus > 0 else { return 0 }
    for index in passes.indices { passes[index].removeFirst(surplus) }
    return surplus
  }

  /// Chooses the acceleration and the slow error with the best predictions in recent seconds.
  private mutating func choose(_ index: Int) {
    let evidence = passes.map { $0.evidence[index] }
    let time = passes[0].time(of: index)
    defer { last = (time, evidence) }
    guard let last else { return }
    let gains = zip(evidence, last.evidence).map { $0 - $1 }
    func memory(_ seconds: Double) -> Double { exp((last.time - time) / seconds) }
    acceleration.add(gains, memory: memory(Self.memory.acceleration))
    slowError.add(gains, memory: memory(Self.memory.slowError))
    if acceleration.likeliest != acceleration.chosen {
      acceleration.chosen = acceleration.likeliest
      slowError.passes[slowError.chosen] = acceleration.passes[acceleration.chosen]
      for pass in slowError.passes.indices where pass != slowError.chosen {
        assume(acceleration.value, slowError.values[pass], slowError.passes[pass])
      }
    }
    if slowError.likeliest != slowError.chosen {
      slowError.chosen = slowError.likeliest
      acceleration.passes[acceleration.chosen] = slowError.passes[slowError.chosen]
      for pass in acceleration.passes.indices where pass != acceleration.chosen {
        assume(acceleration.values[pass], slowError.value, acceleration.passes[pass])
      }
    }
  }

  private mutating func assume(_ acceleration: Double, _ slowError: Double, _ pass: Int) {
    passes[pass].assume(smoother.assuming(acceleration: acceleration, slowError: slowError))
  }

  /// Returns the mean and the covariance of the positions that the slow errors lead to.
  func mixture(_ index: Int) -> PositionSmoother.Point? {
    guard var point = passes[slowError.passes[slowError.chosen]].points[index] else { return nil }
    let most = slowError.scores[slowError.chosen]
    let estimates = zip(slowError.passes, slowError.scores).compactMap { pass, score in
      passes[pass].points[index].map { ($0.estimate, exp(score - most)) }
    }.filter { $0.1 > 1e-6 }
    point.estimate.mix(estimates)
    return point
  }
}

extension PositionEstimate {
  /// Replaces the estimate with the mean and the covariance of weighted estimates.
  fileprivate mutating func mix(_ estimates: [(estimate: PositionEstimate, weight: Double)]) {
    guard estimates.count > 1 else { return }
    let total = estimates.reduce(0) { $0 + $1.weight }
    let mean = estimates.reduce(SIMD3<Double>.zero) {
      $0 + $1.estimate.position * ($1.weight / total)
    }
    var mixed = Symmetric3.zero
    for (estimate, weight) in estimates {
      mixed.add(estimate.covariance.scaled(weight / total))
      mixed.add(estimate.position - mean, weight / total)
    }
    (position, covariance) = (mean, mixed)
  }
}
