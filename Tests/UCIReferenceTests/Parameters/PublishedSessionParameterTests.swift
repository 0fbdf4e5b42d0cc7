// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference

/// Parameters of sessions as others publish them.
///
/// Sources: the packet definitions and encoders of AOSP and pica, DW3_QM33_SDK 1.1.0, UWB Qorvo
/// Tools 1.1.1, NXP's UWBIoT API Reference Guide.
@Suite("Parameters of sessions as others publish them")
struct PublishedSessionParameterTests {
  // The columns are number, name, lengths, default, the ends that have to agree, some accepted
  // values, and some refused values. `-` stands for none.
  private static let fira = """
    00 DEVICE_TYPE 1 - own 0,1 2
    01 RANGING_ROUND_USAGE 1 2 equalOnBothPeers 0,5,10 11
    02 STS_CONFIG 1 0 equalOnBothPeers 0,1,2,3,4 5
    03 MULTI_NODE_MODE 1 - equalOnBothPeers 0,1 2
    04 CHANNEL_NUMBER 1 9 equalOnBothPeers 5,6,8,9,10,12,13,14 4,15
    05 NUMBER_OF_CONTROLEES 1 1 controller 1,8 0
    06 DEVICE_MAC_ADDRESS 2,8 - own - -
    07 DST_MAC_ADDRESS - - own - -
    08 SLOT_DURATION 2 2400 equalOnBothPeers 1200,65535 65536
    09 RANGING_DURATION 4 200 equalOnBothPeers 1,4294967295 4294967296
    0A STS_INDEX 4 0 equalOnBothPeers 0,4294967295 4294967296
    0B MAC_FCS_TYPE 1 0 equalOnBothPeers 0,1 2
    0C RANGING_ROUND_CONTROL 1 3 equalOnBothPeers 2,3,6,7 256
    0D AOA_RESULT_REQ 1 1 own 0,1,2,3,240 256
    0E SESSION_INFO_NTF_CONFIG 1 1 own 0,7 8
    0F NEAR_PROXIMITY 2 0 own 0,65535 65536
    10 FAR_PROXIMITY 2 20000 own 0,65535 65536
    11 DEVICE_ROLE 1 - own 0,1,2,3,4,5,6,7,8 9
    12 RFRAME_CONFIG 1 3 equalOnBothPeers 0,1,3 4
    13 RSSI_REPORTING 1 0 own 0,1 2
    14 PREAMBLE_CODE_INDEX 1 10 equalOnBothPeers 9,12,25,32 8,33
    15 SFD_ID 1 2 equalOnBothPeers 0,4 5
    16 PSDU_DATA_RATE 1 0 equalOnBothPeers 0,1,2,3,4 5
    17 PREAMBLE_DURATION 1 1 equalOnBothPeers 0,1 2
    18 LINK_LAYER_MODE 1 0 equalOnBothPeers 0,1 2
    19 DATA_REPETITION_COUNT 1 0 own 0,255 256
    1A RANGING_TIME_STRUCT 1 1 equalOnBothPeers 0,1 2
    1B SLOTS_PER_RR 1 25 equalOnBothPeers 6,255 0,256
    1C TX_ADAPTIVE_PAYLOAD_POWER 1 0 own 0,1 2
    1D AOA_BOUND_CONFIG 8 - own - -
    1E RESPONDER_SLOT_INDEX 1 1 controlee 1,255 0
    1F PRF_MODE 1 0 equalOnBothPeers 0,1,2 3
    20 CAP_SIZE_RANGE 2 - controller - -
    21 TX_JITTER_WINDOW_SIZE 1 0 own 0 256
    22 SCHEDULE_MODE 1 1 equalOnBothPeers 0,1,2 3
    23 KEY_ROTATION 1 0 equalOnBothPeers 0,1 2
    24 KEY_ROTATION_RATE 1 0 equalOnBothPeers 0,15 16
    25 SESSION_PRIORITY 1 50 own 1,100 0,101
    26 MAC_ADDRESS_MODE 1 0 equalOnBothPeers 0,1,2 3
    27 VENDOR_ID 2 - equalOnBothPeers - -
    28 STATIC_STS_IV 6 - equalOnBothPeers - -
    29 NUMBER_OF_STS_SEGMENTS 1 1 equalOnBothPeers 0,4 5
    2A MAX_RR_RETRY 2 0 own 0,65535 65536
    2B UWB_INITIATION_TIME 8 0 controller 0,10000000000 -
    2C HOPPING_MODE 1 0 controller 0,1,2,3,4,5 256
    2D BLOCK_STRIDE_LENGTH 1 0 controller 0,255 256
    2E RESULT_REPORT_CONFIG 1 1 equalOnBothPeers 0,15 16
    2F IN_BAND_TERMINATION_ATTEMPT_COUNT 1 1 controller 0,10 11
    30 SUB_SESSION_ID 4 - controlee 0,4294967295 4294967296
    31 BPRF_PHR_DATA_RATE 1 0 equalOnBothPeers 0,1 2
    32 MAX_NUMBER_OF_MEASUREMENTS 2 0 own 0,65535 65536
    33 UL_TDOA_TX_INTERVAL 4 2000 own 0,4294967295 4294967296
    34 UL_TDOA_RANDOM_WINDOW 4 0 own 0,4294967295 4294967296
    35 STS_LENGTH 1 1 equalOnBothPeers 0,1,2 3
    36 SUSPEND_RANGING_ROUNDS 1 0 controller 0,1 2
    37 UL_TDOA_NTF_REPORT_CONFIG - - own - -
    38 UL_TDOA_DEVICE_ID 1,3,5,9 - own - -
    39 UL_TDOA_TX_TIMESTAMP 1 0 own 0,1,2 3
    3A MIN_FRAMES_PER_RR 1 4 own 1,15 0,16
    3B MTU_SIZE 2 - own 1048 65536
    3C INTER_FRAME_INTERVAL 1 1 own 0,255 256
    3D DL_TDOA_RANGING_METHOD 1 1 own 0,1 2
    3E DL_TDOA_TX_TIMESTAMP_CONF 1 3 own 0,1,2,3 4
    3F DL_TDOA_HOP_COUNT 1 1 own 0,1 2
    40 DL_TDOA_ANCHOR_CFO 1 1 own 0,1 2
    41 DL_TDOA_ANCHOR_LOCATION 1,11,13 - own - -
    42 DL_TDOA_TX_ACTIVE_RANGING_ROUNDS 1 0 own 0,1 2
    43 DL_TDOA_BLOCK_SKIPPING 1 0 own 0,255 256
    44 DL_TDOA_TIME_REFERENCE_ANCHOR 1 0 own 0,1 2
    45 SESSION_KEY 16,32 - equalOnBothPeers - -
    46 SUB_SESSION_KEY 16,32 - controlee - -
    47 SESSION_DATA_TRANSFER_STATUS_NTF_CONFIG 1 0 own 0,1 2
    48 SESSION_TIME_BASE 9 - controller - -
    49 DL_TDOA_RESPONDER_TOF 1 0 own 0,1 2
    4A SECURE_RANGING_NEFA_LEVEL 1 0 own 0,3 4
    4B SECURE_RANGING_CSW_LENGTH 1 4 own 0,255 256
    4C APPLICATION_DATA_ENDPOINT 1 0 own 0,255 256
    4D OWR_AOA_MEASUREMENT_NTF_PERIOD 1 - own 0 256
    A1 CCC_UWB_TIME0 8 - equalOnBothPeers 0 -
    A3 CCC_PROTOCOL_VERSION 2 - equalOnBothPeers - -
    A4 CCC_UWB_CONFIG_ID 2 - equalOnBothPeers 0,65535 65536
    A5 CCC_PULSE_SHAPE_COMBO 1 - equalOnBothPeers 0,255 256
    A6 CCC_URSK_TTL 2 720 own 720 65536
    A8 CCC_LAST_STS_INDEX_USED 4 - own 0 4294967296
    A9 ALIRO_MAC_MODE 1 0 own 0,255 256
    """.split(separator: "\n").map(String.init)

  // Numbers, names and lengths of vendors.
  private static let vendors = """
    qorvo 36 SUSPEND_RANGING_ROUNDS 1
    qorvo A0 HOP_MODE_KEY 16
    qorvo AA URSK 32
    qorvo B0 RADAR_TIMING_PARAMS 7
    qorvo B1 RADAR_SAMPLES_PER_SWEEP -
    qorvo B2 RADAR_SWEEP_OFFSET -
    qorvo B3 RADAR_BITS_PER_SAMPLE -
    qorvo B4 RADAR_NUMBER_OF_BURSTS -
    qorvo B5 RADAR_DATA_TYPE -
    qorvo B6 RADAR_ANTENNA_GROUP -
    qorvo B7 RADAR_TX_PROFILE -
    qorvo E3 INTERLEAVING_RATIO_RANGE 1
    qorvo E4 INTERLEAVING_RATIO_AZIMUTH 1
    qorvo E5 INTERLEAVING_RATIO_ELEVATION 1
    qorvo E6 RX_ANTENNA_SELECTION 1
    qorvo E7 TX_ANTENNA_SELECTION 1
    qorvo E8 ENABLE_DIAGNOSTICS 1
    qorvo E9 DIAGNOSTICS_FRAME_REPORTS_FIELDS 1,4
    qorvo EA MAC_PAYLOAD_ENCRYPTION 1
    qorvo EB ENABLE_PSDU_DUMP 1
    android E3 INTERLEAVING_RATIO_RANGE 1
    android E8 ENABLE_DIAGNOSTICS 1
    android E9 DIAGNOSTICS_FRAME_REPORTS_FIELDS 1,4
    android EA ANTENNA_MODE 1
    nxp 1E RESPONDER_SLOT_INDEX 1
    nxp A0 HOP_MODE_KEY 4,16
    nxp A2 NXP_RESPONDER_SLOT_INDEX 1
    nxp A7 NXP_RESPONDER_LISTEN_ONLY 1
    """.split(separator: "\n").map(String.init)

  private func words(_ row: String) -> [String] { row.split(separator: " ").map(String.init) }

  private func numbers(_ text: String) -> [UInt64] {
    text == "-" ? [] : text.split(separator: ",").compactMap { UInt64($0) }
  }

  @Test("Name, length, default and scope", arguments: fira)
  func row(row: String) throws {
    let column = words(row)
    let id = AppConfigID(rawValue: try #require(UInt8(column[0], radix: 16)))
    #expect(id.name == column[1])
    #expect(try AppConfigID(named: column[1]) == id)
    let parameter = try #require(id.parameter)
    #expect(parameter.lengths.map { UInt64($0) } == numbers(column[2]))
    #expect(parameter.defaultValue == numbers(column[3]).first)
    #expect(parameter.scope.rawValue == column[4])
    // Users need a summary to choose a value, because the name alone is not enough.
    #expect(!parameter.summary.isEmpty || column[1] == "TX_JITTER_WINDOW_SIZE")
  }

  @Test(
    "Values that chips take are encoded in the given length, others are refused", arguments: fira)
  func values(row: String) throws {
    let column = words(row)
    let length = numbers(column[2]).first ?? 0
    for number in numbers(column[5]) {
      let tlv = try TLV(appConfig: "\(column[1])=\(number)")
      #expect(tlv.value == (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
      #expect(tlv.id == UInt8(column[0], radix: 16))
    }
    for number in numbers(column[6]) {
      let error = #expect(throws: ParameterTextError.self) {
        try TLV(appConfig: "\(column[1])=\(number)")
      }
      guard case .outOfRange = error else {
        Issue.record("\(column[1])=\(number): \(String(describing: error))")
        continue
      }
    }
  }

  @Test("No other number of FiRa's range has a name")
  func unnamed() {
    let named = Set(Self.fira.compactMap { UInt8(words($0)[0], radix: 16) })
    for number in UInt8(0)...0x9F where !named.contains(number) {
      #expect(AppConfigID(rawValue: number).parameter == nil, "\(number)")
    }
  }

  @Test("Vendors' own", arguments: vendors)
  func vendor(row: String) throws {
    let column = words(row)
    let vendor = try #require(Dialect.Vendor(rawValue: column[0]))
    let id = AppConfigID(rawValue: try #require(UInt8(column[1], radix: 16)))
    let parameter = try #require(id.parameter(in: Dialect(vendor: vendor)))
    #expect(parameter.name == column[2])
    #expect(parameter.lengths.map { UInt64($0) } == numbers(column[3]))
    #expect(parameter.applies(to: Dialect(vendor: vendor)))
  }

  @Test("A chip's own row is chosen wherever there is one")
  func choice() throws {
    for vendor in Dialect.Vendor.allCases {
      for generation in [Dialect.Generation.fira1, .fira2, .fira3] {
        let dialect = Dialect(generation: generation, vendor: vendor)
        for id in Set(AppConfigParameter.all.map(\.id)) {
          let fitting = AppConfigParameter.all.filter { $0.id == id && $0.applies(to: dialect) }
          let chosen = try #require(id.parameter(in: dialect))
          #expect(chosen.applies(to: dialect) || fitting.isEmpty, "\(chosen.name) \(dialect)")
        }
      }
    }
  }

  // Words that a user writes, and the number of the specification.
  @Test(
    "The meanings of values",
    arguments: [
      "DEVICE_TYPE=controlee 0", "DEVICE_TYPE=controller 1", "RANGING_ROUND_USAGE=UL-TDoA 0",
      "RANGING_ROUND_USAGE=ss-twr deferred 1", "RANGING_ROUND_USAGE=ds-twr deferred 2",
      "RANGING_ROUND_USAGE=ss-twr non-deferred 3", "RANGING_ROUND_USAGE=ds-twr non-deferred 4",
      "RANGING_ROUND_USAGE=DL-TDoA 5", "RANGING_ROUND_USAGE=OWR AoA 6",
      "RANGING_ROUND_USAGE=eSS-TWR 7", "RANGING_ROUND_USAGE=aDS-TWR 8",
      "RANGING_ROUND_USAGE=data transfer 9", "RANGING_ROUND_USAGE=hybrid 10", "STS_CONFIG=static 0",
      "STS_CONFIG=dynamic 1", "STS_CONFIG=dynamic controlee key 2", "STS_CONFIG=provisioned 3",
      "STS_CONFIG=provisioned controlee key 4", "MULTI_NODE_MODE=unicast 0",
      "MULTI_NODE_MODE=one-to-many 1", "MAC_FCS_TYPE=CRC-16 0", "MAC_FCS_TYPE=crc32 1",
      "AOA_RESULT_REQ=off 0", "AOA_RESULT_REQ=all 1", "AOA_RESULT_REQ=azimuth 2",
      "AOA_RESULT_REQ=elevation 3", "AOA_RESULT_REQ=interleaved 240",
      "SESSION_INFO_NTF_CONFIG=within proximity 2", "SESSION_INFO_NTF_CONFIG=within angles 3",
      "SESSION_INFO_NTF_CONFIG=within both 4", "SESSION_INFO_NTF_CONFIG=crossing proximity 5",
      "SESSION_INFO_NTF_CONFIG=crossing angles 6", "SESSION_INFO_NTF_CONFIG=crossing both 7",
      "DEVICE_ROLE=responder 0", "DEVICE_ROLE=initiator 1", "DEVICE_ROLE=UT-sync anchor 2",
      "DEVICE_ROLE=UT-anchor 3", "DEVICE_ROLE=UT-tag 4", "DEVICE_ROLE=advertiser 5",
      "DEVICE_ROLE=observer 6", "DEVICE_ROLE=DT-anchor 7", "DEVICE_ROLE=DT-tag 8",
      "RFRAME_CONFIG=SP0 0", "RFRAME_CONFIG=SP1 1", "RFRAME_CONFIG=SP3 3",
      "PSDU_DATA_RATE=6.81 Mbit/s 0", "PSDU_DATA_RATE=7.80 Mbit/s 1",
      "PSDU_DATA_RATE=27.2 Mbit/s 2", "PSDU_DATA_RATE=31.2 Mbit/s 3",
      "PSDU_DATA_RATE=850 kbit/s 4", "BPRF_PHR_DATA_RATE=850 kbit/s 0",
      "BPRF_PHR_DATA_RATE=6.81 Mbit/s 1", "PREAMBLE_DURATION=32 symbols 0",
      "PREAMBLE_DURATION=64 symbols 1", "LINK_LAYER_MODE=bypass 0",
      "LINK_LAYER_MODE=logical link 1", "RANGING_TIME_STRUCT=interval based 0",
      "RANGING_TIME_STRUCT=block based 1", "PRF_MODE=BPRF 62.4 MHz 0",
      "PRF_MODE=HPRF 124.8 MHz 1", "PRF_MODE=HPRF 249.6 MHz 2", "SCHEDULE_MODE=contention 0",
      "SCHEDULE_MODE=time scheduled 1", "SCHEDULE_MODE=hybrid 2", "MAC_ADDRESS_MODE=short 0",
      "MAC_ADDRESS_MODE=extended 2", "HOPPING_MODE=FiRa 1", "HOPPING_MODE=adaptive modulo 2",
      "HOPPING_MODE=continuous modulo 3", "HOPPING_MODE=adaptive AES 4",
      "HOPPING_MODE=continuous AES 5", "STS_LENGTH=32 symbols 0", "STS_LENGTH=64 symbols 1",
      "STS_LENGTH=128 symbols 2", "UL_TDOA_TX_TIMESTAMP=none 0", "UL_TDOA_TX_TIMESTAMP=40 bits 1",
      "UL_TDOA_TX_TIMESTAMP=64 bits 2", "DL_TDOA_RANGING_METHOD=SS-TWR 0",
      "DL_TDOA_TX_TIMESTAMP_CONF=local, 40 bits 0", "DL_TDOA_TX_TIMESTAMP_CONF=common, 40 bits 1",
      "DL_TDOA_TX_TIMESTAMP_CONF=local, 64 bits 2", "DL_TDOA_TX_TIMESTAMP_CONF=common, 64 bits 3",
      "RANGING_ROUND_CONTROL=result report 1", "RANGING_ROUND_CONTROL=control message 2",
      "RANGING_ROUND_CONTROL=no control phase 4", "RANGING_ROUND_CONTROL=measurement report 64",
      "RESULT_REPORT_CONFIG=ToF 1", "RESULT_REPORT_CONFIG=azimuth 2",
      "RESULT_REPORT_CONFIG=elevation 4", "RESULT_REPORT_CONFIG=FoM 8",
      "DIAGNOSTICS_FRAME_REPORTS_FIELDS=RSSI 1", "DIAGNOSTICS_FRAME_REPORTS_FIELDS=AoA 2",
      "DIAGNOSTICS_FRAME_REPORTS_FIELDS=CFO 8", "DIAGNOSTICS_FRAME_REPORTS_FIELDS=emitter 16",
      "DIAGNOSTICS_FRAME_REPORTS_FIELDS=segments 32", "DIAGNOSTICS_FRAME_REPORTS_FIELDS=CIR 64",
    ])
  func meaning(row: String) throws {
    let end = try #require(row.lastIndex(of: " "))
    let number = try #require(UInt8(row[row.index(after: end)...]))
    #expect(try TLV(appConfig: String(row[..<end])).value == [number])
  }
}
