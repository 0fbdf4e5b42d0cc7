// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference

@Suite("A configuration against the capabilities of a chip")
struct CapabilityRuleTests {
  private func problems(
    _ parameter: String, _ capability: TLV, vendor: Dialect.Vendor = .unknown
  ) throws -> [ConfigurationProblem] {
    let parameters = SessionParameters(
      [try TLV(appConfig: parameter)], dialect: Dialect(generation: .fira2, vendor: vendor))
    let capabilities = Capabilities([TLV(0x02, [1, 0, 2, 0]), capability])
    return ConfigurationCheck(parameters, capabilities: capabilities, isComplete: false).problems()
  }

  // Parameters, the numbers of their capabilities, and the only masks that allow them. The bits are
  // from FiRa 2.0's CORE_GET_CAPS_INFO, as AOSP's FiraDecoder reads them.
  @Test(
    "One bit each",
    arguments: [
      ("DEVICE_TYPE=controller", 0x04, 0b01), ("DEVICE_TYPE=controlee", 0x04, 0b10),
      ("DEVICE_ROLE=responder", 0x05, 0b01), ("DEVICE_ROLE=initiator", 0x05, 0b10),
      ("DEVICE_ROLE=UT-anchor", 0x05, 0x08), ("DEVICE_ROLE=DT-anchor", 0x05, 0x80),
      ("RANGING_ROUND_USAGE=UL-TDoA", 0x06, 0x01),
      ("RANGING_ROUND_USAGE=SS-TWR deferred", 0x06, 0x02),
      ("RANGING_ROUND_USAGE=DS-TWR deferred", 0x06, 0x04),
      ("RANGING_ROUND_USAGE=DS-TWR non-deferred", 0x06, 0x10),
      ("RANGING_ROUND_USAGE=OWR AoA", 0x06, 0x40), ("STS_CONFIG=static", 0x07, 0x01),
      ("STS_CONFIG=dynamic", 0x07, 0x02), ("STS_CONFIG=provisioned", 0x07, 0x08),
      ("MULTI_NODE_MODE=unicast", 0x08, 0b01), ("MULTI_NODE_MODE=one to many", 0x08, 0b10),
      ("RANGING_TIME_STRUCT=block based", 0x09, 0b10), ("SCHEDULE_MODE=contention", 0x0A, 0b001),
      ("SCHEDULE_MODE=time scheduled", 0x0A, 0b010), ("SCHEDULE_MODE=hybrid", 0x0A, 0b100),
      ("HOPPING_MODE=1", 0x0B, 1), ("BLOCK_STRIDE_LENGTH=3", 0x0C, 1),
      ("UWB_INITIATION_TIME=60s", 0x0D, 1), ("CHANNEL_NUMBER=5", 0x0E, 0x01),
      ("CHANNEL_NUMBER=8", 0x0E, 0x04), ("CHANNEL_NUMBER=9", 0x0E, 0x08),
      ("CHANNEL_NUMBER=14", 0x0E, 0x80), ("RFRAME_CONFIG=SP0", 0x0F, 0x01),
      ("RFRAME_CONFIG=SP1", 0x0F, 0x02), ("RFRAME_CONFIG=SP3", 0x0F, 0x08),
      ("MAC_ADDRESS_MODE=extended", 0x14, 1),
    ] as [(String, UInt8, UInt8)])
  func bit(parameter: String, number: UInt8, mask: UInt8) throws {
    #expect(try problems(parameter, TLV(number, [mask])).isEmpty)
    let found = try problems(parameter, TLV(number, [~mask]))
    #expect(found.map(\.severity) == [.warning], "\(found)")
    #expect(found.first?.sentence.contains(parameter.prefix { $0 != "=" }) == true)
    // The rule does not apply to a chip that reports another capability.
    #expect(try problems(parameter, TLV(0x9F, [0])).isEmpty)
  }

  @Test(
    "What is off needs no capability",
    arguments: [
      ("HOPPING_MODE=0", 0x0B), ("BLOCK_STRIDE_LENGTH=0", 0x0C), ("UWB_INITIATION_TIME=0", 0x0D),
      ("MAC_ADDRESS_MODE=short", 0x14), ("AOA_RESULT_REQ=0", 0x13),
    ] as [(String, UInt8)])
  func off(parameter: String, number: UInt8) throws {
    #expect(try problems(parameter, TLV(number, [0])).isEmpty)
  }

  @Test("Elevation alone is a hint, channels of NXP are, too")
  func hints() throws {
    let elevation = try problems("AOA_RESULT_REQ=elevation", TLV(0x13, [0b0011]))
    #expect(elevation.map(\.severity) == [.advice])
    #expect(try problems("AOA_RESULT_REQ=elevation", TLV(0x13, [0b0100])).isEmpty)
    let channel = try problems("CHANNEL_NUMBER=5", TLV(0x0E, [0x08]), vendor: .nxp)
    #expect(channel.map(\.severity) == [.advice])
  }

  @Test("Keys of 32 bytes need the bit of their STS")
  func longKeys() throws {
    func found(_ config: UInt8, _ mask: UInt8) -> [ConfigurationProblem] {
      let parameters = SessionParameters([
        TLV(.stsConfig, [config]), TLV(.sessionKey, [UInt8](repeating: 1, count: 32)),
      ])
      let capabilities = Capabilities([TLV(0x02, [1, 0, 2, 0]), TLV(0x16, [mask])])
      return ConfigurationCheck(parameters, capabilities: capabilities).problems()
        .filter { $0.sentence.contains("16 bytes") }
    }
    #expect(found(3, 0b10).isEmpty && found(1, 0b01).isEmpty)
    #expect(found(3, 0b01).map(\.severity) == [.warning])
    #expect(found(1, 0b10).map(\.severity) == [.warning])
  }

  @Test(
    "A slot below the chip's own least",
    arguments: [
      (TLV(0x1D, [0xB0, 0x04]), 1199, true), (TLV(0x1D, [0xB0, 0x04]), 1200, false),
      (TLV(0xE8, [0x60, 0x09, 0, 0]), 2399, true), (TLV(0xE8, [0x58, 2, 0, 0]), 600, false),
    ])
  func slot(capability: TLV, rstu: Int, isWarned: Bool) throws {
    let parameters = SessionParameters([try TLV(appConfig: "SLOT_DURATION=\(rstu)")])
    let capabilities = Capabilities([TLV(0x02, [1, 0, 2, 0]), capability])
    let found = ConfigurationCheck(parameters, capabilities: capabilities).problems()
    #expect(found.warnings.contains { $0.parameters == [.slotDuration] } == isWarned)
  }
}

@Suite("Parameters that contradict each other")
struct ContradictionTests {
  private func sentences(
    _ texts: [String], vendor: Dialect.Vendor = .unknown, generation: Dialect.Generation = .fira2
  ) throws -> [String] {
    let list = try texts.map { try TLV(appConfig: $0, for: generation) }
    let dialect = Dialect(generation: generation, vendor: vendor)
    return ConfigurationCheck(SessionParameters(list, dialect: dialect)).problems().map(\.sentence)
  }

  // Parameters, and a part of the expected sentence. Without a part, no such sentence is expected.
  @Test(
    "Frames of BPRF and HPRF",
    arguments: [
      (["PRF_MODE=1", "PREAMBLE_CODE_INDEX=25"], "", "Preamble code"),
      (["PRF_MODE=1", "PREAMBLE_CODE_INDEX=12"], "Preamble code 12 does not belong to HPRF", ""),
      (["PREAMBLE_CODE_INDEX=32"], "Preamble code 32 does not belong to BPRF", ""),
      (["PRF_MODE=1", "SFD_ID=0"], "SFD 0 does not belong to HPRF", ""),
      (["PRF_MODE=1", "SFD_ID=4"], "", "SFD"), (["SFD_ID=0"], "", "SFD"),
      (["SFD_ID=3"], "SFD 3 does not belong to BPRF", ""),
      (["PRF_MODE=2", "PREAMBLE_DURATION=0"], "", "32 symbols"),
      (["PRF_MODE=1", "PSDU_DATA_RATE=1"], "", "PSDU"),
      (["PSDU_DATA_RATE=1"], "7.80 Mbit/s exists with HPRF only", ""),
      (["PSDU_DATA_RATE=4"], "", "PSDU"),
      (["PRF_MODE=1", "NUMBER_OF_STS_SEGMENTS=4"], "", "STS segments"),
      (["PRF_MODE=1", "NUMBER_OF_STS_SEGMENTS=0"], "0 STS segments do not go with", ""),
      (["RFRAME_CONFIG=SP0", "NUMBER_OF_STS_SEGMENTS=0"], "", "STS segments"),
      (["RFRAME_CONFIG=SP0", "NUMBER_OF_STS_SEGMENTS=1"], "1 STS segments do not go with SP0", ""),
    ])
  func frames(texts: [String], part: String, absent: String) throws {
    let found = try sentences(texts)
    #expect(part.isEmpty || found.contains { $0.contains(part) }, "\(found)")
    #expect(absent.isEmpty || !found.contains { $0.contains(absent) }, "\(found)")
  }

  @Test(
    "Schedules, roles, keys and addresses",
    arguments: [
      (["RANGING_ROUND_USAGE=eSS-TWR", "SCHEDULE_MODE=1"], "eSS-TWR is for contention-based"),
      (["SCHEDULE_MODE=hybrid", "RANGING_ROUND_USAGE=2"], "SCHEDULE_MODE is hybrid"),
      (["RANGING_ROUND_USAGE=UL-TDoA", "DEVICE_ROLE=initiator"], "does not take part in UL-TDoA"),
      (["RANGING_ROUND_USAGE=DL-TDoA", "DEVICE_ROLE=UT-tag"], "does not take part in DL-TDoA"),
      (["RANGING_ROUND_USAGE=OWR AoA", "DEVICE_ROLE=DT-tag"], "does not take part in OWR AoA"),
      (["RANGING_ROUND_USAGE=2", "DEVICE_ROLE=observer"], "does not take part in DS-TWR"),
      (["SLOT_DURATION=0"], "has no slots, or takes no time"),
      (["RANGING_DURATION=0"], "has no slots, or takes no time"),
      (
        ["DEVICE_TYPE=controlee", "STS_CONFIG=2"],
        "A controlee with a key of its own lacks SUB_SESSION_ID"
      ),
      (["DEVICE_TYPE=controlee", "STS_CONFIG=4", "SUB_SESSION_ID=1"], "lacks SUB_SESSION_KEY"),
      (["STS_CONFIG=dynamic", "VENDOR_ID=08:07"], "VENDOR_ID has no effect with STS_CONFIG"),
      (
        [
          "STS_CONFIG=static", "SUB_SESSION_ID=1",
          "SESSION_KEY=" + String(repeating: "01", count: 16),
        ],
        "SESSION_KEY, SUB_SESSION_ID have no effect"
      ),
      (["CHANNEL_NUMBER=9", "CHANNEL_NUMBER=5"], "CHANNEL_NUMBER is given twice"),
      (["CCC_LAST_STS_INDEX_USED=7"], "can be read but not written"),
      (["NUMBER_OF_CONTROLEES=hex:0C"], "12 controlees are more than most chips follow"),
      (["DST_MAC_ADDRESS=0x0001", "NUMBER_OF_CONTROLEES=2"], "NUMBER_OF_CONTROLEES is 2"),
      (["STATIC_STS_IV=010203040506", "STS_CONFIG=1"], "STS_CONFIG comes after STATIC_STS_IV"),
    ])
  func others(texts: [String], part: String) throws {
    let found = try sentences(texts)
    #expect(found.contains { $0.contains(part) }, "\(found)")
  }

  @Test("Parameters of a later version are a warning, of an earlier one an error")
  func versions() throws {
    let new = try sentences(["DL_TDOA_HOP_COUNT=1"], generation: .fira1)
    #expect(new.contains { $0 == "DL_TDOA_HOP_COUNT does not exist before FiRa 2.0." }, "\(new)")
    let old = try sentences(["TX_JITTER_WINDOW_SIZE=1"], generation: .fira3)
    #expect(old.contains { $0.hasPrefix("TX_JITTER_WINDOW_SIZE was removed") }, "\(old)")
    let late = try sentences(["UWB_INITIATION_TIME=hex:11270000"], generation: .fira1)
    #expect(late.contains { $0.contains("more than 10000 ms") }, "\(late)")
  }

  @Test("Qorvo's firmware takes four values of RANGING_ROUND_CONTROL", arguments: UInt8.min...15)
  func roundControl(value: UInt8) throws {
    let parameter = "RANGING_ROUND_CONTROL=\(value)"
    let found = try sentences([parameter], vendor: .qorvo)
    let isTaken = [2, 3, 6, 7].contains(value)
    #expect(
      found.contains { $0.hasPrefix("RANGING_ROUND_CONTROL is") && !$0.contains("result") }
        == !isTaken, "\(found)")
  }

  @Test(
    "Times in sentences",
    arguments: [(2400, "2 ms"), (1800, "1.5 ms"), (1250, "1.042 ms"), (12, "0.01 ms")])
  func milliseconds(rstu: Int, text: String) throws {
    let found = try sentences(["SLOT_DURATION=\(rstu)", "SLOTS_PER_RR=255", "RANGING_DURATION=1"])
    #expect(found.contains { $0.contains("255 slots of \(text) takes") }, "\(found)")
  }
}
