// SPDX-License-Identifier: Apache-2.0

/// Why a session changed its state, from SESSION_STATUS_NTF.
///
/// An open type: 0x80…0xFF belong to vendors and are kept as they are.
public struct StateChangeReason: RawRepresentable, Hashable, Sendable {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a code from its byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The host asked for it.
  public static let managementCommand = StateChangeReason(rawValue: 0x00)
  /// Too many ranging rounds in a row failed.
  public static let maxRoundRetriesReached = StateChangeReason(rawValue: 0x01)
  /// The number of measurements asked for was reached.
  public static let maxMeasurementsReached = StateChangeReason(rawValue: 0x02)
  /// The controller ended the session or removed this device from it.
  public static let stoppedInBand = StateChangeReason(rawValue: 0x05)
  /// There are too few slots in a ranging round.
  public static let insufficientSlots = StateChangeReason(rawValue: 0x21)
  /// The ranging interval is too short for its slots.
  public static let invalidRangingDuration = StateChangeReason(rawValue: 0x23)
  /// The session key is missing.
  public static let sessionKeyNotFound = StateChangeReason(rawValue: 0x2A)
  /// The list of controlees became empty, or their number is not usable.
  public static let invalidNumberOfControlees = StateChangeReason(rawValue: 0x33)
}
