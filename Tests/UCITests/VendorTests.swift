// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference
import UCITestSupport

// NXP: frames of a published log of an SR250. Qorvo: constructed by the layout of DW3_QM33_SDK.
@Suite struct VendorTests {
  static let nxp = [
    "2f21000a 00010703250025000400", "4f210001 00", "2f210010 05020d04017848027248037648046900",
    "2a020001 02", "4a020003 009e36", "4a020001 01", "6e060001 02",
  ]
  static let qorvo = [
    "2e2a000c 0200 03 616263 02 1234 01 64 00", "4e2a0001 00", "2e2b0002 0000",
    "2e2b0006 0100 03 616263", "4e2b0001 01", "4e2b0002 01 03",
    "4e2b000f 00 0200 03 616263 00 02 1234 01 64 02 00",
  ]

  @Test func encodeWhatTheyDecode() throws {
    for (vendor, packets) in [(Dialect.Vendor.nxp, Self.nxp), (.qorvo, Self.qorvo)] {
      let dialect = Dialect(vendor: vendor)
      for packet in packets {
        #expect(try reencoded(packet, dialect: dialect) == payload(of: packet))
        let message = try Message(packet: bytes(packet), dialect: dialect)
        if case .opaque = message.content { Issue.record("\(packet) was not understood") }
        #expect(!message.fields(dialect: dialect).isEmpty)
        // For another vendor, the number has another meaning.
        if case .opaque = try Message(packet: bytes(packet)).content { continue }
        Issue.record("\(packet) was understood without knowing the vendor")
      }
    }
  }

  @Test func calibration() throws {
    let nxp = try #require(
      try decode(Self.nxp[0], as: NXPSetCalibration.self, dialect: Dialect(vendor: .nxp)))
    #expect(nxp.channel == 0)
    #expect(nxp.parameter == 1)
    #expect(nxp.value == bytes("03250025000400"))
    let read = try #require(
      try decode(
        Self.qorvo[6], as: QorvoCalibrationResponse.self, dialect: Dialect(vendor: .qorvo)))
    #expect(read.entries?.map(\.key) == [Array("abc".utf8), Array("d".utf8)])
    #expect(read.entries?.map(\.value) == [[0x12, 0x34], []])
    #expect(read.entries?.map(\.status) == [.ok, Status(rawValue: 2)])
  }

  @Test func randomBytesAreSecret() throws {
    let dialect = Dialect(vendor: .nxp)
    let message = try Message(packet: bytes(Self.nxp[4]), dialect: dialect)
    #expect(
      message.fields(dialect: dialect).last == Field("random", .secret([0x9E, 0x36])))
  }

  @Test func locations() {
    // Constructed by the layout of DW3_QM33_SDK.
    #expect(
      AnchorLocation(geographic: bytes("0000803000006042c0001e04"))
        == .geographic(latitude: 48.5, longitude: -122.25, altitude: 35.75))
    #expect(
      AnchorLocation(relative: bytes("dc0500030f8ffffdffff"))
        == .relative(x: 1500, y: -2000, z: -3))
    #expect(AnchorLocation(geographic: []) == nil)
    #expect(AnchorLocation(relative: Array(repeating: 0, count: 12)) == nil)
  }
}

@Suite struct SecretMessageTests {
  private let nxp = Dialect(vendor: .nxp)
  private let qorvo = Dialect(vendor: .qorvo)

  private func isSecret(_ packet: String, _ dialect: Dialect) throws -> Bool {
    let header = try PacketHeader(parsing: bytes(packet).span.bytes)
    return Message.canCarryKeys(type: header.type, opcode: header.opcode, dialect: dialect)
  }

  @Test("Messages of vendors that can carry keys are known as such, and only theirs")
  func vendors() throws {
    for packet in [
      "2f000000", "4f030000", "6e080000", "2a050000", "4a020000", "2a080000", "4f310000",
    ] {
      #expect(try isSecret(packet, nxp), "\(packet)")
      #expect(try !isSecret(packet, qorvo), "\(packet)")
      #expect(try isSecret(packet, .assumed), "\(packet): nobody knows whose it is")
    }
    for packet in ["29160000", "49190000", "69000000"] {
      #expect(try isSecret(packet, qorvo), "\(packet)")
      #expect(try !isSecret(packet, nxp), "\(packet)")
    }
    for packet in ["80000000", "a0000000", "21030000", "41040000", "21070000"] {
      for dialect in [nxp, qorvo, .assumed] { #expect(try isSecret(packet, dialect), "\(packet)") }
    }
    for packet in ["41030000", "21040000", "62000000", "2e000000", "2f210000"] {
      for dialect in [nxp, qorvo, .assumed] { #expect(try !isSecret(packet, dialect), "\(packet)") }
    }
  }

  @Test("What is a secret is described as one")
  func described() throws {
    let key = String(repeating: "6b", count: 16)
    let packets: [(String, Dialect)] = [
      ("6e080010" + key, nxp), ("2916 0010" + key, qorvo), ("2a050015 0b00010201" + key, nxp),
      ("2f000017 01000000 01 79 10" + key, nxp), ("2f000017 01000000 02 79 10" + key, nxp),
      ("4f030014 00 01 79 10" + key, nxp), ("2f000010" + key, .assumed),
      ("41040019 00 01 28 15" + key + "6b6b6b6b6b", .assumed),
    ]
    for (packet, dialect) in packets {
      let message = try Message(packet: bytes(packet), dialect: dialect)
      let shown = message.fields(dialect: dialect).filter { !isHidden($0.value) }.description
      #expect(!shown.contains("107, 107"), "\(packet)")
      #expect(message.payload(dialect: dialect) == payload(of: packet))
    }
    // A value that is not a secret is shown.
    let plain = try Message(packet: bytes("2f000008 01000080 01 670101"), dialect: nxp)
    #expect(!plain.fields(dialect: nxp).description.contains("secret"))
  }

  /// The text without the values of secrets.
  private func isHidden(_ value: FieldValue) -> Bool {
    switch value {
    case .secret: true
    case .list(let list): list.allSatisfy(isHidden)
    case .object(let fields): fields.contains { isHidden($0.value) }
    default: false
    }
  }
}
