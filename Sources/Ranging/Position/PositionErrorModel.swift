// SPDX-License-Identifier: Apache-2.0

/// The errors of measurements to anchors beside the noise of each. All are standard deviations in
/// metres.
package struct PositionErrorModel: Sendable, Hashable {
  /// The constant error that all ranges share: the antenna delay of the device that is located.
  package var shared = 0.15
  /// Each anchor's own constant error: its antenna delay and its survey.
  package var own = 0.15
  /// An error of each anchor that changes slowly: antenna patterns, reflections.
  package var slow = 0.075
  /// Correlation time of the slow error in seconds.
  package var slowTime = 2.0

  package init() {}
}
