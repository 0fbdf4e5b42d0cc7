// SPDX-License-Identifier: Apache-2.0

import UCI

// Source: FiRa UCI application configuration parameters as published in the packet definitions of
// AOSP and pica, in DW3_QM33_SDK 1.1.0 and NXP's UWBIoT API Reference Guide, and as accepted by real
// chips. Defaults are those of the specification where the sources agree.
extension AppConfigTable {
  static let first: [AppConfigParameter] = [
    AppConfigParameter(
      .deviceType, "DEVICE_TYPE", [1], range: 0...1, values: [0: "controlee", 1: "controller"],
      mandatory: true, summary: "Controlee or controller."),
    AppConfigParameter(
      .rangingRoundUsage, "RANGING_ROUND_USAGE", [1], range: 0...10, default: 2,
      values: [
        0: "UL-TDoA", 1: "SS-TWR deferred", 2: "DS-TWR deferred", 3: "SS-TWR non-deferred",
        4: "DS-TWR non-deferred", 5: "DL-TDoA", 6: "OWR AoA", 7: "eSS-TWR", 8: "aDS-TWR",
        9: "data transfer", 10: "hybrid",
      ], scope: .equalOnBothPeers, mandatory: true, summary: "How a round measures."),
    AppConfigParameter(
      .stsConfig, "STS_CONFIG", [1], range: 0...4, default: 0,
      values: [
        0: "static", 1: "dynamic", 2: "dynamic, controlee key", 3: "provisioned",
        4: "provisioned, controlee key",
      ], scope: .equalOnBothPeers, summary: "Where the scrambled timestamp sequence comes from."),
    AppConfigParameter(
      .multiNodeMode, "MULTI_NODE_MODE", [1], range: 0...1,
      values: [0: "unicast", 1: "one to many", 2: "many to many"], scope: .equalOnBothPeers,
      mandatory: true, generations: .fira2 ... .fira3, summary: "How many peers take part."),
    AppConfigParameter(
      .multiNodeMode, "MULTI_NODE_MODE", [1], range: 0...2,
      values: [0: "unicast", 1: "one to many", 2: "many to many"], scope: .equalOnBothPeers,
      mandatory: true, generations: .fira1 ... .fira1, summary: "How many peers take part."),
    AppConfigParameter(
      .channelNumber, "CHANNEL_NUMBER", [1], range: 5...14, default: 9, scope: .equalOnBothPeers,
      summary: "UWB channel: 5, 6, 8, 9, 10, 12, 13 or 14."),
    AppConfigParameter(
      .numberOfControlees, "NUMBER_OF_CONTROLEES", [1], range: 1...8, default: 1,
      scope: .controller, summary: "How many controlees a controller ranges with."),
    AppConfigParameter(
      .deviceMACAddress, "DEVICE_MAC_ADDRESS", [2, 8], format: .addresses, mandatory: true,
      summary: "The address of this device."),
    AppConfigParameter(
      .dstMACAddress, "DST_MAC_ADDRESS", [], format: .addresses,
      summary: "The addresses of the peers, one after another."),
    AppConfigParameter(
      .slotDuration, "SLOT_DURATION", [2], unit: "RSTU", range: 0...65535, default: 2400,
      scope: .equalOnBothPeers, summary: "Length of a slot in RSTU; 1200 are a millisecond."),
    AppConfigParameter(
      .rangingDuration, "RANGING_DURATION", [4], unit: "ms", range: 0...4294967295, default: 200,
      scope: .equalOnBothPeers, summary: "Length of a block in milliseconds."),
    AppConfigParameter(
      .stsIndex, "STS_INDEX", [4], range: 0...4294967295, default: 0, scope: .equalOnBothPeers,
      summary: "First STS index."),
    AppConfigParameter(
      .macFCSType, "MAC_FCS_TYPE", [1], range: 0...1, default: 0,
      values: [0: "CRC-16", 1: "CRC-32"], scope: .equalOnBothPeers, summary: "Frame check sequence."
    ),
    AppConfigParameter(
      .rangingRoundControl, "RANGING_ROUND_CONTROL", [1], format: .mask, default: 3,
      values: [
        0: "result report", 1: "control message", 2: "no control phase",
        6: "measurement report", 7: "measurement report by controlee",
      ], scope: .equalOnBothPeers, summary: "Which messages a round has."),
    AppConfigParameter(
      .aoaResultRequest, "AOA_RESULT_REQ", [1], default: 1,
      values: [0: "off", 1: "all", 2: "azimuth", 3: "elevation", 0xF0: "interleaved"],
      summary: "Which angles to report."),
    AppConfigParameter(
      .sessionInfoNotificationConfig, "SESSION_INFO_NTF_CONFIG", [1], range: 0...7, default: 1,
      values: [
        0: "off", 1: "on", 2: "within proximity", 3: "within angles", 4: "within both",
        5: "crossing proximity", 6: "crossing angles", 7: "crossing both",
      ], summary: "When to send SESSION_INFO_NTF."),
    AppConfigParameter(
      .nearProximity, "NEAR_PROXIMITY", [2], unit: "cm", range: 0...65535, default: 0,
      summary: "Nearer end of the proximity range in centimetres."),
    AppConfigParameter(
      .farProximity, "FAR_PROXIMITY", [2], unit: "cm", range: 0...65535, default: 20000,
      summary: "Farther end of the proximity range in centimetres."),
    AppConfigParameter(
      .deviceRole, "DEVICE_ROLE", [1], range: 0...8,
      values: [
        0: "responder", 1: "initiator", 2: "UT-sync anchor", 3: "UT-anchor", 4: "UT-tag",
        5: "advertiser", 6: "observer", 7: "DT-anchor", 8: "DT-tag",
      ], mandatory: true, summary: "What this device does in a round."),
    AppConfigParameter(
      .rframeConfig, "RFRAME_CONFIG", [1], range: 0...3, default: 3,
      values: [0: "SP0", 1: "SP1", 3: "SP3"], scope: .equalOnBothPeers,
      summary: "Where a frame has its STS."
    ),
    AppConfigParameter(
      .rssiReporting, "RSSI_REPORTING", [1], range: 0...1, default: 0, values: onOff,
      summary: "Whether measurements carry RSSI."),
    AppConfigParameter(
      .preambleCodeIndex, "PREAMBLE_CODE_INDEX", [1], range: 9...32, default: 10,
      scope: .equalOnBothPeers, summary: "Preamble code: 9…12 for BPRF, 25…32 for HPRF."),
    AppConfigParameter(
      .sfdID, "SFD_ID", [1], range: 0...4, default: 2, scope: .equalOnBothPeers,
      summary: "Start-of-frame delimiter: 0 or 2 for BPRF, 1…4 for HPRF."),
    AppConfigParameter(
      .psduDataRate, "PSDU_DATA_RATE", [1], range: 0...4, default: 0,
      values: [
        0: "6.81 Mbit/s", 1: "7.80 Mbit/s", 2: "27.2 Mbit/s", 3: "31.2 Mbit/s", 4: "850 kbit/s",
      ], scope: .equalOnBothPeers, summary: "Data rate of the payload."),
    AppConfigParameter(
      .preambleDuration, "PREAMBLE_DURATION", [1], range: 0...1, default: 1,
      values: [0: "32 symbols", 1: "64 symbols"], scope: .equalOnBothPeers,
      summary: "Length of the preamble."),
    AppConfigParameter(
      .linkLayerMode, "LINK_LAYER_MODE", [1], range: 0...1, default: 0,
      values: [0: "bypass", 1: "logical link"], scope: .equalOnBothPeers,
      summary: "How data goes to the link layer."),
  ]
}
