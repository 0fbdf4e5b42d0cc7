// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference

/// Properties of the notation that hold for every parameter and every value.
@Suite("The notation of every parameter")
struct ParameterNotationTests {
  /// Values of every length, from the ends of the range to nonsense.
  private static func samples(_ lengths: ClosedRange<Int> = 0...12) -> [[UInt8]] {
    var samples: [[UInt8]] = []
    for length in lengths {
      let zeros = [UInt8](repeating: 0, count: length)
      var (one, high, mixed) = (zeros, zeros, zeros)
      if length > 0 { (one[0], high[length - 1]) = (1, 0x80) }
      for index in mixed.indices { mixed[index] = UInt8(truncatingIfNeeded: 37 * index + 5) }
      samples += [zeros, one, high, mixed, [UInt8](repeating: 0xFF, count: length)]
    }
    return samples
  }

  @Test(
    "A parameter of a session is printed so that it is read again", arguments: UInt8.min...UInt8.max
  )
  func session(number: UInt8) throws {
    for value in Self.samples() where !value.isEmpty {
      let tlv = TLV(number, value)
      // Four bytes are FiRa 1.x's form of the initiation time, and the text does not mention
      // another form.
      let generation: Dialect.Generation =
        number == AppConfigID.uwbInitiationTime.rawValue && value.count == 4 ? .fira1 : .fira2
      let text = tlv.appConfigText(includingSecrets: true)
      #expect(try TLV(appConfig: text, for: generation) == tlv, "\(text)")
    }
  }

  @Test(
    "A parameter of the chip is printed so that it is read again",
    arguments: Dialect.Vendor.allCases)
  func device(vendor: Dialect.Vendor) throws {
    let dialect = Dialect(vendor: vendor)
    for id in DeviceConfigParameter.all.filter({ $0.applies(to: dialect) }).map(\.id) {
      for value in Self.samples() where !value.isEmpty {
        let text = "\(id.name(in: dialect))=\(id.form(in: dialect).text(value))"
        let read = try TLV(deviceConfig: text, in: dialect)
        #expect(read.id == id.number && read.subID == id.subID, "\(text)")
        #expect(read.value == value, "\(text)")
      }
    }
  }

  @Test("Each word that an error offers is accepted", arguments: AppConfigParameter.all)
  func offers(parameter: AppConfigParameter) throws {
    let form = ParameterForm(parameter)
    guard parameter.format == .number, !parameter.values.isEmpty, parameter.lengths == [1] else {
      #expect(!form.accepted.isEmpty)
      return
    }
    for (number, word) in parameter.values where form.accepted.contains("\(word) (\(number))") {
      #expect(try form.bytes(from: word) == [UInt8(number)], "\(parameter.name) \(word)")
      #expect(try form.bytes(from: "\(number)") == [UInt8(number)], "\(parameter.name) \(number)")
    }
    for (number, word) in parameter.values where parameter.range?.contains(number) ?? true {
      #expect(form.accepted.contains("\(word) (\(number))"), "\(parameter.name)")
    }
  }

  @Test(
    "Text that is no value is refused by each parameter",
    arguments: [
      "", " ", "-", "?", "hex:", "hex:0", "hex:0g", "1.", ".5", "0x", "1,", "ms", "+", "é",
    ])
  func refused(text: String) {
    for parameter in AppConfigParameter.all {
      #expect(throws: ParameterTextError.self, "\(parameter.name)") {
        try ParameterForm(parameter).bytes(from: text)
      }
    }
  }

  @Test(
    "Quantities of the wrong kind, and ones that are too large",
    arguments: [
      "SLOT_DURATION=1m", "NEAR_PROXIMITY=2ms", "CHANNEL_NUMBER=9ms", "SLOTS_PER_RR=6 rounds",
      "RANGING_DURATION=18446744073709551615s", "RANGING_DURATION=200 m s", "SLOT_DURATION=-2",
      "RANGING_DURATION=0.0000000001s", "STS_CONFIG=pro", "DEVICE_ROLE=UT",
      "DEVICE_MAC_ADDRESS=0x0001,0x0002", "DST_MAC_ADDRESS=0x0001,", "DST_MAC_ADDRESS=1:2:3",
      "DST_MAC_ADDRESS=0001,1122334455667788", "AOA_BOUND_CONFIG=1,2,3", "AOA_BOUND_CONFIG=1,2,3,x",
      "AOA_BOUND_CONFIG=-181,0,0,0", "AOA_BOUND_CONFIG=0,0,0,180.1", "AOA_BOUND_CONFIG=1m,2,3,4",
      "RESULT_REPORT_CONFIG=tof+nothing", "VENDOR_ID=08:07:06", "VENDOR_ID=0x10000",
      "STATIC_STS_IV=01:02:03:04:05", "SESSION_KEY=00", "KEY_ROTATION=maybe",
    ])
  func wrongKind(text: String) {
    #expect(throws: ParameterTextError.self) { try TLV(appConfig: text) }
  }

  @Test(
    "Lengths, times and angles in other units",
    arguments: [
      ("RANGING_DURATION=1min", [0x60, 0xEA, 0, 0]),
      ("RANGING_DURATION=0.5 min", [0x30, 0x75, 0, 0]),
      ("RANGING_DURATION=1h", [0x80, 0xEE, 0x36, 0]), ("SLOT_DURATION=2500us", [0xB8, 0x0B]),
      ("SLOT_DURATION=2000000ns", [0x60, 0x09]), ("SLOT_DURATION=2500µs", [0xB8, 0x0B]),
      ("INTER_FRAME_INTERVAL=1200rstu", [1]), ("NEAR_PROXIMITY=0.25m", [25, 0]),
      ("FAR_PROXIMITY=1500mm", [150, 0]), ("FAR_PROXIMITY=655.35m", [0xFF, 0xFF]),
      ("SECURE_RANGING_CSW_LENGTH=50cm", [2]), ("CCC_URSK_TTL=12h", [0xD0, 0x02]),
      ("UWB_INITIATION_TIME=1s", [0x40, 0x42, 0x0F, 0, 0, 0, 0, 0]),
      ("AOA_BOUND_CONFIG=-180,180,-90,90", [0, 0xA6, 0, 0x5A, 0, 0xD3, 0, 0x2D]),
      ("AOA_BOUND_CONFIG=-90°,90 deg,0,0.5", [0, 0xD3, 0, 0x2D, 0, 0, 0x40, 0]),
      ("MAX_RR_RETRY=3 rounds", [3, 0]), ("MAX_RR_RETRY=1 round", [1, 0]),
      ("HOP_MODE_KEY=00112233445566778899aabbccddeeff", (0..<16).map { UInt8($0 * 0x11) }),
    ] as [(String, [UInt8])])
  func units(text: String, value: [UInt8]) throws {
    #expect(try TLV(appConfig: text).value == value)
  }

  @Test(
    "Parameters of the chip by name, number and two numbers",
    arguments: [
      ("LOW_POWER_MODE=off", Dialect.Vendor.unknown, 0x01, nil as UInt8?, [0]),
      ("low power mode = enabled", .nxp, 0x01, nil, [1]), ("0x01=1", .qorvo, 0x01, nil, [1]),
      ("CHANNEL_NUMBER=5", .qorvo, 0xA0, nil, [5]),
      ("PM_MIN_INACTIVITY_S4=2s", .qorvo, 0xA9, nil, [0xD0, 0x07, 0, 0]),
      ("DPD_ENTRY_TIMEOUT=0.5s", .nxp, 0xE4, 0x04, [0xF4, 0x01]),
      ("0xE4:0x04=2000", .nxp, 0xE4, 0x04, [0xD0, 0x07]),
      ("228:51=on", .nxp, 0xE4, 0x33, [1]),
      ("WIFI_COEX=01:02:03:04", .nxp, 0xE4, 0x67, [1, 2, 3, 4]),
      ("TX_PULSE_SHAPE=2F:2F:2F:00", .nxp, 0xE4, 0x28, [0x2F, 0x2F, 0x2F, 0]),
      ("0xDF=01:02", .unknown, 0xDF, nil, [1, 2]),
    ] as [(String, Dialect.Vendor, UInt8, UInt8?, [UInt8])])
  func device(
    text: String, vendor: Dialect.Vendor, number: UInt8, subID: UInt8?, value: [UInt8]
  ) throws {
    let tlv = try TLV(deviceConfig: text, in: Dialect(vendor: vendor))
    #expect(tlv == TLV(number, value, subID: subID))
  }

  @Test(
    "Names and numbers that no parameter of the chip has",
    arguments: ["=1", "256=1", "0xE4:256=1", "1:2:3=1", "0xE4:=1", ":4=1", "LOW_POWR_MODE=1", "x"])
  func noDevice(text: String) {
    #expect(throws: ParameterTextError.self) {
      try TLV(deviceConfig: text, in: Dialect(vendor: .nxp))
    }
  }

  @Test("A description of any value exists, whatever its length")
  func anyValue() {
    func check<ID: TabulatedID>(_ all: [Parameter<ID>]) {
      for parameter in all {
        for value in Self.samples() where !value.isEmpty {
          #expect(!parameter.words(for: value).isEmpty, "\(parameter.name)")
          // A value that its format does not fit is listed as its bytes, and none is dropped.
          if case .list(let list) = parameter.fieldValue(of: value) {
            #expect(!list.isEmpty && list.count <= value.count, "\(parameter.name) \(value)")
          }
        }
      }
    }
    check(AppConfigParameter.all)
    check(DeviceConfigParameter.all)
    check(CapabilityParameter.all)
    check(Parameter<NXPAppConfigID>.all)
    check(Parameter<NXPCalibrationID>.all)
    check(Parameter<RadarConfigID>.all)
    check(Parameter<TestConfigID>.all)
  }

  @Test("Every number of a parameter has words for values of its length only")
  func wordsFit() {
    func check<ID: TabulatedID>(_ all: [Parameter<ID>]) {
      for row in all {
        let bits = UInt64(8 * (row.lengths.max() ?? 8))
        let isMask = row.format == .mask || row.format == .maskBigEndian
        for number in row.values.keys {
          #expect(
            isMask ? number < bits : bits >= 64 || number >> bits == 0, "\(row.name) \(number)")
        }
        #expect(row.values.values.allSatisfy { !$0.isEmpty }, "\(row.name)")
        #expect(
          Set(row.values.values).count == row.values.count, "\(row.name): one word, two values")
        if let range = row.range, let longest = row.lengths.max(), longest < 8 {
          #expect(range.upperBound >> UInt64(8 * longest) == 0, "\(row.name)")
        }
        #expect(row.summary.isEmpty || row.summary.hasSuffix("."), "\(row.name)")
      }
    }
    check(AppConfigParameter.all)
    check(DeviceConfigParameter.all)
    check(CapabilityParameter.all)
    check(Parameter<NXPAppConfigID>.all)
    check(Parameter<RadarConfigID>.all)
    check(Parameter<TestConfigID>.all)
  }
}
