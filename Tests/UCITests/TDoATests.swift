// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference
import UCITestSupport

/// Notifications of uplink TDoA (constructed) and of downlink TDoA in its second version. The
/// measurements of the latter are the vectors in the tests of AOSP's uwb_uci_packets.
enum TDoAVectors {
  private static func header(_ type: String, _ count: String) -> String {
    "62000000 00000000 01000000 00 c8000000 \(type) 00 00 00000000 00000000 \(count) "
  }
  static let downlinkV2 =
    header("06", "02")
    + "3a00 0a01 00 05 0205 07 09 0a0102 050709 0a 0102 0507 09050709 0a010205 0709 "
    + "05 0102030405 0e000000 08 0102030405060708 02 1122 03 aabbcc 55"
    + "3100 0b02 01 05 0603 08 01 0b0203 06080a 0b 0302 0806 0a08060a 0603020b 0a08 "
    + "04 02030405 02000000 06 020304050607 01 33"
  static let downlinkV2Minimal =
    header("06", "01")
    + "2600 0b02 00 05 0104 06 08 0b0203 06080a 0b 0203 0608 0a06080a 0b020306 080a "
    + "04 02030405 08000000 00 77"
  static let uplink =
    header("00", "01")
    + "2211 00 16 00 01 800c5a 00f455 07000000 0807060504030201 aabbccdd 0102030405"
  static let uplinkLongControl =
    header("00", "01") + "2211 00 0100 01 00 800c5a 00f455 07000000 0102030405 beef"
  static let uplinkBroken = header("00", "02") + "2211 00 16 00"
  static let all = [downlinkV2, downlinkV2Minimal, uplink, uplinkLongControl, uplinkBroken]
}

@Suite struct TDoATests {
  private func info(_ text: String, _ dialect: Dialect = .assumed) throws -> SessionInfo {
    let payload = payload(of: text)
    let info = try SessionInfo(decoding: payload, dialect: dialect)
    #expect(info.encoded(dialect: dialect) == payload)
    return info
  }

  @Test func downlinkVersion2() throws {
    guard case .downlinkTDoAV2(let list) = try info(TDoAVectors.downlinkV2).measurements else {
      Issue.record("not downlink TDoA, version 2")
      return
    }
    try #require(list.count == 2)
    #expect(list[0].announcedLength == 58)
    #expect(list[0].peer == MACAddress(0x010A))
    #expect(list[0].blockIndex == 0x0502)
    #expect(list[0].azimuth.raw == 0x010A)
    #expect(list[0].rxTimestamp == 0x05_0403_0201)
    #expect(list[0].txTimestamp == 0x0807_0605_0403_0201)
    #expect(list[0].activeRounds == [0x11, 0x22])
    #expect(list[0].location == [0xAA, 0xBB, 0xCC])
    #expect(list[0].superclusterID == 0x55)
    #expect(list[1].peer == MACAddress(0x020B))
    #expect(list[1].status.rawValue == 1)
    #expect(list[1].activeRounds == [0x33])
    #expect(list[1].location == nil)
    #expect(list[1].superclusterID == nil)
    #expect(list.allSatisfy { $0.unknownBytes.isEmpty })
  }

  @Test func aMeasurementThatAnnouncesTooFewBytes() throws {
    guard case .downlinkTDoAV2(let list) = try info(TDoAVectors.downlinkV2Minimal).measurements
    else {
      Issue.record("not downlink TDoA, version 2")
      return
    }
    #expect(list.first?.announcedLength == 38)
    #expect(list.first?.txTimestamp == nil)
    #expect(list.first?.activeRounds == nil)
    #expect(list.first?.superclusterID == 0x77)
  }

  @Test func bytesBehindTheKnownFieldsOfAMeasurementAreKept() throws {
    let text = TDoAVectors.downlinkV2.replacing("3100 0b02", with: "3300 0b02") + "abcd"
    guard case .downlinkTDoAV2(let list) = try info(text).measurements else {
      Issue.record("not downlink TDoA, version 2")
      return
    }
    #expect(list.last?.unknownBytes == [0xAB, 0xCD])
  }

  @Test func uplink() throws {
    guard case .uplinkTDoA(let list) = try info(TDoAVectors.uplink).measurements else {
      Issue.record("not uplink TDoA")
      return
    }
    #expect(list.count == 1)
    #expect(list[0].peer == MACAddress(0x1122))
    #expect(list[0].controlLength == 1)
    #expect(list[0].azimuth.degrees == 25)
    #expect(list[0].elevation.degrees == -24)
    #expect(list[0].frameNumber == 7)
    #expect(list[0].rxTimestamp == 0x0102_0304_0506_0708)
    #expect(list[0].deviceID == [0xAA, 0xBB, 0xCC, 0xDD])
    #expect(list[0].txTimestamp == 0x05_0403_0201)
  }

  @Test(arguments: [Dialect.Vendor.unknown, .qorvo])
  func uplinkWithAControlOfTwoBytes(vendor: Dialect.Vendor) throws {
    let info = try info(TDoAVectors.uplinkLongControl, Dialect(vendor: vendor))
    guard case .uplinkTDoA(let list) = info.measurements else {
      Issue.record("not uplink TDoA")
      return
    }
    #expect(list.first?.controlLength == 2)
    #expect(list.first?.frameType == 1)
    #expect(list.first?.deviceID == [0xBE, 0xEF])
    #expect(list.first?.txTimestamp == nil)
  }

  @Test func whatDoesNotFitIsKeptAsBytes() throws {
    guard case .other(2, let bytes) = try info(TDoAVectors.uplinkBroken).measurements else {
      Issue.record("it was understood")
      return
    }
    #expect(bytes.count == 5)
  }

  @Test func described() throws {
    let names = ["UL_TDOA": TDoAVectors.uplink, "DL_TDOA_V2": TDoAVectors.downlinkV2]
    for (name, text) in names {
      let payload = payload(of: text)
      let message = Message(
        type: .notification, opcode: .sessionInfo, payload: payload.span.bytes)
      let type = message.fields().first { $0.name == "type" }?.value
      guard case .code(_, name, nil)? = type else {
        Issue.record("\(String(describing: type)) is not \(name)")
        continue
      }
      guard
        case .list(let list)? = message.fields().first(where: { $0.name == "measurements" })?.value
      else {
        Issue.record("no measurements")
        continue
      }
      #expect(!list.isEmpty)
    }
  }
}
