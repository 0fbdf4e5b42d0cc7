// SPDX-License-Identifier: Apache-2.0
public import UCI
public import UWBLink

/// A notification of a session's ranging rounds without a copy of its bytes, or a mark between two
/// notifications. It is valid during a call only.
public struct RoundNotification: ~Escapable {
  /// The kind of a notification. Switch over it with a `default`: kinds may be added.
  public enum Kind: ~Escapable {
    /// A SESSION_INFO_NTF.
    case measurements(SessionInfoView)
    /// A notification of `DeviceProfile.diagnostics`: its opcode, and its payload in the chip's
    /// layout. `EstimatedMeasurement` has the decoded values. The payload begins with the session
    /// and the sequence number of its round. The measurements of that round come before or after
    /// it.
    case diagnostics(Opcode, RawSpan)
    /// The device was lost and is being recovered; nothing is measured for now.
    case interrupted(DriverError)
    /// The session ranges again; its sequence numbers start again from 0.
    case resumed
  }

  /// The kind of the notification.
  public let kind: Kind
  /// The time of arrival, and the number of notifications that were dropped before.
  public let info: FrameInfo
  /// The interruption before measurements; empty for other kinds.
  package let gap: Gap

  /// The elements that are the first ones after an interruption. The subscription determines this,
  /// so that its consumers need no state for it.
  package struct Gap: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// The round is the first one after an interruption.
    package static let round = Gap(rawValue: 1)
    /// The first measurement of the round is the first one after an interruption. There may have
    /// been earlier rounds without a measurement.
    package static let measurement = Gap(rawValue: 2)
  }

  @_lifetime(copy kind)
  package init(_ kind: Kind, _ info: FrameInfo, gap: Gap = []) {
    self.kind = kind
    self.info = info
    self.gap = gap
  }
}

extension RoundNotification {
  /// Calls `body` with each two-way measurement.
  func forEachMeasurement(_ body: (RangingMeasurement) -> Void) {
    guard case .measurements(let view) = kind else { return }
    var followsInterruption = gap.contains(.measurement)
    view.forEachTwoWayMeasurement { result in
      body(
        RangingMeasurement(
          sessionToken: view.sessionToken, sequenceNumber: view.sequenceNumber,
          receivedAt: info.receivedAt, lostBefore: info.lostBefore,
          followsInterruption: followsInterruption, result: result))
      followsInterruption = false
    }
  }

  /// Calls `body` with each event of the notification.
  func forEachEvent(dialect: Dialect, _ body: (RoundEvent) -> Void) {
    switch kind {
    case .measurements:
      forEachMeasurement { body(.measurement($0)) }
      if let empty = EmptyRound(self) { body(.empty(empty)) }
      forEachOneWayMeasurement(dialect: dialect) { body(.oneWay($0)) }
    case .diagnostics(let opcode, let payload):
      body(.diagnostics(opcode, unsafe payload.withUnsafeBytes { unsafe Array($0) }))
    case .interrupted(let cause): body(.interrupted(cause))
    case .resumed: body(.resumed)
    }
  }
}

/// A callback that receives each notification of a session's rounds on the reader thread, without a
/// copy of its bytes. The callback must not block, because the thread reads nothing else meanwhile.
public typealias RoundCallback = @Sendable (borrowing RoundNotification) -> Void

/// The kind of a notification in a ring, in the tag of its slot.
enum RoundTag {
  case measurements(gap: RoundNotification.Gap)
  case diagnostics(Opcode)
  case interrupted
  case resumed

  var rawValue: UInt32 {
    switch self {
    case .measurements(let gap): gap.rawValue
    case .diagnostics(let opcode): 1 << 16 | opcode.word
    case .interrupted: 2 << 16
    case .resumed: 3 << 16
    }
  }

  init(rawValue: UInt32) {
    switch rawValue >> 16 {
    case 0: self = .measurements(gap: .init(rawValue: rawValue))
    case 1: self = .diagnostics(Opcode(word: rawValue & 0xFFFF))
    case 2: self = .interrupted
    default: self = .resumed
    }
  }
}

extension Opcode {
  /// The group and the opcode in 16 bits.
  var word: UInt32 { UInt32(group.rawValue) << 8 | UInt32(oid) }

  init(word: UInt32) {
    self.init(
      GroupID(rawValue: UInt8(truncatingIfNeeded: word >> 8)), UInt8(truncatingIfNeeded: word))
  }
}

/// A two-way round for which the chip reported no measurement. Other chips report a failure for
/// each peer that did not answer.
public struct EmptyRound: Sendable, Hashable {
  /// The chip's token of the session.
  public var sessionToken: UInt32
  /// The number of the ranging round, counted from 0.
  public var sequenceNumber: UInt32
  /// The time at which the notification was read: CLOCK_MONOTONIC in nanoseconds.
  public var receivedAt: UInt64
  /// Whether the device was lost and recovered between the previous round and this one.
  public var followsInterruption = false

  /// Creates an empty round. Returns nil for any other notification.
  init?(_ round: borrowing RoundNotification) {
    guard case .measurements(let view) = round.kind, view.type == .twoWay, view.count == 0 else {
      return nil
    }
    sessionToken = view.sessionToken
    sequenceNumber = view.sequenceNumber
    receivedAt = round.info.receivedAt
    followsInterruption = round.gap.contains(.round)
  }

  package init(sessionToken: UInt32, sequenceNumber: UInt32, receivedAt: UInt64) {
    (self.sessionToken, self.sequenceNumber) = (sessionToken, sequenceNumber)
    self.receivedAt = receivedAt
  }
}

/// An event in the rounds of a session, as a value. Switch over it with a `default`: cases may be
/// added.
public enum RoundEvent: Sendable, Hashable {
  /// A two-way measurement: one for each peer of a round.
  case measurement(RangingMeasurement)
  /// A two-way round without a measurement.
  case empty(EmptyRound)
  /// A message of one-way ranging: of an anchor or a tag, or an angle of arrival.
  case oneWay(OneWayMeasurement)
  /// The receivers' diagnostics of a round: the opcode and the payload of a notification of
  /// `DeviceProfile.diagnostics`.
  case diagnostics(Opcode, [UInt8])
  /// The device was lost and is being recovered; nothing is measured for now.
  case interrupted(DriverError)
  /// The session ranges again; its sequence numbers start again from 0.
  case resumed
}

/// One two-way ranging result, with the session and the time of its arrival.
public struct RangingMeasurement: Sendable, Hashable {
  /// The chip's token of the session.
  public var sessionToken: UInt32
  /// The number of the ranging round, counted from 0; equal for all peers of a round.
  public var sequenceNumber: UInt32
  /// The time at which the notification was read: CLOCK_MONOTONIC in nanoseconds.
  public var receivedAt: UInt64
  /// The number of notifications that were dropped before this one because the consumer was too
  /// slow.
  public var lostBefore: UInt32 = 0
  /// Whether the device was lost and recovered between the previous measurement and this one.
  /// Rounds are then missing. `sequenceNumber` counts from 0 again, and `sessionToken` may have
  /// changed.
  public var followsInterruption = false
  /// The chip's measurement.
  public var result: TwoWayMeasurement
}

extension RangingMeasurement: CustomStringConvertible {
  /// The round, the peer and the chip's distance: `#3 0x0001 2.31 m`. Without a distance, the
  /// reason for it.
  public var description: String {
    let distance = result.distanceCentimetres.map { EstimatedMeasurement.metres(Double($0) / 100) }
    return "#\(sequenceNumber) \(result.peer) \(distance ?? "\(result.status)")"
  }
}
