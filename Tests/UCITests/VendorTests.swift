// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI

// NXP: frames of a published log of an SR250. Qorvo: constructed by the layout of its host code.
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
        let message = try Message(packet: octets(packet), dialect: dialect)
        if case .opaque = message.content { Issue.record("\(packet) was not understood") }
        #expect(!message.fields(dialect: dialect).isEmpty)
        // Of another vendor it is something else.
        if case .opaque = try Message(packet: octets(packet)).content { continue }
        Issue.record("\(packet) was understood without knowing the vendor")
      }
    }
  }

  @Test func calibration() throws {
    let nxp = try #require(
      try decode(Self.nxp[0], as: NXPSetCalibration.self, dialect: Dialect(vendor: .nxp)))
    #expect(nxp.channel == 0)
    #expect(nxp.parameter == 1)
    #expect(nxp.value == octets("03250025000400"))
    let read = try #require(
      try decode(
        Self.qorvo[6], as: QorvoCalibrationResponse.self, dialect: Dialect(vendor: .qorvo)))
    #expect(read.entries?.map(\.key) == [Array("abc".utf8), Array("d".utf8)])
    #expect(read.entries?.map(\.value) == [[0x12, 0x34], []])
    #expect(read.entries?.map(\.status) == [.ok, Status(rawValue: 2)])
  }

  @Test func randomOctetsAreSecret() throws {
    let dialect = Dialect(vendor: .nxp)
    let message = try Message(packet: octets(Self.nxp[4]), dialect: dialect)
    #expect(
      message.fields(dialect: dialect).last == Field("random", .secret([0x9E, 0x36])))
  }

  @Test func locations() {
    // Constructed by the layout of Qorvo's host code.
    #expect(
      AnchorLocation(geographic: octets("0000803000006042c0001e04"))
        == .geographic(latitude: 48.5, longitude: -122.25, altitude: 35.75))
    #expect(
      AnchorLocation(relative: octets("dc0500030f8ffffdffff"))
        == .relative(x: 1500, y: -2000, z: -3))
    #expect(AnchorLocation(geographic: []) == nil)
    #expect(AnchorLocation(relative: Array(repeating: 0, count: 12)) == nil)
  }
}
