// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference

/// One end of a session that ranges, with other parameters.
private func end(
  _ isController: Bool, _ changes: [TLV] = [], type: SessionType = .ranging,
  isReadBack: Bool = false
) throws -> SessionPeerConfiguration {
  var list = try [
    "DEVICE_TYPE=\(isController ? 1 : 0)", "DEVICE_ROLE=\(isController ? 1 : 0)",
    "DEVICE_MAC_ADDRESS=\(isController ? "0x1122" : "0x3344")",
    "DST_MAC_ADDRESS=\(isController ? "0x3344" : "0x1122")", "MULTI_NODE_MODE=unicast",
    "RANGING_ROUND_USAGE=2", "SCHEDULE_MODE=1", "STS_CONFIG=static", "VENDOR_ID=08:07",
    "STATIC_STS_IV=01:02:03:04:05:06",
  ].map { try TLV(appConfig: $0) }
  list.removeAll { old in changes.contains { $0.id == old.id } }
  return SessionPeerConfiguration(
    sessionID: 42, parameters: SessionParameters(list + changes, type: type),
    isReadBack: isReadBack)
}

@Suite("Differences of two ends, parameter by parameter")
struct SessionComparisonTests {
  /// The parameters whose values are numbers, apart from type and role of the device.
  private static let numbers = AppConfigParameter.all.filter {
    $0.format == .number && !$0.lengths.isEmpty && $0.vendors.isEmpty
      && $0.generations.contains(.fira2) && ![.deviceType, .deviceRole].contains($0.id)
  }

  private func values(_ row: AppConfigParameter) -> (first: TLV, second: TLV) {
    func tlv(_ number: UInt64) -> TLV {
      TLV(
        row.id, (0..<row.lengths[0]).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) })
    }
    let standard = row.defaultValue ?? row.range?.lowerBound ?? 0
    let others = row.values.keys.sorted() + [row.range?.upperBound ?? 0, standard + 1]
    return (tlv(standard), tlv(others.first { $0 != standard } ?? 1))
  }

  @Test("The scope of a parameter decides", arguments: numbers)
  func scope(row: AppConfigParameter) throws {
    let (first, second) = values(row)
    let found = try end(true, [first]).differences(from: end(false, [second]))
      .filter { $0.name == row.name }
    let match = try #require(found.first)
    #expect(found.count == 1 && match.reason.hasSuffix("."))
    // The controller sets hopping and stride, but does not correct a controlee with other values.
    let agreed =
      row.scope == .equalOnBothPeers || [.hoppingMode, .blockStrideLength].contains(row.id)
    // With a static STS, these parameters have no use.
    let isUnused = [.keyRotation, .keyRotationRate].contains(row.id)
    #expect(match.effect == (agreed && !isUnused ? .preventsRanging : .doesNotMatter))
  }

  @Test("No end is the better one", arguments: numbers)
  func symmetry(row: AppConfigParameter) throws {
    let (first, second) = values(row)
    let forward = try end(true, [first]).differences(from: end(false, [second]))
    let back = try end(false, [second]).differences(from: end(true, [first]))
    #expect(
      Set(forward.map { "\($0.effect) \($0.name) \($0.first ?? "") \($0.second ?? "")" })
        == Set(back.map { "\($0.effect) \($0.name) \($0.second ?? "") \($0.first ?? "")" }))
  }

  @Test("A default that is written out is no difference", arguments: numbers)
  func defaults(row: AppConfigParameter) throws {
    guard row.defaultValue != nil else {
      // The value of the other chip is unknown.
      let effects = try end(true, [values(row).second]).differences(from: end(false))
        .filter { $0.name == row.name }.map(\.effect)
      #expect(!effects.contains(.preventsRanging) || row.isMandatory, "\(effects)")
      return
    }
    let found = try end(true, [values(row).first]).differences(from: end(false))
    #expect(!found.contains { $0.name == row.name })
  }

  @Test("A number is the same in more bytes")
  func length() throws {
    let short = try end(true, [TLV(.slotDuration, [0x60, 0x09])])
    let long = try end(false, [TLV(.slotDuration, [0x60, 0x09, 0, 0])])
    #expect(!short.differences(from: long).contains { $0.name == "SLOT_DURATION" })
  }

  @Test(
    "Kinds of sessions",
    arguments: [
      (0x00, 0x01, SessionDifference.Effect.doesNotMatter), (0x00, 0x05, .doesNotMatter),
      (0x00, 0xA1, .preventsRanging), (0x02, 0x00, .preventsRanging),
      (0xA0, 0xA2, .preventsRanging),
    ] as [(UInt8, UInt8, SessionDifference.Effect)])
  func types(first: UInt8, second: UInt8, effect: SessionDifference.Effect) throws {
    let found = try end(true, type: SessionType(rawValue: first))
      .differences(from: end(false, type: SessionType(rawValue: second)))
    #expect(found.filter { $0.name == "SESSION_TYPE" }.map(\.effect) == [effect])
  }

  @Test("Each key belongs to its STS configuration")
  func keys() throws {
    func effect(_ config: UInt8, _ id: AppConfigID, _ rotation: UInt8 = 0) throws
      -> SessionDifference.Effect?
    {
      let length = id == .staticSTSIV ? 6 : id == .sessionKey ? 16 : 1
      func ours(_ isController: Bool, _ byte: UInt8) throws -> SessionPeerConfiguration {
        try end(
          isController,
          [
            TLV(.stsConfig, [config]), TLV(.keyRotation, [rotation]),
            TLV(id, (0..<length).map { byte &+ UInt8($0) }),
          ])
      }
      return try ours(true, 1).differences(from: ours(false, 2)).first { $0.name == id.name }?
        .effect
    }
    #expect(try effect(0, .staticSTSIV) == .preventsRanging)
    #expect(try effect(3, .staticSTSIV) == .doesNotMatter)
    #expect(try effect(0, .sessionKey) == .doesNotMatter)
    #expect(try effect(3, .sessionKey) == .preventsRanging)
    #expect(try effect(3, .keyRotationRate) == .doesNotMatter)
    #expect(try effect(3, .keyRotationRate, 1) == .preventsRanging)
    #expect(try effect(0, .keyRotationRate, 1) == .doesNotMatter)
  }

  @Test("A role that is not known prevents nothing")
  func unknownRole() throws {
    var chip = try end(false, isReadBack: true)
    chip.parameters.list.removeAll { $0.id == AppConfigID.deviceRole.rawValue }
    let found = try end(true).differences(from: chip).first { $0.name == "DEVICE_ROLE" }
    #expect(found?.effect == .notKnown && found?.second == nil && found?.first == "initiator")
  }
}
