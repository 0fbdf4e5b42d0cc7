// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Formats
import Foundation
import SystemPackage
import ProgramTestSupport
import Testing
import UWBTestSupport
import UCI
import UCIReference
import UWB
import UWBLink
import UWBSimulator
import UWBTools

@Suite(.ownThreads) struct ConfigTests {
  /// Calls `body` with a connection to a simulated chip, and with whether the chip was reset for
  /// the connection.
  @discardableResult
  static func withChip(
    _ chip: SimulatedBench.Chip, reset: Bool = false, _ body: (UWBDevice) async throws -> Void
  ) async throws -> Bool {
    let options = try DeviceOptions.naming(chip.path, ChipOptions.parse([]))
    return try await options.withDevice(resetPolicy: reset ? .reset : .keepState) { device, _ in
      try await body(device)
      return device.wasReset
    }
  }

  /// Leaves a configured session on the chip, as a program that crashed does.
  static func abandonSession(on chip: SimulatedBench.Chip) async throws -> UInt32 {
    var token: UInt32 = 0
    try await withChip(chip) { connection in
      let response = try await connection.send(SessionInit(sessionID: 7))
      token = try #require(response.handle)
      let configuration = SessionConfiguration(
        role: .controller, sessionID: 7, address: MACAddress(1), peers: [MACAddress(2)])
      let set = try await connection.send(
        SetAppConfig(
          sessionToken: token,
          parameters: configuration.parameters(for: connection.dialect.generation)))
      #expect(set.status == .ok)
    }
    return token
  }

  @Test func readingASessionOfAnotherProgramDoesNotEndIt() async throws {
    let (bench, chip) = try simulatedChip()
    let token = try await Self.abandonSession(on: chip)
    for _ in 0..<2 {
      let wasReset = try await Self.withChip(chip) { connection in
        let parameters = ChipParameters(chip: connection, session: token)
        let wanted = try ["slot-duration", "CHANNEL_NUMBER", "STATIC_STS_IV"].map(parameters.id)
        let (found, refused) = try await parameters.read(wanted)
        #expect(refused.isEmpty)
        #expect(
          found.map { parameters.name(of: $0) } == [
            "SLOT_DURATION", "CHANNEL_NUMBER", "STATIC_STS_IV",
          ])
        #expect(found.map { parameters.text(of: $0) }.prefix(2) == ["2400 RSTU", "9"])
        #expect(found.map { parameters.isSecret($0) } == [false, false, true])
      }
      #expect(!wasReset)
    }
    bench.stop()
  }

  @Test func aMissingSessionIsAnError() async throws {
    let (bench, chip) = try simulatedChip()
    await #expect(throws: DriverError.self) {
      try await Self.withChip(chip) { connection in
        let parameters = ChipParameters(chip: connection, session: 99)
        _ = try await parameters.read(parameters.all)
      }
    }
    bench.stop()
  }

  @Test func parametersOfTheChipAreReadAndSet() async throws {
    let (bench, chip) = try simulatedChip()
    try await Self.withChip(chip) { connection in
      let parameters = ChipParameters(chip: connection, session: nil)
      let (before, _) = try await parameters.read([try parameters.id("low power mode")])
      #expect(before.map { parameters.text(of: $0) } == ["on"])
      let response = try await parameters.write([
        try parameters.parameter("LOW_POWER_MODE=off"), TLV(0x77, [1]),
      ])
      #expect(response.refused?.map(\.id) == [0x77])
      let (after, refused) = try await parameters.read([
        try parameters.id("0x01"), try parameters.id("0x77"),
      ])
      #expect(after.map { parameters.text(of: $0) } == ["off"])
      #expect(refused.map(\.0.id) == [0x77])
      let (all, _) = try await parameters.read(parameters.all)
      #expect(all.map { parameters.name(of: $0) }.starts(with: ["DEVICE_STATE", "LOW_POWER_MODE"]))
    }
    bench.stop()
  }

  @Test func aChipThatOnlyAnswersAfterAResetIsReset() async throws {
    let (bench, chip) = try simulatedChip(.sr250)
    let wasReset = try await Self.withChip(chip) { connection in
      #expect(connection.profile.vendor == .nxp)
      let parameters = ChipParameters(chip: connection, session: nil)
      let (found, _) = try await parameters.read([try parameters.id("LOW_POWER_MODE")])
      #expect(found.count == 1)
    }
    #expect(wasReset)
    bench.stop()
  }

  @Test func identifiersOfTwoBytesAreOneParameter() throws {
    let dialect = Dialect(generation: .fira2, vendor: .nxp)
    let id = try DeviceConfigID(named: "DPD_ENTRY_TIMEOUT", in: dialect)
    #expect(id == DeviceConfigID(0xE4, 0x04))
    #expect(try DeviceConfigID(named: "0xE4:0x04", in: dialect) == id)
    let tlv = try TLV(deviceConfig: "dpd-entry-timeout=1s", in: dialect)
    #expect(tlv.value == [0xE8, 0x03])
    var writer = PayloadWriter()
    GetConfig([DeviceConfigID(tlv)]).encode(into: &writer, dialect: dialect)
    #expect(writer.bytes == [1, 0xE4, 0x04])
  }

  @Test func sessionParametersAreNotChipParameters() throws {
    let error = #expect(throws: ParameterTextError.self) {
      try DeviceConfigID(named: "SLOT_DURATION", in: .assumed)
    }
    let words = ChipParameters.message(
      for: try #require(error), session: nil)
    #expect(words.contains("SLOT_DURATION is a session parameter"))
    let other = #expect(throws: ParameterTextError.self) {
      try DeviceConfigID(named: "LOW_POWR_MODE", in: .assumed)
    }
    #expect(
      ChipParameters.message(for: try #require(other), session: nil).contains("LOW_POWER_MODE"))
  }

  @Test func theListShowsAcceptedValues() throws {
    let rows = ParameterRow.all(.assumed, .all, ["slot-duration"])
    #expect(rows.map(\.name) == ["SLOT_DURATION"])
    let text = try #require(rows.first).text
    #expect(text.hasPrefix("SLOT_DURATION  0x08  (equal on both peers)\n"))
    #expect(text.contains("a number of RSTU or a time (2400, 2ms), 0…65535; default 2400 RSTU\n"))
    let nxp = ParameterRow.all(
      Dialect(generation: .fira2, vendor: .nxp), .device, ["dpd_entry"])
    #expect(nxp.first?.text.contains("0xE4:0x04  (of the chip)") == true)
    #expect(ParameterRow.all(.assumed, .device, ["dpd_entry"]).isEmpty)
  }

  @Test func allRowsOfTheListAreJSONWithTheSameKeys() throws {
    var keys: Set<Set<String>> = []
    for vendor in [Dialect.Vendor.unknown, .qorvo, .nxp] {
      for row in ParameterRow.all(Dialect(vendor: vendor)) {
        let object = try #require(
          try JSONSerialization.jsonObject(with: Data(ParameterRow.json.line(row).utf8))
            as? [String: Any])
        keys.insert(Set(object.keys).subtracting(["sub_id"]))
      }
    }
    #expect(keys.count == 1)
  }

  @Test func capabilitiesAreInWords() async throws {
    let (bench, chip) = try simulatedChip()
    var list: CapabilityList?
    try await Self.withChip(chip) { connection in
      let response = try await connection.send(GetCapabilities())
      list = CapabilityList(response.parameters ?? [], dialect: connection.dialect)
    }
    bench.stop()
    let rows = try #require(list).rows
    #expect(rows.count == 26)
    #expect(rows.first { $0.name == "CHANNELS" }?.words == "5, 9")
    let text = try #require(list).text
    #expect(text.contains("\nFIRA_PHY_VERSION_RANGE"))
    #expect(text.split(separator: "\n").count == 26)
    for line in try #require(list).rows.map(CapabilityList.json.line) {
      #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
    }
  }
}
