// SPDX-License-Identifier: Apache-2.0

internal import UCI
internal import UWB
internal import UWBSite

extension OneWayLine {
  /// Creates a line from a message of the driver; nil for a message that was not received, or that
  /// lacks a stamp.
  ///
  /// - Parameter device: the receiver.
  init?(_ measurement: OneWayMeasurement, device: String) {
    guard measurement.status == .ok, let message = Self.message(measurement.result) else {
      return nil
    }
    self.init(
      time: Double(measurement.receivedAt) / 1e9, device: device,
      senders: ["\(measurement.peer)"], message)
    let sight: LineOfSight
    switch measurement.result {
    case .downlink(let message): sight = message.values.lineOfSight
    case .uplink(let blink):
      sight = blink.lineOfSight
      (azimuth, elevation) = (Self.radians(blink.azimuth), Self.radians(blink.elevation))
      if !blink.deviceID.isEmpty { senders.insert(Self.digits(blink.deviceID), at: 0) }
    case .angle(let frame):
      sight = frame.lineOfSight
      (azimuth, elevation) = (Self.radians(frame.azimuth), Self.radians(frame.elevation))
    }
    if sight == .nonLineOfSight { blocked = Self.reportedBlocked }
  }

  private static func message(_ result: OneWayMeasurement.Result) -> Message? {
    switch result {
    case .downlink(let message): return downlink(message).map { .downlink($0) }
    case .uplink(let blink):
      let received = Stamp(blink.rxTimestamp, bits: blink.rxBits)
      guard blink.frameType == 1 else { return .blink(frame: blink.frameNumber, received) }
      guard let sent = blink.txTimestamp, let bits = blink.txBits else { return nil }
      return .sync(sent: Stamp(sent, bits: bits), received)
    case .angle: return .frame
    }
  }

  private static func downlink(_ message: AnchorMessage) -> AnchorStamp? {
    let kinds: [UInt8: AnchorStamp.Kind] = [0: .poll, 1: .response, 2: .final]
    let values = message.values
    guard let kind = kinds[values.messageType], let sent = message.sent,
      let received = message.received
    else { return nil }
    var stamp = AnchorStamp(
      anchor: 0, kind, block: Int(values.blockIndex), round: Int(values.roundIndex), sent: sent,
      received: received)
    stamp.bits = (message.sentBits, message.receivedBits)
    stamp.isCommonTimeBase = message.isCommonTimeBase
    stamp.reply = Double(values.responderReplyTime)
    stamp.carrier = values.clockOffsetPPM * 1e-6
    stamp.anchorOffset = values.anchorClockOffsetPPM * -1e-6
    stamp.flight = Double(values.timeOfFlight)
    return stamp
  }

  private static func radians(_ angle: Angle) -> Double? {
    angle.figureOfMerit > 0 ? angle.degrees * .pi / 180 : nil
  }

  private static func digits(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let text = String(byte, radix: 16)
      return byte < 16 ? "0" + text : text
    }.joined()
  }
}
