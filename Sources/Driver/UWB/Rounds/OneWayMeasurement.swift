// SPDX-License-Identifier: Apache-2.0
public import UCI

/// A message that arrived in one-way ranging, with the session and the time of its arrival.
public struct OneWayMeasurement: Sendable, Hashable {
  /// The values that the chip reports of a message; they depend on the kind of ranging.
  public enum Result: Sendable, Hashable {
    /// A message of an anchor, at a tag of downlink TDoA.
    case downlink(AnchorMessage)
    /// A blink of a tag or a frame of a synchronisation anchor, at an anchor of uplink TDoA.
    case uplink(UplinkTDoAMeasurement)
    /// The angle of an advertiser, at an observer.
    case angle(OneWayAoAMeasurement)
  }

  /// The chip's token of the session.
  public var sessionToken: UInt32
  /// The number of the notification, counted from 0; equal for all messages in it.
  public var sequenceNumber: UInt32
  /// The time at which the notification was read: CLOCK_MONOTONIC in nanoseconds.
  public var receivedAt: UInt64
  /// The number of notifications that were dropped before this one because the consumer was too
  /// slow.
  public var lostBefore: UInt32 = 0
  /// Whether the device was lost and recovered between the previous message and this one. Stamps
  /// before and after it cannot be compared.
  public var followsInterruption = false
  /// The values of the message.
  public var result: Result

  package init(
    sessionToken: UInt32, sequenceNumber: UInt32, receivedAt: UInt64, lostBefore: UInt32 = 0,
    followsInterruption: Bool = false, result: Result
  ) {
    (self.sessionToken, self.sequenceNumber) = (sessionToken, sequenceNumber)
    (self.receivedAt, self.lostBefore) = (receivedAt, lostBefore)
    (self.followsInterruption, self.result) = (followsInterruption, result)
  }

  /// The sender.
  public var peer: MACAddress {
    switch result {
    case .downlink(let message): message.values.peer
    case .uplink(let measurement): measurement.peer
    case .angle(let measurement): measurement.peer
    }
  }

  /// The status of the measurement: success, or the reason for the failure.
  public var status: Status {
    switch result {
    case .downlink(let message): message.values.status
    case .uplink(let measurement): measurement.status
    case .angle(let measurement): measurement.status
    }
  }
}

/// A message of an anchor of downlink TDoA, converted from either layout of the wire. Times are
/// whole ticks of 15.65 ps, as the chip reports them.
public struct AnchorMessage: Sendable, Hashable {
  /// The values that both layouts have.
  public var values: DownlinkTDoAMessage
  /// The time at which the anchor sent the message, in ticks; nil where it is missing.
  public var sent: UInt64?
  /// The time at which the tag received the message, in ticks; nil where it is missing.
  public var received: UInt64?
  /// The number of bits of `sent`, 40 or 64. The count restarts from 0 after its greatest value.
  public var sentBits: Int
  /// The number of bits of `received`.
  public var receivedBits: Int
  /// Whether `sent` is in a time base that all anchors share, rather than in the anchor's own.
  public var isCommonTimeBase: Bool
  /// The place of the anchor; nil where it sent none.
  public var location: AnchorLocation?
  /// The rounds in which the anchor is active; empty if it did not send them.
  public var activeRounds: [UInt8]

  package init(_ measurement: DownlinkTDoAMeasurement) {
    values = measurement.message
    (sent, received) = (measurement.txTimestamp, measurement.rxTimestamp)
    sentBits = 8 * measurement.control.txTimestampLength
    receivedBits = 8 * measurement.control.rxTimestampLength
    isCommonTimeBase = measurement.isCommonTimeBase
    location = measurement.anchorLocation
    activeRounds = measurement.activeRounds
  }

  init(_ measurement: DownlinkTDoAMeasurementV2) {
    values = measurement.message
    (sent, received) = (measurement.txTimestamp, measurement.rxTimestamp)
    sentBits = 8 * measurement.txTimestampBytes.count
    receivedBits = 8 * measurement.rxTimestampBytes.count
    isCommonTimeBase = measurement.isCommonTimeBase
    location = measurement.anchorLocation
    activeRounds = measurement.activeRounds ?? []
  }
}

extension RoundNotification {
  /// Calls `body` with each message of one-way ranging. Skips unreadable notifications, because the
  /// router has validated two-way measurements only.
  func forEachOneWayMeasurement(dialect: Dialect, _ body: (OneWayMeasurement) -> Void) {
    guard case .measurements(let view) = kind, view.type != .twoWay,
      let measurements = try? SessionInfo.measurements(of: view, dialect: dialect)
    else { return }
    let results: [OneWayMeasurement.Result] =
      switch measurements {
      case .downlinkTDoA(let list): list.map { .downlink(AnchorMessage($0)) }
      case .downlinkTDoAV2(let list): list.map { .downlink(AnchorMessage($0)) }
      case .uplinkTDoA(let list): list.map { .uplink($0) }
      case .oneWayAoA(let list): list.map { .angle($0) }
      case .twoWay, .other: []
      }
    for (index, result) in results.enumerated() {
      body(
        OneWayMeasurement(
          sessionToken: view.sessionToken, sequenceNumber: view.sequenceNumber,
          receivedAt: info.receivedAt, lostBefore: index == 0 ? info.lostBefore : 0,
          followsInterruption: index == 0 && gap.contains(.round), result: result))
    }
  }
}

extension RoundDecoder<OneWayMeasurement> {
  static func oneWay(_ dialect: Dialect) -> Self {
    Self { round, elements in
      round.forEachOneWayMeasurement(dialect: dialect) { elements.append($0) }
    }
  }
}

extension UWBSession {
  /// Returns a stream of the messages of one-way ranging from now on. A tag receives messages of
  /// anchors, an anchor messages of tags, and an observer messages of advertisers. Call it before
  /// `start` to get the first one.
  ///
  /// Two-way sessions, and ends that only send, have no such messages.
  ///
  /// - Parameter capacity: The number of notifications kept for a slow consumer.
  public func oneWayMeasurements(capacity: Int = 256) -> RangingStream<OneWayMeasurement> {
    RangingStream(
      self, capacity: capacity, includesDiagnostics: false, .oneWay(device.dialect))
  }
}
