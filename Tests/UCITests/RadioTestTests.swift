// SPDX-License-Identifier: Apache-2.0

import Testing
import UCIReference
import UCITestSupport

@testable import UCI

// Constructed by the layouts of AOSP's packet description. Qorvo's messages are constructed by UWB
// Qorvo Tools.
@Suite struct RadioTestTests {
  static let vectors = [
    "2d00000e 00000000 02 00 04 e8030000 04 01 01", "4d000002 00 00", "4d000004 04 01 09 04",
    "2d010007 00000000 02 00 09", "4d010008 00 01 00 04 e8030000", "2d020005 0102030405",
    "4d020001 00", "6d020001 00", "2d030002 ffff", "4d030001 00",
    "6d030035 00 01000000 02000000 03000000 04000000 05000000 "
      + "06000000 07000000 08000000 09000000 0a000000 0b000000 0c000000 0d000000",
    "6d030001 02", "6d030007 00 01000000 0200", "2d050000", "2d050002 0102", "4d050001 00",
    "6d050013 00 e0030000 0001 800c 00f4 05 3412 0300 010203", "6d050001 21", "2d060002 0102",
    "4d060001 00", "6d060017 00 e0010000 0000 e0030000 0001 800c 00f4 3412 0200 0102",
    "2d090000", "4d090001 00",
    "6d090028 00 e8030000 e7030000 00000000 01000000 e7030000 01000000 e6030000 e5030000 e6030000 "
      + "ff7f07",
    "6d090001 02", "2d070000", "4d070001 00", "2d080000", "4d080001 00", "6d080005 00 78563412",
    "6d080001 21",
    "0f003000 01000000 00 00 02 02 00 0100 0800 01000000 02000000 01 ee 0102030405060708 "
      + "02000000 03000000 00 1112131415161718",
    "0f000d00 01000000 00 00 00 02 07 0100 0800",
    "2c11000c 01000000 02 01 01 40 0a 02 0500", "4c110002 00 00", "4c110004 04 01 08 04",
    "2c120007 01000000 02 01 02", "4c120005 00 01 01 01 40",
  ]

  @Test(arguments: vectors)
  func encodesWhatItDecodes(packet: String) throws {
    #expect(try reencoded(packet) == payload(of: packet))
    let message = try Message(packet: bytes(packet))
    if case .opaque = message.content { Issue.record("\(packet) was not understood") }
    #expect(!message.name().hasPrefix("GROUP"))
    #expect(!message.name().hasPrefix("VENDOR"))
    _ = message.fields()
  }

  private func fields(_ prefix: String, _ index: Int = 0) throws -> [String: FieldValue] {
    let packets = Self.vectors.filter { $0.hasPrefix(prefix) }
    let message = try Message(packet: bytes(packets[index]))
    return Dictionary(message.fields().map { ($0.name, $0.value) }, uniquingKeysWith: { a, _ in a })
  }

  @Test func configuration() throws {
    let set = try #require(try decode(Self.vectors[0], as: TestConfigSet.self))
    #expect(set.parameters == [TLV(0, [0xE8, 3, 0, 0]), TLV(4, [1])])
    guard case .list(let list)? = try fields("4d01")["parameters"],
      case .object(let first)? = list.first
    else {
      Issue.record("no parameters")
      return
    }
    #expect(first.contains(Field("name", .text("NUM_PACKETS"))))
    #expect(first.contains(Field("value", .integer(1000))))
    guard case .list(let refused)? = try fields("4d00", 1)["refused"],
      case .object(let only)? = refused.first
    else {
      Issue.record("no refused parameters")
      return
    }
    #expect(only.contains(Field("name", .text("STS_DETECT_BITMAP"))))
  }

  @Test func counters() throws {
    let counters = try fields("6d03")
    #expect(counters["attempts"] == .integer(1))
    #expect(counters["sfd_found"] == .integer(7))
    #expect(counters["end_of_frame"] == .integer(13))
    #expect(try fields("6d03", 1)["attempts"] == nil)
  }

  @Test func frames() throws {
    let received = try fields("6d05")
    #expect(received["azimuth_deg"] == .decimal(25))
    #expect(received["elevation_deg"] == .decimal(-24))
    #expect(received["arrival_gap_ns"] == .integer(5))
    #expect(received["phr"] == .integer(0x1234))
    #expect(received["psdu"] == .bytes([1, 2, 3]))
    #expect(TestTimestamp(units: 1248, fraction: 0).microseconds == 10)
    let loopback = try fields("6d06")
    #expect(loopback["tx_time_us"] != nil)
    #expect(loopback["arrival_gap_ns"] == nil)
    #expect(loopback["psdu"] == .bytes([1, 2]))
    #expect(try fields("6d08")["ticks"] == .integer(0x1234_5678))
  }

  @Test func secureReception() throws {
    let report = try #require(
      try decode(
        Self.vectors.first { $0.hasPrefix("6d090028") } ?? "", as: TestSRRXNotification.self))
    #expect(report.counters == [1000, 999, 0, 1, 999, 1, 998, 997, 998])
    #expect(report.bitmap == [0xFF, 0x7F, 0x07])
  }

  @Test func whatQorvoSaysOfATest() throws {
    let packet = bytes("6b000013 0100 ffff 02 004b 8050 1000 0032 00ce 00000000")
    let dialect = Dialect(generation: .fira2, vendor: .qorvo)
    let message = try Message(packet: packet + [], dialect: dialect)
    guard case .payload(let content as QorvoTestDebugNotification) = message.content else {
      Issue.record("not understood: \(message)")
      return
    }
    #expect(content.receivers.map(\.rssiDBm) == [-75, -80.5])
    #expect(content.carrierOffsetPPM == 0)
    #expect(message.payload(dialect: dialect) == Array(packet[4...]))
  }

  @Test func radar() throws {
    let packets = Self.vectors.filter { $0.hasPrefix("0f") }
    let radar = try #require(try decode(packets[0], as: RadarDataMessage.self))
    #expect(radar.sweeps.count == 2)
    #expect(radar.sweeps[0].vendorData == [0xEE])
    #expect(radar.sweeps[1].samples == Array(0x11...0x18))
    #expect(try Message(packet: bytes(packets[0])).name() == "RADAR_DATA_MESSAGE")
    guard case .list(let list)? = try fields("4c12")["parameters"],
      case .object(let first)? = list.first
    else {
      Issue.record("no parameters")
      return
    }
    #expect(first.contains(Field("name", .text("SAMPLES_PER_SWEEP"))))
  }
}
