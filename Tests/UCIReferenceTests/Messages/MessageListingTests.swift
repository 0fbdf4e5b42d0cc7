// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference
import UCITestSupport

/// Messages as users see them, with another value in each field, so that no two can be swapped.
///
/// Sources: captures of a DWM3001CDK with QM33SDK 1.1.1 and of an SR250; the layouts of AOSP's
/// packet definitions, DW3_QM33_SDK 1.1.0, UWB Qorvo Tools and nxp-uwb/sr250-uwbiot-zephyr.
@Suite("Messages as users see them")
struct MessageListingTests {
  // A vendor and a packet, then the name and the fields.
  private static let rows = """
    unknown 60010001 02
    CORE_DEVICE_STATUS_NTF state=ACTIVE/2
    nxp 60010001 fc
    CORE_DEVICE_STATUS_NTF state=HPD_WAKEUP/252
    unknown 4002000a 00 0200 0130 0110 1034 00
    CORE_GET_DEVICE_INFO_RSP status=OK/0 uci_version=2.0.0 mac_version=1.3.0 phy_version=1.1.0 \
    test_version=16.3.4 vendor_info=x
    unknown 20040004 01 01 01 00
    CORE_SET_CONFIG_CMD parameters=[{name=LOW_POWER_MODE id=1 value=0 meaning=off}]
    nxp 20040006 01 e404 02 f401
    CORE_SET_CONFIG_CMD \
    parameters=[{name=DPD_ENTRY_TIMEOUT id=228 sub_id=4 value=500 unit=ms}]
    unknown 40040006 04 02 00 09 55 04
    CORE_SET_CONFIG_RSP status=INVALID_PARAM/4 refused=[{name=DEVICE_STATE id=0 \
    status=READ_ONLY/9}, {name=DEVICE_CONFIG_0x55 id=85 status=INVALID_PARAM/4}]
    unknown 40050008 00 02 00 01 ff 01 01 01
    CORE_GET_CONFIG_RSP status=OK/0 parameters=[{name=DEVICE_STATE id=0 value=255 \
    meaning=error}, {name=LOW_POWER_MODE id=1 value=1 meaning=on}]
    unknown 60070001 0a
    CORE_GENERIC_ERROR_NTF status=COMMAND_RETRY/10
    unknown 40080009 00 40420f0000000000
    CORE_QUERY_UWBS_TIMESTAMP_RSP status=OK/0 timestamp_us=1000000
    unknown 21000005 4ab1d7bf 9f
    SESSION_INIT_CMD session_id=3218583882 type=HUS_PRIMARY/159
    unknown 21000005 2a000000 77
    SESSION_INIT_CMD session_id=42 type=0x77/119
    unknown 41000005 00 01000080
    SESSION_INIT_RSP status=OK/0 handle=2147483649
    unknown 61020006 01000000 03 33
    SESSION_STATUS_NTF session=1 state=IDLE/3 reason=INVALID_NUM_OF_CONTROLEES/51
    unknown 2103000c 01000000 02 08026009 0d0101
    SESSION_SET_APP_CONFIG_CMD session=1 parameters=[{name=SLOT_DURATION id=8 value=2400 \
    unit=RSTU}, {name=AOA_RESULT_REQ id=13 value=1 meaning=all}]
    unknown 2103000d 01000000 01 28 06 010203040506
    SESSION_SET_APP_CONFIG_CMD session=1 \
    parameters=[{name=STATIC_STS_IV id=40 value=secret6}]
    unknown 41030004 05 01 25 05
    SESSION_SET_APP_CONFIG_RSP status=INVALID_RANGE/5 \
    refused=[{name=SESSION_PRIORITY id=37 status=INVALID_RANGE/5}]
    unknown 21040009 44332211 04 06070904
    SESSION_GET_APP_CONFIG_CMD session=287454020 \
    parameters=[DEVICE_MAC_ADDRESS, DST_MAC_ADDRESS, RANGING_DURATION, CHANNEL_NUMBER]
    unknown 41060002 00 02
    SESSION_GET_STATE_RSP status=OK/0 state=ACTIVE/2
    unknown 2107000c 07000000 01 01 c000 04030201
    SESSION_UPDATE_CONTROLLER_MULTICAST_LIST_CMD session=7 action=REMOVE/1 \
    controlees=[{mac=0x00c0 sub_session_id=16909060}]
    unknown 41070005 17 01 c020 01
    SESSION_UPDATE_CONTROLLER_MULTICAST_LIST_RSP status=ERROR_MULTICAST_LIST_FULL/23 \
    controlees=[{mac=0x20c0 status=ERROR_MULTICAST_LIST_FULL/1}]
    unknown 61070008 07000000 01 c000 08
    SESSION_UPDATE_CONTROLLER_MULTICAST_LIST_NTF session=7 \
    controlees=[{mac=0x00c0 status=ERROR_ADDRESS_ALREADY_PRESENT/8}]
    unknown 2108000d 01000000 01 05 01 02 1122 3344 00
    SESSION_UPDATE_DT_ANCHOR_RANGING_ROUNDS_CMD session=1 rounds=[{index=5 role=INITIATOR/1 \
    responders=[0x2211, 0x4433] slots=[]}]
    unknown 41090003 29 01 07
    SESSION_UPDATE_DT_TAG_RANGING_ROUNDS_RSP \
    status=ERROR_NUMBER_OF_ACTIVE_RANGING_ROUNDS_EXCEEDED/41 failed_rounds=[7]
    unknown 410b0007 05000000 00 ff07
    SESSION_QUERY_DATA_SIZE_IN_RANGING_RSP status=OK/0 session=5 max_data_size=2047
    unknown 210c0010 01000000 01 02000000 0300 0a00 02 0100
    SESSION_SET_HUS_CONTROLLER_CONFIG_CMD session=1 \
    phases=[{session=2 start_slot=3 end_slot=10 access=CAP/2 mac=0x0001}]
    unknown 610e0005 01000000 01
    SESSION_DATA_TRANSFER_PHASE_CONFIGURATION_NTF session=1 result=DUPLICATE_SLOT_ASSIGNMENT/1
    unknown 62040005 09000000 00
    SESSION_DATA_CREDIT_NTF session=9 credit=0
    unknown 62050008 09000000 0201 03 04
    SESSION_DATA_TRANSFER_STATUS_NTF session=9 sequence=258 \
    status=ERROR_NO_CREDIT_AVAILABLE/3 transmissions=4
    unknown 62060005 01000000 01
    SESSION_ROLE_CHANGE_NTF session=1 role=RESPONDER/1
    unknown 22070010 01000000 03 1122000000000000 02 aabb
    LOGICAL_LINK_CREATE_CMD session=1 link_layer=CO_SECURE/3 destination=0x2211 \
    parameters=xaabb
    unknown 62070005 05000000 02
    LOGICAL_LINK_CREATE_NTF connection=5 result=CO_CONNECTED/2
    unknown 620a0011 01000000 05000000 04 8877665544332211
    LOGICAL_LINK_UWBS_CREATE_NTF session=1 connection=5 link_layer=CL_UWBS/4 \
    source=0x1122334455667788
    unknown 420b000c 00 7f00 0001 0002 03 04 05 06 07
    LOGICAL_LINK_GET_PARAM_RSP status=OK/0 control=127 sdu_size=256 pdu_size=512 tx_window=3 \
    rx_window=4 repetition_count=5 link_timeout=6 port=7
    unknown 2d00000b 00000000 01 00 04 e8030000
    TEST_CONFIG_SET_CMD session=0 \
    parameters=[{name=NUM_PACKETS id=0 value=1000 unit=packets}]
    unknown 6d030035 00 01000000 02000000 03000000 04000000 05000000 06000000 07000000 \
    08000000 09000000 0a000000 0b000000 0c000000 0d000000
    TEST_PER_RX_NTF status=OK/0 attempts=1 acquisition_detected=2 acquisition_rejected=3 \
    rx_failed=4 sync_cir_ready=5 sfd_failed=6 sfd_found=7 phr_decode_errors=8 \
    phr_bit_errors=9 psdu_decode_errors=10 psdu_bit_errors=11 sts_found=12 end_of_frame=13
    unknown 01001300 09000000 bb02000000000000 0100 0300 686920
    DATA_MESSAGE_SND session=9 destination=0x02bb sequence=1 data=x686920
    unknown 02001200 09000000 01 8877665544332211 0200 0100 68
    DATA_MESSAGE_RCV session=9 status=REJECTED/1 source=0x1122334455667788 sequence=2 data=x68
    android 2c010002 4445
    ANDROID_SET_COUNTRY_CODE_CMD country=DE
    android 4c000011 00 01000000 02000000 03000000 04000000
    ANDROID_GET_POWER_STATS_RSP status=OK/0 idle_ms=1 tx_ms=2 rx_ms=3 wake_count=4
    android 2c110009 01000000 01 0302f6ff
    ANDROID_RADAR_SET_APP_CONFIG_CMD session=1 \
    parameters=[{name=SWEEP_OFFSET id=3 value=-10}]
    nxp 2e000002 7304
    NXP_CORE_DEVICE_INIT_CMD board_variant=115 board_version=4
    nxp 6e060001 01
    NXP_SE_BINDING_STATUS_NTF binding=BOUND_UNLOCKED/1
    nxp 6e07000f 01 01000000 02 0a000000 03000000 32
    NXP_SCHEDULER_STATUS_NTF sessions=[{session=1 scheduler_status=2 successes=10 failures=3 \
    priority=50}]
    nxp 2a010003 09 01 02
    NXP_READ_OTP_CALIBRATION_CMD channel=9 option=1 parameter=CRYSTAL/2
    nxp 2f21000a 05 02 07 03250026002700
    NXP_SET_CALIBRATION_CMD channel=5 parameter=RX_ANT_DELAY/2 value=x03250026002700
    nxp 2f000024 01000000 05 02020102 0303020101 79026b6b a80703760276027602 \
    a90732000000e02e01
    NXP_SET_VENDOR_APP_CONFIG_CMD session=1 parameters=[{name=ANTENNAS_CONFIGURATION_TX id=2 \
    value=x0102}, {name=ANTENNAS_CONFIGURATION_RX id=3 value=x020101}, {name=WRAPPED_RDS id=121 \
    value=secret2}, {name=RADAR_CIR_START_OFFSET id=168 value=x03760276027602}, \
    {name=RADAR_FRAME_INTERVAL id=169 value=x32000000e02e01}]
    nxp 6f34000c 01000000 02 03 0200 01020304
    NXP_CIR_LOG_NTF session=1 slot=2 rx_antenna=3 count=2 samples=x01020304
    qorvo 2b020003 01 0a00
    QORVO_TEST_PLL_LOCK_CMD operation=1 timeout_ms=1.0
    qorvo 4b24001d 00 01000000 02000000 03000000 04000000 05000000 06000000 07000000
    QORVO_POWER_STATS_RSP status=OK/0 idle_ms=1 tx_ms=2 rx_ms=3 wakeups=4 uptime_ms=5 s1_ms=6 \
    s3_ms=7
    qorvo 4b270003 00 3cf6
    QORVO_DEVICE_STATS_RSP status=OK/0 temperature_celsius=-25.0
    qorvo 4b070008 00 01 2a000000 01 02
    QORVO_SESSION_GET_RSP status=OK/0 sessions=[{session=42 type=RANGING_AND_IN_BAND_DATA/1 \
    state=ACTIVE/2}]
    qorvo 6b310001 01
    QORVO_DEVICE_BOOT_NTF reason=FATAL_ERROR/1
    qorvo 2e2a000a 0100 03 616263 03 010203
    QORVO_SET_CALIBRATION_CMD entries=[{key=abc value=x010203}]
    qorvo 4e2b000b 02 0100 03 616263 05 02 1234
    QORVO_GET_CALIBRATION_RSP status=FAILED/2 entries=[{key=abc status=INVALID_RANGE/5 \
    value=x1234}]
    qorvo 62000038 020000000100000000c8000000010000000000000000000001010000007b0040f757800250c0ff\
    0a20000b03980000000000000000000000
    SESSION_INFO_NTF sequence=2 session=1 interval_ms=200 type=TWO_WAY/1 \
    measurements=[{mac=0x0001 status=OK/0 distance_cm=123 azimuth_deg=-17.5 azimuth_fom=87 \
    elevation_deg=5.0 elevation_fom=80 destination_azimuth_deg=-0.5 destination_azimuth_fom=10 \
    destination_elevation_deg=0.25 destination_elevation_fom=11 slot=3 rssi_dbm=-76.0 \
    nlos=false}] vendor_tail=x
    qorvo 62000038 030000000100000000c800000001000000000000000000000101001b0004000000000000000000\
    0000000000600000000000000000000000
    SESSION_INFO_NTF sequence=3 session=1 interval_ms=200 type=TWO_WAY/1 \
    measurements=[{mac=0x0001 status=OK_NEGATIVE_DISTANCE_REPORT/27 distance_cm=-4 \
    azimuth_deg=0.0 azimuth_fom=0 elevation_deg=0.0 elevation_fom=0 destination_azimuth_deg=0.0 \
    destination_azimuth_fom=0 destination_elevation_deg=0.0 destination_elevation_fom=0 slot=0 \
    rssi_dbm=-48.0 nlos=false}] vendor_tail=x
    qorvo 62000038 000000000100000000c8000000010000000000000000000001010021ffffff0000000000000000\
    0000000002000000000000000000000000
    SESSION_INFO_NTF sequence=0 session=1 interval_ms=200 type=TWO_WAY/1 \
    measurements=[{mac=0x0001 status=RANGING_RX_TIMEOUT/33 distance_cm=null azimuth_deg=0.0 \
    azimuth_fom=0 elevation_deg=0.0 elevation_fom=0 destination_azimuth_deg=0.0 \
    destination_azimuth_fom=0 destination_elevation_deg=0.0 destination_elevation_fom=0 slot=2 \
    rssi_dbm=null nlos=null}] vendor_tail=x
    unknown 62000038 000000000100000000c800000001000100000000000000000188776655443322110001fa0000\
    000000000000000000000000000000000000
    SESSION_INFO_NTF sequence=0 session=1 interval_ms=200 type=TWO_WAY/1 \
    measurements=[{mac=0x1122334455667788 status=OK/0 distance_cm=250 azimuth_deg=0.0 \
    azimuth_fom=0 elevation_deg=0.0 elevation_fom=0 destination_azimuth_deg=0.0 \
    destination_azimuth_fom=0 destination_elevation_deg=0.0 destination_elevation_fom=0 slot=0 \
    rssi_dbm=null nlos=true}] vendor_tail=x
    unknown 62000026 000000000100000000c8000000030000000000000000000001aabb0000050100030460050650
    SESSION_INFO_NTF sequence=0 session=1 interval_ms=200 type=OWR_AOA/3 \
    measurements=[{mac=0xbbaa status=OK/0 distance_cm=null azimuth_deg=8.0234375 azimuth_fom=96 \
    elevation_deg=12.0390625 elevation_fom=80 rssi_dbm=null frame=5 block=1 nlos=false}] \
    vendor_tail=x
    nxp 62000048 000000000100000000f000000001000000000000000000000111222100ffff000000000000000000\
    000000000000000000000000000000000e000000010100010100000000000000
    SESSION_INFO_NTF sequence=0 session=1 interval_ms=240 type=TWO_WAY/1 \
    measurements=[{mac=0x2211 status=RANGING_RX_TIMEOUT/33 distance_cm=null azimuth_deg=0.0 \
    azimuth_fom=0 elevation_deg=0.0 elevation_fom=0 destination_azimuth_deg=0.0 \
    destination_azimuth_fom=0 destination_elevation_deg=0.0 destination_elevation_fom=0 slot=0 \
    rssi_dbm=null nlos=false}] vendor_tail=x0e000000010100010100000000000000 vendor={type=0 \
    message_control=null tx_antenna=null wifi_coexistence=0 rx_mode=AOA/1 antennas=[0] \
    debug_antennas=[0] measurements=[{angles=[] receivers=[{snr_first_db=0 snr_main_db=0 \
    first_path_ns=0.0 main_path_ns=0.0 snr_db=null rssi_dbm=null}]}] authentication_tag=null}
    qorvo 6b03001e 010000000200000001000101030302000600040400000000040502003412
    QORVO_FIRA_RANGE_DIAGNOSTICS_NTF session=1 sequence=2 reports=[{message=RIM/0 action=TX/1 \
    antenna_set=1 items=[{type=FRAME_STATUS/3 received=false wifi_coexistence=true \
    grant_exceeded=true}, {type=CFO/4 cfo_ppm=1000000.0}, {type=EMITTER/5 mac=0x1234}]}]
    qorvo 6b030021 01000000020000000101000201061100190a00005040000051800241000052c002
    QORVO_FIRA_RANGE_DIAGNOSTICS_NTF session=1 sequence=2 reports=[{message=RRM/1 action=RX/0 \
    antenna_set=2 items=[{type=SEGMENT_METRICS/6 segments=[{segment=STS0/1 primary=true \
    receiver=1 noise_raw=10 level_dbm=-80.0 first_path={index=64 level_raw=20736 time_raw=640} \
    peak_path={index=65 level_raw=20992 time_raw=704}}]}]}]
    qorvo 4002003e 0002000200020001103401010000000000000000000000000000005056345832300ee0ca090000\
    0000000000000000000000000000000000000203cade00
    CORE_GET_DEVICE_INFO_RSP status=OK/0 uci_version=2.0.0 mac_version=2.0.0 phy_version=2.0.0 \
    test_version=1.1.0 vendor=qorvo firmware=1.1.0 build=0 oem_version=0.0.0 \
    soc_id=x00005056345832300ee0ca09 device_id=0xDECA0302 \
    packaging=SOC/0 vendor_info=x01010000000000000000000000000000005056345832300ee0ca090000000000\
    0000000000000000000000000000000203cade00
    nxp 40020024 00 0300 0200 0200 0200 1a 0005535232353001030131ff020302002304010a030401020304
    CORE_GET_DEVICE_INFO_RSP status=OK/0 uci_version=3.0.0 mac_version=2.0.0 phy_version=2.0.0 \
    test_version=2.0.0 vendor=nxp device_name=SR250 firmware=01.31.FF vendor_uci_version=02.00.23 \
    chip_id=x01020304 max_ppm=10 vendor_info=x0005535232353001030131ff020302002304010a030401020304
    """

  /// Returns pairs of two lines.
  private static var pairs: [(packet: String, listing: String)] {
    let lines = rows.split(separator: "\n").map(String.init)
    return stride(from: 0, to: lines.count - 1, by: 2).map { (lines[$0], lines[$0 + 1]) }
  }

  @Test("Each field has its value, its code and its unit", arguments: pairs)
  func listing(packet: String, listing: String) throws {
    let end = try #require(packet.firstIndex(of: " "))
    let vendor = try #require(Dialect.Vendor(rawValue: String(packet[..<end])))
    let dialect = Dialect(generation: .fira3, vendor: vendor)
    let message = try Message(packet: bytes(String(packet[end...])), dialect: dialect)
    let fields = message.fields(dialect: dialect)
    #expect(message.name(dialect: dialect) + " " + text(fields) == listing)
    // No octet is left over.
    #expect(!fields.contains { ["payload", "trailing", "problem"].contains($0.name) })
  }
}

/// Returns fields as `name=value`, codes as `NAME/number`, bytes as `x0102`.
private func text(_ fields: [Field]) -> String {
  fields.map { "\($0.name)=\(text($0.value))" }.joined(separator: " ")
}

private func text(_ value: FieldValue) -> String {
  switch value {
  case .null: "null"
  case .bool(let flag): "\(flag)"
  case .integer(let number): "\(number)"
  case .unsigned(let number): "\(number)"
  case .decimal(let number): "\(number)"
  case .text(let text): text
  case .code(let code, let name, _): "\(name)/\(code)"
  case .bytes(let bytes): "x" + hexadecimal(bytes)
  case .secret(let bytes): "secret\(bytes.count)"
  case .list(let list): "[" + list.map(text).joined(separator: ", ") + "]"
  case .object(let fields): "{" + text(fields) + "}"
  }
}
