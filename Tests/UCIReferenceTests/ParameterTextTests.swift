// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference
import UCITestSupport

@Suite("Parameters as people write them")
struct ParameterTextTests {
  private func bytes(_ text: String, _ generation: Dialect.Generation = .fira2) throws -> TLV {
    try TLV(appConfig: text, for: generation)
  }

  @Test(
    "Units, words, addresses and bytes",
    arguments: [
      ("SLOT_DURATION=2ms", 0x08, [0x60, 0x09]), ("SLOT_DURATION=2400rstu", 0x08, [0x60, 0x09]),
      ("SLOT_DURATION=2400", 0x08, [0x60, 0x09]), ("SLOT_DURATION=0x960", 0x08, [0x60, 0x09]),
      ("slot-duration = 2.5 ms", 0x08, [0xB8, 0x0B]), ("0x08=1ms", 0x08, [0xB0, 0x04]),
      ("RANGING_DURATION=200ms", 0x09, [0xC8, 0, 0, 0]),
      ("RANGING_INTERVAL=0.2s", 0x09, [0xC8, 0, 0, 0]),
      ("RANGING_DURATION=240000 RSTU", 0x09, [0xC8, 0, 0, 0]),
      ("CHANNEL_NUMBER=9", 0x04, [9]), ("SLOTS_PER_RR=25 slots", 0x1B, [25]),
      ("DEVICE_MAC_ADDRESS=0x0001", 0x06, [1, 0]), ("DEVICE_MAC_ADDRESS=00:01", 0x06, [1, 0]),
      (
        "DEVICE_MAC_ADDRESS=11:22:33:44:55:66:77:88", 0x06,
        [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]
      ),
      ("DST_MAC_ADDRESS=0001,0002", 0x07, [1, 0, 2, 0]),
      ("STS_CONFIG=static", 0x02, [0]), ("STS_CONFIG=provisioned", 0x02, [3]),
      ("RANGING_ROUND_USAGE=ds-twr deferred", 0x01, [2]), ("PRF_MODE=bprf", 0x1F, [0]),
      ("RSSI_REPORTING=yes", 0x13, [1]), ("HOPPING_MODE=off", 0x2C, [0]),
      ("RESULT_REPORT_CONFIG=tof+azimuth+fom", 0x2E, [0x0B]),
      ("RESULT_REPORT_CONFIG=0x0B", 0x2E, [0x0B]),
      ("VENDOR_ID=08:07", 0x27, [8, 7]), ("VENDOR_ID=0x0708", 0x27, [8, 7]),
      ("STATIC_STS_IV=010203040506", 0x28, [1, 2, 3, 4, 5, 6]),
      ("STATIC_STS_IV=01 02 03 04 05 06", 0x28, [1, 2, 3, 4, 5, 6]),
      ("FAR_PROXIMITY=1.5m", 0x10, [150, 0]), ("SECURE_RANGING_CSW_LENGTH=1m", 0x4B, [4]),
      ("AOA_BOUND_CONFIG=-60,60,-30.5,30", 0x1D, [0, 0xE2, 0, 0x1E, 0xC0, 0xF0, 0, 0x0F]),
      ("UWB_INITIATION_TIME=500ms", 0x2B, [0x20, 0xA1, 0x07, 0, 0, 0, 0, 0]),
      ("0x7E=01:02", 0x7E, [1, 2]), ("CHANNEL_NUMBER=hex:FF", 0x04, [0xFF]),
    ])
  func reading(text: String, id: Int, value: [UInt8]) throws {
    #expect(try bytes(text) == TLV(UInt8(id), value))
  }

  @Test("UWB_INITIATION_TIME is milliseconds in four bytes or microseconds in eight")
  func initiationTime() throws {
    #expect(try bytes("UWB_INITIATION_TIME=500", .fira1).value == [0xF4, 1, 0, 0])
    #expect(try bytes("UWB_INITIATION_TIME=0.5s", .fira1).value == [0xF4, 1, 0, 0])
    #expect(try bytes("UWB_INITIATION_TIME=500").value == [0xF4, 1, 0, 0, 0, 0, 0, 0])
    #expect(AppConfigID.uwbInitiationTime.form().text([0xF4, 1, 0, 0]) == "500 ms")
    #expect(AppConfigID.uwbInitiationTime.form().text([0xF4, 1, 0, 0, 0, 0, 0, 0]) == "500 us")
  }

  @Test(
    "What cannot be taken says what can",
    arguments: [
      ("SLOT_DURATON=2", "There is no parameter SLOT_DURATON. Nearest: SLOT_DURATION."),
      ("BANANA=1", "There is no parameter BANANA."),
      ("SLOT_DURATION", "SLOT_DURATION lacks a value: write NAME=value."),
      (
        "SLOT_DURATION=2m",
        "SLOT_DURATION does not take '2m'; it takes a number of RSTU or a time (2400, 2ms), "
          + "0…65535."
      ),
      (
        "SLOT_DURATION=0.0001ms",
        "'0.0001ms' is not a whole number of RSTU, in which SLOT_DURATION is counted."
      ),
      (
        "STS_CONFIG=dynamo",
        "STS_CONFIG does not take 'dynamo'; it takes static (0), dynamic (1), dynamic, controlee "
          + "key (2), provisioned (3), provisioned, controlee key (4)."
      ),
      (
        "SESSION_PRIORITY=101",
        "'101' is outside the range of SESSION_PRIORITY; it takes a number, 1…100."
      ),
      (
        "RANGING_DURATION=99999999999",
        "'99999999999' is outside the range of RANGING_DURATION; it takes a number of ms or a time "
          + "(200, 200ms, 0.2s), 0…4294967295."
      ),
      (
        "DEVICE_MAC_ADDRESS=xyz",
        "DEVICE_MAC_ADDRESS does not take 'xyz'; it takes an address, most significant byte first: "
          + "0x0001, 00:01, or eight bytes."
      ),
    ])
  func refusing(text: String, sentence: String) {
    let error = #expect(throws: ParameterTextError.self) { try TLV(appConfig: text) }
    #expect(error?.description == sentence)
  }

  @Test("The value of a secret parameter is in no error and in no text unless asked for")
  func secrets() throws {
    for id in AppConfigParameter.all.map(\.id) where id.isSecret {
      let error = #expect(throws: ParameterTextError.self) {
        try id.form().bytes(from: "C0FFEE")
      }
      #expect(error?.description.contains("C0FFEE") == false)
      let tlv = TLV(id, [0xC0, 0xFF, 0xEE])
      #expect(tlv.appConfigText() == "\(id.name)=(hidden)")
      #expect(tlv.appConfigText(includingSecrets: true).contains("C0:FF:EE"))
    }
  }

  @Test("What is printed can be read again", arguments: AppConfigParameter.all)
  func roundTrip(parameter: AppConfigParameter) throws {
    let id = try AppConfigID(named: parameter.name)
    let form = ParameterForm(parameter)
    // Two identifiers have had one name, on chips of different vendors.
    #expect(id == parameter.id || parameter.vendors == [.qorvo], "\(parameter.name)")
    #expect(!form.accepted.isEmpty)
    func check(_ bytes: [UInt8]) throws {
      let text = form.text(bytes)
      let generation: Dialect.Generation =
        id == .uwbInitiationTime && bytes.count == 4 ? .fira1 : .fira2
      #expect(try form.bytes(from: text, for: generation) == bytes, "\(text)")
    }
    func bytes(_ value: UInt64, _ length: Int) -> [UInt8] {
      (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
    for length in parameter.lengths.isEmpty ? [2, 4, 16] : parameter.lengths {
      var numbers = [0, 1, 0x7F] + parameter.values.keys.sorted()
      numbers += [parameter.range?.lowerBound, parameter.range?.upperBound, parameter.defaultValue]
        .compactMap(\.self)
      for number in numbers where length >= 8 || number >> UInt64(8 * length) == 0 {
        // A number with shorter forms is written in the shortest length into which it fits.
        if parameter.lengths.contains(where: { $0 < length }), id != .uwbInitiationTime,
          !form.text(bytes(number, length)).contains(":")
        {
          continue
        }
        try check(bytes(number, length))
      }
      try check((0..<UInt8(length)).map { $0 &* 37 &+ 5 })
    }
    try check([1, 2, 3, 4, 5, 6, 7])
  }

  @Test("The default of each parameter is within what the parameter takes")
  func defaults() throws {
    for parameter in AppConfigParameter.all {
      guard let value = parameter.defaultValue else { continue }
      #expect(parameter.range?.contains(value) ?? true, "\(parameter.name)")
      #expect(
        parameter.format == .mask || parameter.values.isEmpty || parameter.values[value] != nil,
        "\(parameter.name)")
    }
  }

  @Test("Names that are nearly right are recognised")
  func nearest() {
    let names = ["CHANNEL_NUMBER", "SLOT_DURATION", "RANGING_DURATION", "SLOTS_PER_RR"]
    #expect(nearestNames(to: "chanel_number", in: names) == ["CHANNEL_NUMBER"])
    #expect(nearestNames(to: "slots", in: names).first == "SLOTS_PER_RR")
    #expect(nearestNames(to: "duration", in: names) == ["SLOT_DURATION", "RANGING_DURATION"])
    #expect(nearestNames(to: "", in: names).isEmpty)
    #expect(nearestNames(to: "okay", in: ["OK", "READY", "OK"]) == ["OK"])
    #expect(nearestNames(to: "foo", in: ["OK", "READY", "OK"]).isEmpty)
    #expect(nearestNames(to: String(repeating: "a", count: 5_000), in: names).isEmpty)
    // Letters are swapped, omitted, inserted and replaced. All of these at once have the greatest
    // accepted distance.
    #expect(nearestNames(to: "SOLT_DRUATION", in: names) == ["SLOT_DURATION"])
    #expect(nearestNames(to: "SLT_DURATTON", in: names) == ["SLOT_DURATION"])
    #expect(nearestNames(to: "x_SLT_DRUATTON", in: names) == ["SLOT_DURATION"])
    #expect(nearestNames(to: "SLOTDURATIONxxxxxx", in: names) == ["SLOT_DURATION"])
    #expect(nearestNames(to: "SLOTDURATIONxxxxxxx", in: names).isEmpty)
    // A name with all letters in another order counts as another word.
    #expect(nearestNames(to: "NOITARUD_TOLS", in: names).isEmpty)
  }

  @Test("Every name and number is found by any way of writing it; names of today come first")
  func everyName() throws {
    for parameter in AppConfigParameter.all {
      let first = try #require(
        AppConfigParameter.all.first { $0.name == parameter.name })
      #expect(try AppConfigID(named: parameter.name.lowercased()) == first.id)
    }
    for number in UInt8.min...UInt8.max {
      let id = AppConfigID(rawValue: number)
      #expect(try AppConfigID(named: "\(number)") == id)
      let found = try AppConfigID(named: id.name)
      #expect(found.name == id.name)
    }
    #expect(try AppConfigID(named: "ranging interval") == .rangingDuration)
    #expect(try AppConfigID(named: "NoOfControlee") == .numberOfControlees)
  }
}
