// SPDX-License-Identifier: Apache-2.0

/// The rules by which probabilities become decisions.
package struct ZoneRules: Sendable, Hashable {
  /// The accepted rate of wrong changes of a tag that rests on an edge: one in 100 days.
  package var wrongChangesPerSecond = 1 / (100 * 86_400.0)
  /// The least time in seconds within which errors of estimates are assumed to be correlated.
  package var errorMemory = 1.0
  /// The greatest time in seconds within which errors are assumed to be correlated.
  package var longestMemory = 15.0
  /// The time in seconds of the correlation that the estimates of a tag show.
  var slowMemory = 1.0
  /// The probability of the other side that every change requires.
  package var likely = 0.9
  /// The least time in seconds for which the other side must be likely.
  package var shortest = 0.2

  package init() {}

  /// The doubt below which a change is certain.
  ///
  /// Correlated errors exceed a level of k deviations exp(−k²/2) / 2π times within `errorMemory`.
  /// The allowed doubt is the probability beyond this level.
  var doubt: Double {
    let crossings = 2 * Double.pi * wrongChangesPerSecond * errorMemory
    let level = (-2 * Math.log(min(0.5, crossings))).squareRoot()
    return Math.normalBelow(-level)
  }

  /// The time after which a change that is only likely counts as certain.
  ///
  /// Errors of 1.28 deviations on one side end within each memory with a probability of at least
  /// two thirds.
  var longest: Double {
    let memory = max(errorMemory, slowMemory)
    return memory * Math.log(1 / min(0.5, wrongChangesPerSecond * memory)) / Math.log(3)
  }
}
