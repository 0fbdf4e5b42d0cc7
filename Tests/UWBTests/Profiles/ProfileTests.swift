// SPDX-License-Identifier: Apache-2.0

import Foundation
import UWB
import Testing
import UWBTestSupport
import UCI
import UCIReference

@Suite("Session profiles", .computes)
struct ProfileTests {
  private func read(_ text: String) throws -> SessionProfile {
    try SessionProfile(Array(text.utf8))
  }

  @Test(
    "Each preset can work, fits its other end, and is read again as it is printed",
    arguments: Preset.allCases)
  func presets(preset: Preset) throws {
    for role in [SessionConfiguration.Role.controller, .controlee] {
      let profile = preset.profile(role)
      let text = profile.text(complete: true, includingSecrets: true, remarks: preset.remarks)
      #expect(try read(text) == profile)
      for vendor in [Dialect.Vendor.unknown, .qorvo, .nxp, .android] {
        let dialect = Dialect(vendor: vendor)
        let problems = ConfigurationCheck(profile.parameters(for: dialect)).problems()
        #expect(problems.errors.isEmpty, "\(problems)")
      }
    }
    let controller = preset.profile(.controller).parameters(for: .assumed)
    let controlee = preset.profile(.controlee).parameters(for: .assumed)
    #expect(controller.destinations == [controlee.address])
    #expect(controlee.destinations == [controller.address])
  }

  // This is the packet of run_fira_twr without options, except for the order of parameters.
  @Test func qorvoPresetIsWhatTheToolSends() throws {
    let profile = Preset.qorvoKit.profile(.controller)
    #expect(profile.sessionID == 42)
    // The tool's 27 parameters and MAC_ADDRESS_MODE, which has to come before addresses.
    #expect(profile.parameters.count == 28)
    #expect(profile.parameters.contains(TLV(.resultReportConfig, [0x0B])))
    #expect(profile.parameters.contains(TLV(.slotDuration, [0x60, 0x09])))
    #expect(profile.parameters.contains(TLV(.staticSTSIV, [1, 2, 3, 4, 5, 6])))
  }

  @Test("A complete profile names every FiRa parameter, and all of them can be set")
  func complete() throws {
    let text = Preset.firaStatic.profile().text(complete: true, includingSecrets: true)
    for parameter in AppConfigParameter.all where parameter.id.rawValue < 0x4E {
      guard parameter.applies(to: .assumed), parameter.vendors.isEmpty else { continue }
      #expect(text.contains("\"\(parameter.name)\""), "\(parameter.name)")
    }
    // Each parameter has its explanation above it, and only a complete profile has the unset ones.
    #expect(text.contains("Equal on both ends. Default: 9.\n    \"CHANNEL_NUMBER\": 9,"))
    let short = Preset.firaStatic.profile().text(includingSecrets: true)
    #expect(!short.contains("// \"") && short.contains("\"CHANNEL_NUMBER\": 9,"))
    // Every default that is printed as a comment is a value that the parameter accepts.
    for line in text.split(separator: "\n") where line.hasPrefix("    // \"") {
      let parts = line.dropFirst(7).split(separator: "\"")
      guard parts.count >= 3, !parts[2].hasPrefix(",") else { continue }
      #expect(throws: Never.self, "\(line)") { try TLV(appConfig: "\(parts[0])=\(parts[2])") }
    }
  }

  @Test func commentsUnitsListsAndHexadecimal() throws {
    let profile = try read(
      """
      // a comment
      {
        session_id: "0x2A", /* another */
        "session_type": "ranging with data",
        "parameters": {
          "slot-duration": "2ms",
          "DST_MAC_ADDRESS": ["0x0001", "00:02"],
          "RSSI_REPORTING": true,
          "0x7E": "hex:01:02",
        },
      }
      """)
    #expect(profile.sessionID == 42 && profile.type == .rangingWithInBandData)
    #expect(profile.parameters.contains(TLV(.slotDuration, [0x60, 0x09])))
    #expect(profile.parameters.contains(TLV(.dstMACAddress, [1, 0, 2, 0])))
    #expect(profile.parameters.contains(TLV(.rssiReporting, [1])))
    #expect(profile.parameters.contains(TLV(0x7E, [1, 2])))
  }

  @Test(
    "A bad file is named with the line and what is accepted",
    arguments: [
      (
        "{\n\"session_id\": 1,\n\"parameter\": {}\n}",
        "Line 3: A profile has no field parameter. Nearest: parameters."
      ),
      ("{\"parameters\": {}}", "The profile lacks session_id."),
      ("{\"session_id\": 1}", "The profile lacks parameters."),
      (
        "{\"session_id\": -1, \"parameters\": {}}",
        "Line 1: session_id takes a number, 0…4294967295, or hexadecimal text (0x2A)."
      ),
      (
        "{\"session_id\": 1,\n\"parameters\": {\n\"CHANEL_NUMBER\": 9}}",
        "Line 3: There is no parameter CHANEL_NUMBER. Nearest: CHANNEL_NUMBER."
      ),
      (
        "{\"session_id\": 1,\n\"parameters\": {\n\"SLOTS_PER_RR\": 300}}",
        "Line 3: '300' is outside the range of SLOTS_PER_RR; it takes a number of slots, 1…255."
      ),
      (
        "{\"session_id\": 1,\n\"parameters\": {\n\"SLOTS_PER_RR\": {}}}",
        "Line 3: SLOTS_PER_RR takes a number, a text, true, false, or a list of them."
      ),
      (
        "{\"session_id\": 1, \"parameters\": []}",
        "Line 1: parameters takes an object of names and values."
      ),
      (
        "{\"session_id\": 1, \"session_type\": \"dance\", \"parameters\": {}}",
        "Line 1: session_type takes \"ranging\", \"ranging with data\", \"data transfer\", \"device test\" or a number."
      ),
    ])
  func badFiles(text: String, sentence: String) {
    let error = #expect(throws: ProfileError.self) { try read(text) }
    #expect(error?.description == sentence)
  }

  @Test(
    "What is no JSON is named with its line",
    arguments: [
      ("", "Line 1 is not JSON: the text ends where a value should be."),
      ("{", "Line 1 is not JSON: the text ends where a name or } should be."),
      ("[1]", "Line 1 is not JSON: a profile is an object: { … }."),
      ("{\n\n ? }", "Line 3 is not JSON: there is '?' where a name or } should be."),
      ("{a: 1\n b: 2}", "Line 2 is not JSON: there is 'b' where a comma or } should be."),
      ("{a: ranging}", "Line 1 is not JSON: 'ranging' lacks its quotation marks."),
      ("{\n'a: 1\n}", "Line 2 is not JSON: this text has no end."),
      ("{a: 1} /* no end", "Line 1 is not JSON: this comment has no end."),
      ("{a: 1, a: 2}", "Line 1 is not JSON: a is here twice."),
      ("{a: 1} 2", "Line 1 is not JSON: there is '2' where the end of the text should be."),
      (
        "{a: " + String(repeating: "[", count: 100_000),
        "Line 1 is not JSON: it is nested too deeply."
      ),
      ("\u{0}\u{1}", "Line 1 is not JSON: there is something else where a value should be."),
    ])
  func notJSON(text: String, sentence: String) {
    let error = #expect(throws: ProfileError.self) { try read(text) }
    #expect(error?.description == sentence)
  }

  @Test(
    "What people write beside plain JSON",
    arguments: [
      ("{session_id: 42, parameters: {CHANNEL_NUMBER: 5}}", 5),
      ("\u{FEFF}{'session_id': 0x2a, 'parameters': {'CHANNEL_NUMBER': '0x09'}}", 9),
      ("{\"session_\\id\": 1}", nil), ("{\"session\\/id\": 1}", nil),
      ("{session_id: 42, /* { \" */ parameters: {CHANNEL_NUMBER: \"5\"}} // }", 5),
      (
        "{session_id: 42, session_type: 0, parameters: {CHANNEL_NUMBER: 5, CHANNEL_NUMBER: 9}}", nil
      ),
      ("{session_id: 42, parameters: {CHANNEL_NUMBER: 5, '0x04': 9}}", nil),
      ("{session_id: 42, parameters: {CHANNEL_NUMBER: null}}", nil),
      ("{session_id: 42, parameters: {CHANNEL_NUMBER: [[[5]]]}}", 5),
      ("{session_id: 42, parameters: {CHANNEL_NUMBER: [[[[[[5]]]]]]}}", nil),
      ("{session_id: 42, parameters: {CHANNEL_NUMBER: [{}]}}", nil),
      ("{session_id: 4294967296, parameters: {CHANNEL_NUMBER: 5}}", nil),
    ] as [(String, UInt8?)])
  func liberties(_ text: String, _ channel: UInt8?) {
    let profile = try? read(text)
    #expect(profile?.sessionID == (channel == nil ? nil : 42))
    #expect(profile?.parameters == channel.map { [TLV(.channelNumber, [$0])] })
  }

  @Test("An unknown escape is named with its line")
  func escapes() throws {
    let name = #"{"a\\\"\'\/b": 1}"#
    #expect(throws: ProfileError.unknownField("a\\\"'/b", nearest: [], line: 1)) {
      try read(name)
    }
    #expect(throws: ProfileError.notJSON(line: 2, "the escape sequence is unknown")) {
      try read("{\n\"\\q\": 1}")
    }
  }

  @Test("Objects may be seven deep")
  func depth() {
    let seven = String(repeating: "{a: ", count: 7) + "1" + String(repeating: "}", count: 7)
    #expect(throws: ProfileError.unknownField("a", nearest: [], line: 1)) { try read(seven) }
    #expect(throws: ProfileError.notJSON(line: 1, "it is nested too deeply")) {
      try read("{a: \(seven)}")
    }
  }

  @Test("A profile of one of several controlees says so, and the session keeps it")
  func oneToMany() throws {
    for preset in Preset.allCases {
      var profile = preset.profile(.controlee)
      let isMulticast = preset.rawValue.hasSuffix("multicast")
      #expect(profile.isOneToMany == isMulticast)
      profile.isOneToMany = true
      let text = profile.text(complete: true, includingSecrets: true)
      #expect(text.contains(#""MULTI_NODE_MODE": "one to many","#))
      let read = try SessionProfile(Array(text.utf8))
      #expect(read == profile && read.isOneToMany)
      let session = try SessionConfiguration(
        sessionID: read.sessionID, read.parameters(for: .assumed))
      #expect(session.isOneToMany && session.problems().errors.isEmpty)
      profile.isOneToMany = isMulticast
      #expect(profile == preset.profile(.controlee))
    }
  }

  @Test("Both ends of each preset, as its source has them")
  func values() {
    for preset in Preset.allCases {
      let own = preset.profile()
      #expect(own == preset.profile(preset == .nearbyInteraction ? .controlee : .controller))
      #expect(own.sessionID == (preset == .nearbyInteraction ? 24_488 : 42))
      let isMulticast = preset.rawValue.hasSuffix("multicast")
      let sts: UInt8 = preset.androidConfiguration?.stsConfig ?? 0
      for tlv in [
        TLV(.multiNodeMode, [isMulticast ? 1 : 0]), TLV(.rangingRoundUsage, [2]),
        TLV(.scheduleMode, [1]),
        TLV(.macAddressMode, [0]), TLV(.channelNumber, [9]), TLV(.sfdID, [2]),
        TLV(.rframeConfig, [3]), TLV(.stsConfig, [sts]), TLV(.stsLength, [1]),
        TLV(.numberOfControlees, [1]),
      ] { #expect(own.parameters.contains(tlv), "\(preset)") }
    }
    let iPhone = Preset.nearbyInteraction.profile().parameters
    for tlv in [
      TLV(.preambleCodeIndex, [11]), TLV(.slotsPerRR, [6]), TLV(.slotDuration, [0x10, 0x0E]),
      TLV(.rangingDuration, [198, 0, 0, 0]), TLV(.vendorID, [0x4C, 0x00]),
      TLV(.staticSTSIV, [0x39, 0x7B, 0x28, 0xD4, 0xB8, 0xD7]), TLV(.resultReportConfig, [1]),
      TLV(.rangingRoundControl, [3]), TLV(.deviceMACAddress, [1, 0]), TLV(.dstMACAddress, [0, 0]),
    ] { #expect(iPhone.contains(tlv)) }
  }

  @Test("Whatever the bytes, reading ends with a profile or an error")
  func fuzz() {
    let seed = Array(Preset.qorvoKit.profile().text(includingSecrets: true).utf8)
    var random = SystemRandomNumberGenerator.Seeded(state: 42)
    var taken = 0
    for _ in 0..<300 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + 9))
        default:
          bytes.insert(contentsOf: Array("{[\"'/*,:".utf8).shuffled(using: &random), at: place)
        }
      }
      if (try? SessionProfile(bytes)) != nil { taken += 1 }
    }
    // Changes in comments have no effect. The reader detects most other changes.
    #expect(taken > 20 && taken < 280)
  }

  @Test func keysAreHiddenUnlessAskedFor() throws {
    let key = String(repeating: "C0:", count: 15) + "C0"
    let profile = try read(
      "{\"session_id\": 1, \"parameters\": {\"STS_CONFIG\": 3, \"SESSION_KEY\": \"\(key)\"}}")
    #expect(!profile.text().contains("C0:C0"))
    #expect(profile.text().contains("\"SESSION_KEY\": \"(hidden)\""))
    #expect(profile.text(includingSecrets: true).contains(key))
    let error = #expect(throws: ProfileError.self) { try read(profile.text()) }
    #expect(error?.description.contains("SESSION_KEY does not take this value (hidden)") == true)
  }

  @Test func filesThatCannotBeReadSayWhy() throws {
    let error = #expect(throws: ProfileError.self) {
      try SessionProfile(file: "/nonexistent/profile.json")
    }
    #expect(
      error?.description == "/nonexistent/profile.json cannot be read: there is no such file.")
  }

  @Test("A profile becomes a session that says the same", arguments: Preset.allCases)
  func configuration(preset: Preset) throws {
    for role in [SessionConfiguration.Role.controller, .controlee] {
      let profile = preset.profile(role)
      let configuration = try SessionConfiguration(
        sessionID: profile.sessionID, profile.parameters(for: .assumed))
      let sent = SessionParameters(configuration.parameters(for: .fira2))
      for tlv in profile.parameters {
        let id = AppConfigID(rawValue: tlv.id)
        #expect(sent.number(id) == TLV(id, tlv.value).integer, "\(id.name)")
        #expect(tlv.value.count <= 4 || sent[id] ?? [] == tlv.value, "\(id.name)")
      }
      #expect(Set(sent.list.map(\.id)).count == sent.list.count)
      #expect(configuration.problems().errors.isEmpty)
    }
  }

  @Test func aProvisionedKeyIsKept() throws {
    var parameters = Preset.firaStatic.profile().parameters
    parameters.removeAll { [0x02, 0x27, 0x28].contains($0.id) }
    let key = [UInt8](repeating: 7, count: 16)
    parameters += [TLV(.stsConfig, [3]), TLV(.sessionKey, key)]
    let profile = SessionProfile(sessionID: 9, parameters: parameters)
    let configuration = try SessionConfiguration(sessionID: 9, profile.parameters(for: .assumed))
    #expect(configuration.sts == .provisioned(.init(key)))
    let sent = configuration.parameters(for: .fira2)
    #expect(sent.contains(TLV(.sessionKey, key)) && sent.contains(TLV(.stsConfig, [3])))
    #expect(!sent.contains { $0.id == 0x27 })
    #expect(!"\(configuration) \(String(reflecting: configuration))".contains("7, 7"))
    var dumped = ""
    dump(configuration, to: &dumped)
    #expect(!dumped.contains("- 7\n"))
  }
}

extension SystemRandomNumberGenerator {
  /// SplitMix64: the same numbers in each run.
  struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }
}
