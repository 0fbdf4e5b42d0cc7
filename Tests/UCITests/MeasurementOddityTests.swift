// SPDX-License-Identifier: Apache-2.0

import Testing
import UCIReference
import UCITestSupport

@testable import UCI

/// Documentation/swift-uwb.docc/DeviceOddities.md, "Measurements".
@Suite struct MeasurementOddityTests {
  private typealias Vectors = TwoWayVectors

  private func twoWay(_ packet: String) throws -> [TwoWayMeasurement] {
    guard case .twoWay(let list)? = try decode(packet, as: SessionInfo.self)?.measurements else {
      return []
    }
    return list
  }

  /// A notification with measurements of 31 bytes each, its length filled in.
  private func notification(extended: Bool, _ measurements: [String]) -> String {
    let body =
      "00000000 01000000 00 c8000000 01 00 \(extended ? "01" : "00") 00000000 00000000 "
      + "0\(measurements.count)" + measurements.joined()
    return "620000" + hexadecimal([UInt8(bytes(body).count)]) + body
  }

  private func measurement(_ address: String, status: String = "00", nlos: String = "00") -> String
  {
    let used = "\(address) \(status) \(nlos) 6400" + Vectors.zeros(12) + "00 78"
    return used + Vectors.zeros(31 - bytes(used).count)
  }

  @Test("RSSI is a magnitude without sign")
  func rssi() throws {
    for (raw, expected) in [("98", -76.0), ("fe", -127), ("ff", nil), ("01", -0.5)] {
      let packet = Vectors.header + "0100 00 00 7b00" + Vectors.zeros(12) + "00 \(raw)"
      let list = try twoWay(packet + Vectors.zeros(11))
      #expect(list.first?.rssiDBm == expected)
    }
    #expect(try twoWay(Vectors.timeout).first?.rssiDBm == nil)
  }

  @Test("Two-way entries have 31 bytes for both kinds of address")
  func lengthOfEntries() throws {
    let short = notification(extended: false, ["0100", "0200", "0300"].map { measurement($0) })
    #expect(try twoWay(short).map(\.peer) == [1, 2, 3].map { MACAddress(UInt16($0)) })
    let extended = notification(
      extended: true, ["0100000000000011", "0200000000000022"].map { measurement($0) })
    #expect(
      try twoWay(extended).map(\.peer)
        == [MACAddress(extended: 0x11 << 56 | 1), MACAddress(extended: 0x22 << 56 | 2)])
    #expect(try twoWay(extended).map(\.rawDistance) == [100, 100])
    for packet in [short, extended] {
      let bytes = payload(of: packet)
      let view = try SessionInfoView(bytes.span.bytes)
      #expect(view.vendorTailOffset == bytes.count)
      #expect(try reencoded(packet) == bytes)
    }
  }

  @Test("Angles are signed, 128 to a degree")
  func angles() throws {
    let list = try twoWay(Vectors.angles)
    #expect(list.first?.azimuth.degrees == -17.5)
    #expect(list.first?.elevation.degrees == 5)
    #expect(Angle(raw: -23_040, figureOfMerit: 0).degrees == -180)
    // pica writes whole degrees into the field, so that the value is their number of 1/128 degrees.
    #expect(try twoWay(Vectors.pica).first?.azimuth.degrees == 27.0 / 128)
  }

  @Test("A negative distance is a success")
  func negativeDistance() throws {
    let list = try twoWay(Vectors.negative)
    #expect(list.first?.status.isSuccess == true)
    #expect(list.first?.distanceCentimetres == -4)
  }

  @Test("A failed measurement has no numbers")
  func failures() throws {
    for packet in [Vectors.timeout, Vectors.vendorTail] {
      let list = try twoWay(packet)
      #expect(list.count == 1)
      #expect(list.first?.status == .rangingRxTimeout)
      #expect(list.first?.distanceCentimetres == nil)
      #expect(list.first?.rssiDBm == nil)
    }
    // A distance of a failed measurement is invalid, and so is 65535 of a successful one.
    let failed = try twoWay(notification(extended: false, [measurement("0100", status: "22")]))
    #expect(failed.first?.rawDistance == 100 && failed.first?.distanceCentimetres == nil)
    let none = TwoWayMeasurement(peer: MACAddress(1), status: .ok, rawDistance: 0xFFFF)
    #expect(none.distanceCentimetres == nil)
  }

  @Test("The line-of-sight byte is not a boolean")
  func lineOfSight() throws {
    func fields(_ byte: String) throws -> [Field] {
      let packet = notification(extended: false, [measurement("0100", nlos: byte)])
      let message = try Message(packet: bytes(packet))
      guard
        case .list(let list)? = message.fields().first(where: { $0.name == "measurements" })?
          .value, case .object(let fields)? = list.first
      else { return [] }
      return fields.filter { $0.name.hasPrefix("nlos") }
    }
    #expect(try fields("00") == [Field("nlos", .bool(false))])
    #expect(try fields("01") == [Field("nlos", .bool(true))])
    #expect(try fields("ff") == [Field("nlos", .null)])
    // Bits of a newer release by Qorvo.
    #expect(try fields("a0") == [Field("nlos", .null), Field("nlos_raw", .integer(0xA0))])
  }

  @Test(
    "DL-TDoA has timestamps of 40 or 64 bits, entries of different lengths, two codes of location")
  func downlinkTDoA() throws {
    let anchor = "0100 00 00 %@ 0500 02 00 000000 000000 50"
    let rest = "0000 0000 00000000 00000000 0000"
    func entry(_ control: String, _ tx: String, _ rx: String, _ more: String = "") -> String {
      anchor.replacing("%@", with: control) + tx + rx + rest + more
    }
    let long = "ffffffffffffffff"
    let entries =
      entry("0000", "0102030405", "0504030201")
      + entry("0b00", long, long)
      + entry("2000", "0102030405", "0504030201", Vectors.zeros(12))
      + entry("4001", "0102030405", "0504030201", Vectors.zeros(10) + "0708")
    let body =
      "00000000 01000000 00 c8000000 02 00 00 00000000 00000000 04" + entries
    var reader = PayloadReader(bytes(body).span.bytes)
    let info = try SessionInfo(from: &reader, dialect: .assumed)
    #expect(reader.remaining == 0)
    guard case .downlinkTDoA(let list) = info.measurements else {
      Issue.record("not downlink TDoA")
      return
    }
    #expect(list.map(\.txTimestamp) == [0x05_0403_0201, .max, 0x05_0403_0201, 0x05_0403_0201])
    #expect(list.map(\.location.count) == [0, 0, 12, 10])
    #expect(list[3].activeRounds == [7, 8])
    // The parameter is one byte longer than the location, because it begins with the type.
    #expect(AppConfigID.dlTDoAAnchorLocation.parameter?.lengths == [1, 11, 13])
    #expect(info.encoded() == bytes(body))
  }

  @Test("One-way measurements have the same statuses as all others")
  func oneWayStatus() throws {
    let packet =
      "62000026 00000000 01000000 00 c8000000 03 00 00 00000000 00000000 01 "
      + "aabb 21 00 01 0100 0304 60 0506 50"
    guard case .oneWayAoA(let list)? = try decode(packet, as: SessionInfo.self)?.measurements else {
      Issue.record("not one-way AoA")
      return
    }
    #expect(list.first?.status == .rangingRxTimeout)
  }

  @Test("The size of a radar sweep has more than eight bits")
  func radarSweeps() throws {
    // 255 samples of 8 bytes.
    let sweep = "01000000 02000000 00" + String(repeating: "ab", count: 255 * 8)
    let payload = bytes("01000000 00 00 01 ff 02 0000 f807" + sweep)
    let message = Message(
      type: .data, opcode: RadarDataMessage.opcode, payload: payload.span.bytes)
    guard case .payload(let radar as RadarDataMessage) = message.content else {
      Issue.record("a long sweep was not understood")
      return
    }
    #expect(radar.sweeps.first?.samples.count == 2_040)
    #expect(message.payload() == payload)
  }

  @Test("The ranging interval may be 0")
  func intervalOfZero() throws {
    let info = try #require(try decode(Vectors.pica, as: SessionInfo.self))
    #expect(info.intervalMilliseconds == 0)
    #expect(try twoWay(Vectors.pica).first?.distanceCentimetres == 229)
  }
}
