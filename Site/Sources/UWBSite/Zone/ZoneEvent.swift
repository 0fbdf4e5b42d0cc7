// SPDX-License-Identifier: Apache-2.0

/// An event of a tag in a zone, with the times at which it happened and was decided.
package struct ZoneEvent: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case entered(zone: String)
    /// The dwell time in seconds, from the time of entering.
    case left(zone: String, dwell: Double)
  }

  package var tag: String
  package var kind: Kind
  /// The time in seconds, interpolated between estimates.
  package var happened: Double
  /// The standard deviation of `happened`; infinite if the tag was inside from its first estimate.
  package var happenedDeviation: Double
  package var decided: Double
}
