// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI

@Suite struct ParameterTests {
  @Test func tableOfParameters() {
    let all = AppConfigParameter.all
    #expect(Set(all.map(\.id)).count == all.count)
    #expect(all.prefix(0x4E).map(\.id.rawValue) == Array(0...0x4D))
    for parameter in all {
      #expect(parameter.id.name == parameter.name)
      if let value = parameter.defaultValue, let range = parameter.range {
        #expect(range.contains(value), "\(parameter.name)")
      }
    }
    #expect(AppConfigID.slotDuration.parameter?.unit == "RSTU")
    #expect(AppConfigID.rangingDuration.parameter?.defaultValue == 200)
    #expect(AppConfigID(rawValue: 0x9F).name == "APP_CONFIG_0x9F")
    #expect(AppConfigID.sessionKey.isSecret && AppConfigID.staticSTSIV.isSecret)
    #expect(!AppConfigID.vendorID.isSecret)
  }

  // Capabilities of a Qorvo DWM3001CDK with QM33SDK-1.1.1.
  private let qorvo =
    "4003005e 00 1a 00020301 0102ff00 020402000200 030402000200 040103 05020300 06021e00 070119"
    + "080103 090102 0a0102 0b0101 0c0101 0d0101 0e0109 0f010a 100101 11013f 12050000000000"
    + "130100 140100 150100 160102 170100 180100 190100"

  @Test func capabilitiesOfQorvo() throws {
    let parameters = try #require(try decode(qorvo, as: TLVListResponse.self)?.parameters)
    let capabilities = Capabilities(parameters)
    #expect(capabilities.numbering == .fira2)
    #expect(capabilities.maxMessageSize == 259)
    #expect(capabilities.maxDataPayloadSize == 255)
    #expect(capabilities.deviceTypes == [.controller, .controlee])
    #expect(capabilities.roles == [.responder, .initiator])
    #expect(capabilities.channels == [5, 9])
    #expect(
      capabilities.stsModes == [.static, .provisioned, .provisionedWithControleeKey])
    #expect(capabilities.angles == [])
    #expect(capabilities.supportsExtendedAddresses == false)
    #expect(capabilities.supportsHopping == true)
    #expect(capabilities.maxSessions == nil)
    #expect(capabilities.parameters.count == 26)
    #expect(try reencoded(qorvo) == payload(of: qorvo))
  }

  @Test func capabilitiesOfPicaHaveTheOlderNumbers() throws {
    let pica =
      "4003001d 00 07 000401010103 010401010103 020103 0b01ff 110101 12020301 1302ff00"
    let octetsOfPica = payload(of: pica)
    let response = try TLVListResponse(decoding: octetsOfPica)
    let capabilities = Capabilities(try #require(response.parameters))
    #expect(capabilities.numbering == .fira1)
    #expect(capabilities.roles == [.responder, .initiator])
    #expect(capabilities.channels == [5, 6, 8, 9, 10, 12, 13, 14])
    #expect(capabilities.supportsExtendedAddresses == true)
    #expect(capabilities.deviceTypes == nil)
    #expect(capabilities.maxMessageSize == 259)
    #expect(capabilities.maxDataPayloadSize == 255)
    #expect(Capabilities([TLV(0xE9, [5, 0, 0, 0])]).maxSessions == 5)
  }

  @Test func numbersOfCapabilities() {
    #expect(CapabilityID.channels.number(in: .fira1) == 0x0B)
    #expect(CapabilityID.channels.number(in: .fira2) == 0x0E)
    #expect(CapabilityID.maxDataPacketPayloadSize.number(in: .fira1) == 0x13)
    #expect(CapabilityID.deviceType.number(in: .fira1) == nil)
    #expect(CapabilityID.minSlotDuration.number(in: .fira2) == 0x1D)
    #expect(CapabilityID.name(of: 0xE9, in: .fira2) == "MAX_SESSIONS")
  }

  @Test func fieldsHideKeys() throws {
    let key = "05780578057805780578057805780578"
    let message = try Message(packet: octets("21030017 01000000 01 4510" + key))
    #expect(message.fields.description.contains("secret"))
    let opaque = try Message(packet: octets("21030017 01000000 02 4510" + key))
    guard case .opaque = opaque.content else {
      Issue.record("a list that ends too early was understood")
      return
    }
    for field in opaque.fields where field.name == "payload" {
      guard case .secret = field.value else {
        Issue.record("octets with a key are shown")
        continue
      }
    }
    let known = try Message(packet: octets("21030009 01000000 01 08026009"))
    #expect(known.fields.contains { $0.name == "parameters" })
    #expect(!known.fields.description.contains("secret"))
  }
}
