// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Ranging

/// The path of a device, while its samples arrive. The positions are the positions of a
/// `PositionSmoother` that uses the samples up to each time. Positions that turn out to be wrong
/// later are not computed again.
package struct PositionFollower: Sendable {
  /// The position at one time.
  package struct Result: Sendable {
    package var estimate: PositionEstimate?
    /// The number of measurements that were used.
    package var used: Int
  }

  /// A pass for each acceleration, and its predictions of the last seconds.
  private var passes: [PositionPass]
  private var scores: [Double]
  private var chosen: Int
  /// The number of samples of each time without a result, and the first sample of these.
  private var waiting: [Int] = []
  private var next = 0
  /// The time of the last sample with a result, and the evidence of each pass there.
  private var last: (time: Double, evidence: [Double])?
  /// The time of the last sample.
  private var time = -Double.infinity

  /// - Parameter sources: how many anchors there may be.
  package init(_ smoother: PositionSmoother, sources: Int) {
    passes = smoother.accelerations.map {
      PositionPass(smoother.moving($0), sources: sources, isSmoothed: false)
    }
    scores = passes.map { _ in 0 }
    chosen = smoother.accelerations.firstIndex(of: 1) ?? 0
  }

  /// Whether samples have no result yet.
  package var isWaiting: Bool { !waiting.isEmpty }

  /// Adds all samples of one time.
  ///
  /// - Parameter errors: additional constant errors of their anchors, by their index.
  /// - Returns: false for an earlier time, whose samples are ignored.
  package mutating func add(_ samples: [PositionSample], errors: [Int: Double]) -> Bool {
    guard let first = samples.first, first.time > time else { return false }
    time = first.time
    waiting.append(samples.count)
    for index in passes.indices { passes[index].add(samples, errors: errors) }
    return true
  }

  /// Returns the results that are known now, one for each time, in their order.
  ///
  /// - Parameter now: the time up to which all samples were added, in seconds.
  package mutating func results(until now: Double) -> [Result] {
    for index in passes.indices { passes[index].run(until: now) }
    var results: [Result] = []
    while let count = waiting.first, passes.allSatisfy({ $0.index >= next + count }) {
      for index in next..<next + count { choose(index) }
      let points = passes[chosen].points[next..<next + count]
      results.append(
        Result(
          estimate: points.last.flatMap { $0?.estimate },
          used: points.count { $0?.isAccepted == true }))
      next += count
      waiting.removeFirst()
    }
    let surplus = passes.reduce(next) { min($0, $1.surplus) }
    if surplus > 0 {
      for index in passes.indices { passes[index].removeFirst(surplus) }
      next -= surplus
    }
    return results
  }

  /// Chooses the pass with the best predictions of the last seconds.
  private mutating func choose(_ index: Int) {
    let evidence = passes.map { $0.evidence[index] }
    let time = passes[0].time(of: index)
    if let last {
      let memory = exp((last.time - time) / 10)
      for pass in scores.indices {
        scores[pass] = memory * scores[pass] + evidence[pass] - last.evidence[pass]
      }
      for pass in scores.indices where scores[pass] > scores[chosen] { chosen = pass }
    }
    last = (time, evidence)
  }
}
