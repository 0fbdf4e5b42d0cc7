// SPDX-License-Identifier: Apache-2.0

import Testing
import UCIReference
import UCITestSupport

@testable import UCI

// Constructed by the layouts of AOSP's packet description.
@Suite struct PhaseTests {
  static let vectors = [
    "210c0021 01000000 02 02000000 0100 0a00 00 aabb 03000000 0b00 1400 03 1122334455667788",
    "410c0001 00", "210d000d 01000000 02 02000000 03000000", "410d0001 11",
    "210e0011 01000000 05 02 02 aabb ff0f 00 ccdd 00f0 01", "210e000b 01000000 05 02 01 aabb ff0f",
    "210e0015 01000000 00 05 01 1122334455667788 01020304 00 ee", "410e0001 00",
    "610e0005 01000000 01", "610e0005 01000000 7f",
  ]

  @Test(arguments: vectors)
  func encodesWhatItDecodes(packet: String) throws {
    #expect(try reencoded(packet) == payload(of: packet))
    let message = try Message(packet: bytes(packet))
    if case .opaque = message.content { Issue.record("\(packet) was not understood") }
    #expect(!message.fields().isEmpty)
  }

  @Test func hybridSchedule() throws {
    let config = try #require(try decode(Self.vectors[0], as: SetHUSControllerConfig.self))
    #expect(config.phases.count == 2)
    #expect(config.phases[0].startSlot == 1)
    #expect(config.phases[0].endSlot == 10)
    #expect(!config.phases[0].isContentionAccess)
    #expect(config.phases[0].address == MACAddress(0xBBAA))
    #expect(config.phases[1].isContentionAccess)
    #expect(config.phases[1].address == MACAddress(extended: 0x8877_6655_4433_2211))
    let phase = SetHUSControllerConfig.Phase(
      sessionToken: 3, startSlot: 11, endSlot: 20, control: 0b11,
      address: MACAddress(extended: 0x8877_6655_4433_2211))
    #expect(config.phases[1] == phase)
    #expect(try decode(Self.vectors[2], as: SetHUSControleeConfig.self)?.phases == [2, 3])
  }

  @Test func dataTransferPhase() throws {
    let now = try #require(try decode(Self.vectors[4], as: ConfigureDataTransferPhase.self))
    #expect(now.slotBitmapLength == 2)
    #expect(now.entries.map(\.slots) == [[0xFF, 0x0F], [0x00, 0xF0]])
    #expect(now.entries.map(\.stop) == [0, 1])
    let before = try #require(try decode(Self.vectors[5], as: ConfigureDataTransferPhase.self))
    #expect(before.entries.map(\.stop) == [nil])
    #expect(try Message(packet: bytes(Self.vectors[6])).trailing == [0xEE])
    let result = try Message(packet: bytes(Self.vectors[8]))
    #expect(result.name() == "SESSION_DATA_TRANSFER_PHASE_CONFIGURATION_NTF")
    #expect(
      result.fields().last
        == Field("result", .code(1, name: "DUPLICATE_SLOT_ASSIGNMENT", explanation: nil)))
  }
}
