// SPDX-License-Identifier: Apache-2.0

/// Why a session changed its state, from SESSION_STATUS_NTF.
///
/// An open type: 0x80…0xFF belong to vendors and are kept as they are.
public struct StateChangeReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Any byte.
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

  /// The name in the specification; `REASON_0xNN` where there is none that all vendors share.
  public var description: String { Self.table.shared(rawValue)?.name ?? "REASON_\(hex(rawValue))" }

  /// What it means in plain words, of vendors' reasons what each vendor means; nil where nothing is
  /// known.
  public var explanation: String? { Self.table.words(for: rawValue) }

  /// Meaning, causes and what to try for chips that speak like this; nil where none is known.
  public func explained(in dialect: Dialect = .assumed) -> CodeExplanation? {
    Self.table.meaning(of: rawValue, in: dialect)
  }

  static let table = CodeTable(general, configuration, vendors)
}
