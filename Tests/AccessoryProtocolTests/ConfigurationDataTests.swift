// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Testing
import UWB

@Suite struct AccessoryConfigurationDataTests {
  @Test func captureOfAQorvoBoard() throws {
    guard case .accessoryConfigurationData(let data) = try AccessoryMessage(Captured.qorvoMessage)
    else {
      Issue.record("another message")
      return
    }
    let configuration = try AccessoryConfigurationData(data)
    #expect(configuration.preferredUpdateRate == .userInteractive)
    #expect(configuration.minorVersion == 0)
    #expect(configuration.uwb.version == .v11)
    #expect(configuration.uwb.manufacturer == 0x0003_F53F)
    #expect(configuration.uwb.model == 3_000)
    #expect(configuration.uwb.middleware == 0x0101_0000)
    #expect(configuration.uwb.role == .controller)
    #expect(configuration.uwb.address == 0xD711)
    #expect(configuration.uwb.clockDrift == 25)
    #expect(
      AccessoryMessage.accessoryConfigurationData(configuration.bytes).bytes
        == Captured.qorvoMessage)
  }

  @Test func captureOfAQorvoBoardWithoutRate() throws {
    let data = Array(Captured.qorvoAutomatic.dropFirst())
    let configuration = try AccessoryConfigurationData(data)
    #expect(configuration.preferredUpdateRate == .automatic)
    #expect(configuration.uwb.address == 0x0012)
    #expect(configuration.bytes == data)
  }

  @Test func uwbPartOfVersion10() throws {
    let uwb = try UWBConfigurationData(Captured.qorvoUWB10)
    #expect(uwb.version == .v10)
    #expect(uwb.role == .controlee)
    #expect(uwb.address == 0xAAAA)
    #expect(uwb.bytes == Captured.qorvoUWB10)
  }

  @Test func version2() throws {
    var uwb = UWBConfigurationData(version: .v20, role: .controlee, address: 0x0807)
    (uwb.manufacturer, uwb.model, uwb.middleware) = (0x0403_0201, 5, 6)
    uwb.clockDrift = 200
    uwb.request = .init(hopping: true, slotsPerRound: 6, slotDuration: 3_600, interval: 240)
    let configuration = AccessoryConfigurationData(preferredUpdateRate: .infrequent, uwb: uwb)
    let expected = bytes(
      "0100 0000 0A 00000000000000000000 20"
        + "0200 0000 01020304 05000000 06000000 00 0708 C800 00000000 01 0600 100E F000")
    #expect(configuration.bytes == expected)
    #expect(configuration.bytes.count == 48)
    #expect(try AccessoryConfigurationData(expected) == configuration)
  }

  @Test func lengthsOfEachVersion() {
    let lengths = ConfigurationVersion.allCases.map { version in
      AccessoryConfigurationData(
        uwb: UWBConfigurationData(version: version, role: .controller, address: 1)
      ).bytes.count
    }
    #expect(lengths == [35, 37, 48])
  }

  @Test func reservedBytesAreIgnored() throws {
    var data = Array(Captured.qorvoMessage.dropFirst())
    for place in 5..<15 { data[place] = 0xEE }
    #expect(try AccessoryConfigurationData(data).uwb.address == 0xD711)
  }

  @Test(arguments: [
    (0, 2 as UInt8, "major version"), (15, 20, "UWB configuration length"),
    (16, 3, "UWB configuration version"), (18, 2, "UWB configuration version"),
    (32, 5, "ranging role"),
  ])
  func wrongValuesAreNamed(place: Int, value: UInt8, field: String) {
    var data = Array(Captured.qorvoMessage.dropFirst())
    data[place] = value
    #expect(
      invalidField { () throws(AccessoryError) in _ = try AccessoryConfigurationData(data) }
        == field)
  }

  @Test func everyTruncationIsNamed() {
    let data = Array(Captured.qorvoMessage.dropFirst())
    for count in 0..<data.count {
      let field = invalidField { () throws(AccessoryError) in
        _ = try AccessoryConfigurationData(Array(data[..<count]))
      }
      #expect(field != nil, "\(count) bytes were taken")
    }
    let field = invalidField { () throws(AccessoryError) in
      _ = try AccessoryConfigurationData(data + [0])
    }
    #expect(field == "length")
  }
}

@Suite struct ShareableConfigurationDataTests {
  @Test func phone() throws {
    let data = try ShareableConfigurationData(Captured.phone)
    #expect(data.version == .v11)
    #expect(data.country == Array("EU".utf8))
    #expect(data.sessionID == 24_488)
    #expect(data.preambleCode == 11)
    #expect(data.channel == 9)
    #expect(data.slotsPerRound == 6)
    #expect(data.slotDuration == 3_600)
    #expect(data.interval == 198)
    #expect(data.roundControl == 3)
    #expect(data.initialisationVector.bytes == bytes("397B28D4B8D7"))
    #expect(data.address == 0xB487)
    #expect(data.clockDrift == 100)
    #expect(!data.hopping)
    #expect(data.bytes == Captured.phone)
  }

  @Test func otherVersionsAreRejected() throws {
    let vector = try #require(ShareableConfigurationData.InitialisationVector([1, 2, 3, 4, 5, 6]))
    var data = ShareableConfigurationData(version: .v20, sessionID: 0x0403_0201, address: 0x0807)
    data.country = Array("US".utf8)
    (data.slotsPerRound, data.slotDuration, data.interval) = (25, 2_400, 200)
    data.initialisationVector = vector
    data.clockDrift = 20
    data.hopping = true
    let expected = bytes(
      "0200 0000 1E 5553 01020304 0B 09 1900 6009 C800 03 010203040506 0708 1400 00000000 01")
    #expect(data.bytes == expected)
    #expect(try ShareableConfigurationData(expected) == data)
    data.version = .v10
    let older = bytes("0100 0000 17 5553 01020304 0B 09 1900 6009 C800 03 010203040506 0708")
    #expect(data.bytes == older)
    let read = try ShareableConfigurationData(older)
    #expect(read.clockDrift == 0 && !read.hopping)
  }

  @Test(arguments: [(0, 3 as UInt8, "version"), (2, 9, "version"), (4, 23, "length")])
  func wrongValuesAreNamed(place: Int, value: UInt8, field: String) {
    var data = Captured.phone
    data[place] = value
    #expect(
      invalidField { () throws(AccessoryError) in _ = try ShareableConfigurationData(data) }
        == field)
  }

  @Test func everyTruncationIsNamed() {
    for count in 0..<Captured.phone.count {
      let field = invalidField { () throws(AccessoryError) in
        _ = try ShareableConfigurationData(Array(Captured.phone[..<count]))
      }
      #expect(field != nil, "\(count) bytes were taken")
    }
  }

  @Test func theVectorIsNeverPrinted() throws {
    let data = try ShareableConfigurationData(Captured.phone)
    var dumped = ""
    dump(data, to: &dumped)
    dump(AppMessage.configureAndStart(Captured.phone), to: &dumped)
    let texts = [
      "\(data)", String(reflecting: data), dumped,
      "\(AppMessage.configureAndStart(Captured.phone))",
    ]
    for text in texts {
      #expect(!text.contains("57, 123, 40"))
      // The fields as `dump` lists them.
      #expect(!text.contains("- 123"))
      #expect(!text.lowercased().contains("397b28"))
    }
  }
}

/// The field of an invalid configuration; nil without such an error.
func invalidField(_ body: () throws(AccessoryError) -> Void) -> String? {
  do {
    try body()
    return nil
  } catch {
    guard case .invalidConfiguration(let field, _) = error.reason else { return nil }
    return field
  }
}
