// SPDX-License-Identifier: Apache-2.0

import Testing
import UCIReference
import UCITestSupport

@testable import UCI

/// Documentation/swift-uwb.docc/DeviceOddities.md, "Sessions and versions". Those on parameters and
/// capabilities are with the tests of their tables.
@Suite struct VersionOddityTests {
  private let qorvo = Dialect(vendor: .qorvo)
  private let nxp = Dialect(vendor: .nxp)

  private func isUnderstood(_ packet: String, _ dialect: Dialect) throws -> Bool {
    if case .opaque = try Message(packet: bytes(packet), dialect: dialect).content { return false }
    return true
  }

  @Test("pica reports version 2.0 and follows 1.x in places")
  func mixedDialect() throws {
    // Captures of google/pica.
    #expect(try decode("41000001 00", as: SessionInitResponse.self)?.handle == nil)
    let status = try decode(
      "62050007 05000000 00 04 01", as: DataTransferStatusNotification.self)
    #expect(status?.transmissions == 1 && status?.status == .rejected)
    #expect(try Message(packet: bytes("410b0002 0103")).status?.isSuccess != true)
    let capabilities = Capabilities([TLV(0x02, [3]), TLV(0x11, [1])])
    #expect(capabilities.numbering == .fira1 && capabilities.supportsExtendedAddresses == true)
  }

  @Test("The versions of UCI, MAC and PHY are different numbers")
  func versions() throws {
    let packet = "4002000a 00 0110 0200 0300 0110 00"
    let info = try #require(try decode(packet, as: BodyResponse<DeviceInfo>.self)?.body)
    #expect(info.uciVersion == UCIVersion(1, 1))
    #expect(info.macVersion == UCIVersion(2, 0))
    #expect(info.phyVersion == UCIVersion(3, 0))
    #expect(Dialect(info).generation == .fira1)
    var dialect = Dialect(generation: .fira3, vendor: .qorvo)
    dialect.learn(from: try Message(packet: bytes(packet)))
    #expect(dialect == Dialect(generation: .fira1, vendor: .qorvo))
  }

  @Test("A version is not a little-endian number")
  func versionBytes() throws {
    let packet = "4002000a 00 0200 0130 0111 0200 00"
    let info = try #require(try decode(packet, as: BodyResponse<DeviceInfo>.self)?.body)
    #expect(info.uciVersion.description == "2.0.0")
    #expect(info.macVersion.description == "1.3.0")
    #expect(info.phyVersion.description == "1.1.1")
    #expect(Dialect.Generation(UCIVersion(0, 9)) == .fira1)
    #expect(Dialect.Generation(UCIVersion(4, 0)) == .fira3)
  }

  @Test("The groups of vendors collide")
  func vendorGroups() throws {
    #expect(try decode("2f000000", as: QorvoResetCalibration.self, dialect: qorvo) != nil)
    #expect(
      try decode("2f000008 01000080 01 670101", as: NXPSetAppConfig.self, dialect: nxp) != nil)
    #expect(try decode("6e060001 02", as: NXPBindingStatusNotification.self, dialect: nxp) != nil)
    #expect(try !isUnderstood("6e060001 02", qorvo))
    for packet in ["2f000000", "6e060001 02", "6b310001 01", "690a0008 4433221100000000"] {
      #expect(try !isUnderstood(packet, .assumed), "\(packet)")
    }
    // For a vendor's chip, its vendor decides, not the group.
    var dialect = Dialect.assumed
    let sr250 = "4002001b 00 0300 0200 0200 0200 11 000f 53523235305f413156325f50524f44"
    dialect.learn(from: try Message(packet: bytes(sr250)))
    #expect(dialect == Dialect(generation: .fira3, vendor: .nxp))
  }

  @Test("The multicast list has two forms, and the length decides")
  func multicastForms() throws {
    let response = try decode("41070001 02", as: MulticastListResponse.self)
    #expect(response?.status == .failed && response?.controlees == nil)
    for generation in Dialect.Generation.allCases {
      let dialect = Dialect(generation: generation)
      let newer = try decode(
        "61070008 07000000 01 c000 00", as: MulticastListNotification.self, dialect: dialect)
      #expect(newer?.remaining == nil && newer?.controlees.count == 1)
      let older = try decode(
        "6107000d 07000000 03 01 c000 04000000 02", as: MulticastListNotification.self,
        dialect: dialect)
      #expect(older?.remaining == 3 && older?.controlees.first?.subSessionID == 4)
      let list = try decode("41070005 00 01 c000 00", as: MulticastListResponse.self)
      #expect(list?.controlees?.count == 1)
    }
    // Both forms fit the length, so the version decides here only.
    let both = "61070014 07000000 05 02 c000 00000000 00 c100 00000000 00"
    func entries(_ generation: Dialect.Generation) throws -> Int? {
      try decode(
        both, as: MulticastListNotification.self, dialect: Dialect(generation: generation))?
        .controlees.count
    }
    #expect(try entries(.fira1) == 2)
    #expect(try entries(.fira2) == 5)
  }

  @Test("The multicast command has a count, and addresses are little-endian")
  func multicastCommand() {
    let command = UpdateMulticastList(
      sessionToken: 7, action: .add, controlees: [.init(address: 0x0201, subSessionID: 0x0403)])
    #expect(command.encoded() == bytes("07000000 00 01 0102 03040000"))
  }

  @Test("The status of a data transfer has three forms")
  func dataTransferStatus() throws {
    func read(_ packet: String) throws -> DataTransferStatusNotification? {
      let read = try decode(packet, as: DataTransferStatusNotification.self)
      #expect(try reencoded(packet) == payload(of: packet))
      return read
    }
    #expect(try read("62050008 05000000 0201 01 03")?.sequenceNumber == 0x0102)
    #expect(try read("62050007 05000000 02 01 03")?.sequenceNumber == 2)
    let shortest = try read("62050006 05000000 02 01")
    #expect(shortest?.sequenceNumber == 2 && shortest?.transmissions == nil)
  }

  @Test("The response to QUERY_DATA_SIZE begins with the session, not with a status")
  func dataSize() throws {
    let packet = "410b0007 01000000 11 ff00"
    let response = try #require(try decode(packet, as: DataSizeResponse.self))
    #expect(response.sessionToken == 1)
    #expect(response.status == .sessionNotExist)
    #expect(try Message(packet: bytes(packet)).status == .sessionNotExist)
  }

  @Test("The roles of SESSION_ROLE_CHANGE are the reverse of DEVICE_ROLE")
  func roleChange() throws {
    func role(_ packet: String) throws -> FieldValue? {
      try Message(packet: bytes(packet)).fields().first { $0.name == "role" }?.value
    }
    #expect(
      try role("62060005 01000000 00") == .code(0, name: "INITIATOR", explanation: nil))
    #expect(
      try role("62060005 01000000 01") == .code(1, name: "RESPONDER", explanation: nil))
    #expect(AppConfigID.deviceRole.parameter?.values[0] == "responder")
  }

  @Test(
    "Codes that changed their meaning are kept as they came",
    arguments: [0x12, 0x18, 0x19, 0x2A, 0x2B, 0x50, 0x53, 0xFE] as [UInt8])
  func rawCodes(code: UInt8) throws {
    for vendor in Dialect.Vendor.allCases {
      let packet = [0x42, 0x00, 0x00, 0x01, code]
      let message = try Message(packet: packet, dialect: Dialect(vendor: vendor))
      #expect(message.status?.rawValue == code)
      #expect(message.payload() == [code])
    }
  }

  @Test("Unknown values do not make a message unreadable")
  func openValues() throws {
    #expect(try decode("21000005 07000000 77", as: SessionInit.self)?.type.rawValue == 0x77)
    let packets = [
      "60010001 77", "61020006 01000000 77 c3", "21030009 01000000 01 fe02aabb",
      "41070005 00 01 0100 ee", "62050008 05000000 0100 ee 01",
      "62000019 00000000 01000000 00 c8000000 77 00 00 00000000 00000000 00",
      "4003000c 00 03 9f02aabb fe01cc 020103",
    ]
    for packet in packets {
      #expect(try isUnderstood(packet, .assumed), "\(packet)")
      #expect(try reencoded(packet) == payload(of: packet))
      #expect(try !Message(packet: bytes(packet)).fields().isEmpty)
    }
  }

  @Test("The numbers are those of UCI, not of a vendor's header")
  func numbersOfUCI() {
    // In Qorvo's own enumerations the statuses continue after 17, 0 is NLoS, and schedules begin
    // with 1.
    #expect(Status.rangingTxFailed.rawValue == 0x20)
    #expect(Status.rangingRxTimeout.rawValue == 0x21)
    #expect(LineOfSight.lineOfSight.rawValue == 0)
    #expect(AppConfigID.scheduleMode.parameter?.values[0] == "contention based")
    #expect(AppConfigID.scheduleMode.parameter?.values[1] == "time scheduled")
  }
}
