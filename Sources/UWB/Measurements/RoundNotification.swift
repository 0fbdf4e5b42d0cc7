// SPDX-License-Identifier: Apache-2.0
public import UCI
public import UWBLink

/// What a chip says of a ranging round, in place: its measurements, or what its receivers saw in
/// single frames. Lent for the duration of a call.
public struct RoundNotification: ~Escapable {
  /// What it is.
  public enum Kind: Sendable, Hashable {
    /// A SESSION_INFO_NTF; `SessionInfoView` reads it.
    case measurements
    /// One of `DeviceProfile.diagnostics`, by its opcode: `RangeDiagnosticsView` and
    /// `NXPFrameLogView` read them. Begins with session and sequence number, as the measurements of
    /// the round do, before or behind which it comes.
    case diagnostics(Opcode)
    /// No notification: the device was lost and is being recovered. The payload says nothing.
    case interrupted(DriverError)
    /// No notification: the session ranges again. The payload says nothing.
    case resumed
  }

  /// What it is.
  public let kind: Kind
  /// The whole payload.
  public let payload: RawSpan
  /// When it came, and how many notifications were dropped before it.
  public let info: FrameInfo

  @_lifetime(copy payload)
  init(_ kind: Kind, _ payload: RawSpan, _ info: FrameInfo) {
    self.kind = kind
    self.payload = payload
    self.info = info
  }
}

/// Sees each notification of a session's rounds in place, on the reader's thread. Must not wait for
/// anything.
public typealias RoundCallback = @Sendable (borrowing RoundNotification) -> Void

extension Opcode {
  /// In a word, as rings carry it.
  var word: UInt32 { UInt32(group.rawValue) << 8 | UInt32(oid) }

  init(word: UInt32) {
    self.init(
      GroupID(rawValue: UInt8(truncatingIfNeeded: word >> 8)), UInt8(truncatingIfNeeded: word))
  }
}
