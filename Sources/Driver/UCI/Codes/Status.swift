// SPDX-License-Identifier: Apache-2.0

/// The status byte of responses, of CORE_GENERIC_ERROR_NTF and of each measurement.
///
/// An open type: every raw value is kept. 0x50…0xFF belong to vendors, and 0x12, 0x18, 0x19, 0x2A
/// and 0x2B changed their meaning between releases, so always show the raw value beside the name.
public struct Status: RawRepresentable, Hashable, Sendable, WireCode {
  /// The byte on the wire.
  public let rawValue: UInt8

  /// Creates a code from its byte.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// OK. The chip carried out the command.
  public static let ok = Status(rawValue: 0x00)
  /// REJECTED. The command is not allowed in the current state of the chip or session.
  public static let rejected = Status(rawValue: 0x01)
  /// FAILED. The chip tried and failed without a reason.
  public static let failed = Status(rawValue: 0x02)
  /// SYNTAX_ERROR. The command was malformed: this firmware expects another length or layout.
  public static let syntaxError = Status(rawValue: 0x03)
  /// INVALID_PARAM. A parameter has a value that this firmware refuses, or is unknown to it.
  public static let invalidParameter = Status(rawValue: 0x04)
  /// INVALID_RANGE. A parameter is outside its range.
  public static let invalidRange = Status(rawValue: 0x05)
  /// INVALID_MESSAGE_SIZE. The message is longer or shorter than the chip accepts.
  public static let invalidMessageSize = Status(rawValue: 0x06)
  /// UNKNOWN_GID. This firmware does not support the message group.
  public static let unknownGID = Status(rawValue: 0x07)
  /// UNKNOWN_OID. This firmware does not support the message.
  public static let unknownOID = Status(rawValue: 0x08)
  /// READ_ONLY. The parameter can be read but not written.
  public static let readOnly = Status(rawValue: 0x09)
  /// COMMAND_RETRY. The chip was busy or asleep and asks for the same message again.
  public static let commandRetry = Status(rawValue: 0x0A)
  /// UNKNOWN. The chip reports an unknown error.
  public static let unknown = Status(rawValue: 0x0B)
  /// NOT_APPLICABLE. The request does not apply to this session or device.
  public static let notApplicable = Status(rawValue: 0x0C)
  /// ERROR_SESSION_NOT_EXIST. There is no such session: it was never created, was deinitialised, or
  /// was named by its id where this chip needs its handle.
  public static let sessionNotExist = Status(rawValue: 0x11)
  /// ERROR_SESSION_DUPLICATE. A session with this id exists already.
  public static let sessionDuplicate = Status(rawValue: 0x12)
  /// ERROR_SESSION_ACTIVE. The session is ranging; stop it first.
  public static let sessionActive = Status(rawValue: 0x13)
  /// ERROR_MAX_SESSIONS_EXCEEDED. The chip has no room for another session.
  public static let maxSessionsExceeded = Status(rawValue: 0x14)
  /// ERROR_SESSION_NOT_CONFIGURED. The session lacks parameters that it needs before it can start.
  public static let sessionNotConfigured = Status(rawValue: 0x15)
  /// ERROR_ACTIVE_SESSIONS_ONGOING. Other sessions are still ranging.
  public static let activeSessionsOngoing = Status(rawValue: 0x16)
  /// ERROR_MULTICAST_LIST_FULL. The list of controlees is full.
  public static let multicastListFull = Status(rawValue: 0x17)
  /// ERROR_ADDRESS_NOT_FOUND. The address is not in the list of controlees.
  public static let addressNotFound = Status(rawValue: 0x18)
  /// ERROR_ADDRESS_ALREADY_PRESENT. The address is in the list of controlees already.
  public static let addressAlreadyPresent = Status(rawValue: 0x19)
  /// ERROR_UWB_INITIATION_TIME_TOO_OLD. The start time given lies in the past.
  public static let initiationTimeTooOld = Status(rawValue: 0x1A)
  /// OK_NEGATIVE_DISTANCE_REPORT. Measured, but the distance came out negative: the boards are very
  /// close or their antenna delays are not calibrated.
  public static let okNegativeDistance = Status(rawValue: 0x1B)
  /// RANGING_TX_FAILED. The frame could not be sent.
  public static let rangingTxFailed = Status(rawValue: 0x20)
  /// RANGING_RX_TIMEOUT. No answer was received in time: the peer is off, out of range, or
  /// configured differently.
  public static let rangingRxTimeout = Status(rawValue: 0x21)
  /// RANGING_RX_PHY_DEC_FAILED. A frame was received but its header could not be decoded:
  /// interference, or a different preamble, SFD or PRF.
  public static let rangingRxPhyDecFailed = Status(rawValue: 0x22)
  /// RANGING_RX_PHY_TOA_FAILED. A frame was received but its time of arrival could not be found:
  /// weak or blocked signal.
  public static let rangingRxPhyToaFailed = Status(rawValue: 0x23)
  /// RANGING_RX_PHY_STS_FAILED. The scrambled timestamp sequence did not match: a different key,
  /// vendor id, IV or STS index.
  public static let rangingRxPhyStsFailed = Status(rawValue: 0x24)
  /// RANGING_RX_MAC_DEC_FAILED. A frame was received but its content could not be decoded: a
  /// different session id, key or FCS type.
  public static let rangingRxMacDecFailed = Status(rawValue: 0x25)
  /// RANGING_RX_MAC_IE_DEC_FAILED. An information element in the frame could not be decoded.
  public static let rangingRxMacIEDecFailed = Status(rawValue: 0x26)
  /// RANGING_RX_MAC_IE_MISSING. The frame lacks an information element that ranging needs.
  public static let rangingRxMacIEMissing = Status(rawValue: 0x27)
  /// ERROR_ROUND_INDEX_NOT_ACTIVATED. The ranging round is not activated.
  public static let roundIndexNotActivated = Status(rawValue: 0x28)
  /// ERROR_NUMBER_OF_ACTIVE_RANGING_ROUNDS_EXCEEDED. More ranging rounds were activated than the
  /// chip can follow.
  public static let activeRoundsExceeded = Status(rawValue: 0x29)
  /// DATA_MAX_TX_PSDU_SIZE_EXCEEDED. The data is longer than a frame can carry.
  public static let dataMaxTxPSDUSizeExceeded = Status(rawValue: 0x30)
  /// DATA_RX_CRC_ERROR. Data arrived damaged.
  public static let dataRxCRCError = Status(rawValue: 0x31)

  /// Whether the request succeeded. A negative distance is a success with a sign.
  @inlinable public var isSuccess: Bool { rawValue == 0x00 || rawValue == 0x1B }
}

/// Returns `0xNN`.
package func hex(_ value: UInt8) -> String {
  let digits = String(value, radix: 16, uppercase: true)
  return "0x" + (digits.count < 2 ? "0" : "") + digits
}
