// SPDX-License-Identifier: Apache-2.0

/// Whether an object is said to move.
public enum NIMotionActivityState: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// At rest.
  case stationary = 1
  /// Moving.
  case moving = 2
}
