// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference

/// Returns the words of each line.
private func rows(_ text: String) -> [[String]] {
  text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
}

private func lengths(_ text: String) -> [Int] { text.split(separator: ",").compactMap { Int($0) } }

/// Parameters of chips, radio tests, radar and calibration as others publish them.
///
/// Sources: AOSP's packet definitions and hardware/nxp/uwb, UWB Qorvo Tools, the headers and the
/// API guide in nxp-uwb/sr250-uwbiot-zephyr.
@Suite("Parameters of chips as others publish them")
struct PublishedChipParameterTests {
  // Number, second number, name, lengths.
  private static let nxp = rows(
    """
    E4 00 DELAY_CALIBRATION -
    E4 01 AOA_CONTROL -
    E4 02 DPD_WAKEUP_SOURCE 1
    E4 03 WTX_COUNT 1
    E4 04 DPD_ENTRY_TIMEOUT 2
    E4 05 WIFI_COEX_CH5 4
    E4 06 DUAL_AOA_GPIO 1
    E4 07 SESSION_HANDLE_ENABLE -
    E4 08 GPIO_USAGE -
    E4 26 BASEBAND_CONFIG 1
    E4 27 DDFS_TONE_CONFIG 72
    E4 28 TX_PULSE_SHAPE 4
    E4 30 CLOCK_CONFIG_SR1XX -
    E4 31 HOST_MAX_UCI_PAYLOAD 2
    E4 33 EXTENDED_NOTIFICATIONS 1
    E4 34 CLOCK_WAITING_TIME -
    E4 35 INITIAL_RX_OFFSET_ABSOLUTE 2
    E4 36 INITIAL_RX_OFFSET_RELATIVE 2
    E4 39 WLAN_CHANNEL_INFO -
    E4 3A CLOCK_CONFIG_SR2XX -
    E4 3B DDFS_TONE_PER_PULSE_SHAPE -
    E4 3C AOA_MODE -
    E4 46 PDOA_CALIBRATION_TABLE 2
    E4 60 RX_ANTENNAS_DEFINE -
    E4 61 TX_ANTENNAS_DEFINE_SR1XX -
    E4 62 RX_ANTENNA_PAIRS_DEFINE -
    E4 63 TX_ANTENNAS_DEFINE_SR2XX -
    E4 64 WIFI_COEX_OTHER 4
    E4 65 DEFAULT_VENDOR_APP_CONFIG -
    E4 67 WIFI_COEX 4
    F0 - WIFI_COEX_FEATURE -
    """)

  @Test("NXP's parameters of the chip", arguments: nxp)
  func nxpDevice(row: [String]) throws {
    let id = DeviceConfigID(
      try #require(UInt8(row[0], radix: 16)), row[1] == "-" ? nil : UInt8(row[1], radix: 16))
    let dialect = Dialect(vendor: .nxp)
    let parameter = try #require(id.parameter(in: dialect))
    #expect(parameter.name == row[2] && parameter.vendors == [.nxp])
    #expect(parameter.lengths == lengths(row[3]))
    #expect(try DeviceConfigID(named: row[2], in: dialect) == id)
  }

  @Test("The tables have no other rows")
  func noOthers() {
    let nxp = DeviceConfigParameter.all.filter { $0.vendors == [.nxp] }
    #expect(Set(nxp.map(\.name)) == Set(Self.nxp.map { $0[2] }))
    let qorvo = DeviceConfigParameter.all.filter { $0.vendors == [.qorvo] }
    #expect(qorvo.map(\.id.number) == [0xA0, 0xA9, 0xAA])
    let all = DeviceConfigParameter.all.filter(\.vendors.isEmpty)
    #expect(all.map(\.id) == [.deviceState, .lowPowerMode])
    #expect(Set(DeviceConfigParameter.all.map(\.name)).count == DeviceConfigParameter.all.count)
  }

  @Test("The values of parameters of the chip")
  func deviceValues() throws {
    let state = try #require(DeviceConfigID.deviceState.parameter)
    for (value, words) in [(UInt8(1), "ready"), (2, "active"), (0xFF, "error")] {
      #expect(state.words(for: [value]) == words)
    }
    let lowPower = try #require(DeviceConfigID.lowPowerMode.parameter)
    #expect(lowPower.defaultValue == 1 && !lowPower.isReadOnly)
    let grid = DeviceConfigID(0xE4, 0x46).parameter(in: Dialect(vendor: .nxp))
    // 11 steps of 12 degrees: NXP's default.
    #expect(grid?.words(for: [0x0C, 0x0B]) == "12, 11")
    let sleep = DeviceConfigID(0xA9).parameter(in: Dialect(vendor: .qorvo))
    #expect(sleep?.words(for: [0xE8, 3, 0, 0]) == "1000 ms")
  }

  // Sessions' parameters of NXP: number, name, `secret` where the value holds keys.
  private static let nxpSession = rows(
    """
    00 MAC_PAYLOAD_ENCRYPTION
    02 ANTENNAS_CONFIGURATION_TX
    03 ANTENNAS_CONFIGURATION_RX
    20 RAN_MULTIPLIER
    21 LAST_STS_INDEX
    30 CIR_LOG_NTF
    31 PSDU_LOG_NTF
    40 RSSI_AVERAGING_COUNT
    60 CIR_CAPTURE_MODE
    62 SYNC_ATTEMPTS
    63 SCHEDULE_ATTEMPTS
    64 SCHEDULER_STATUS_NTF
    65 TX_POWER_DELTA_FCC
    66 TEST_KDF_FEATURE secret
    67 TX_POWER_TEMPERATURE_COMPENSATION
    68 WIFI_COEX_TOLERANCE
    69 HOPPING_THRESHOLD
    6E AUTHENTICITY_TAG
    6F NBIC
    70 MAC_CONFIG
    71 IN_BAND_DATA_TX_BLOCKS
    72 IN_BAND_DATA_RX_BLOCKS
    74 ANTENNA_SCAN
    75 DATA_TRANSFER_STATUS_NTF_CONFIG
    76 UL_TDOA_FRAME_FORMAT
    79 WRAPPED_RDS secret
    7A DATA_LOGGER_NTF
    7B RFRAME_LOG_NTF
    7C TEST_CONTENTION_RANGING
    7D CIR_WINDOW
    7E RANGING_TIMESTAMP_NTF
    7F ADAPTIVE_PAYLOAD_POWER
    80 SWAP_ANTENNA_PAIR_3D_AOA
    81 PROXIMITY_CONFIG
    83 RESYNC
    84 FOV_ENABLE
    85 AZIMUTH_FIELD_OF_VIEW
    86 SESSION_INFO_FILTER
    8A ALIRO_CONFIG
    90 CSA_FINAL_DATA
    91 FOM_ENABLE
    9F USE_CASE_ID
    A0 RADAR_MODE
    A4 RADAR_RX_GAIN
    A5 RADAR_SINGLE_FRAME_NTF
    A7 RADAR_CIR_SAMPLES
    A8 RADAR_CIR_START_OFFSET
    A9 RADAR_FRAME_INTERVAL
    AA RADAR_PRESENCE_DETECTION
    AC RADAR_FCC_TEST
    AD RADAR_DC_FREEZE
    AE RADAR_PULSE
    B2 RADAR_DRIFT_COMPENSATION
    B3 RADAR_CONFIG
    C2 INITIAL_SYNC_RX_WINDOW
    """)

  @Test("NXP's own parameters of sessions", arguments: nxpSession)
  func nxpOfSession(row: [String]) throws {
    let id = NXPAppConfigID(rawValue: try #require(UInt8(row[0], radix: 16)))
    #expect(id.name == row[1])
    #expect(id.parameter?.isSecret == (row.last == "secret"))
  }

  @Test("NXP's numbers without a name")
  func nxpUnnamed() {
    let named = Set(Self.nxpSession.compactMap { UInt8($0[0], radix: 16) })
    #expect(Set(Parameter<NXPAppConfigID>.all.map(\.id.rawValue)) == named)
    #expect(NXPAppConfigID(rawValue: 0x6D).name == "NXP_APP_CONFIG_0x6D")
    #expect(NXPCalibrationID(rawValue: 0x5C).name == "CALIBRATION_0x5C")
    #expect(RadarConfigID(rawValue: 0x0C).name == "RADAR_CONFIG_0x0C")
    #expect(TestConfigID(0xE5, 0x04).name == "TEST_CONFIG_0xE5_0x04")
    #expect(DeviceConfigID(0x02).name() == "DEVICE_CONFIG_0x02")
  }

  @Test(
    "NXP's calibration",
    arguments: rows(
      """
      00 CHIP_CALIBRATION
      01 RF_CLK_ACCURACY
      02 RX_ANT_DELAY
      03 PDOA_OFFSET
      04 TX_POWER_PER_ANTENNA
      05 MANUAL_TX_POWER
      62 AOA_ANTENNAS_PDOA
      64 TX_ANT_DELAY
      65 PDOA_MANUFACT_ZERO_OFFSET
      66 AOA_THRESHOLD_PDOA
      67 TX_TEMPERATURE_COMP_PER_ANTENNA
      69 RSSI_CALIB_CONSTANT_PER_ANTENNA
      """))
  func nxpCalibration(row: [String]) throws {
    let id = NXPCalibrationID(rawValue: try #require(UInt8(row[0], radix: 16)))
    #expect(id.name == row[1])
    // Each value is a table of an antenna, which never counts as one number.
    #expect(id.parameter?.words(for: [1, 1, 0, 0x40]) == "01 01 00 40")
  }

  // Number, name, length, default.
  @Test(
    "Parameters of radio tests",
    arguments: rows(
      """
      00 NUM_PACKETS 4 1000
      01 T_GAP 4 2000
      02 T_START 4 450
      03 T_WIN 4 750
      04 RANDOMIZE_PSDU 1 0
      05 PHR_RANGING_BIT 1 0
      06 RMARKER_TX_START 4 0
      07 RMARKER_RX_START 4 0
      08 STS_INDEX_AUTO_INCR 1 0
      09 STS_DETECT_BITMAP 1 0
      EB RSSI_OUTLIERS 2 -
      """))
  func radioTest(row: [String]) throws {
    let id = TestConfigID(try #require(UInt8(row[0], radix: 16)))
    let parameter = try #require(id.parameter(in: Dialect(vendor: .qorvo)))
    #expect(id.name == row[1] && parameter.lengths == lengths(row[2]))
    #expect(parameter.defaultValue == UInt64(row[3]))
  }

  // Number, name, lengths, bytes of a value, the value in words.
  @Test(
    "Parameters of Android's radar",
    arguments: rows(
      """
      00 TIMING_PARAMS 7 64000000600910 64_00_00_00_60_09_10
      01 SAMPLES_PER_SWEEP 1 40 64_samples
      02 CHANNEL_NUMBER 1 09 9
      03 SWEEP_OFFSET 2 F6FF -10
      04 RFRAME_CONFIG 1 03 SP3
      05 PREAMBLE_DURATION 1 06 6
      06 PREAMBLE_CODE_INDEX 1 19 25
      07 SESSION_PRIORITY 1 32 50
      08 BITS_PER_SAMPLE 1 01 48
      09 PRF_MODE 1 02 HPRF_249.6_MHz
      0A NUMBER_OF_BURSTS 2 0A00 10_bursts
      0B RADAR_DATA_TYPE 1,2 00 sweep_samples
      """))
  func radar(row: [String]) throws {
    let id = RadarConfigID(rawValue: try #require(UInt8(row[0], radix: 16)))
    let parameter = try #require(id.parameter)
    #expect(parameter.name == row[1] && parameter.lengths == lengths(row[2]))
    let value = try ParameterForm(parameter).bytes(from: "hex:\(row[3])")
    #expect(parameter.words(for: value) == row[4].replacing("_", with: " "))
  }
}

/// Capabilities as others publish them.
///
/// Sources: AOSP's packet definitions, FiraDecoder and CapabilityParam; NXP's API guide.
@Suite("Capabilities as others publish them")
struct PublishedCapabilityTests {
  // Name, numbers in FiRa 1.x and 2.0, a value as bytes, the value in words.
  private static let fira = rows(
    """
    MAX_MESSAGE_SIZE 12 00 0301 259_bytes
    MAX_DATA_PACKET_PAYLOAD_SIZE 13 01 F707 2039_bytes
    FIRA_PHY_VERSION_RANGE 00 02 01000200 1.0.0-2.0.0
    FIRA_MAC_VERSION_RANGE 01 03 01110300 1.1.1-3.0.0
    DEVICE_TYPE - 04 02 controlee
    DEVICE_ROLES 02 05 03 responder,_initiator
    DEVICE_ROLES 02 05 8001 DT-anchor,_DT-tag
    DEVICE_ROLES 02 05 7C UT-sync_anchor,_UT-anchor,_UT-tag,_advertiser,_observer
    RANGING_METHOD 03 06 07 UL-TDoA,_SS-TWR_deferred,_DS-TWR_deferred
    RANGING_METHOD 03 06 18 SS-TWR_non-deferred,_DS-TWR_non-deferred
    RANGING_METHOD 03 06 E001 DL-TDoA,_OWR_AoA,_eSS-TWR,_aDS-TWR
    STS_CONFIG 04 07 09 static,_provisioned
    STS_CONFIG 04 07 06 dynamic,_dynamic_with_controlee_key
    MULTI_NODE_MODE 05 08 07 unicast,_one_to_many,_many_to_many
    RANGING_TIME_STRUCT 06 09 02 block_based
    SCHEDULE_MODE 07 0A 05 contention_based,_hybrid
    HOPPING_MODE 08 0B 00 no
    BLOCK_STRIDING 09 0C 01 yes
    UWB_INITIATION_TIME 0A 0D 01 yes
    CHANNELS 0B 0E FF 5,_6,_8,_9,_10,_12,_13,_14
    CHANNELS 0B 0E 00 none
    RFRAME_CONFIG 0C 0F 0B SP0,_SP1,_SP3
    CC_CONSTRAINT_LENGTH 0D 10 02 K=7
    BPRF_PARAMETER_SETS 0E 11 21 1,_6
    HPRF_PARAMETER_SETS 0F 12 0100000001 1,_33
    AOA_SUPPORT 10 13 09 azimuth_±90°,_figure_of_merit
    AOA_SUPPORT 10 13 06 azimuth_±180°,_elevation
    EXTENDED_MAC_ADDRESS 11 14 01 yes
    SUSPEND_RANGING - 15 00 no
    SESSION_KEY_LENGTH - 16 02 256_bits_for_provisioned_STS
    DT_ANCHOR_MAX_ACTIVE_RR - 17 0A 10_rounds
    DT_TAG_MAX_ACTIVE_RR - 18 21 33_rounds
    DT_TAG_BLOCK_SKIPPING - 19 01 yes
    LINK_LAYER - 1B 0D55 21773
    BYPASS_MODE - 1C 01 yes
    MIN_SLOT_DURATION - 1D B004 1200_RSTU
    CCC_CHAPS_PER_SLOT A0 A0 41 3,_24
    CCC_CHANNELS A3 A3 02 9
    CCC_VERSIONS A4 A4 01000200 1,_0,_2,_0
    CCC_PULSE_SHAPE_COMBOS A6 A6 0022 0,_34
    CCC_RAN_MULTIPLIER A7 A7 04000000 4
    CCC_MAX_SESSIONS A8 A8 01000000 1_sessions
    CCC_MIN_INITIATION_TIME A9 A9 C8000000 200_ms
    CCC_PRIORITIZED_CHANNELS AA AA 0905 9,_5
    UWBS_MAX_PPM AB AB 0F00 15_ppm
    RADAR_SUPPORT B0 B0 01 sweep_samples
    POWER_STATS_QUERY C0 C0 01 yes
    AOA_INTERLEAVING E3 E3 01 yes
    MIN_RANGING_INTERVAL E4 E4 60000000 96_ms
    RANGE_DATA_NTF_CONFIG E5 E5 1C000000 within_proximity,_within_angles,_within_both
    RANGE_DATA_NTF_CONFIG E5 E5 E0000000 crossing_proximity,_crossing_angles,_crossing_both
    RSSI_REPORTING E6 E6 01 yes
    DIAGNOSTICS E7 E7 00 no
    MIN_SLOT_DURATION_RSTU E8 E8 B0040000 1200_RSTU
    MAX_SESSIONS E9 E9 05000000 5_sessions
    """)

  @Test("Numbers in both numberings, and values in words", arguments: fira)
  func row(row: [String]) throws {
    let id = CapabilityID(rawValue: row[0])
    let words = row[4].replacing("_", with: " ")
    let value = try ParameterForm(try #require(AppConfigID.vendorID.parameter))
      .bytes(from: "hex:\(row[3])")
    for (column, numbering) in [(1, CapabilityID.Numbering.fira1), (2, .fira2)] {
      let number = UInt8(row[column], radix: 16)
      #expect(id.number(in: numbering) == number)
      guard let number else { continue }
      #expect(CapabilityID.name(of: number, in: numbering) == row[0])
      // The roles decide between the numberings.
      let marker = TLV(0x02, numbering == .fira1 ? [3] : [1, 0, 2, 0])
      let capability = TLV(number, value)
      let capabilities = Capabilities(number == 0x02 ? [capability] : [marker, capability])
      #expect(capabilities.numbering == numbering || number == 0x02)
      #expect(capabilities.words(for: capability) == words)
    }
  }

  @Test("Every capability is in the table above, or has no known values")
  func complete() {
    let missing = Set(CapabilityParameter.all.map(\.name)).subtracting(Self.fira.map { $0[0] })
    #expect(
      missing == [
        "ALIRO_MAC_MODES", "ANTENNA_MODES", "CCC_HOPPING_CONFIG_MODES", "CCC_SYNC_CODES",
        "CCC_UWB_CONFIGS", "NXP_IN_BAND_BLOCK_SIZE", "NXP_IN_BAND_MAX_BLOCKS",
        "NXP_MAX_UCI_PAYLOAD", "PSDU_LENGTH_SUPPORT",
      ])
  }

  @Test("No number is two capabilities, and unknown ones keep their bytes")
  func unique() {
    for numbering in [CapabilityID.Numbering.fira1, .fira2] {
      let names = (UInt8.min...UInt8.max).compactMap {
        CapabilityID(number: $0, in: numbering)?.rawValue
      }
      #expect(Set(names).count == names.count)
    }
    let capabilities = Capabilities([TLV(0x9F, [0xAA, 0x0B])])
    #expect(capabilities.words(for: capabilities.parameters[0]) == "AA 0B")
    #expect(capabilities.id(of: capabilities.parameters[0]) == nil)
    #expect(capabilities[number: 0x9F] == [0xAA, 0x0B] && capabilities[number: 0x9E] == nil)
  }

  @Test(
    "Older firmware of NXP has numbers of two bytes",
    arguments: [(0x00, 0xB1), (0x01, 0xB2), (0x02, 0xB3)] as [(UInt8, UInt8)])
  func older(subID: UInt8, number: UInt8) throws {
    for numbering in [CapabilityID.Numbering.fira1, .fira2] {
      let id = try #require(CapabilityID(number: 0xE3, subID: subID, in: numbering))
      #expect(id.number(in: numbering) == number)
      #expect(id != CapabilityID(number: 0xE3, in: numbering))
    }
  }

  @Test("Values of unexpected length are neither read as another value nor lost")
  func lengths() {
    let strange = Capabilities([
      TLV(0x02, [1, 0, 2, 0]), TLV(0x00, []), TLV(0x0E, [9, 0, 0, 0, 0, 0, 0, 0, 0]),
      TLV(0x04, [3, 1]), TLV(0x13, [0xFF, 0xFF]), TLV(0xE9, [0xFF, 0xFF, 0xFF, 0xFF]),
    ])
    #expect(strange.maxMessageSize == nil && strange.channels == nil)
    #expect(strange.deviceTypes == [.controller, .controlee])
    #expect(strange.angles?.rawValue == 0xFF)
    #expect(strange.maxSessions == 4_294_967_295)
    #expect(strange.maxDataPayloadSize == nil && strange.roles == nil)
    #expect(strange.minRangingIntervalMilliseconds == nil)
    #expect(Capabilities([]).numbering == .fira2)
  }
}
