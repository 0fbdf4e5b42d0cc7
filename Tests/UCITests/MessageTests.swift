// SPDX-License-Identifier: Apache-2.0

import Testing
import UCIReference
import UCITestSupport

@testable import UCI

// Frames of a Qorvo DWM3001CDK with firmware QM33SDK-1.1.1 (captures of EstebanMenti's UCI script),
// of an NXP SR250 (log in NXP's UWBIoT guide), of google/pica 0.1.12, and constructed ones.
@Suite struct MessageTests {
  @Test(arguments: [
    "20000001 00", "60010001 01", "40000001 00", "20020000", "20030000", "21000005 0700000000",
    "41000005 0001000000", "61020006 010000000000", "22000004 01000000", "42000001 15",
    "41030002 0000", "22030004 01000000", "42030005 0000000000", "22010004 01000000",
    "21010004 01000000", "21050000", "41050002 0000", "2e000002 0000", "60070001 0a",
    "20040004 01010101", "20040006 01e40402f401", "40040006 040200095504", "20050003 020001",
    "40050008 00020001ff010101", "21040009 44332211 0406070904",
    "41040013 00 04 0602aa01 0702bb02 0904c8000000 040109",
    "4c000011 00" + String(repeating: "00", count: 16),
    "2c010002 5553", "62040005 0900000001", "62050007 05000000000401",
    "620500080100000002000102", "6205000601000000 0201", "6206000501000000 01",
    "210b0004 01000000", "410b0007 01000000 00 f705", "410b0002 0103",
    "2107000c 070000000101c00000000000", "41070005 1701c02001", "61070008 0700000001c00000",
    "6107000d 07000000 03 01 c000 00000000 02",
    "2107001c 07000000 02 01 c021 00000000" + String(repeating: "6b", count: 16),
    "21090007 01000000 02 0305", "41090004 29 02 0305",
    "2108000e 01000000 02 0001 01 aa01 01 04 0100",
    "010012000100000001000000000000000100 0200 6869",
    "020013000900000000aa0100000000000001000200 6869",
  ])
  func encodesWhatItDecodes(packet: String) throws {
    for vendor in [Dialect.Vendor.unknown, .nxp, .qorvo] {
      let dialect = Dialect(vendor: vendor)
      #expect(try reencoded(packet, dialect: dialect) == payload(of: packet))
    }
  }

  @Test func deviceInfoOfQorvo() throws {
    let packet =
      "4002003e 00 0200 0200 0200 0110 34 01010000 0000000000000000 000000"
      + "50563458 32300ee0 ca09"
      + String(repeating: "00", count: 22) + "0203cade 00"
    let response = try #require(try decode(packet, as: BodyResponse<DeviceInfo>.self))
    let info = try #require(response.body)
    #expect(response.status == .ok)
    #expect(info.uciVersion == UCIVersion(2, 0))
    #expect(info.testVersion.description == "1.1.0")
    #expect(info.vendor == .qorvo)
    guard case .qorvo(let qorvo)? = info.vendorDetails else {
      Issue.record("not recognised as Qorvo's record")
      return
    }
    #expect(qorvo.firmware == "1.1.0")
    #expect(qorvo.deviceID == 0xDECA_0302)
    #expect(qorvo.socID == bytes("505634583230 0ee0ca09"))
    #expect(qorvo.packaging == 0)
    #expect(try reencoded(packet) == payload(of: packet))
  }

  @Test func deviceInfoOfNXP() throws {
    let packet =
      "4002002a 00 0300 0200 0200 0200 20 000f" + hexadecimal(Array("SR250_A1V2_PROD".utf8))
      + "0103 0131ff 0203 020023 040164 "
    // The list above has 17 + 5 + 5 + 3 = 30 bytes, and two bytes of padding make it 32.
    let padded = packet + "7000"
    let info = try #require(try decode(padded, as: BodyResponse<DeviceInfo>.self)?.body)
    #expect(info.vendor == .nxp)
    guard case .nxp(let nxp)? = info.vendorDetails else {
      Issue.record("not recognised as NXP's list")
      return
    }
    #expect(nxp.deviceName == "SR250_A1V2_PROD")
    #expect(nxp.firmware == "01.31.FF")
    #expect(nxp.maxPPM == 100)
  }

  @Test func shortErrorResponses() throws {
    let count = try #require(try decode("42030001 15", as: RangingCountResponse.self))
    #expect(count.status == .sessionNotConfigured)
    #expect(count.count == nil)
    let initialised = try #require(try decode("41000001 12", as: SessionInitResponse.self))
    #expect(initialised.handle == nil)
    #expect(try decode("40020001 03", as: BodyResponse<DeviceInfo>.self)?.body == nil)
    #expect(try decode("4c000001 0b", as: BodyResponse<AndroidPowerStats>.self)?.body == nil)
    #expect(try decode("410b0001 11", as: DataSizeResponse.self)?.status == .sessionNotExist)
    #expect(try decode("41070001 02", as: MulticastListResponse.self)?.controlees == nil)
  }

  @Test(arguments: ["41030002 0103", "40080002 0103", "40050002 0103", "41090002 0103"])
  func picasErrorsWithAStrayByte(packet: String) throws {
    let message = try Message(packet: bytes(packet))
    #expect(message.status == .rejected)
    #expect(message.payload() == [1, 3])
    if case .opaque = message.content { Issue.record("\(packet) was not understood") }
  }

  @Test func bytesBehindTheKnownLayoutAreKept() throws {
    let message = try Message(packet: bytes("42000003 00 abcd"))
    #expect(message.status == .ok)
    #expect(message.trailing == [0xAB, 0xCD])
    #expect(message.payload() == [0, 0xAB, 0xCD])
  }

  @Test func unknownValuesAreKept() throws {
    let status = try #require(
      try decode("61020006 01000000 77 c3", as: SessionStatusNotification.self))
    #expect(status.state.rawValue == 0x77)
    #expect(status.reason.rawValue == 0xC3)
    #expect(try decode("21000005 07000000 77", as: SessionInit.self)?.type.rawValue == 0x77)
    #expect(try decode("42000001 e1", as: StatusResponse.self)?.status.description == "STATUS_0xE1")
    let config = try #require(
      try decode(
        "21030009 01000000 01 fe02aabb", as: SetAppConfig.self))
    #expect(config.parameters == [TLV(0xFE, [0xAA, 0xBB])])
  }

  @Test func unknownMessagesAreOpaque() throws {
    for packet in ["44050001 07", "2e000002 0000", "213f0000", "e0000100 00", "6f330003 010203"] {
      let message = try Message(packet: bytes(packet))
      guard case .opaque(let kept, nil) = message.content else {
        Issue.record("\(packet) has a layout")
        continue
      }
      #expect(kept == payload(of: packet))
    }
    // The decoder keeps the bytes of a message that is too short for its layout, with the reason.
    guard case .opaque([], .tooShort?) = try Message(packet: bytes("20000000")).content else {
      Issue.record("an empty reset was understood")
      return
    }
  }

  @Test func packetsOfTheWrongLengthThrow() {
    for packet in ["", "600100", "60010001", "6001000101ff", "798a000844332211", "ffffffff"] {
      #expect(throws: PayloadError.self) { try Message(packet: bytes(packet)) }
    }
  }

  @Test func longIdentifiersOfNXP() throws {
    let packet = "20040012 03 e4020100 e40402f401 e43a0500e803e803"
    let nxp = Dialect(vendor: .nxp)
    let config = try #require(try decode(packet, as: SetConfig.self, dialect: nxp))
    #expect(
      config.parameters == [
        TLV(0xE4, [0x00], subID: 0x02), TLV(0xE4, [0xF4, 0x01], subID: 0x04),
        TLV(0xE4, [0x00, 0xE8, 0x03, 0xE8, 0x03], subID: 0x3A),
      ])
    #expect(try reencoded(packet, dialect: nxp) == payload(of: packet))
    let refused = try #require(
      try decode("40040005 04 01 e43304", as: ConfigurationResponse.self, dialect: nxp))
    #expect(refused.refused == [RefusedParameter(id: 0xE4, status: .invalidParameter, subID: 0x33)])
  }

  @Test func vendorTablesDoNotLeak() throws {
    #expect(
      try decode("2e000002 0000", as: NXPDeviceInit.self, dialect: Dialect(vendor: .nxp)) != nil)
    #expect(
      try decode("2e000002 0000", as: NXPDeviceInit.self, dialect: Dialect(vendor: .qorvo)) == nil)
    let boot = try decode(
      "6b310001 01", as: QorvoBootNotification.self, dialect: Dialect(vendor: .qorvo))
    #expect(boot?.reason == 1)
    // Android's group is decoded whatever the chip's maker.
    for vendor in [Dialect.Vendor.unknown, .nxp, .qorvo, .android] {
      let country = try decode(
        "2c010002 5553", as: AndroidSetCountryCode.self, dialect: Dialect(vendor: vendor))
      #expect(country?.country.first == 0x55)
    }
  }

  @Test func names() {
    func name(_ packet: String, _ vendor: Dialect.Vendor = .unknown) -> String {
      let header = try! PacketHeader(parsing: bytes(packet).span.bytes)
      return MessageCatalog.name(
        type: header.type, opcode: header.opcode, dialect: Dialect(vendor: vendor))
    }
    #expect(name("62000000") == "SESSION_INFO_NTF")
    #expect(name("22000000") == "SESSION_START_CMD")
    #expect(name("40030000") == "CORE_GET_CAPS_INFO_RSP")
    #expect(name("21030000") == "SESSION_SET_APP_CONFIG_CMD")
    #expect(name("2e000000") == "VENDOR_0xE_0x00_CMD")
    #expect(name("2e000000", .nxp) == "NXP_CORE_DEVICE_INIT_CMD")
    #expect(name("6b310000", .qorvo) == "QORVO_DEVICE_BOOT_NTF")
    #expect(name("44050000") == "GROUP_0x4_0x05_RSP")
    #expect(name("01000000") == "DATA_MESSAGE_SND")
  }
}
