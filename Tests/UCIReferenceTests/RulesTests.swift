// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference

/// A session that ranges on real chips, with changes; an empty value removes a parameter.
private func session(
  _ changes: [String] = [], dialect: Dialect = .assumed, first: [String] = []
) throws -> SessionParameters {
  var list = try
    (first + [
      "DEVICE_TYPE=controller", "DEVICE_ROLE=initiator", "MULTI_NODE_MODE=unicast",
      "RANGING_ROUND_USAGE=DS-TWR deferred", "MAC_ADDRESS_MODE=short", "DEVICE_MAC_ADDRESS=0x0000",
      "NUMBER_OF_CONTROLEES=1", "DST_MAC_ADDRESS=0x0001", "CHANNEL_NUMBER=9", "STS_CONFIG=static",
      "RFRAME_CONFIG=SP3", "SCHEDULE_MODE=time scheduled", "PREAMBLE_CODE_INDEX=10", "SFD_ID=2",
      "SLOT_DURATION=2ms", "RANGING_DURATION=200ms", "SLOTS_PER_RR=25", "VENDOR_ID=08:07",
      "STATIC_STS_IV=01:02:03:04:05:06",
    ]).map { try TLV(appConfig: $0) }
  for change in changes {
    let isRemoval = change.hasSuffix("=")
    let tlv = try TLV(appConfig: isRemoval ? change + "hex:00" : change)
    let place = list.firstIndex { $0.id == tlv.id }
    if isRemoval {
      list.removeAll { $0.id == tlv.id }
    } else if let place {
      list[place] = tlv
    } else {
      list.append(tlv)
    }
  }
  return SessionParameters(list, dialect: dialect)
}

private func problems(
  _ changes: [String] = [], dialect: Dialect = .assumed, capabilities: Capabilities? = nil,
  first: [String] = []
) throws -> [ConfigurationProblem] {
  let session = try session(changes, dialect: dialect, first: first)
  return ConfigurationCheck(session, capabilities: capabilities).problems()
}

@Suite("What will not work is found before it is sent")
struct RulesTests {
  @Test("A session that ranges on real chips has no problem on any of them")
  func sound() throws {
    for generation in [Dialect.Generation.fira1, .fira2, .fira3] {
      for vendor in [Dialect.Vendor.unknown, .qorvo, .nxp, .android] {
        let found = try problems(dialect: Dialect(generation: generation, vendor: vendor))
        #expect(found.isEmpty, "\(found)")
      }
    }
  }

  @Test("A controlee may share the rounds of its controller with others")
  func oneToMany() throws {
    let changes = ["DEVICE_TYPE=controlee", "DEVICE_ROLE=responder", "MULTI_NODE_MODE=one to many"]
    #expect(try problems(changes).isEmpty)
  }

  @Test(
    "One change, one problem",
    arguments: [
      (["SLOT_DURATION=10ms"], "more than the interval of 200 ms", "preventsRanging"),
      (["RANGING_DURATION=40"], "takes 50 ms, more than", "preventsRanging"),
      (["SLOTS_PER_RR=2"], "2 slots are too few", "preventsRanging"),
      (["SLOTS_PER_RR=5"], "5 slots are few", "advice"),
      (["SLOT_DURATION=1000"], "shorter than 1200", "advice"),
      (["DST_MAC_ADDRESS=1,2"], "NUMBER_OF_CONTROLEES is 1", "preventsRanging"),
      (
        ["DST_MAC_ADDRESS=1,2", "NUMBER_OF_CONTROLEES=2"], "MULTI_NODE_MODE is unicast",
        "preventsRanging"
      ),
      (["DST_MAC_ADDRESS=0000"], "its own peer", "preventsRanging"),
      (
        ["DST_MAC_ADDRESS=1,1", "NUMBER_OF_CONTROLEES=2", "MULTI_NODE_MODE=1"], "named twice",
        "preventsRanging"
      ),
      (["DST_MAC_ADDRESS="], "DST_MAC_ADDRESS is missing", "preventsRanging"),
      (["DST_MAC_ADDRESS=hex:01"], "not a multiple of", "refusedByChip"),
      (
        ["DEVICE_TYPE=controlee", "DEVICE_ROLE=responder", "DST_MAC_ADDRESS=1,2"],
        "A controlee has one controller", "preventsRanging"
      ),
      (["MAC_ADDRESS_MODE=2"], "MAC_ADDRESS_MODE is extended", "refusedByChip"),
      (["DEVICE_MAC_ADDRESS="], "DEVICE_MAC_ADDRESS is missing", "preventsRanging"),
      (["CHANNEL_NUMBER=hex:07"], "no UWB channel 7", "refusedByChip"),
      (["PREAMBLE_CODE_INDEX=25"], "does not belong to BPRF", "preventsRanging"),
      (
        ["PREAMBLE_CODE_INDEX=10", "PRF_MODE=1"], "code 10 does not belong to HPRF",
        "preventsRanging"
      ),
      (["SFD_ID=1"], "SFD 1 does not belong to BPRF", "preventsRanging"),
      (["PREAMBLE_DURATION=0"], "32 symbols exists with HPRF only", "refusedByChip"),
      (["PSDU_DATA_RATE=2"], "27.2 Mbit/s exists with HPRF only", "refusedByChip"),
      (["NUMBER_OF_STS_SEGMENTS=2"], "2 STS segments do not go with", "refusedByChip"),
      (["RFRAME_CONFIG=SP0"], "SP0 frames carry no STS", "advice"),
      (["RFRAME_CONFIG=hex:02"], "RFRAME_CONFIG is 2", "refusedByChip"),
      (["SESSION_PRIORITY=hex:00"], "SESSION_PRIORITY is 0", "refusedByChip"),
      (["SLOT_DURATION=hex:60"], "has 1 byte instead of 2", "refusedByChip"),
      (["DEVICE_ROLE=DT-tag"], "does not take part", "preventsRanging"),
      (["STATIC_STS_IV="], "without STATIC_STS_IV", "advice"),
      (["STS_CONFIG=provisioned", "VENDOR_ID=", "STATIC_STS_IV="], "SESSION_KEY", "advice"),
      (["KEY_ROTATION=on"], "no key to rotate", "advice"),
      (["HOPPING_MODE=1", "SLOT_DURATION=8ms"], "one ranging round only", "advice"),
      (["RANGING_ROUND_CONTROL=hex:01"], "without the control message", "refusedByChip"),
      (["SESSION_INFO_NTF_CONFIG=0"], "report no measurements", "advice"),
      (["NEAR_PROXIMITY=30000"], "beyond FAR_PROXIMITY", "refusedByChip"),
      (["NUMBER_OF_CONTROLEES=", "DST_MAC_ADDRESS=1,2"], "is 1 (default)", "preventsRanging"),
    ])
  func change(changes: [String], part: String, severity: String) throws {
    let found = try problems(changes)
    let match = found.first { $0.sentence.contains(part) }
    #expect(match != nil, "\(found)")
    #expect(match.map { "\($0.severity)" } == severity)
    #expect(found.errors.count <= 2, "\(found)")
    for problem in found {
      #expect(problem.sentence.hasSuffix("."))
      #expect(!problem.parameters.isEmpty)
    }
  }

  @Test("All problems at once, the gravest first")
  func together() throws {
    let found = try problems([
      "KEY_ROTATION=on", "NEAR_PROXIMITY=30000", "DST_MAC_ADDRESS=0000", "SLOTS_PER_RR=2",
    ])
    #expect(found.count == 4)
    #expect(found.map(\.severity) == found.map(\.severity).sorted().reversed())
  }

  @Test("A round takes as many slots as it has frames")
  func slotsOfARound() throws {
    // Boards in the field have these settings: 6 slots for one controlee, 12 for four.
    for (controlees, slots) in [(1, 6), (4, 12), (8, 20)] {
      let addresses = (1...controlees).map { "\($0)" }.joined(separator: ",")
      let changes = [
        "NUMBER_OF_CONTROLEES=\(controlees)", "DST_MAC_ADDRESS=\(addresses)",
        "MULTI_NODE_MODE=\(controlees > 1 ? 1 : 0)",
      ]
      #expect(try problems(changes + ["SLOTS_PER_RR=\(slots)"]).isEmpty)
      #expect(try problems(changes + ["SLOTS_PER_RR=\(slots - 1)"]).map(\.severity) == [.advice])
    }
  }

  @Test("Nothing is said of what is missing in a change of a running session")
  func changes() {
    let change = SessionParameters([TLV(.rangingDuration, [40, 0, 0, 0])])
    #expect(ConfigurationCheck(change, isComplete: false).problems().isEmpty)
    let wrong = SessionParameters([TLV(.sessionPriority, [0])])
    #expect(ConfigurationCheck(wrong, isComplete: false).problems().count == 1)
  }

  @Test("No key is in any sentence")
  func secrets() throws {
    for config in 0...4 {
      let found = try problems([
        "STS_CONFIG=\(config)", "SESSION_KEY=" + String(repeating: "C0", count: 32),
        "SUB_SESSION_KEY=hex:C0C0", "STATIC_STS_IV=hex:C0C0",
      ])
      #expect(found.errors.count >= 2)
      #expect(!found.contains { $0.description.contains("C0") })
    }
  }
}

@Suite("Device oddities in configurations")
struct ConfigurationOddityTests {
  private let qorvo = Dialect(vendor: .qorvo)
  private let nxp = Dialect(generation: .fira3, vendor: .nxp)

  @Test("A capability is what the chip says of itself, and one known to be overstated only a hint")
  func capabilities() throws {
    // The chip supports channels 5 and 9, no angles, and only a static STS.
    let list = [
      TLV(0x02, [2, 0, 2, 0]), TLV(0x0E, [0x09]), TLV(0x13, [0]), TLV(0x07, [1]), TLV(0x14, [0]),
    ]
    let capabilities = Capabilities(list)
    let other = try problems(["CHANNEL_NUMBER=6"], capabilities: capabilities)
    #expect(other.map(\.severity) == [.warning])
    #expect(other.errors.isEmpty && other.warnings == other)
    #expect(other.allSatisfy { $0.recoverySuggestion != nil }, "there is a way out")
    let ours = try problems(["CHANNEL_NUMBER=6"], dialect: nxp, capabilities: capabilities)
    #expect(ours.map(\.severity) == [.advice])
    let ten = try problems(
      ["CHANNEL_NUMBER=10"], dialect: nxp,
      capabilities: Capabilities([TLV(0x02, [2, 0, 2, 0]), TLV(0x0E, [0x1F])]))
    #expect(ten.map(\.sentence) == ["Chips of this vendor list channel 10 without having it."])
    let angles = try problems(["AOA_RESULT_REQ=1"], capabilities: capabilities)
    #expect(angles.map(\.severity) == [.advice])
    let sts = try problems(
      ["STS_CONFIG=3", "SESSION_KEY=" + String(repeating: "01", count: 16)],
      capabilities: capabilities)
    #expect(sts.warnings.map(\.parameters) == [[.stsConfig]])
    // The shortest slot and interval.
    let said = Capabilities([
      TLV(0x02, [2, 0, 2, 0]), TLV(0xE4, [0xF4, 0x01, 0, 0]), TLV(0xE8, [0x60, 0x09, 0, 0]),
    ])
    let short = try problems(["SLOT_DURATION=1ms", "RANGING_DURATION=100ms"], capabilities: said)
    #expect(short.errors.isEmpty && short.warnings.count == 2, "\(short)")
  }

  @Test("A session with only the formally mandatory parameters does not start")
  func practicalSet() throws {
    let formal = [
      "CHANNEL_NUMBER=", "STS_CONFIG=", "RFRAME_CONFIG=", "PREAMBLE_CODE_INDEX=", "SFD_ID=",
      "SLOT_DURATION=", "RANGING_DURATION=", "SLOTS_PER_RR=",
    ]
    let found = try problems(formal, dialect: qorvo)
    #expect(found.errors.map(\.parameters.count) == [8])
    #expect(found.errors[0].sentence.contains("ERROR_SESSION_NOT_CONFIGURED"))
    #expect(try problems(formal).map(\.severity) == [.advice])
    let informal = try problems(["SCHEDULE_MODE="])
    #expect(informal.errors.map(\.parameters) == [[.scheduleMode]])
  }

  @Test("TX_ADAPTIVE_PAYLOAD_POWER makes newer firmware refuse the whole command")
  func removedParameter() throws {
    let found = try problems(["TX_ADAPTIVE_PAYLOAD_POWER=1"], dialect: qorvo)
    #expect(found.errors.map(\.parameters) == [[.txAdaptivePayloadPower]])
    let old = Dialect(generation: .fira1, vendor: .qorvo)
    #expect(try problems(["TX_ADAPTIVE_PAYLOAD_POWER=1"], dialect: old).isEmpty)
    #expect(try problems(["INTERLEAVING_RATIO_RANGE=1"], dialect: nxp).errors.count == 1)
  }

  @Test("UWB_INITIATION_TIME is relative in 4 bytes, absolute in 8")
  func initiationTime() throws {
    let old = Dialect(generation: .fira1)
    #expect(try problems(["UWB_INITIATION_TIME=hex:F4010000"], dialect: old).isEmpty)
    #expect(try problems(["UWB_INITIATION_TIME=hex:F4010000"]).errors.count == 1)
    #expect(
      try problems(["UWB_INITIATION_TIME=hex:F4010000"], dialect: nxp).map(\.severity)
        == [.advice])
    let relative = try problems(["UWB_INITIATION_TIME=500000us"])
    #expect(relative.map(\.severity) == [.advice])
    #expect(relative[0].sentence.contains("looks like a time from now"))
    #expect(try problems(["UWB_INITIATION_TIME=0"]).isEmpty)
    #expect(try problems(["UWB_INITIATION_TIME=3600s"]).isEmpty)
  }

  @Test("An identifier of another vendor is noticed")
  func foreignParameter() throws {
    #expect(try problems(["NXP_RESPONDER_SLOT_INDEX=1"], dialect: qorvo).errors.count == 1)
    #expect(try problems(["NXP_RESPONDER_SLOT_INDEX=1"], dialect: nxp).isEmpty)
    #expect(try problems(["NXP_RESPONDER_SLOT_INDEX=1"]).isEmpty, "nobody knows whose chip it is")
  }

  @Test("DIAGNOSTICS_FRAME_REPORTS_FIELDS has one byte, or four")
  func diagnosticsFields() throws {
    let id = "DIAGNOSTICS_FRAME_REPORTS_FIELDS"
    #expect(try problems(["\(id)=hex:2A"], dialect: qorvo).isEmpty)
    #expect(try problems(["\(id)=hex:2A000000"], dialect: qorvo).isEmpty)
    #expect(try problems(["\(id)=hex:2A00"], dialect: qorvo).errors.count == 1)
  }

  @Test("Parameters left to differing defaults are named")
  func defaults() throws {
    let found = try problems(["SLOTS_PER_RR=", "PREAMBLE_CODE_INDEX="])
    #expect(found.map(\.parameters) == [[.preambleCodeIndex, .slotsPerRR]])
    #expect(found[0].recoverySuggestion == "Set the same values at both ends.")
  }

  @Test("No chip has extended addresses with short ones in the header")
  func addressModeOne() throws {
    #expect(try problems(["MAC_ADDRESS_MODE=1"]).errors.map(\.severity) == [.refusedByChip])
  }

  @Test("Address mode and number of controlees come before the addresses")
  func order() throws {
    let mode = try problems(
      [
        "MAC_ADDRESS_MODE=2", "DEVICE_MAC_ADDRESS=0000000000000000",
        "DST_MAC_ADDRESS=0000000000000001",
      ],
      first: ["DEVICE_MAC_ADDRESS=0000000000000000"])
    #expect(mode.contains { $0.sentence.hasPrefix("MAC_ADDRESS_MODE comes after") })
    let usual = try problems([
      "MAC_ADDRESS_MODE=2", "DEVICE_MAC_ADDRESS=0000000000000000",
      "DST_MAC_ADDRESS=0000000000000001",
    ])
    #expect(usual.isEmpty)
  }

  @Test("Contention-based rounds have no destinations, tags no device type")
  func contention() throws {
    #expect(
      try problems(["SCHEDULE_MODE=0", "RANGING_ROUND_USAGE=7", "DST_MAC_ADDRESS="]).isEmpty)
    #expect(
      try problems([
        "RANGING_ROUND_USAGE=5", "DEVICE_ROLE=DT-tag", "DEVICE_TYPE=", "RFRAME_CONFIG=SP1",
      ]).isEmpty)
  }

  @Test("Keys do not rotate when each controlee has its own")
  func keyRotation() throws {
    let found = try problems([
      "STS_CONFIG=4", "KEY_ROTATION=on", "SESSION_KEY=" + String(repeating: "01", count: 16),
      "VENDOR_ID=", "STATIC_STS_IV=",
    ])
    #expect(found.map(\.parameters) == [[.keyRotation, .stsConfig]])
    #expect(found.errors.count == 1)
  }

  @Test("Without the result report one end gets no distance")
  func resultReport() throws {
    let control = try problems(["RANGING_ROUND_CONTROL=hex:02"])
    #expect(control.map(\.parameters) == [[.rangingRoundControl]])
    let report = try problems(["RESULT_REPORT_CONFIG=hex:0E"])
    #expect(report.map(\.parameters) == [[.resultReportConfig]])
  }
}
