// SPDX-License-Identifier: Apache-2.0

/// The state that a chip reports in CORE_DEVICE_STATUS_NTF.
public struct DeviceState: RawRepresentable, Hashable, Sendable, WireCode {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a code from its byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// NXP: booted, waits for its vendor command CORE_DEVICE_INIT.
  public static let initialising = DeviceState(rawValue: 0x00)
  /// Takes commands; no session is active.
  public static let ready = DeviceState(rawValue: 0x01)
  /// At least one session is active.
  public static let active = DeviceState(rawValue: 0x02)
  /// NXP: woke up from deep power-down; an outstanding command is lost.
  public static let wokenUp = DeviceState(rawValue: 0xFC)
  /// NXP: hung, or reset from outside; everything is lost.
  public static let hardwareReset = DeviceState(rawValue: 0xFE)
  /// Everything is lost; the host has to reset the chip.
  public static let error = DeviceState(rawValue: 0xFF)
}

/// The state of a session.
public struct SessionState: RawRepresentable, Hashable, Sendable, WireCode {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a code from its byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Created, lacks mandatory parameters.
  public static let initialised = SessionState(rawValue: 0)
  /// Removed from the chip.
  public static let deinitialised = SessionState(rawValue: 1)
  /// Ranging.
  public static let active = SessionState(rawValue: 2)
  /// Configured, not ranging.
  public static let idle = SessionState(rawValue: 3)
}

/// The purpose of a session.
public struct SessionType: RawRepresentable, Hashable, Sendable, WireCode {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a code from its byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// FiRa ranging.
  public static let ranging = SessionType(rawValue: 0x00)
  /// FiRa ranging with data in the ranging frames.
  public static let rangingWithInBandData = SessionType(rawValue: 0x01)
  /// Data transfer only.
  public static let dataTransfer = SessionType(rawValue: 0x02)
  /// Radio tests.
  public static let deviceTest = SessionType(rawValue: 0xD0)
}

/// The reason of a session's change of state, from SESSION_STATUS_NTF.
///
/// An open type: 0x80…0xFF belong to vendors and are kept as they are.
public struct StateChangeReason: RawRepresentable, Hashable, Sendable, WireCode {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a code from its byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A session command changed the state.
  public static let managementCommand = StateChangeReason(rawValue: 0x00)
  /// Too many ranging rounds in a row failed.
  public static let maxRoundRetriesReached = StateChangeReason(rawValue: 0x01)
  /// The requested number of measurements was reached.
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

/// The result of a transfer of data from the host, from SESSION_DATA_TRANSFER_STATUS_NTF.
package struct DataTransferStatus: RawRepresentable, Hashable, Sendable, WireCode {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// One of several repetitions was sent; more follow.
  package static let repetitionOK = DataTransferStatus(rawValue: 0)
  /// Sent, and complete.
  package static let ok = DataTransferStatus(rawValue: 1)
  package static let transferError = DataTransferStatus(rawValue: 2)
  /// The host sent without credit.
  package static let noCredit = DataTransferStatus(rawValue: 3)
  /// The session does not accept data now.
  package static let rejected = DataTransferStatus(rawValue: 4)
  /// The data message was malformed.
  package static let invalidFormat = DataTransferStatus(rawValue: 7)
}

/// The result for one controlee of a change of the multicast list.
public struct MulticastStatus: RawRepresentable, Hashable, Sendable, WireCode {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a code from its byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Added or removed as asked.
  public static let ok = MulticastStatus(rawValue: 0)
  /// The list has no room.
  public static let listFull = MulticastStatus(rawValue: 1)
  /// A key could not be fetched.
  public static let keyFetchFailed = MulticastStatus(rawValue: 2)
  /// The sub-session id is missing.
  public static let subSessionIDNotFound = MulticastStatus(rawValue: 3)
  /// The sub-session key is missing.
  public static let subSessionKeyNotFound = MulticastStatus(rawValue: 4)
  /// This STS configuration has no sub-session keys.
  public static let subSessionKeyNotApplicable = MulticastStatus(rawValue: 5)
  /// The session key is missing.
  public static let sessionKeyNotFound = MulticastStatus(rawValue: 6)
  /// The address is not in the list.
  public static let addressNotFound = MulticastStatus(rawValue: 7)
  /// The address is in the list already.
  public static let addressAlreadyPresent = MulticastStatus(rawValue: 8)
}
