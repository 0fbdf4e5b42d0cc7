// SPDX-License-Identifier: Apache-2.0

/// A change of a tag, with the time at which it happened and the time of the decision.
package struct ZoneEvent: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case entered(zone: String)
    /// The dwell time in seconds, from the time of entering.
    case left(zone: String, dwell: Double)
  }

  package var tag: String
  package var kind: Kind
  /// Seconds; by interpolation between estimates.
  package var happened: Double
  /// The standard deviation of `happened`; infinite if the tag was inside from its first estimate.
  package var happenedDeviation: Double
  package var decided: Double
}
