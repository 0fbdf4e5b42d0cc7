// SPDX-License-Identifier: Apache-2.0

/// What became of data that the host gave to the chip, from SESSION_DATA_TRANSFER_STATUS_NTF.
public struct DataTransferStatus: RawRepresentable, Hashable, Sendable {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a code from its byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// One of several repetitions was sent; more follow.
  public static let repetitionOK = DataTransferStatus(rawValue: 0)
  /// Sent for good.
  public static let ok = DataTransferStatus(rawValue: 1)
  /// The transfer failed.
  public static let transferError = DataTransferStatus(rawValue: 2)
  /// The host sent without credit.
  public static let noCredit = DataTransferStatus(rawValue: 3)
  /// The session does not take data now.
  public static let rejected = DataTransferStatus(rawValue: 4)
  /// Sessions of this type carry no data.
  public static let sessionTypeNotSupported = DataTransferStatus(rawValue: 5)
  /// Another transfer is going on.
  public static let ongoing = DataTransferStatus(rawValue: 6)
  /// The data message was malformed.
  public static let invalidFormat = DataTransferStatus(rawValue: 7)
}

/// What became of one controlee when the multicast list was changed.
public struct MulticastStatus: RawRepresentable, Hashable, Sendable {
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
