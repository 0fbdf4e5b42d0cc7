// SPDX-License-Identifier: Apache-2.0
public import UCI
public import UWBLink

/// A notification of a session's ranging rounds in place, or a mark between two of them. Lent for
/// the duration of a call.
public struct RoundNotification: ~Escapable {
  /// The kind of a notification. Switch over it with a `default`: kinds may be added.
  public enum Kind: ~Escapable {
    /// A SESSION_INFO_NTF.
    case measurements(SessionInfoView)
    /// A notification of `DeviceProfile.diagnostics`: its opcode and its payload in the layout of
    /// the chip, of which `EstimatedMeasurement` has the values. The payload begins with the
    /// session and the sequence number of its round, and comes before or after the measurements of
    /// that round.
    case diagnostics(Opcode, RawSpan)
    /// The device was lost and is being recovered; nothing is measured for now.
    case interrupted(DriverError)
    /// The session ranges again; its sequence numbers start again from 0.
    case resumed
  }

  /// The kind of the notification.
  public let kind: Kind
  /// The time of arrival, and the number of notifications dropped before it.
  public let info: FrameInfo
  /// The gap before measurements; empty for other kinds.
  package let gap: Gap

  /// The parts of a stream that an interruption separates from the previous ones. The subscription
  /// sets them; nothing after it has to remember an interruption.
  package struct Gap: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// The round is the first one after an interruption.
    package static let round = Gap(rawValue: 1)
    /// The first measurement of the round is the first one after an interruption: rounds without a
    /// measurement may have come between.
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

  /// Calls `body` with each event, as a value.
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

/// A callback that receives each notification of a session's rounds in place, on the reader thread.
/// The thread reads nothing else meanwhile, so the callback must not block.
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
  /// Group and opcode in 16 bits.
  var word: UInt32 { UInt32(group.rawValue) << 8 | UInt32(oid) }

  init(word: UInt32) {
    self.init(
      GroupID(rawValue: UInt8(truncatingIfNeeded: word >> 8)), UInt8(truncatingIfNeeded: word))
  }
}

/// A two-way round of which the chip reported only its end. Other chips report an entry with a
/// failure for each peer that did not answer.
public struct EmptyRound: Sendable, Hashable {
  /// The session, as the chip names it.
  public var sessionToken: UInt32
  /// The number of the ranging round, counted from 0.
  public var sequenceNumber: UInt32
  /// The time at which the notification was read: CLOCK_MONOTONIC in nanoseconds.
  public var receivedAt: UInt64
  /// Whether the device was lost and found again between the previous round and this one.
  public var followsInterruption = false

  /// Creates an empty round; nil for any other notification.
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
  /// The receivers' diagnostics of a round: a notification of `DeviceProfile.diagnostics`, by its
  /// opcode and payload.
  case diagnostics(Opcode, [UInt8])
  /// The device was lost and is being recovered; nothing is measured for now.
  case interrupted(DriverError)
  /// The session ranges again; its sequence numbers start again from 0.
  case resumed
}

/// One two-way-ranging result with the circumstances of its arrival.
public struct RangingMeasurement: Sendable, Hashable {
  /// The session, as the chip names it.
  public var sessionToken: UInt32
  /// The number of the ranging round, counted from 0; the same for all peers of a round.
  public var sequenceNumber: UInt32
  /// The time at which the notification was read: CLOCK_MONOTONIC in nanoseconds.
  public var receivedAt: UInt64
  /// Notifications that were dropped before this one because the consumer was too slow.
  public var lostBefore: UInt32 = 0
  /// Whether the device was lost and found again between the previous measurement and this one.
  /// Rounds are then missing, `sequenceNumber` counts from 0 again, and the token may be another.
  public var followsInterruption = false
  /// The chip's measurement.
  public var result: TwoWayMeasurement
}

extension RangingMeasurement: CustomStringConvertible {
  /// The round, the peer and the chip's distance: `#3 0x0001 2.31 m`; or the reason why there is
  /// none.
  public var description: String {
    let distance = result.distanceCentimetres.map { EstimatedMeasurement.metres(Double($0) / 100) }
    return "#\(sequenceNumber) \(result.peer) \(distance ?? "\(result.status)")"
  }
}
