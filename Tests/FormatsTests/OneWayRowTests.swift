// SPDX-License-Identifier: Apache-2.0
import Formats
import JSON
import Testing
import UCI
import UWB

@Suite struct OneWayRowTests {
  private func angle(_ sequence: UInt32, status: Status = .ok) throws -> OneWayMeasurement {
    // An advertiser 0x0002, seen at 90 degrees in block 7.
    let entry: [UInt8] = [2, 0, status.rawValue, 0, 9, 7, 0, 0, 45, 100, 0, 0, 0]
    let header: [UInt8] =
      [UInt8(sequence), 0, 0, 0, 1, 0, 0, 0, 0, 200, 0, 0, 0, 3, 0, 0]
      + Array(repeating: 0, count: 8)
      + [1]
    let info = try SessionInfo(decoding: header + entry)
    guard case .oneWayAoA(let list) = info.measurements else { throw Problem.unexpected }
    return OneWayMeasurement(
      sessionToken: 1, sequenceNumber: sequence, receivedAt: UInt64(sequence) * 1_000_000,
      result: .angle(list[0]))
  }

  private enum Problem: Error { case unexpected }

  @Test("Missing notifications and failures are counted")
  func summary() throws {
    var summary = OneWaySummary()
    let rows = [
      summary.add(try angle(0)), summary.add(try angle(1)), summary.add(try angle(4)),
      summary.add(try angle(5, status: .rangingRxTimeout)),
    ]
    #expect(rows.map(\.lostBefore) == [0, 0, 2, 0])
    #expect(rows.map(\.seconds) == [0, 0.001, 0.004, 0.005])
    #expect(summary.text == "4 notifications, 1 sender, 3 received, 1 failed, 2 lost")
  }

  @Test("A message is one object, each key once and in its order")
  func keys() throws {
    var summary = OneWaySummary()
    let row = summary.add(try angle(3))
    let line = OneWayRow.json.line(row)
    let keys = OneWayRow.json.entry.keys.map(\.path)
    let positions = keys.compactMap { line.firstRange(of: "\"\($0)\":")?.lowerBound }
    #expect(positions.count == keys.count && positions == positions.sorted())
    #expect(line.contains(#""kind":"angle","peer":"0x0002""#), "\(line)")
    #expect(line.contains(#""message":"frame","block":7,"round":null,"frame":9"#), "\(line)")
    #expect(line.contains(#""azimuth_deg":90.00"#) && line.contains(#""rx_ticks":null"#))
    var short = JSONText()
    row.append(to: &short, hasNulls: false)
    #expect(!short.string.contains("null"))
  }

  /// A notification with one measurement of a type.
  private func notification(_ type: UInt8, _ entry: [UInt8]) throws -> SessionInfo {
    let header: [UInt8] =
      [0, 0, 0, 0, 1, 0, 0, 0, 0, 200, 0, 0, 0, type, 0, 0] + Array(repeating: 0, count: 8) + [1]
    return try SessionInfo(decoding: header + entry)
  }

  private func line(_ result: OneWayMeasurement.Result) -> String {
    OneWayRow.json.line(
      OneWayRow(
        seconds: 0,
        measurement: OneWayMeasurement(
          sessionToken: 1, sequenceNumber: 0, receivedAt: 0, result: result)))
  }

  @Test("A blink has its ticks with all their bits, and the tag's own name")
  func blinks() throws {
    let entry: [UInt8] =
      [2, 1, 0, 0b1_0001, 0, 1, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0]
      + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F] + [0xAB, 0xCD]
    guard case .uplinkTDoA(let list) = try notification(0, entry).measurements else {
      throw Problem.unexpected
    }
    let text = line(.uplink(list[0]))
    #expect(text.contains(#""tx_ticks":null,"tx_bits":null"#), "\(text)")
    #expect(text.contains(#""rx_ticks":9223372036854775807,"rx_bits":64"#), "\(text)")
    #expect(text.contains(#""device_id":"abcd""#) && text.contains(#""message":"blink""#))
    #expect(text.contains(#""nlos":true"#) && text.contains(#""rssi_dbm":null"#))
  }

  @Test("A place in WGS-84 has its digits; a relative one its millimetres", arguments: [1, 2])
  func places(_ type: UInt8) throws {
    let place: AnchorLocation =
      type == 1
      ? .geographic(latitude: 52.5, longitude: -13.25, altitude: 34.5)
      : .relative(x: -1, y: 2, z: 3)
    var entry: [UInt8] = [2, 1, 0, 1, type << 5, 0, 7, 0, 3, 0xFF, 0, 0, 0, 0, 0, 0, 140]
    entry += [1, 0, 0, 0, 0x80] + [2, 0, 0, 0, 0]
    entry += [0, 4, 0, 0xF8, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0] + place.bytes
    guard case .downlinkTDoA(let list) = try notification(2, entry).measurements else {
      throw Problem.unexpected
    }
    let text = line(.downlink(AnchorMessage(list[0])))
    #expect(text.contains(#""tx_ticks":549755813889,"tx_bits":40,"rx_ticks":2,"rx_bits":40"#))
    #expect(text.contains(#""cfo_ppm":-2.000,"anchor_cfo_ppm":1.000"#), "\(text)")
    #expect(
      text.contains(#""responder_reply_ticks":2,"initiator_reply_ticks":1,"tof_ticks":3"#))
    let found =
      type == 1
      ? #""anchor_latitude_deg":52.5000000,"anchor_longitude_deg":-13.2500000"#
      : #""anchor_x_mm":-1,"anchor_y_mm":2,"anchor_z_mm":3"#
    #expect(text.contains(found) && text.contains(#""rssi_dbm":-70.0"#), "\(text)")
  }
}
