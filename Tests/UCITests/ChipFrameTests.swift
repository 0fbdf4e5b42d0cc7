// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference
import UCITestSupport

/// Frames of real chips and hosts with their fields, typed by hand from the layouts of the
/// specification: they compare the layouts with real chips wherever this repository is cloned.
/// Values are short: numbers of codes, bytes in hexadecimal, several in brackets.
enum ChipFrames {
  struct Frame: Sendable, CustomTestStringConvertible {
    var packet: String
    var name: String
    var says: String

    init(_ packet: String, _ name: String, _ says: String) {
      (self.packet, self.name, self.says) = (packet, name, says)
    }

    var testDescription: String { "\(name) \(packet)" }
  }

  /// An SR250 on an FRDM-RW612, firmware UWBIOT 05.08. Source: the logs in the read-me files of the
  /// demos of nxp-uwb/sr250-uwbiot-zephyr (fw_update, device_calibration, nearby_interaction,
  /// ranging_controller, ranging_controlee).
  static let sr250 = [
    Frame("20000001 00", "CORE_DEVICE_RESET_CMD", "configuration=0"),
    Frame("40000001 00", "CORE_DEVICE_RESET_RSP", "status=0"),
    Frame("60010001 01", "CORE_DEVICE_STATUS_NTF", "state=1"),
    Frame("60010001 02", "CORE_DEVICE_STATUS_NTF", "state=2"),
    Frame("60070001 0a", "CORE_GENERIC_ERROR_NTF", "status=10"),
    Frame("20020000", "CORE_GET_DEVICE_INFO_CMD", ""),
    Frame("20030000", "CORE_GET_CAPS_INFO_CMD", ""),
    Frame("20040004 01 010101", "CORE_SET_CONFIG_CMD", "parameters=[id=1 value=1]"),
    Frame(
      "20040006 01 e40402f400", "CORE_SET_CONFIG_CMD", "parameters=[id=228 sub_id=4 value=244]"),
    Frame("40040002 00 00", "CORE_SET_CONFIG_RSP", "status=0 refused=[]"),
    Frame("21000005 4ab1d7bf 00", "SESSION_INIT_CMD", "session_id=3218583882 type=0"),
    Frame("41000005 00 01000000", "SESSION_INIT_RSP", "status=0 handle=1"),
    Frame("21010004 01000000", "SESSION_DEINIT_CMD", "session=1"),
    Frame("41010001 00", "SESSION_DEINIT_RSP", "status=0"),
    Frame("61020006 01000000 03 00", "SESSION_STATUS_NTF", "session=1 state=3 reason=0"),
    Frame("61020006 01000000 02 00", "SESSION_STATUS_NTF", "session=1 state=2 reason=0"),
    Frame(
      "2103001b 01000000 07 110100 030100 260100 220101 06029e36 010102 000100",
      "SESSION_SET_APP_CONFIG_CMD",
      "session=1 parameters=[id=17 value=0, id=3 value=0, id=38 value=0, id=34 value=1, "
        + "id=6 value=0x369e, id=1 value=2, id=0 value=0]"),
    Frame("41030002 00 00", "SESSION_SET_APP_CONFIG_RSP", "status=0 refused=[]"),
    Frame("22000004 01000000", "SESSION_START_CMD", "session=1"),
    Frame("42000001 00", "SESSION_START_RSP", "status=0"),
    Frame("22010004 01000000", "SESSION_STOP_CMD", "session=1"),
    Frame("42010001 00", "SESSION_STOP_RSP", "status=0"),
    Frame(
      "62000048 00000000 01000000 00 f0000000 01 00 00 00000000 00000000 01"
        + "1122 21 00 ffff 000000 000000 000000 000000 00 00 0000000000000000000000"
        + "0e00 0000000101000101000000000000", "SESSION_INFO_NTF",
      "sequence=0 session=1 interval_ms=240 type=1 measurements=[mac=0x2211 status=33 "
        + "distance_cm=null azimuth_deg=0.0 azimuth_fom=0 elevation_deg=0.0 elevation_fom=0 "
        + "destination_azimuth_deg=0.0 destination_azimuth_fom=0 destination_elevation_deg=0.0 "
        + "destination_elevation_fom=0 slot=0 rssi_dbm=null nlos=false]"),
    Frame("2a020001 02", "NXP_GET_TRNG_CMD", "count=2"),
    Frame("4a020003 00 9e36", "NXP_GET_TRNG_RSP", "status=0 random=9e36"),
    Frame("2e000002 00 00", "NXP_CORE_DEVICE_INIT_CMD", "board_variant=0 board_version=0"),
    Frame("4e000001 00", "NXP_CORE_DEVICE_INIT_RSP", "status=0"),
    Frame("6e060001 02", "NXP_SE_BINDING_STATUS_NTF", "binding=2"),
    Frame("2f020000", "NXP_GET_ALL_SESSIONS_CMD", ""),
    Frame("4f020002 00 00", "NXP_GET_ALL_SESSIONS_RSP", "status=0 count=0 sessions="),
    Frame(
      "2f210007 05 64 04 0101e800", "NXP_SET_CALIBRATION_CMD",
      "channel=5 parameter=100 value=0101e800"),
    Frame("4f210001 00", "NXP_SET_CALIBRATION_RSP", "status=0"),
    Frame("2f220002 09 00", "NXP_GET_CALIBRATION_CMD", "channel=9 parameter=0"),
    Frame(
      "4f220008 00 01 64 04 0101e8ff", "NXP_GET_CALIBRATION_RSP",
      "status=0 state=1 parameter=100 value=0101e8ff"),
  ]

  /// A DWM3001CDK, firmware 1.1.0 of DW3_QM33_SDK. Source: the tests of
  /// EstebanMenti/i-mop-qorvo-uci-script.
  static let dwm3001 = [
    Frame("20000001 00", "CORE_DEVICE_RESET_CMD", "configuration=0"),
    Frame("40000001 00", "CORE_DEVICE_RESET_RSP", "status=0"),
    Frame("60010001 01", "CORE_DEVICE_STATUS_NTF", "state=1"),
    Frame("20020000", "CORE_GET_DEVICE_INFO_CMD", ""),
    Frame(
      "4002003e 00 0200 0200 0200 0110 34 01010000 0000000000000000 000000"
        + "00005056345832300ee0ca090000000000000000000000000000000000000000 0203cade 00",
      "CORE_GET_DEVICE_INFO_RSP",
      "status=0 uci_version=2.0.0 mac_version=2.0.0 phy_version=2.0.0 test_version=1.1.0 "
        + "vendor=qorvo firmware=1.1.0 build=0 oem_version=0.0.0 soc_id=00005056345832300ee0ca09 "
        + "device_id=0xDECA0302 packaging=0 vendor_info=01010000000000000000000000000000005056345832"
        + "300ee0ca0900000000000000000000000000000000000000000203cade00"),
    Frame("20030000", "CORE_GET_CAPS_INFO_CMD", ""),
    Frame("21000005 07000000 00", "SESSION_INIT_CMD", "session_id=7 type=0"),
    Frame("41000005 00 01000000", "SESSION_INIT_RSP", "status=0 handle=1"),
    Frame("21010004 01000000", "SESSION_DEINIT_CMD", "session=1"),
    Frame("41010001 00", "SESSION_DEINIT_RSP", "status=0"),
    Frame("61020006 01000000 00 00", "SESSION_STATUS_NTF", "session=1 state=0 reason=0"),
    Frame("41030002 00 00", "SESSION_SET_APP_CONFIG_RSP", "status=0 refused=[]"),
    Frame("21050000", "SESSION_GET_COUNT_CMD", ""),
    Frame("41050002 00 01", "SESSION_GET_COUNT_RSP", "status=0 count=1"),
    Frame("21060004 01000000", "SESSION_GET_STATE_CMD", "session=1"),
    Frame("41060002 00 00", "SESSION_GET_STATE_RSP", "status=0 state=0"),
    Frame("22000004 01000000", "SESSION_START_CMD", "session=1"),
    Frame("42000001 15", "SESSION_START_RSP", "status=21"),
    Frame("22010004 01000000", "SESSION_STOP_CMD", "session=1"),
    Frame("42010001 15", "SESSION_STOP_RSP", "status=21"),
    Frame("22030004 01000000", "SESSION_GET_RANGING_COUNT_CMD", "session=1"),
    Frame("42030005 00 00000000", "SESSION_GET_RANGING_COUNT_RSP", "status=0 count=0"),
    Frame(
      "62000038 00000000 01000000 00 c8000000 01 00 00 00000000 00000000 01"
        + "0100 21 ff ffff 000000 000000 000000 000000 02 00 0000000000000000000000",
      "SESSION_INFO_NTF",
      "sequence=0 session=1 interval_ms=200 type=1 measurements=[mac=0x0001 status=33 "
        + "distance_cm=null azimuth_deg=0.0 azimuth_fom=0 elevation_deg=0.0 elevation_fom=0 "
        + "destination_azimuth_deg=0.0 destination_azimuth_fom=0 destination_elevation_deg=0.0 "
        + "destination_elevation_fom=0 slot=2 rssi_dbm=null nlos=null] vendor_tail="),
  ]
}

@Suite struct ChipFrameTests {
  @Test("Frames of an SR250 say what they should", arguments: ChipFrames.sr250)
  func sr250(_ frame: ChipFrames.Frame) throws {
    try check(frame, Dialect(vendor: .nxp), without: ["vendor_tail", "vendor"])
  }

  @Test("Frames of a DWM3001CDK say what they should", arguments: ChipFrames.dwm3001)
  func dwm3001(_ frame: ChipFrames.Frame) throws {
    try check(frame, Dialect(vendor: .qorvo), without: [])
  }

  private func check(
    _ frame: ChipFrames.Frame, _ dialect: Dialect, without hidden: Set<String>
  ) throws {
    let message = try Message(packet: bytes(frame.packet), dialect: dialect)
    #expect(message.name(dialect: dialect) == frame.name)
    if case .opaque = message.content { Issue.record("\(frame.packet) was not understood") }
    #expect(message.payload(dialect: dialect) == payload(of: frame.packet))
    let fields = message.fields(dialect: dialect).filter { !hidden.contains($0.name) }
    #expect(Self.short(fields) == frame.says)
  }

  private static func short(_ fields: [Field]) -> String {
    // Names, units and meanings of parameters come from the reference, not from the frame.
    fields.filter { !["name", "unit", "meaning"].contains($0.name) }
      .map { "\($0.name)=\(short($0.value))" }.joined(separator: " ")
  }

  private static func short(_ value: FieldValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .text(let text): text
    case .code(let code, _, _): "\(code)"
    case .bytes(let bytes), .secret(let bytes): hexadecimal(bytes)
    case .list(let values): "[" + values.map(short).joined(separator: ", ") + "]"
    case .object(let fields): short(fields)
    }
  }
}
