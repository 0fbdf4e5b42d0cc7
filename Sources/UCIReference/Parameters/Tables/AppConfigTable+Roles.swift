// SPDX-License-Identifier: Apache-2.0

import UCI

// Roles and addresses. Sources as in AppConfigTable.swift.
extension AppConfigTable {
  static let roles: [AppConfigParameter] = [
    .init(
      .deviceType, "DEVICE_TYPE", [1], range: 0...1, values: [0: "controlee", 1: "controller"],
      mandatory: true, summary: "Controlee or controller."),
    .init(
      .rangingRoundUsage, "RANGING_ROUND_USAGE", [1], range: 0...10, default: 2,
      values: [
        0: "UL-TDoA", 1: "SS-TWR deferred", 2: "DS-TWR deferred", 3: "SS-TWR non-deferred",
        4: "DS-TWR non-deferred", 5: "DL-TDoA", 6: "OWR AoA", 7: "eSS-TWR", 8: "aDS-TWR",
        9: "data transfer", 10: "hybrid",
      ], scope: .equalOnBothPeers, mandatory: true, summary: "How a round measures."),
    .init(
      .multiNodeMode, "MULTI_NODE_MODE", [1], range: 0...1,
      values: [0: "unicast", 1: "one to many", 2: "many to many"], scope: .equalOnBothPeers,
      mandatory: true, generations: .fira2 ... .fira3, summary: "How many peers take part."),
    .init(
      .multiNodeMode, "MULTI_NODE_MODE", [1], range: 0...2,
      values: [0: "unicast", 1: "one to many", 2: "many to many"], scope: .equalOnBothPeers,
      mandatory: true, generations: .fira1 ... .fira1, summary: "How many peers take part."),
    .init(
      .numberOfControlees, "NUMBER_OF_CONTROLEES", [1], range: 1...8, default: 1,
      scope: .controller, summary: "How many controlees a controller ranges with."),
    .init(
      .deviceMACAddress, "DEVICE_MAC_ADDRESS", [2, 8], format: .addresses, mandatory: true,
      summary: "The address of this device."),
    .init(
      .dstMACAddress, "DST_MAC_ADDRESS", [], format: .addresses,
      summary: "The addresses of the peers, one after another."),
    .init(
      .rangingRoundControl, "RANGING_ROUND_CONTROL", [1], format: .mask, default: 3,
      values: [
        0: "result report", 1: "control message", 2: "no control phase", 6: "measurement report",
        7: "measurement report by controlee",
      ], scope: .equalOnBothPeers, summary: "Which messages a round has."),
    .init(
      .deviceRole, "DEVICE_ROLE", [1], range: 0...8,
      values: [
        0: "responder", 1: "initiator", 2: "UT-sync anchor", 3: "UT-anchor", 4: "UT-tag",
        5: "advertiser", 6: "observer", 7: "DT-anchor", 8: "DT-tag",
      ], mandatory: true, summary: "What this device does in a round."),
    .init(
      .responderSlotIndex, "RESPONDER_SLOT_INDEX", [1], unit: "slots", range: 1...255, default: 1,
      scope: .controlee, summary: "Slot of this responder; NXP has it at 0xA2."),
    .init(
      .scheduleMode, "SCHEDULE_MODE", [1], range: 0...2, default: 1,
      values: [0: "contention based", 1: "time scheduled", 2: "hybrid"], scope: .equalOnBothPeers,
      mandatory: true, summary: "Who sends when."),
    .init(
      .sessionPriority, "SESSION_PRIORITY", [1], range: 1...100, default: 50,
      summary: "Which session wins when two collide; 100 first."),
    .init(
      .macAddressMode, "MAC_ADDRESS_MODE", [1], range: 0...2, default: 0,
      values: [0: "short", 1: "extended, short in header", 2: "extended"], scope: .equalOnBothPeers,
      summary: "Length of addresses; has to come before them."),
    .init(
      .inBandTerminationAttemptCount, "IN_BAND_TERMINATION_ATTEMPT_COUNT", [1], range: 0...10,
      default: 1, scope: .controller, summary: "How often the controller says that it ends."),
  ]
}
