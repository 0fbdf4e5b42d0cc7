// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Ranging

/// The path of a device while its samples arrive.
///
/// Each position is computed by a `PositionSmoother` from the samples up to its time. It is not
/// revised if it proves wrong later.
package struct PositionFollower: Sendable {
  /// The position at one time.
  package struct Result: Sendable {
    /// The position at each sample of this time.
    var points: [PositionSmoother.Point?]

    package var estimate: PositionEstimate? { points.last.flatMap { $0?.estimate } }
    /// The number of measurements that were used.
    package var used: Int { points.count { $0?.isAccepted == true } }
  }

  private var bank: PositionBank
  /// The number of samples of each time without a result.
  private var waiting: [Int] = []
  /// The index of the first sample without a result.
  private var next = 0
  /// The time of the last sample.
  private var time = -Double.infinity

  /// - Parameter sources: the greatest number of anchors.
  package init(_ smoother: PositionSmoother, sources: Int) {
    bank = PositionBank(smoother, sources: sources)
  }

  /// Whether there are samples without a result.
  package var isWaiting: Bool { !waiting.isEmpty }

  /// Adds all samples of one time.
  ///
  /// - Parameter errors: additional constant errors of their anchors, by their index.
  /// - Returns: false for an earlier time, whose samples are ignored.
  package mutating func add(_ samples: [PositionSample], errors: [Int: Double]) -> Bool {
    guard let first = samples.first, first.time > time else { return false }
    time = first.time
    waiting.append(samples.count)
    bank.add(samples, errors: errors)
    return true
  }

  /// Returns the results that are available, one for each time, in order.
  ///
  /// - Parameter now: the time up to which all samples were added, in seconds.
  package mutating func results(until now: Double) -> [Result] {
    var results: [Result] = []
    for count in waiting {
      guard let points = bank.points(next..<next + count, until: now) else { break }
      results.append(Result(points: points))
      next += count
    }
    waiting.removeFirst(results.count)
    next -= bank.removeSurplus(next)
    return results
  }
}
