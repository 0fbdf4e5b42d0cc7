// SPDX-License-Identifier: Apache-2.0
package import Ranging
internal import UCI
internal import UWBLink

extension Capture {
  /// Returns the estimates that a session would compute from all two-way measurements of the
  /// capture.
  public func estimates(
    _ settings: EstimationSettings = EstimationSettings()
  ) -> [EstimatedMeasurement] {
    var measurements = CapturedMeasurements()
    var list: [EstimatedMeasurement] = []
    func add(_ rounds: [EstimatedRound]) {
      for case .estimate(let estimate) in rounds { list.append(estimate) }
    }
    for packet in packets { add(measurements.rounds(packet, settings)) }
    add(measurements.remaining())
    return list
  }
}

extension Capture {
  /// Returns the messages that a session would report in one-way ranging.
  public func oneWayMeasurements() -> [OneWayMeasurement] {
    var measurements = CapturedMeasurements()
    return packets.flatMap { packet in
      _ = measurements.rounds(packet, EstimationSettings())
      return measurements.takeOneWay()
    }
  }
}

/// The two-way measurements in the packets of a capture, joined and read as the driver does it.
package struct CapturedMeasurements {
  /// Whether the chip reports RSSI, according to its device info; true without device info.
  package private(set) var hasRSSI = true
  /// The number of packets and notifications with a wrong layout.
  package private(set) var unreadable = 0
  /// The family of the chip; unknown without device info.
  package private(set) var chip = ChipFamily.unknown
  private var reassembler = Reassembler()
  private var last: UInt64 = 0
  private var estimators: [UInt32: EstimationPipeline] = [:]
  private var oneWay: [OneWayMeasurement] = []
  private var dialect = Dialect.assumed

  package init() {}

  /// Returns the messages of one-way ranging since the last call.
  package mutating func takeOneWay() -> [OneWayMeasurement] {
    defer { oneWay = [] }
    return oneWay
  }

  /// Returns the rounds that this packet completes, with estimates. Includes rounds without
  /// measurements. A measurement that waits for diagnostics is returned for a later packet. Times
  /// never decrease; if the capture has no times, rounds are a ranging interval apart.
  package mutating func rounds(
    _ packet: CapturedPacket, _ settings: EstimationSettings
  ) -> [EstimatedRound] {
    var list: [EstimatedRound] = []
    var settings = settings
    settings.chip = chip
    read(packet) { estimators, token, round in
      if case .measurements(let view) = round.kind {
        guard view.type == .twoWay else { return }
        estimators[token, default: EstimationPipeline(settings)].add(round) { list.append($0) }
      } else {
        estimators[token]?.add(round) { list.append($0) }
      }
    }
    return list
  }

  /// Returns the rounds that still wait for diagnostics.
  package mutating func remaining() -> [EstimatedRound] {
    var list: [EstimatedRound] = []
    for token in estimators.keys.sorted() { estimators[token]?.flush { list.append($0) } }
    return list
  }

  /// Returns a whole message; nil while segments are missing.
  private mutating func message(_ packet: CapturedPacket) -> (PacketHeader, [UInt8])? {
    guard packet.direction != .outbound else { return nil }
    let bytes = unsafe packet.bytes.span.bytes
    guard packet.isWhole, let header = try? PacketHeader(parsing: bytes) else {
      unreadable += 1
      return nil
    }
    let payload = bytes.extracting(PacketHeader.length..<bytes.byteCount)
    switch reassembler.take(header, payload: payload) {
    case .incomplete: return nil
    case .whole: return (header, unsafe payload.withUnsafeBytes { unsafe Array($0) })
    case .completed:
      return (
        header,
        reassembler.withPayload(of: header.type) {
          unsafe $0.withUnsafeBytes { unsafe Array($0) }
        }
      )
    }
  }

  private mutating func read(
    _ packet: CapturedPacket,
    _ body: (inout [UInt32: EstimationPipeline], UInt32, borrowing RoundNotification) -> Void
  ) {
    guard let (header, payload) = message(packet) else { return }
    if header.type == .response, header.opcode == .coreGetDeviceInfo {
      var reader = unsafe PayloadReader(payload.span.bytes)
      let response = try? BodyResponse<DeviceInfo>(from: &reader, dialect: .assumed)
      if let info = response?.body {
        hasRSSI = info.uciVersion.major >= 2
        chip = ChipFamily(info.vendor)
        dialect = Dialect(info)
      }
    }
    guard header.type == .notification else { return }
    guard header.opcode == .sessionInfo else {
      // Diagnostics begin with the session and the sequence number of the round.
      guard payload.count >= 8 else { return }
      var reader = unsafe PayloadReader(payload.span.bytes)
      guard let token = try? reader.u32("session token") else { return }
      body(
        &estimators, token,
        RoundNotification(
          .diagnostics(header.opcode, unsafe payload.span.bytes), FrameInfo(receivedAt: last)))
      return
    }
    guard let view = try? unsafe SessionInfoView(payload.span.bytes) else {
      unreadable += 1
      return
    }
    let interval = UInt64(view.intervalMilliseconds) * 1_000_000
    last = max(last, packet.time ?? last &+ interval)
    let round = RoundNotification(.measurements(view), FrameInfo(receivedAt: last))
    round.forEachOneWayMeasurement(dialect: dialect) { oneWay.append($0) }
    body(&estimators, view.sessionToken, round)
  }
}
