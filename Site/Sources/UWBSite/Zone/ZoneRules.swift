// SPDX-License-Identifier: Apache-2.0

/// The rules by which probabilities become decisions.
package struct ZoneRules: Sendable, Hashable {
  /// The rate of wrong changes of a tag that rests on an edge: one in 100 days.
  package var wrongChangesPerSecond = 1 / (100 * 86_400.0)
  /// The least time in seconds during which errors of the estimates resemble one another, and the
  /// longest one.
  package var errorMemory = 1.0
  package var longestMemory = 15.0
  /// The time that the estimates of a tag show.
  var slowMemory = 1.0
  /// The probability that has to hold for the shorter and the longer time.
  package var likely = 0.9
  /// The least time in seconds for which a place is likely on the other side.
  package var shortest = 0.2

  package init() {}

  /// The probability at which a change is sure.
  ///
  /// Errors that change within `errorMemory` exceed a level of k deviations exp(−k²/2) / 2π times
  /// in that time. The probability beyond that level is the allowed doubt.
  var doubt: Double {
    let crossings = 2 * Double.pi * wrongChangesPerSecond * errorMemory
    let level = (-2 * Math.log(min(0.5, crossings))).squareRoot()
    return Math.normalBelow(-level)
  }

  /// The time after which a place that is only likely is sure.
  ///
  /// Errors of 1.28 deviations on one side end within each memory with a probability of two thirds
  /// at least.
  var longest: Double {
    let memory = max(errorMemory, slowMemory)
    return memory * Math.log(1 / min(0.5, wrongChangesPerSecond * memory)) / Math.log(3)
  }
}
