// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference
import UCITestSupport

@Suite struct ParameterTests {
  @Test func tableOfParameters() {
    let all = AppConfigParameter.all
    var seen: Set<AppConfigID> = []
    let inOrder = all.filter { seen.insert($0.id).inserted }
    #expect(inOrder.prefix(0x4E).map(\.id.rawValue) == Array(0...0x4D))
    for parameter in all {
      if let value = parameter.defaultValue, let range = parameter.range {
        #expect(range.contains(value), "\(parameter.name)")
      }
      // Every row is true for some chip.
      let meant = [Dialect.Vendor.unknown, .android, .qorvo, .nxp].contains { vendor in
        [Dialect.Generation.fira1, .fira2, .fira3].contains { generation in
          let dialect = Dialect(generation: generation, vendor: vendor)
          let row = parameter.id.parameter(in: dialect)
          return row?.name == parameter.name && row?.vendors == parameter.vendors
            && row?.lengths == parameter.lengths && parameter.applies(to: dialect)
        }
      }
      #expect(meant, "\(parameter.name)")
    }
    #expect(AppConfigID.slotDuration.parameter?.unit == "RSTU")
    #expect(AppConfigID.rangingDuration.parameter?.defaultValue == 200)
    #expect(AppConfigID(rawValue: 0x9F).name == "APP_CONFIG_0x9F")
    #expect(AppConfigID.sessionKey.isSecret && AppConfigID.staticSTSIV.isSecret)
    #expect(!AppConfigID.vendorID.isSecret)
    #expect(
      all.filter(\.isMandatory).map(\.id.rawValue).reduce(into: Set()) { $0.insert($1) }
        == [0x00, 0x01, 0x03, 0x06, 0x11, 0x22])
  }

  @Test func valuesInWords() {
    func words(_ id: AppConfigID, _ value: String, _ dialect: Dialect = .assumed) -> String? {
      let value = bytes(value)
      return id.parameter(in: dialect, length: value.count)?.words(for: value)
    }
    #expect(words(.slotDuration, "6009") == "2400 RSTU")
    #expect(words(.stsConfig, "04") == "provisioned, controlee key")
    #expect(words(.stsConfig, "77") == "119")
    #expect(words(.resultReportConfig, "0b") == "ToF, azimuth, FoM")
    #expect(words(.resultReportConfig, "00") == "none")
    #expect(words(.resultReportConfig, "81") == "ToF, bit 7")
    #expect(words(.deviceMACAddress, "0100") == "0x0001")
    #expect(words(.deviceMACAddress, "8877665544332211") == "0x1122334455667788")
    #expect(words(.dstMACAddress, "01000200") == "0x0001, 0x0002")
    #expect(words(.aoaBoundConfig, "00a60000402d0000") == "-180.0, 0.0, 90.5, 0.0 °")
    #expect(words(.capSizeRange, "1805") == "24, 5 slots")
    #expect(words(.capSizeRange, "") == " slots")
    #expect(words(.uwbInitiationTime, "e8030000") == "1000 ms")
    #expect(words(.uwbInitiationTime, "e803000000000000") == "1000 us")
  }

  @Test("Older firmware used an identifier for something else")
  func rssiReportingOfFirstQorvoFirmware() {
    let first = Dialect(generation: .fira1, vendor: .qorvo)
    #expect(AppConfigID(rawValue: 0x36).name(in: first) == "RSSI_REPORTING")
    #expect(
      AppConfigID(rawValue: 0x36).name(in: Dialect(vendor: .qorvo)) == "SUSPEND_RANGING_ROUNDS")
    #expect(AppConfigID(rawValue: 0x36).name == "SUSPEND_RANGING_ROUNDS")
  }

  @Test("Vendors use one identifier for different things")
  func collidingIdentifiers() {
    func name(_ id: UInt8, _ vendor: Dialect.Vendor) -> String {
      AppConfigID(rawValue: id).name(in: Dialect(vendor: vendor))
    }
    #expect(name(0x1E, .unknown) == "RESPONDER_SLOT_INDEX")
    #expect(name(0xA2, .nxp) == "NXP_RESPONDER_SLOT_INDEX")
    #expect(name(0xEA, .android) == "ANTENNA_MODE")
    #expect(name(0xEA, .qorvo) == "MAC_PAYLOAD_ENCRYPTION")
    #expect(name(0xEA, .unknown) == "ANTENNA_MODE_OR_PAYLOAD_ENCRYPTION")
  }

  @Test func deviceParameters() {
    func name(_ id: DeviceConfigID, _ vendor: Dialect.Vendor) -> String {
      id.name(in: Dialect(vendor: vendor))
    }
    #expect(name(.lowPowerMode, .unknown) == "LOW_POWER_MODE")
    #expect(name(DeviceConfigID(0xA0), .qorvo) == "CHANNEL_NUMBER")
    #expect(name(DeviceConfigID(0xE4, 0x04), .nxp) == "DPD_ENTRY_TIMEOUT")
    #expect(name(DeviceConfigID(0xE4, 0xFF), .nxp) == "DEVICE_CONFIG_0xE4_0xFF")
    #expect(DeviceConfigID.deviceState.parameter(in: .assumed)?.isReadOnly == true)
    let timeout = DeviceConfigID(0xE4, 0x04).parameter(in: Dialect(vendor: .nxp))
    #expect(timeout?.words(for: [0xF4, 0x01]) == "500 ms")
    #expect(timeout?.range == 100...2000 && timeout?.defaultValue == 500)
    func isUnique<ID>(_ table: ParameterTable<ID>) -> Bool {
      Set(table.rows.map(\.id)).count == table.rows.count
    }
    #expect(isUnique(DeviceConfigID.table))
    #expect(isUnique(NXPAppConfigID.table))
    #expect(isUnique(TestConfigID.table))
    #expect(RadarConfigID.table.rows.map(\.id.rawValue) == Array(0...0x0B))
    #expect(NXPAppConfigID(rawValue: 0x79).parameter?.isSecret == true)
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
    let bytesOfPica = payload(of: pica)
    let response = try TLVListResponse(decoding: bytesOfPica)
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
    #expect(CapabilityID.name(of: 0xE9, in: .fira1) == "MAX_SESSIONS")
    #expect(CapabilityID.name(of: 0x9F, in: .fira1) == "CAPABILITY_0x9F")
    #expect(CapabilityID.name(of: 0xE3, subID: 0x02, in: .fira2) == "NXP_IN_BAND_MAX_BLOCKS")
    for id in Parameter<CapabilityID>.all.map(\.id) {
      for numbering in [CapabilityID.Numbering.fira1, .fira2] {
        guard let number = id.number(in: numbering) else { continue }
        #expect(CapabilityID(number: number, in: numbering) == id)
      }
      #expect(id.parameter(in: .assumed)?.name == id.rawValue)
    }
  }

  @Test("The numbers of capabilities moved by two in FiRa 2.0")
  func numberingIsSeenInTheLength() {
    let older = Capabilities([TLV(0x02, [3]), TLV(0x0B, [0x09]), TLV(0x0E, [0x3F])])
    #expect(older.numbering == .fira1)
    #expect(older.channels == [5, 9])
    let newer = Capabilities([TLV(0x02, [2, 0, 2, 0]), TLV(0x0B, [1]), TLV(0x0E, [0x09])])
    #expect(newer.numbering == .fira2)
    #expect(newer.channels == [5, 9])
    #expect(newer.supportsHopping == true)
  }

  // Capabilities of an SR250; source: NXP's published middleware guide.
  private let sr250 =
    "40030093 00 28 0002f707 0102f707 020401000200 030402000200 04010b 0502af00 06027f06 07011f "
    + "080107 090102 0a0107 0b0101 0c0101 0d0101 0e0109 0f010b 100103 11013f 1205afaaaaaa01 13010f "
    + "140100 150101 160103 17010a 180100 190100 1a0100 1b020d55 1c0101 a0017f a104000f0000 a2011f "
    + "a30103 a4020001 a50400000100 a6030011 22 a70101 b1020008 b201ae b3010c"

  private func words(_ packet: String, _ dialect: Dialect) throws -> [String: String] {
    let list = try #require(try decode(packet, as: TLVListResponse.self)?.parameters)
    let capabilities = Capabilities(list)
    return Dictionary(
      uniqueKeysWithValues: list.map {
        (
          CapabilityID.name(of: $0.id, in: capabilities.numbering),
          capabilities.words(for: $0, dialect: dialect)
        )
      })
  }

  @Test("Capabilities are kept as the chip reports them")
  func capabilitiesOfSR250() throws {
    let nxp = try words(sr250, Dialect(generation: .fira3, vendor: .nxp))
    #expect(nxp.count == 40)
    #expect(nxp["MAX_MESSAGE_SIZE"] == "2039 bytes")
    #expect(nxp["FIRA_PHY_VERSION_RANGE"] == "1.0.0-2.0.0")
    #expect(nxp["DEVICE_TYPE"] == "controller, controlee, bit 3")
    #expect(
      nxp["RANGING_METHOD"]?.hasSuffix("DL-TDoA, OWR AoA, data transfer, bit 10") == true)
    #expect(nxp["CHANNELS"] == "5, 9")
    #expect(nxp["HOPPING_MODE"] == "yes")
    #expect(nxp["HPRF_PARAMETER_SETS"]?.hasPrefix("1, 2, 3, 4, 6, 8") == true)
    #expect(nxp["AOA_SUPPORT"] == "azimuth ±90°, azimuth ±180°, elevation, figure of merit")
    #expect(nxp["NXP_IN_BAND_BLOCK_SIZE"] == "174 bytes")
    let qorvo = try words(qorvo, Dialect(vendor: .qorvo))
    #expect(qorvo["MAX_DATA_PACKET_PAYLOAD_SIZE"] == "255 bytes")
    #expect(qorvo["AOA_SUPPORT"] == "none")
    #expect(qorvo["STS_CONFIG"] == "static, provisioned, provisioned with controlee key")
  }

  @Test("Two bits of Android's capability 0xE5 are swapped against the values they stand for")
  func rangeDataNotificationBits() {
    let words = Capabilities([]).words(for: TLV(0xE5, [0x01, 0, 0, 0]))
    #expect(words == "on")
    #expect(AppConfigID.sessionInfoNotificationConfig.parameter?.values[0] == "off")
    #expect(Capabilities([]).words(for: TLV(0xE5, [0x06, 0, 0, 0])) == "off, within proximity")
  }

  @Test("Bytes of CCC's capabilities have another order on NXP's chips")
  func orderOfCCCBytes() throws {
    let nxp = try words(sr250, Dialect(generation: .fira3, vendor: .nxp))
    #expect(nxp["CCC_SYNC_CODES"] == "9, 10, 11, 12")
    #expect(nxp["CCC_UWB_CONFIGS"] == "0, 1")
    let android = Capabilities([])
    #expect(android.words(for: TLV(0xA1, [0, 0, 0x0F, 0])) == "9, 10, 11, 12")
    #expect(android.words(for: TLV(0xA5, [0, 1])) == "0, 1")
  }

  @Test func fieldsHideKeys() throws {
    let key = "05780578057805780578057805780578"
    let message = try Message(packet: bytes("21030017 01000000 01 4510" + key))
    #expect(message.fields().description.contains("secret"))
    let opaque = try Message(packet: bytes("21030017 01000000 02 4510" + key))
    guard case .opaque = opaque.content else {
      Issue.record("a list that ends too early was understood")
      return
    }
    for field in opaque.fields() where field.name == "payload" {
      guard case .secret = field.value else {
        Issue.record("bytes with a key are shown")
        continue
      }
    }
    let known = try Message(packet: bytes("21030009 01000000 01 08026009"))
    #expect(known.fields().contains { $0.name == "parameters" })
    #expect(!known.fields().description.contains("secret"))
  }
}
