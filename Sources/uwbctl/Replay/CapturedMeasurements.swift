// SPDX-License-Identifier: Apache-2.0

import UCI
import UWBCapture
import UWBDriver

/// The two-way measurements in the packets of a capture, joined and read as the driver does it.
struct CapturedMeasurements {
  /// Whether the chip reports RSSI: as its device info says, and until it does, it does.
  private(set) var hasRSSI = true
  /// Packets and notifications that do not have the layout they should have.
  private(set) var unreadable = 0
  private var reassembler = Reassembler()
  private var last: UInt64 = 0

  /// Measurements that this packet completes. Their times never go back; where the capture has
  /// none, they are an interval apart.
  mutating func take(_ packet: CapturedPacket) -> [RangingMeasurement] {
    guard packet.direction != .outbound else { return [] }
    let octets = packet.octets.span.bytes
    guard packet.isWhole, let header = try? PacketHeader(parsing: octets) else {
      unreadable += 1
      return []
    }
    let payload = octets.extracting(PacketHeader.length..<octets.byteCount)
    switch reassembler.take(header, payload: payload) {
    case .incomplete: return []
    case .whole: return read(header, payload, packet.time)
    case .completed:
      let whole = reassembler.withPayload(of: header.type) { $0.withUnsafeBytes { Array($0) } }
      return read(header, whole.span.bytes, packet.time)
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
