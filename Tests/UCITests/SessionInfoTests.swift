// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCITestSupport

/// Notifications of two-way ranging, header included.
///
/// The timeouts are captures of a Qorvo DWM3001CDK and an NXP SR250 (published logs); the 229 cm
/// are google/pica's; the others are constructed by the same layout.
enum TwoWayVectors {
  static let header = "62000038 00000000 01000000 00 c8000000 01 00 00 00000000 00000000 01 "
  static let timeout = header + "0100 21 ff ffff" + zeros(12) + "02 00" + zeros(11)
  static let angles =
    header + "0100 00 00 7b00 40f757 800250 000000 000000 00 98" + zeros(11)
  static let negative = header + "0100 1b 00 0400" + zeros(12) + "00 60" + zeros(11)
  static let extended =
    "62000038 00000000 01000000 00 c8000000 01 00 01 00000000 00000000 01 "
    + "8877665544332211 00 01 fa00" + zeros(12) + "00 00" + zeros(5)
  static let pica =
    "62000038 00000000 44332211 00 00000000 01 00 00 00000000 00000000 01 "
    + "bb02 00 00 e500 1b0064 0d0064 67ff64 f3ff64 00 ff" + zeros(11)
  static let vendorTail =
    "62000048 00000000 01000000 00 f0000000 01 00 00 00000000 00000000 01 "
    + "1122 21 00 ffff" + zeros(12) + "00 00" + zeros(11) + "0e00 00000001 01000101" + zeros(6)
  static let nobody = "62000019 0a000000 44332211 00 00000000 01 00 00 00000000 00000000 00"
  static let all = [timeout, angles, negative, extended, pica, vendorTail, nobody]

  static func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }
}

@Suite struct SessionInfoTests {
  private func measurements(_ packet: String) throws -> [TwoWayMeasurement] {
    let info = try #require(try decode(packet, as: SessionInfo.self))
    guard case .twoWay(let list) = info.measurements else {
      Issue.record("not two-way ranging")
      return []
    }
    return list
  }

  @Test func anglesDistanceAndPower() throws {
    let measurement = try #require(try measurements(TwoWayVectors.angles).first)
    #expect(measurement.peer == MACAddress(1))
    #expect(measurement.status == .ok)
    #expect(measurement.lineOfSight == .lineOfSight)
    #expect(measurement.distanceCentimetres == 123)
    #expect(measurement.azimuth.degrees == -17.5)
    #expect(measurement.azimuth.figureOfMerit == 87)
    #expect(measurement.elevation.degrees == 5)
    #expect(measurement.elevation.figureOfMerit == 80)
    #expect(measurement.rssiDBm == -76)
  }

  @Test func aTimeoutHasNoDistance() throws {
    let measurement = try #require(try measurements(TwoWayVectors.timeout).first)
    #expect(measurement.status == .rangingRxTimeout)
    #expect(measurement.lineOfSight == .notDetermined)
    #expect(measurement.distanceCentimetres == nil)
    #expect(measurement.rssiDBm == nil)
    #expect(measurement.slotIndex == 2)
  }

  @Test func aNegativeDistanceIsASuccess() throws {
    let measurement = try #require(try measurements(TwoWayVectors.negative).first)
    #expect(measurement.status == .okNegativeDistance)
    #expect(measurement.status.isSuccess)
    #expect(measurement.distanceCentimetres == -4)
  }

  @Test func anExtendedAddress() throws {
    let measurement = try #require(try measurements(TwoWayVectors.extended).first)
    #expect(measurement.peer == MACAddress(extended: 0x1122_3344_5566_7788))
    #expect(measurement.lineOfSight == .nonLineOfSight)
    #expect(measurement.distanceCentimetres == 250)
  }

  @Test func theTailOfAVendorIsKept() throws {
    let message = try Message(packet: bytes(TwoWayVectors.vendorTail))
    #expect(message.trailing == bytes("0e00 00000001 01000101" + TwoWayVectors.zeros(6)))
    #expect(message.payload() == payload(of: TwoWayVectors.vendorTail))
  }

  @Test(arguments: TwoWayVectors.all)
  func theViewAgreesWithTheValue(packet: String) throws {
    let info = try #require(try decode(packet, as: SessionInfo.self))
    guard case .twoWay(let list) = info.measurements else { return }
    try withView(payload(of: packet)) { view in
      #expect(view.sequenceNumber == info.sequenceNumber)
      #expect(view.sessionToken == info.sessionToken)
      #expect(view.intervalMilliseconds == info.intervalMilliseconds)
      #expect(view.type == info.type)
      #expect(view.hasExtendedAddresses == (info.addressIndicator != 0))
      #expect(view.count == list.count)
      var seen: [TwoWayMeasurement] = []
      view.forEachTwoWayMeasurement { seen.append($0) }
      #expect(seen == list)
    }
    #expect(try reencoded(packet) == payload(of: packet))
  }

  @Test func moreMeasurementsThanBytes() throws {
    var bytes = payload(of: TwoWayVectors.angles)
    bytes[24] = 2
    #expect(throws: PayloadError.self) { try withView(bytes) { $0.count } }
    #expect(throws: PayloadError.self) { try SessionInfo(decoding: bytes) }
  }

  @Test func oneWayAngle() throws {
    // Test vector of AOSP's packet definitions.
    let packet =
      "62000026 00000000 01000000 00 c8000000 03 00 00 00000000 00000000 01 "
      + "aabb 00 00 01 0100 0304 60 0506 50"
    let info = try #require(try decode(packet, as: SessionInfo.self))
    guard case .oneWayAoA(let list) = info.measurements else {
      Issue.record("not OWR AoA")
      return
    }
    #expect(list[0].peer == MACAddress(0xBBAA))
    #expect(list[0].frameSequenceNumber == 1)
    #expect(list[0].blockIndex == 1)
    #expect(list[0].azimuth == Angle(raw: 0x0403, figureOfMerit: 96))
    #expect(list[0].elevation == Angle(raw: 0x0605, figureOfMerit: 80))
    #expect(try reencoded(packet) == payload(of: packet))
  }

  @Test func downlinkTDoA() throws {
    // Constructed: 40-bit and 64-bit timestamps, a relative location, two rounds.
    let control: UInt16 = 0b1_0100_1001
    let body =
      "0122 00 01 \(hexadecimal([UInt8(control & 255), UInt8(control >> 8)])) 0201 07 ff 00055a "
      + "80fd50 82 5544332211 8877665544332211 0b0a f0ff a0860100 400d0300 4101 "
      + "e80300007d00002c0100 0102"
    let packet = "62000053 05000000 2a000000 00 64000000 02 00 00 00000000 00000000 01 " + body
    let length = payload(of: packet).count
    let info = try SessionInfo(decoding: payload(of: packet))
    guard case .downlinkTDoA(let list) = info.measurements else {
      Issue.record("not DL-TDoA")
      return
    }
    let measurement = list[0]
    #expect(measurement.peer == MACAddress(0x2201))
    #expect(measurement.txTimestamp == 0x11_2233_4455)
    #expect(measurement.rxTimestamp == 0x1122_3344_5566_7788)
    #expect(measurement.isCommonTimeBase)
    #expect(measurement.rawClockOffset == -16)
    #expect(measurement.rssiDBm == -65)
    #expect(measurement.location.count == 10)
    #expect(measurement.activeRounds == [1, 2])
    #expect(info.encoded().count == length)
    #expect(info.encoded() == payload(of: packet))
  }

  @Test func otherMeasurementsAreKept() throws {
    var bytes = payload(of: TwoWayVectors.angles)
    bytes[13] = 6
    let info = try SessionInfo(decoding: bytes)
    guard case .other(1, let rest) = info.measurements else {
      Issue.record("type 6 was understood")
      return
    }
    #expect(rest == Array(bytes[25...]))
    #expect(info.encoded() == bytes)
  }
}
