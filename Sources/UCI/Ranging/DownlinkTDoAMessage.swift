// SPDX-License-Identifier: Apache-2.0

/// What both versions of downlink-TDoA measurements say: a message of an anchor, received by a tag.
public protocol DownlinkTDoAMessage: Sendable {
  /// The anchor.
  var peer: MACAddress { get }
  /// Whether it was measured, and if not, why.
  var status: Status { get }
  /// 0 poll, 1 response, 2 final.
  var messageType: UInt8 { get }
  /// The block of the message.
  var blockIndex: UInt16 { get }
  /// The ranging round of the message.
  var roundIndex: UInt8 { get }
  /// The chip's judgement of the path.
  var lineOfSight: LineOfSight { get }
  /// Where the anchor is, seen from this device.
  var azimuth: Angle { get }
  /// Where the anchor is, seen from this device.
  var elevation: Angle { get }
  /// Received power as an unsigned Q7.1 magnitude: -rawRSSI/2 dBm; 0: not available.
  var rawRSSI: UInt8 { get }
  /// Clock offset between the responder and the initiator in Q6.10 ppm.
  var rawAnchorClockOffset: Int16 { get }
  /// Clock offset measured by the tag in Q6.10 ppm.
  var rawClockOffset: Int16 { get }
  /// Ticks.
  var initiatorReplyTime: UInt32 { get }
  /// Ticks.
  var responderReplyTime: UInt32 { get }
  /// Time of flight between initiator and responder in ticks.
  var timeOfFlight: UInt16 { get }
}

extension DownlinkTDoAMessage {
  /// Ticks of timestamps and reply times in a second: 128 · 499.2 MHz, about 15.65 ps each.
  public static var ticksPerSecond: Double { 63_897_600_000 }
  /// Clock offset between the responder and the initiator in ppm.
  public var anchorClockOffsetPPM: Double { Double(rawAnchorClockOffset) / 1024 }
  /// Clock offset measured by the tag in ppm.
  public var clockOffsetPPM: Double { Double(rawClockOffset) / 1024 }
  /// Received power in dBm; nil when the chip gave none.
  public var rssiDBm: Double? { rawRSSI == 0 ? nil : -Double(rawRSSI) / 2 }
}
