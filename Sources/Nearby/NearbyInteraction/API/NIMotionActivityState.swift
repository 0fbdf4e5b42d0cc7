// SPDX-License-Identifier: Apache-2.0

/// The state of motion of an object.
public enum NIMotionActivityState: Int, Sendable, BitwiseCopyable {
  /// Unknown.
  case unknown = 0
  /// At rest.
  case stationary = 1
  /// Moving.
  case moving = 2
}
