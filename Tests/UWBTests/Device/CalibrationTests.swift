// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import SystemPackage
import Testing
import UCI
import UWBLink
import UWBSimulator

@testable import UWB

@Suite(.timeLimit(.minutes(10))) struct CalibrationTests {
  // MARK: values as text

  // The bytes of NXP's values are from the published log of an SR250.
  @Test(
    arguments: [
      (CalibrationScheme.namedKeys, "ant0.ch9.ant_delay", "15 40 00 00", "16405 ticks"),
      (.namedKeys, "ant3.transceiver", "02", "rxb"),
      (.namedKeys, "ant_pair0.ch5.pdoa.offset", "00 fc", "-0.5 rad"),
      (.namedKeys, "ant_set0.rx_ants", "01 ff ff", "1, -1, -1"),
      (.namedKeys, "ant0.ch5.rssi_offset_q3", "f4", "-1.5 dB"),
      (.namedKeys, "ant0.ch9.ref_frame7.tx_power_index", "0c 0d 0e 0f", "12, 13, 14, 15"),
      (.namedKeys, "ref_frame0.phy_cfg", "44 21 07", "hex:442107"),
      (.namedKeys, "ch9.wifi_coex_enabled", "01", "yes"),
      (.numberedParameters, "rf_clk_accuracy", "03 2500 2500 0400", "37, 37, 4"),
      (
        .numberedParameters, "ch5.rx_ant_delay", "04 01 7848 02 7248 03 7648 04 6948",
        "1: 4638, 2: 4636.5, 3: 4637.5, 4: 4634.25 cm"
      ),
      (
        .numberedParameters, "ch5.pdoa_offset", "02 01 d23a 02 46c2",
        "1: 117.640625, 2: -123.453125 deg"
      ),
      (
        .numberedParameters, "ch9.tx_power_per_ant", "02 01 0300 2f00 02 0300 3200",
        "1: 3 47, 2: 3 50"
      ),
      (.numberedParameters, "ch9.0x5C", "01 02", "hex:0102"),
    ] as [(CalibrationScheme, String, String, String)])
  func valuesAreReadAndWritten(
    _ scheme: CalibrationScheme, _ name: String, _ hex: String, _ text: String
  ) throws {
    let value = try #require(scheme.value(named: name))
    #expect(value.text(bytes(hex)) == text)
    #expect(try value.bytes(from: text) == bytes(hex))
  }

  @Test func whatHasAnotherFormIsShownAsBytesAndTakenAsSuch() throws {
    let value = try #require(CalibrationScheme.namedKeys.value(named: "ant0.ch9.ant_delay"))
    #expect(value.text([1, 2]) == "hex:0102")
    #expect(try value.bytes(from: "hex:01 02") == [1, 2])
    #expect(try value.bytes(from: "0x4015") == [0x15, 0x40, 0, 0])
  }

  @Test(arguments: [
    ("ant0.ch9.ant_delay", "4294967296"), ("ant0.ch9.ant_delay", "-1"),
    ("ant0.ch9.ant_delay", "fast"), ("ant0.ch9.pa_gain_offset", "128"),
    ("ant_set0.rx_ants", "1, 2"), ("ant_pair0.ch9.pdoa.offset", "16"),
    ("ant_pair0.ch9.pdoa.offset", "nan"), ("ref_frame0.phy_cfg", "442107"),
    ("ant0.lna", "perhaps"), ("ant0.lna", "hex:0"),
  ])
  func whatAValueDoesNotTake(_ name: String, _ text: String) throws {
    let value = try #require(CalibrationScheme.namedKeys.value(named: name))
    #expect(throws: CalibrationError.self) { try value.bytes(from: text) }
  }

  @Test func whatIsNoName() {
    for name in ["", "ant0", "ANT0.CH9.ANT_DELAY", "a b.c"] {
      #expect(CalibrationScheme.namedKeys.value(named: name) == nil, "\(name)")
    }
    for name in ["rx_ant", "ch300.rx_ant_delay", "ch9.0x1FF", "chx.pdoa_offset"] {
      #expect(CalibrationScheme.numberedParameters.value(named: name) == nil, "\(name)")
    }
    // Firmwares have more keys than published; their values are bytes.
    #expect(CalibrationScheme.namedKeys.value(named: "ant0.new_key")?.form == .bytes)
    #expect(CalibrationScheme.namedKeys.value(named: "ant4.transceiver")?.form == .bytes)
  }

  @Test func everyNameIsFoundAgain() {
    for scheme in [CalibrationScheme.namedKeys, .numberedParameters] {
      #expect(scheme.values.count > 15)
      #expect(Set(scheme.values.map(\.name)).count == scheme.values.count)
      for value in scheme.values { #expect(scheme.value(named: value.name) == value) }
    }
  }

  @Test("Parameters of NXP's chips by name and by number")
  func numbers() {
    for (name, channel, parameter) in [
      ("rf_clk_accuracy", 0, 0x01), ("ch5.rx_ant_delay", 5, 0x02), ("ch9.pdoa_offset", 9, 0x03),
      ("ch9.tx_power_per_ant", 9, 0x04), ("ch9.aoa_antennas_pdoa_calib", 9, 0x62),
      ("ch5.tx_ant_delay", 5, 0x64), ("ch5.pdoa_manufact_zero_offset", 5, 0x65),
      ("ch9.aoa_threshold_pdoa", 9, 0x66), ("ch9.tx_temperature_comp_per_ant", 9, 0x67),
      ("ch9.rssi_calib_constant_per_ant", 9, 0x69), ("ch255.0xfe", 255, 0xFE), ("0x5C", 0, 0x5C),
    ] as [(String, UInt8, UInt8)] {
      let wire = NXPCalibrationTable.wire(name)
      #expect(wire?.channel == channel && wire?.parameter == parameter, "\(name)")
      let isListed = CalibrationScheme.numberedParameters.values.contains { $0.name == name }
      #expect(isListed == !name.contains("0x"), "\(name)")
    }
  }

  @Test func namesAreAskedForInCommandsThatAFirmwareTakesWhole() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      guard packet.starts(with: [0x2E, 0x2B]) else { return DWM3001CDK.answers(packet) }
      return [[0x4E, 0x2B, 0x00, 0x03, 0x00, 0x00, 0x00]]
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    // The chip returns values neither for the name "all" nor for any other name.
    #expect(try await device.calibration().isEmpty)
    let asked = chip.packets.filter { $0.starts(with: [0x2E, 0x2B]) }.dropFirst()
    #expect(asked.allSatisfy { $0.count <= 4 + 2 + 200 })
    // Another name of at most 40 bytes would not have fit.
    #expect(asked.dropLast().allSatisfy { $0.count > 4 + 2 + 200 - 41 })
    let names = asked.reduce(0) { $0 + Int($1[4]) }
    #expect(names == CalibrationScheme.namedKeys.values.count)
    await #expect(
      throws: CalibrationError.refused(name: "xtal_trim", status: "FAILED", code: 0x02)
    ) { try await device.calibration(["xtal_trim"]) }
    await device.close()
  }

  // MARK: on chips

  static func withDevice(
    _ profile: ChipProfile, _ body: (UWBDevice) async throws -> Void
  ) async throws {
    let bench = SimulatedBench()
    let chip = try bench.add(profile: profile, at: SIMD3(0, 0, 0))
    bench.start()
    let options = UWBDevice.Options(profile: profile.name == "sr250" ? .nxp : nil)
    let device = try await UWBDevice.open(
      .serial(path: FilePath(chip.path)), options: options.patient)
    try await body(device)
    await device.close()
    bench.stop()
  }

  @Test func keysAreWrittenAndReadBack() async throws {
    try await Self.withDevice(.qm33) { device in
      let name = "ant0.ch9.ant_delay"
      #expect(try await device.calibration([name]).first?.bytes == [0x15, 0x40, 0, 0])
      try await device.calibrate([CalibrationEntry(name: name, bytes: [0x4B, 0x40, 0, 0])])
      #expect(try await device.calibration([name]).first?.bytes == [0x4B, 0x40, 0, 0])
      // More names than fit into one command.
      let all = try await device.calibration()
      #expect(all.count > 40)
      #expect(try await device.calibration(all.map(\.name)) == all)
    }
  }

  @Test func nothingIsWrittenWhereALengthIsWrong() async throws {
    try await Self.withDevice(.qm33) { device in
      let entries = [
        CalibrationEntry(name: "xtal_trim", bytes: [1]),
        CalibrationEntry(name: "ant0.ch9.ant_delay", bytes: [1, 2]),
      ]
      await #expect(
        throws: CalibrationError.wrongLength(name: "ant0.ch9.ant_delay", expected: 4, given: 2)
      ) { try await device.calibrate(entries) }
      let untouched = try await device.calibration(["xtal_trim"])
      #expect(untouched.first?.bytes == [0x2E])
    }
  }

  @Test func parametersAreWrittenAndReadBack() async throws {
    try await Self.withDevice(.sr250) { device in
      let entry = CalibrationEntry(name: "ch9.pdoa_offset", bytes: [1, 1, 0, 0x3C])
      try await device.calibrate([entry])
      #expect(
        try await device.calibration(["ch9.pdoa_offset", "ch9.0x03"]).map(\.bytes)
          == [entry.bytes, entry.bytes])
      #expect(try await device.calibration().count == 15)
    }
  }

  @Test func whatAChipDoesNotHave() async throws {
    try await Self.withDevice(.qm33) { device in
      await #expect(
        throws: CalibrationError.refused(
          name: "ant3.port", status: "INVALID_PARAM", code: 0x04)
      ) { try await device.calibration(["ant3.port"]) }
      await #expect(
        throws: CalibrationError.unknownName("xtal_trimm", nearest: ["xtal_trim"])
      ) { try await device.calibration(["xtal_trimm"]) }
    }
    try await Self.withDevice(.sr250) { device in
      await #expect(
        throws: CalibrationError.refused(
          name: "ch9.0x5C", status: "INVALID_PARAM", code: 0x04)
      ) { try await device.calibration(["ch9.0x5C"]) }
    }
    try await Self.withDevice(.fira1) { device in
      await #expect(throws: CalibrationError.unsupported(chip: "UCI device")) {
        try await device.calibration()
      }
    }
  }

  @Test func aBackupNamesItsChipAndHoldsEverything() async throws {
    try await Self.withDevice(.qm33) { device in
      let backup = try await device.backUpCalibration(created: "2026-01-02T03:04:05Z")
      #expect(backup.device.family == "Qorvo QM33")
      #expect(backup.device.firmware == "1.1.0")
      #expect(backup.device.chipID == "00005056345832300ee0ca09")
      let all = try await device.calibration()
      #expect(try backup.entries() == all)
      #expect(backup.values.first { $0.name == "ant0.ch9.ant_delay" }?.text == "16405 ticks")
    }
    var broken = CalibrationBackup(
      format: CalibrationBackup.format, created: nil,
      device: .init(family: "", chipID: nil, firmware: nil, uci: ""),
      values: [.init(name: "xtal_trim", hex: "0", text: nil)])
    #expect(throws: CalibrationError.self) { try broken.entries() }
    broken.values[0].hex = String(repeating: "00", count: 256)
    #expect(throws: CalibrationError.self) { try broken.entries() }
  }
}
