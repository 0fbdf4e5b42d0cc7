// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference
import UCITestSupport

/// At least one packet for each message with a known layout. Most are constructed by their layouts.
/// Packets of NXP's groups 9, A, E and F are from published logs and demos of an SR250 where
/// possible.
enum CoverageVectors {
  static let standard = [
    // Core.
    "20000001 00", "40000001 00", "60010001 01", "20020000", "40020001 03", "20030000",
    "40030005 00 01 00 01 05", "20040004 01 01 01 01", "40040004 04 01 55 04", "20050003 02 00 01",
    "40050005 00 01 00 01 ff", "60070001 0a", "20080000", "40080009 00 1122334455667788",
    // Session configuration.
    "21000005 07000000 00", "41000005 00 01000000", "21010004 01000000", "41010001 00",
    "61020006 01000000 00 00", "21030008 01000000 01 040109", "41030002 00 00",
    "21040006 01000000 01 04", "41040005 00 01 04 01 09", "21050000", "41050002 00 01",
    "21060004 01000000", "41060002 00 03", "2107000c 01000000 00 01 0200 00000000", "41070001 00",
    "61070008 01000000 01 0200 00", "21080007 01000000 01 00 00", "41080002 00 00",
    "21090006 01000000 01 02", "41090003 28 01 02", "210b0004 01000000",
    "410b0007 01000000 00 ff00", "210c0010 01000000 01 02000000 0000 0a00 00 0100", "410c0001 00",
    "210d0009 01000000 01 02000000", "410d0001 00", "210e000b 01000000 00 00 01 0100 ff 00",
    "410e0001 00", "610e0005 01000000 00",
    // Session control.
    "22000004 01000000", "42000001 00", "22010004 01000000", "42010001 00", "22030004 01000000",
    "42030005 00 0a000000",
    "62000019 00000000 01000000 00 c8000000 01 00 00 00000000 00000000 00",
    "62040005 01000000 01", "62050008 01000000 0100 01 01", "62060005 01000000 00",
    "2207000e 01000000 02 0100000000000000 00", "42070005 00 05000000", "62070005 05000000 00",
    "22080004 05000000", "42080001 00", "62090005 05000000 01",
    "620a0011 01000000 05000000 02 0100000000000000", "220b0004 05000000",
    "420b0005 00 0100 0001",
    // Radio tests.
    "2d000008 00000000 01 080100", "4d000002 00 00", "2d010006 00000000 01 08",
    "4d010005 00 01 08 01 00", "2d020002 0102", "4d020001 00", "6d020001 00", "2d030002 0102",
    "4d030001 00", "6d030005 00 e8030000", "2d050000", "4d050001 00", "6d050001 21",
    "2d060002 0102", "4d060001 00", "6d060001 21", "2d070000", "4d070001 00", "2d080000",
    "4d080001 00", "6d080005 00 00010000", "2d090000", "4d090001 00",
    "6d090029 00 01000000 02000000 03000000 04000000 05000000 06000000 07000000 08000000 09000000"
      + " 0a000000",
    // Data.
    "01001200 01000000 bb02000000000000 0100 0200 6869",
    "02001300 01000000 00 bb02000000000000 0100 0200 6869",
    "03000900 05000000 0100 0100 68", "04000900 05000000 0100 0100 68",
    "0f000d00 01000000 00 00 00 00 00 0000 0000 ",
    // Android.
    "2c000000", "4c000011 00 01000000 02000000 03000000 04000000", "2c010002 5553", "4c010001 00",
    "6c020009 01000000 02000000 00", "2c110008 01000000 01 020105", "4c110002 00 00",
    "2c120006 01000000 01 02", "4c120005 00 01 02 01 05",
  ]

  static let nxp = [
    "22210008 01000000 05000000", "42210001 00", "620b0005 01000000 01", "620c0006 01000000 01 01",
    "690a0012 010000f0 00 01 01 00 00 00 2d000000 4c2e0000",
    "690a000c 44332211 00 00 0400 80 00 8504", "690a0008 44332211 00 05 aabb",
    "2a010003 09 01 01", "4a010001 00",
    "6a010005 00 03 aabbcc", "2a020001 02", "4a020003 00 9e36", "2a040000", "4a040003 00 0100",
    "2a05000a 0b 00 0102 01 0102030405", "4a050005 00 01000000",
    "6b220012 01000000 02000000 01 02 03 00 010203 040506", "2e000002 0000", "4e000001 00",
    "2e020000", "4e020001 00", "6e060001 02",
    "6e07000f 01 01000000 00 0a000000 01000000 32",
    "2f000008 01000080 01 670101", "4f000002 00 00",
    "2f000027 010000f0 07 a00101 a50100 a80703760276027602 a90732000000e02e01 ad0101 ae0132"
      + " b202cd0c",
    "2f010005 01 2a000000", "4f010001 00", "6f010007 00 01 2a000000 00", "2f020000",
    "4f020002 00 00", "2f030006 010000f0 01 b3", "4f030005 00 01 67 01 01",
    "2f21000a 00010703250025000400", "4f210001 00", "2f220002 0500", "2f220003 05 62 00",
    "4f22000b 00 01 01 07 03250025000400", "4f220001 04", "2f310000", "4f310001 50", "2f320000",
    "4f320001 00", "6f34000c 01000000 02 01 0200 01020304",
  ]

  static let qorvo = [
    "6b000011 0001 00ff 01 0050 b0ff 0200 0300 00000100", "2b010001 01", "4b010001 00",
    "2b020003 ff 0a00", "4b020001 00", "6b020007 01 02 04 03400000",
    "6b030009 01000000 02000000 00",
    "6b040004 01 01 01 00", "6b050008 01000000 0100 01 01", "2b070000",
    "4b070008 00 01 2a000000 00 03", "6b220009 01000000 00 0200 aabb", "2b230000",
    "4b230012 00 00010000 00020000 00030000 00040000 00", "2b240000",
    "4b24001d 00 01000000 02000000 03000000 04000000 05000000 06000000 07000000", "2b260000",
    "4b260001 00", "2b270000", "4b270003 00 c409", "6b310001 01",
    "2e2a000a 0100 03 616263 03 010203", "4e2a0001 00", "2e2b0002 0000",
    "4e2b000b 00 0100 03 616263 00 02 1234", "2e2e0001 00", "4e2e0001 00", "2e2f0001 01",
    "4e2f0001 00", "2f000000", "4f000001 00",
  ]

  static let all: [(vendor: Dialect.Vendor, packets: [String])] = [
    (.unknown, standard), (.nxp, nxp), (.qorvo, qorvo),
  ]
}

@Suite struct CoverageTests {
  @Test("Every message with a known layout is read, written as it was, and described")
  func everyLayout() throws {
    for (vendor, packets) in CoverageVectors.all {
      let dialect = Dialect(generation: .fira3, vendor: vendor)
      var missing = MessageCatalog.keys(in: dialect)
      if vendor != .unknown { missing.subtract(MessageCatalog.keys(in: Dialect())) }
      for packet in packets {
        let message = try Message(packet: bytes(packet), dialect: dialect)
        if case .opaque(_, let error) = message.content {
          Issue.record("\(packet) was not understood: \(error.map(\.description) ?? "no layout")")
        }
        #expect(message.trailing.isEmpty, "\(packet)")
        #expect(message.payload(dialect: dialect) == payload(of: packet), "\(packet)")
        #expect(!message.name(dialect: dialect).contains("0x"), "\(packet) has no name")
        let isEmptyCommand = message.type == .command && bytes(packet).count == 4
        #expect(!message.fields(dialect: dialect).isEmpty || isEmptyCommand, "\(packet)")
        missing.remove(.init(type: message.type, opcode: message.opcode))
      }
      #expect(missing.isEmpty, "messages of \(vendor) without a packet: \(missing)")
    }
  }

  @Test(
    "Messages whose layout only a licensed source gives have a name and bytes",
    arguments: [
      ("2a000006 09 01 03 aabbcc", "NXP_WRITE_OTP_CALIBRATION_CMD"),
      ("2e040004 0a00 6400", "NXP_SE_TEST_LOOP_CMD"),
    ])
  func bytesOnly(_ packet: String, _ name: String) throws {
    let dialect = Dialect(generation: .fira3, vendor: .nxp)
    let message = try Message(packet: bytes(packet), dialect: dialect)
    #expect(message.name(dialect: dialect) == name)
    guard case .opaque(_, nil) = message.content else {
      Issue.record("\(packet) was understood")
      return
    }
    #expect(message.payload(dialect: dialect) == payload(of: packet))
  }

  /// Messages of the reference with a layout, by group: opcodes of commands (with their responses)
  /// and of notifications. The table omits messages whose layouts no public source gives:
  /// CORE_DEVICE_SUSPEND, SESSION_SET_INITIATOR_DT_ANCHOR_RR_RDM_LIST, Android's timestamp anchor,
  /// Qorvo's secure element, antenna flex, processor statistics, schedulers and regions, NXP's
  /// writing of one-time memory, loop of the secure element, data logger, timestamps, CIR pull,
  /// coexistence, secure element binding and CCC ranging.
  private static let reference:
    [(Dialect.Vendor, UInt8, commands: [UInt8], notifications: [UInt8])] =
      [
        (.unknown, 0x0, [0, 2, 3, 4, 5, 8], [1, 7]),
        (.unknown, 0x1, [0, 1, 3, 4, 5, 6, 7, 8, 9, 0xB, 0xC, 0xD, 0xE], [2, 7, 0xE]),
        (.unknown, 0x2, [0, 1, 3, 7, 8, 0xB], [0, 4, 5, 6, 7, 9, 0xA]),
        (.unknown, 0xC, [0, 1, 0x11, 0x12], [2]),
        (.unknown, 0xD, [0, 1, 2, 3, 5, 6, 7, 8, 9], [2, 3, 5, 6, 8, 9]),
        (.qorvo, 0xB, [1, 2, 7, 0x23, 0x24, 0x26, 0x27], [0, 2, 3, 4, 5, 0x22, 0x31]),
        (.qorvo, 0xE, [0x2A, 0x2B, 0x2E, 0x2F], []), (.qorvo, 0xF, [0], []),
        (.nxp, 0x2, [0x21], [0xB, 0xC]), (.nxp, 0x9, [], [0xA]),
        (.nxp, 0xA, [1, 2, 4, 5], [1]), (.nxp, 0xB, [], [0x22]),
        (.nxp, 0xE, [0, 2], [6, 7]),
        (.nxp, 0xF, [0, 1, 2, 3, 0x21, 0x22, 0x31, 0x32], [1, 0x34]),
      ]

  @Test("Every layout of the reference is known")
  func everyMessageOfTheReference() {
    for (vendor, group, commands, notifications) in Self.reference {
      let keys = MessageCatalog.keys(in: Dialect(vendor: vendor))
      let group = GroupID(rawValue: group)
      for oid in commands {
        for type in [MessageType.command, .response] {
          #expect(
            keys.contains(.init(type: type, opcode: Opcode(group, oid))),
            "\(vendor) \(type) \(group.rawValue) \(oid)")
        }
      }
      for oid in notifications {
        #expect(
          keys.contains(.init(type: .notification, opcode: Opcode(group, oid))),
          "\(vendor) notification \(group.rawValue) \(oid)")
      }
    }
    let data = MessageCatalog.keys(in: Dialect()).filter { $0.type == .data }
    #expect(Set(data.map(\.opcode.group.rawValue)) == [1, 2, 3, 4, 15])
  }
}
