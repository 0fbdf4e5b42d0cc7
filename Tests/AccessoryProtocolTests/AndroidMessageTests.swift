// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Testing
import UCI
import UWB

/// Messages of Android's out-of-band protocol, with the bytes of AOSP's unit tests first
/// (CapabilityRequestMessageTest, CapabilityResponseMessageTest, SetConfigurationMessageTest,
/// StopRangingMessageTest in packages/modules/Uwb).
@Suite struct AndroidMessageTests {
  private static let response = bytes(
    "01 01 01 00 00 14 08 09 20 02 00 00 01 00 00 80 80 80 00 00 E8 03 14 03")
  private static let configuration = bytes(
    "01 02 01 00 01 00 00 1B 02 04 A0 02 00 00 0C 03 04 F4 01 0F 08 01 02 03 04 05 06 07 08"
      + "55 53 01 01")

  @Test func requestsOfAOSP() throws {
    for (text, set) in [("01 00 01 00", 1), ("01 00 03 00", 3)] as [(String, UInt16)] {
      let message = try AndroidPhoneMessage(bytes(text))
      #expect(message.version == 1)
      #expect(message.content == .capabilityRequest(AndroidTechnologies(rawValue: set)))
      #expect(message.bytes == bytes(text))
    }
  }

  @Test func responseOfAOSP() throws {
    let message = try AndroidAccessoryMessage(Self.response)
    guard case .capabilityResponse(let uwb?, .unknown) = message.content else {
      Issue.record("\(message)")
      return
    }
    #expect(uwb.address == 0x0908)
    #expect((0...40).filter { uwb.hasChannel($0) } == [5, 9])
    #expect((0...40).filter { uwb.hasPreamble($0) } == [1, 32])
    #expect((0...40).filter { uwb.hasConfiguration($0) } == [7, 15])
    #expect(uwb.interval == 1_000 && uwb.slot == 20)
    #expect(uwb.roles == [.initiator, .responder])
    #expect(message.bytes == Self.response)
  }

  @Test func configurationOfAOSP() throws {
    let message = try AndroidPhoneMessage(Self.configuration)
    guard case .configuration(let uwb?, wantsMotion: false) = message.content else {
      Issue.record("\(message)")
      return
    }
    #expect(uwb.address == 0x0402 && uwb.sessionID == 672)
    #expect(uwb.number == 12 && uwb.channel == 3 && uwb.preambleCode == 4)
    #expect(uwb.interval == 500 && uwb.slot == 15)
    #expect(uwb.key.bytes == [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(uwb.country == Array("US".utf8))
    #expect(uwb.role == .controller && uwb.mode == 1)
    #expect(message.bytes == Self.configuration)
  }

  @Test func emptyConfigurationAndStopsOfAOSP() throws {
    let none = try AndroidPhoneMessage(bytes("01 02 00 00 00 00"))
    #expect(none.content == .configuration(nil, wantsMotion: false))
    #expect(none.bytes == bytes("01 02 00 00 00 00"))
    for (text, set) in [("01 06 01 00", 1), ("01 06 03 00", 3)] as [(String, UInt16)] {
      let message = try AndroidPhoneMessage(bytes(text))
      #expect(message.content == .stop(AndroidTechnologies(rawValue: set)))
      #expect(message.bytes == bytes(text))
    }
  }

  /// AOSP's tests refuse all of these bytes, and the last message has another technology's block in
  /// place of UWB.
  @Test func refusalsOfAOSP() {
    let refused = [
      "0A", "01", "01 02 01 00 01 00 07 1B" + String(repeating: "00", count: 25),
      "01 02 01 00 01 00 00 1B 02 04 A0 02 00 00 0C 03 04 F4 01 0F 20 01 02 03 04 05 06 07 08"
        + "55 53 01 01", "01 02 01 00 01 00 00 14 00 01", "01 01 01 00 00 14 00 01",
    ]
    for text in refused {
      #expect(throws: AccessoryError.self, "\(text)") { try AndroidPhoneMessage(bytes(text)) }
      #expect(throws: AccessoryError.self, "\(text)") { try AndroidAccessoryMessage(bytes(text)) }
    }
  }

  /// The session equals a session that a phone of Android 17 begins, in each version.
  @Test func responsesOfEachVersion() throws {
    let block = "00 14 A1 B2 00 02 00 00 00 0F 00 00 4A 00 00 00 60 00 01 03"
    for (version, tail) in [(1, ""), (2, "00 03 00"), (3, "00 03 00")] as [(UInt8, String)] {
      let expected = [version, 0x01, 0x01, 0x00] + bytes(block + tail)
      let message = try AndroidAccessoryMessage(expected)
      guard case .capabilityResponse(let uwb?, let type) = message.content else {
        Issue.record("\(message)")
        return
      }
      #expect(type == (version == 1 ? .unknown : .tag))
      #expect((0...40).filter { uwb.hasChannel($0) } == [9])
      #expect((0...40).filter { uwb.hasPreamble($0) } == [9, 10, 11, 12])
      #expect((0...40).filter { uwb.hasConfiguration($0) } == [1, 3, 6])
      #expect(message.bytes == expected)
      // Each shorter or longer message is refused.
      for count in 0..<expected.count {
        #expect(throws: AccessoryError.self) {
          try AndroidAccessoryMessage(Array(expected[..<count]))
        }
      }
      #expect(throws: AccessoryError.self) { try AndroidAccessoryMessage(expected + [0]) }
    }
  }

  private static let plausible = bytes(
    "01 00 01 00 00 23 C3 D4 78 56 34 12 06 09 0B 60 00 01 10 10 11 12 13 14 15 16 17 18 19 1A 1B"
      + "1C 1D 1E 1F 55 53 01 01")

  /// A phone of version 3 appends whether it wants reports of motion, and may omit this byte.
  @Test func configurationsOfEachVersion() throws {
    for (version, tail, motion) in [
      (1, [], false), (2, [], false), (3, [1], true), (3, [0], false), (3, [], false),
    ] as [(UInt8, [UInt8], Bool)] {
      let data = [version, 0x02] + Self.plausible + tail
      let message = try AndroidPhoneMessage(data)
      guard case .configuration(let uwb?, motion) = message.content else {
        Issue.record("\(message)")
        return
      }
      #expect(uwb.address == 0xD4C3 && uwb.sessionID == 0x1234_5678 && uwb.number == 6)
      #expect(uwb.preambleCode == 11 && uwb.interval == 96 && uwb.slot == 1)
      #expect(uwb.key.bytes == Array(0x10...0x1F))
      #expect(message.bytes == (version == 3 && tail.isEmpty ? data + [0] : data))
    }
    for (version, tail) in [(1, [0]), (2, [1]), (3, [2]), (3, [1, 0])] as [(UInt8, [UInt8])] {
      #expect(throws: AccessoryError.self, "\(version) \(tail)") {
        try AndroidPhoneMessage([version, 0x02] + Self.plausible + tail)
      }
    }
  }

  /// The lengths of messages with UWB alone, for keys of 8, 16 and 32 bytes.
  @Test func sizesOfEachVersion() {
    for (version, sizes) in [(1, [33, 41, 57]), (2, [33, 41, 57]), (3, [34, 42, 58])]
      as [(UInt8, [Int])]
    {
      let messages = [8, 16, 32].map { count in
        var choice = AndroidChoice()
        choice.key.bytes = [UInt8](repeating: 1, count: count)
        return AndroidPhoneMessage(.configuration(choice, wantsMotion: true), version: version)
      }
      #expect(messages.map(\.bytes.count) == sizes)
      let response = AndroidAccessoryMessage(
        .capabilityResponse(AndroidCapability(), .tag), version: version)
      #expect(response.bytes.count == (version == 1 ? 24 : 27))
    }
  }

  @Test func keysAreNotPrinted() throws {
    let message = try AndroidPhoneMessage([1, 2] + Self.plausible)
    var dumped = "\(message) \(String(reflecting: message))"
    dump(message, to: &dumped)
    #expect(dumped.contains("(hidden)"))
    #expect(!dumped.contains("16, 17, 18"))
  }

  @Test func otherTechnologiesAreSkippedByTheirSize() throws {
    // Bluetooth channel sounding before UWB, and a technology without a number yet after it.
    let data =
      bytes("01 02 03 00 03 00 01 09 01 02 03 04 05 06 07") + Self.plausible[4...]
      + bytes("09 03 00")
    guard case .configuration(let uwb?, _) = try AndroidPhoneMessage(data).content else {
      Issue.record("no UWB")
      return
    }
    #expect(uwb.sessionID == 0x1234_5678)
  }

  @Test(arguments: [
    ("01 02 03 00 03 00", "technologies"),
    ("01 02 00 00 00 00 01 02", "technologies"),
    ("01 02 01 00 00 00", "technologies to start"),
    ("01 02 00 00 00 00 07 01", "size"),
    ("01 02 00 00 00 00 07 00", "size"),
    ("01 02 00 00 00 00 07 03", "size"),
    ("01 02 00 00 00 00 07 02 07 02", "technology"),
  ])
  func damagedBlocksAreNamed(text: String, field: String) {
    #expect(
      invalidField { () throws(AccessoryError) in _ = try AndroidPhoneMessage(bytes(text)) }
        == field)
  }

  @Test func theSameTechnologyTwiceIsRefused() {
    let data = [1, 2] + Self.plausible + Self.plausible[4...]
    #expect(
      invalidField { () throws(AccessoryError) in _ = try AndroidPhoneMessage(data) }
        == "technology")
  }

  /// Offsets in the UWB block of a configuration, and values that the field there cannot have.
  @Test(
    arguments: [
      (24, 0, "key"), (24, 7, "key"), (24, 24, "key"), (24, 33, "key"), (24, 0xFF, "key"),
      (43, 0, "role"), (43, 3, "role"),
    ] as [(Int, UInt8, String)])
  func impossibleValuesAreNamed(place: Int, value: UInt8, field: String) {
    var data = [1, 2] + Self.plausible
    data[place - 4] = value
    #expect(
      invalidField { () throws(AccessoryError) in _ = try AndroidPhoneMessage(data) } == field)
  }

  @Test func versionsAndIdentifiers() throws {
    #expect(throws: AccessoryError(.emptyMessage)) { try AndroidPhoneMessage([]) }
    #expect(throws: AccessoryError(.unsupportedVersion(0))) {
      try AndroidPhoneMessage([0, 0, 1, 0])
    }
    // A request of a later version may be longer. Other messages must have a known version.
    let request = try AndroidPhoneMessage([9, 0, 1, 0, 7, 7])
    #expect(request.version == 9 && request.content == .capabilityRequest(.uwb))
    for id in [2, 6] as [UInt8] {
      #expect(throws: AccessoryError(.unsupportedVersion(4))) {
        try AndroidPhoneMessage([4, id, 1, 0, 1, 0])
      }
    }
    for id in [4, 5, 9, 0xFF] as [UInt8] {
      #expect(throws: AccessoryError(.unknownMessage(id))) {
        try AndroidPhoneMessage([1, id, 1, 0])
      }
      #expect(throws: AccessoryError(.unknownMessage(id))) {
        try AndroidAccessoryMessage([1, id, 1, 0])
      }
    }
    for id in [0, 6] as [UInt8] {
      #expect(throws: AccessoryError(.damagedMessage(id))) {
        try AndroidPhoneMessage([1, id, 1, 0, 0])
      }
    }
  }

  @Test func answersRoundTrip() throws {
    let contents: [AndroidAccessoryMessage.Content] =
      [
        .configurationResponse(.uwb), .configurationResponse([]), .stopResponse(.uwb),
        .capabilityResponse(nil, .unknown),
      ] + AndroidAccessoryMessage.Motion.allCases.map { .motion($0) }
    for content in contents {
      let message = AndroidAccessoryMessage(content, version: 3)
      #expect(try AndroidAccessoryMessage(message.bytes) == message)
    }
    #expect(
      AndroidAccessoryMessage(.configurationResponse(.uwb), version: 1).bytes == [1, 3, 1, 0])
    #expect(AndroidAccessoryMessage(.stopResponse(.uwb), version: 1).bytes == [1, 7, 1, 0])
    #expect(
      AndroidAccessoryMessage(.capabilityResponse(nil, .tag), version: 1).bytes == [1, 1, 0, 0])
    #expect(throws: AccessoryError(.damagedMessage(8))) { try AndroidAccessoryMessage([3, 8, 4]) }
    #expect(throws: AccessoryError(.damagedMessage(8))) { try AndroidAccessoryMessage([2, 8, 1]) }
  }

  @Test func messagesOfApplesProtocolAreTold() {
    for message in [AppMessage.initialize, .configureAndStart([1]), .stop] {
      #expect(!AndroidPhoneMessage.isRecognized(message.bytes))
    }
    #expect(AndroidPhoneMessage.isRecognized([1, 0, 1, 0]))
    #expect(!AndroidPhoneMessage.isRecognized([]))
  }
}

/// Sessions that a phone has chosen, as parameters of the chip.
@Suite struct AndroidSessionTests {
  private let accessory: AndroidCapability = {
    var capability = AndroidCapability()
    capability.address = 0xB2A1
    capability.configurations = 0b100_1010
    capability.slot = 1
    return capability
  }()
  private let configuration: AndroidChoice = {
    var configuration = AndroidChoice()
    configuration.address = 0xD4C3
    configuration.sessionID = 0x1234_5678
    (configuration.number, configuration.preambleCode) = (6, 11)
    (configuration.interval, configuration.slot) = (96, 1)
    configuration.key.bytes = Array(0x10...0x1F)
    return configuration
  }()

  /// The parameters of AOSP for the configuration 6, with the box as controller.
  @Test func parametersOfAProvisionedSession() throws {
    let session = try configuration.session(of: .accessory, with: accessory)
    #expect(session.sessionID == 0x1234_5678 && session.type == .ranging)
    let parameters = session.parameters(for: .fira2)
    let expected = bytes(
      """
      00 01 01 01 01 02 02 01 03 03 01 00 04 01 09 05 01 01 06 02 A1 B2 07 02 C3 D4 08 02 B0 04
      09 04 60 00 00 00 0C 01 03 11 01 01 12 01 03 14 01 0B 15 01 02 1B 01 06 1F 01 00 22 01 01
      23 01 01 24 01 00 2C 01 01 2E 01 01 35 01 01
      45 10 10 11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 1F
      """)
    var index = 0
    while index < expected.count {
      let (id, count) = (expected[index], Int(expected[index + 1]))
      let value = Array(expected[index + 2..<index + 2 + count])
      #expect(parameters.first { $0.id == id }?.value == value, "0x\(String(id, radix: 16))")
      index += 2 + count
    }
    #expect(session.problems().errors.isEmpty)
  }

  @Test func aStaticSessionHasItsVendorIDAndVector() throws {
    var configuration = configuration
    (configuration.number, configuration.interval) = (1, 240)
    configuration.key.bytes = [1, 2, 3, 4, 5, 6, 7, 8]
    let parameters = try configuration.session(of: .accessory, with: accessory)
      .parameters(for: .fira2)
    let expected: [(AppConfigID, [UInt8])] = [
      (.stsConfig, [0]), (.vendorID, [1, 2]), (.staticSTSIV, [3, 4, 5, 6, 7, 8]),
      (.rangingDuration, [240, 0, 0, 0]), (.hoppingMode, [1]),
    ]
    for (id, value) in expected {
      #expect(parameters.first { $0.id == id.rawValue }?.value == value, "\(id.name)")
    }
    #expect(!parameters.contains { $0.id == AppConfigID.keyRotation.rawValue })
  }

  @Test(
    "A key has one of the lengths of its configuration",
    arguments: [AndroidConfiguration.unicast, .provisionedUnicast, .provisionedUnicastVeryFast])
  func lengthsOfKeys(kind: AndroidConfiguration) throws {
    var configuration = configuration
    configuration.number = try #require(kind.outOfBandID)
    configuration.interval = kind.interval(.frequent)
    for length in 0...33 {
      let key = [UInt8](0..<UInt8(length))
      configuration.key.bytes = key
      guard kind.keyLengths.contains(length) else {
        #expect(
          invalidField { () throws(AccessoryError) in
            _ = try configuration.session(of: .app, with: accessory)
          } == "key")
        continue
      }
      let parameters = try configuration.session(of: .app, with: accessory).parameters(for: .fira2)
      #expect(
        parameters.first { $0.id == AppConfigID.sessionKey.rawValue }?.value
          == (length == 8 ? nil : key))
    }
  }

  /// The mode in the message has no effect, because phones send 1 with both roles.
  @Test(
    arguments: [SessionConfiguration.Role.controller, .controlee],
    [AndroidConfiguration.unicast, .provisionedUnicast, .provisionedUnicastVeryFast])
  func theTwoSidesFitTogether(
    role: SessionConfiguration.Role, kind: AndroidConfiguration
  ) throws {
    var configuration = configuration
    configuration.role = role
    configuration.number = try #require(kind.outOfBandID)
    configuration.interval = kind.interval(.frequent)
    configuration.key.bytes = [UInt8](repeating: 7, count: kind.keyLengths[0])
    let near = try configuration.session(of: .accessory, with: accessory)
    let far = try configuration.session(of: .app, with: accessory)
    #expect(near.role == role && far.role != role)
    #expect(near.problems().errors.isEmpty && far.problems().errors.isEmpty)
    let ends = [near, far].map {
      SessionPeerConfiguration(
        sessionID: $0.sessionID, parameters: SessionParameters($0.parameters(for: .fira2)))
    }
    #expect(ends[0].differences(from: ends[1]).filter { $0.effect == .preventsRanging }.isEmpty)
  }

  @Test func valuesThatWereNotOfferedAreNamed() {
    let changes: [(String, (inout AndroidChoice) -> Void)] = [
      ("configuration", { $0.number = 0 }), ("configuration", { $0.number = 2 }),
      ("configuration", { $0.number = 7 }), ("configuration", { $0.number = 0xFF }),
      ("channel", { $0.channel = 0 }), ("channel", { $0.channel = 5 }),
      ("channel", { $0.channel = 41 }), ("preamble code index", { $0.preambleCode = 0 }),
      ("preamble code index", { $0.preambleCode = 13 }),
      ("preamble code index", { $0.preambleCode = 25 }), ("ranging interval", { $0.interval = 0 }),
      ("ranging interval", { $0.interval = 95 }), ("slot duration", { $0.slot = 0 }),
      ("slot duration", { $0.slot = 0xFF }), ("key", { $0.key.bytes = [1, 2, 3, 4, 5, 6, 7, 8] }),
      ("phone's address", { $0.address = 0xFFFF }), ("phone's address", { $0.address = 0xB2A1 }),
    ]
    for (field, change) in changes {
      var configuration = configuration
      change(&configuration)
      #expect(
        invalidField { () throws(AccessoryError) in
          _ = try configuration.session(of: .accessory, with: accessory)
        } == field)
    }
    var responder = accessory
    responder.roles = .responder
    #expect(
      invalidField { () throws(AccessoryError) in
        _ = try configuration.session(of: .accessory, with: responder)
      } == "role")
  }

  @Test func fastPulsesHaveTheirMode() throws {
    var (accessory, configuration) = (accessory, configuration)
    accessory.preambles = 0xFF00_0F00
    configuration.preambleCode = 32
    let session = try configuration.session(of: .accessory, with: accessory)
    #expect(session.parameters(for: .fira2).first { $0.id == 0x1F }?.value == [1])
    #expect(session.problems().errors.isEmpty)
  }
}
