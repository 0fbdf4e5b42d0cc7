// SPDX-License-Identifier: Apache-2.0

import UCI
import UWB
import UWBLink

/// The two-way measurements in the packets of a capture, joined and read as the driver does it.
struct CapturedMeasurements {
  /// Whether the chip reports RSSI: as its device info says, and until it does, it does.
  private(set) var hasRSSI = true
  /// Packets and notifications that do not have the layout they should have.
  private(set) var unreadable = 0
  private var reassembler = Reassembler()
  private var last: UInt64 = 0
  private var pipelines: [UInt32: EstimationPipeline] = [:]

  /// Measurements that this packet completes. Their times never go back; where the capture has
  /// none, they are an interval apart.
  mutating func take(_ packet: CapturedPacket) -> [RangingMeasurement] {
    guard let (header, payload) = message(packet) else { return [] }
    return read(header, payload.span.bytes, packet.time)
  }

  /// The same with what is computed of them. What waits for diagnostics comes with a later packet.
  mutating func estimates(
    _ packet: CapturedPacket, _ settings: EstimationSettings
  ) -> [EstimatedMeasurement] {
    guard let (header, payload) = message(packet) else { return [] }
    let measured = read(header, payload.span.bytes, packet.time)
    guard header.type == .notification, payload.count >= 8 else { return [] }
    var list: [EstimatedMeasurement] = []
    if header.opcode == .sessionInfo, !measured.isEmpty,
      let view = try? SessionInfoView(payload.span.bytes)
    {
      pipelines[view.sessionToken, default: EstimationPipeline(settings)].take(
        RoundNotification(.measurements(view), FrameInfo(receivedAt: last))
      ) { list.append($0) }
    } else if let token = try? SessionToken(payload) {
      pipelines[token.value]?.take(
        RoundNotification(
          .diagnostics(header.opcode, payload.span.bytes), FrameInfo(receivedAt: last))
      ) { list.append($0) }
    }
    return list
  }

  /// What still waits.
  mutating func remaining() -> [EstimatedMeasurement] {
    var list: [EstimatedMeasurement] = []
    for token in pipelines.keys.sorted() { pipelines[token]?.flush { list.append($0) } }
    return list
  }

  /// A whole message; nil while segments are missing.
  private mutating func message(_ packet: CapturedPacket) -> (PacketHeader, [UInt8])? {
    guard packet.direction != .outbound else { return nil }
    let bytes = packet.bytes.span.bytes
    guard packet.isWhole, let header = try? PacketHeader(parsing: bytes) else {
      unreadable += 1
      return nil
    }
    let payload = bytes.extracting(PacketHeader.length..<bytes.byteCount)
    switch reassembler.take(header, payload: payload) {
    case .incomplete: return nil
    case .whole: return (header, payload.withUnsafeBytes { Array($0) })
    case .completed:
      return (
        header, reassembler.withPayload(of: header.type) { $0.withUnsafeBytes { Array($0) } }
      )
    }
  }

  /// What notifications of a session begin with.
  private struct SessionToken {
    var value: UInt32

    init(_ payload: [UInt8]) throws(PayloadError) {
      var reader = PayloadReader(payload.span.bytes)
      value = try reader.u32("session token")
    }
  }

  private mutating func read(
    _ header: PacketHeader, _ payload: RawSpan, _ time: UInt64?
  ) -> [RangingMeasurement] {
    if header.type == .response, header.opcode == .coreGetDeviceInfo {
      var reader = PayloadReader(payload)
      let response = try? DeviceInfoResponse(from: &reader, dialect: .assumed)
      if let info = response?.info { hasRSSI = info.uciVersion.major >= 2 }
      return []
    }
    guard header.type == .notification, header.opcode == .sessionInfo else { return [] }
    guard let view = try? SessionInfoView(payload) else {
      unreadable += 1
      return []
    }
    let interval = UInt64(view.intervalMilliseconds) * 1_000_000
    last = max(last, time ?? last &+ interval)
    var batch: [RangingMeasurement] = []
    view.forEachTwoWayMeasurement { result in
      batch.append(
        RangingMeasurement(
          sessionToken: view.sessionToken, sequenceNumber: view.sequenceNumber, receivedAt: last,
          result: result))
    }
    return batch
  }
}
