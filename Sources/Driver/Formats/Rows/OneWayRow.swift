// SPDX-License-Identifier: Apache-2.0

package import JSON
package import UCI
package import UWB

/// A message of one-way ranging as a row. Times are whole ticks, as the chip reports them.
package struct OneWayRow: Sendable {
  package var seconds: Double
  package var measurement: OneWayMeasurement
  /// The number of notifications that are missing just before this one.
  package var lostBefore: Int

  package init(seconds: Double, measurement: OneWayMeasurement, lostBefore: Int = 0) {
    (self.seconds, self.measurement, self.lostBefore) = (seconds, measurement, lostBefore)
  }

  fileprivate var downlink: AnchorMessage? {
    if case .downlink(let message) = measurement.result { message } else { nil }
  }
  fileprivate var uplink: UplinkTDoAMeasurement? {
    if case .uplink(let blink) = measurement.result { blink } else { nil }
  }
  fileprivate var angle: OneWayAoAMeasurement? {
    if case .angle(let frame) = measurement.result { frame } else { nil }
  }

  /// The kind of ranging.
  package var kind: String {
    switch measurement.result {
    case .downlink: "downlink"
    case .uplink: "uplink"
    case .angle: "angle"
    }
  }

  /// The kind of message; nil if it is unknown.
  package var message: String? {
    switch measurement.result {
    case .downlink(let message):
      ["poll", "response", "final"].element(at: message.values.messageType)
    case .uplink(let blink): ["blink", "sync"].element(at: blink.frameType)
    case .angle: "frame"
    }
  }

  /// The azimuth and the elevation of the sender.
  package var angles: (azimuth: Angle, elevation: Angle) {
    switch measurement.result {
    case .downlink(let message): (message.values.azimuth, message.values.elevation)
    case .uplink(let blink): (blink.azimuth, blink.elevation)
    case .angle(let frame): (frame.azimuth, frame.elevation)
    }
  }

  private var lineOfSight: LineOfSight {
    switch measurement.result {
    case .downlink(let message): message.values.lineOfSight
    case .uplink(let blink): blink.lineOfSight
    case .angle(let frame): frame.lineOfSight
    }
  }

  /// Whether the path is blocked; nil if the chip does not determine it.
  package var nonLineOfSight: Bool? {
    [.lineOfSight: false, .nonLineOfSight: true][lineOfSight]
  }
}

extension [String] {
  fileprivate func element(at index: UInt8) -> String? {
    Int(index) < count ? self[Int(index)] : nil
  }
}

extension OneWayRow {
  /// The keys of a message. Names and meanings never change.
  package static let json = JSONTable<OneWayRow>("range --role dl-tdoa-tag", each: "message") {
    addKeys(to: &$0)
  }

  /// Appends the message as JSON.
  package func append(to text: inout JSONText, hasNulls: Bool = true) {
    JSONObjectWriter.append(self, to: &text, hasNulls: hasNulls) { Self.addKeys(to: &$0) }
  }

  private static func addKeys<Keys: JSONKeys<OneWayRow> & ~Copyable>(to keys: inout Keys) {
    addCommonKeys(to: &keys)
    addStamps(to: &keys)
    addAnchorKeys(to: &keys)
  }

  private static func addCommonKeys<Keys: JSONKeys<OneWayRow> & ~Copyable>(to keys: inout Keys) {
    keys.key("time_s", "seconds since the first message") { Fixed($0.seconds, 6) }
    keys.key("session", "session token of the chip") { Int($0.measurement.sessionToken) }
    keys.key("sequence", "number of the notification, from 0") {
      Int($0.measurement.sequenceNumber)
    }
    keys.key("kind", "downlink, uplink or angle") { $0.kind }
    keys.key("peer", "address of the sender") { $0.measurement.peer }
    keys.key("status", "status name") { $0.measurement.status.description }
    keys.key("status_code", "status number, 0 is OK") { Int($0.measurement.status.rawValue) }
    keys.key("message", "poll, response, final, blink, sync or frame") { $0.message }
    keys.key("block", "number of the block; null for uplink") {
      $0.downlink.map { Int($0.values.blockIndex) } ?? $0.angle.map { Int($0.blockIndex) }
    }
    keys.key("round", "index of the ranging round; downlink only") {
      $0.downlink.map { Int($0.values.roundIndex) }
    }
    keys.key("frame", "number of the sender's frame; null for downlink") {
      $0.uplink.map { Int($0.frameNumber) } ?? $0.angle.map { Int($0.frameSequenceNumber) }
    }
    keys.key("azimuth_deg", "degrees") { Fixed($0.angles.azimuth.degrees, 2) }
    keys.key("azimuth_fom", "figure of merit, 0…100; 0: no azimuth") {
      Int($0.angles.azimuth.figureOfMerit)
    }
    keys.key("elevation_deg", "degrees") { Fixed($0.angles.elevation.degrees, 2) }
    keys.key("elevation_fom", "figure of merit, 0…100; 0: no elevation") {
      Int($0.angles.elevation.figureOfMerit)
    }
    keys.key("rssi_dbm", "received power, dBm; downlink only") {
      Fixed($0.downlink?.values.rssiDBm, 1)
    }
    keys.key("nlos", "true without line of sight") { $0.nonLineOfSight }
    keys.key("lost_before", "notifications lost just before") { $0.lostBefore }
    keys.key(
      "after_interruption",
      "true for the first one after the device was lost and found again"
    ) { $0.measurement.followsInterruption }
  }

  private static func addStamps<Keys: JSONKeys<OneWayRow> & ~Copyable>(to keys: inout Keys) {
    keys.key("tx_ticks", "time of sending in ticks of 15.65 ps; null where the message has none") {
      $0.downlink?.sent ?? $0.uplink?.txTimestamp
    }
    keys.key("tx_bits", "bits after which tx_ticks starts again") {
      $0.downlink.map { $0.sentBits } ?? $0.uplink?.txBits
    }
    keys.key("rx_ticks", "time of reception in ticks of the own clock") {
      $0.downlink?.received ?? $0.uplink?.rxTimestamp
    }
    keys.key("rx_bits", "bits after which rx_ticks starts again") {
      $0.downlink.map { $0.receivedBits } ?? $0.uplink?.rxBits
    }
    keys.key("common_time_base", "whether tx_ticks are in the time that all anchors share") {
      $0.downlink?.isCommonTimeBase
    }
    keys.key("device_id", "the tag's own name, hexadecimal; uplink only") {
      $0.uplink.flatMap { $0.deviceID.isEmpty ? nil : hexDigits($0.deviceID) }
    }
  }

  private static func addAnchorKeys<Keys: JSONKeys<OneWayRow> & ~Copyable>(to keys: inout Keys) {
    keys.key("cfo_ppm", "how much faster the sender's clock is, parts per million") {
      Fixed($0.downlink?.values.clockOffsetPPM, 3)
    }
    keys.key("anchor_cfo_ppm", "how much slower the responder's clock is than the initiator's") {
      Fixed($0.downlink?.values.anchorClockOffsetPPM, 3)
    }
    keys.key("responder_reply_ticks", "ticks of the responder from poll to response") {
      $0.downlink?.values.responderReplyTime
    }
    keys.key("initiator_reply_ticks", "ticks of the initiator from response to final") {
      $0.downlink?.values.initiatorReplyTime
    }
    keys.key("tof_ticks", "time of flight between initiator and responder, ticks") {
      $0.downlink?.values.timeOfFlight
    }
    keys.key("anchor_x_mm", "place of the anchor in its own system, probably millimetres") {
      $0.relative?.x
    }
    keys.key("anchor_y_mm", "y") { $0.relative?.y }
    keys.key("anchor_z_mm", "z") { $0.relative?.z }
    keys.key("anchor_latitude_deg", "place of the anchor, WGS-84") {
      Fixed($0.geographic?.latitude, 7)
    }
    keys.key("anchor_longitude_deg", "longitude") { Fixed($0.geographic?.longitude, 7) }
    keys.key("anchor_altitude_m", "altitude") { Fixed($0.geographic?.altitude, 3) }
    keys.key("active_rounds", "rounds in which the anchor is active; null where not listed") {
      $0.downlink.flatMap { $0.activeRounds.isEmpty ? nil : $0.activeRounds }
    }
  }

  private var relative: (x: Int32, y: Int32, z: Int32)? {
    if case .relative(let x, let y, let z) = downlink?.location { (x, y, z) } else { nil }
  }

  private var geographic: (latitude: Double, longitude: Double, altitude: Double)? {
    guard case .geographic(let latitude, let longitude, let altitude) = downlink?.location else {
      return nil
    }
    return (latitude, longitude, altitude)
  }
}

/// Counts the messages of a run and the missing notifications.
package struct OneWaySummary: Sendable {
  package private(set) var senders: [MACAddress: Int] = [:]
  package private(set) var failed = 0
  package private(set) var notifications = 0
  package private(set) var missing = 0
  package private(set) var firstTime: UInt64?
  private var lastSequences: [UInt32: UInt32] = [:]
  /// The sequence number of the last notification.
  package private(set) var lastSequence: UInt32?

  package init() {}

  /// The number of measured messages.
  package var measured: Int { senders.values.reduce(0, +) }

  /// Adds a message, and returns it as a row.
  package mutating func add(_ measurement: OneWayMeasurement) -> OneWayRow {
    let first = firstTime ?? measurement.receivedAt
    firstTime = first
    var lost = 0
    lastSequence = measurement.sequenceNumber
    let before = lastSequences.updateValue(
      measurement.sequenceNumber, forKey: measurement.sessionToken)
    if before != measurement.sequenceNumber || measurement.followsInterruption {
      notifications += 1
      if let before, !measurement.followsInterruption, measurement.sequenceNumber > before {
        lost = Int(measurement.sequenceNumber - before) - 1
      }
    }
    missing += lost
    if measurement.status.isSuccess {
      senders[measurement.peer, default: 0] += 1
    } else {
      failed += 1
    }
    return OneWayRow(
      seconds: Double(Int64(truncatingIfNeeded: measurement.receivedAt &- first)) / 1e9,
      measurement: measurement, lostBefore: lost)
  }

  /// The counts in one line.
  package var text: String {
    "\(counted(notifications, "notification")), \(counted(senders.count, "sender")), "
      + "\(measured) received, \(failed) failed, \(missing) lost"
  }
}
