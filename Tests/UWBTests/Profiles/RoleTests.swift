// SPDX-License-Identifier: Apache-2.0
import Testing
import UCI
import UCIReference
import UWB

/// Roles of one-way ranging as parameters, profiles and problems.
@Suite struct RoleTests {
  static let roles: [SessionConfiguration.Role] = {
    var anchor = SessionConfiguration.DownlinkAnchor(
      rounds: [
        .init(0, .initiator(responders: [MACAddress(2), MACAddress(3)])), .init(3, .responder),
      ], location: .relative(x: 1_234, y: -5, z: 2_500))
    anchor.content = [.hopCount, .activeRounds]
    anchor.timeBase = .common
    anchor.stampWidth = .bits64
    anchor.isTimeReference = true
    var single = SessionConfiguration.DownlinkAnchor(
      rounds: [.init(1, .initiator(responders: [MACAddress(2)], slots: [4]))])
    single.isDoubleSided = false
    return [
      .downlinkAnchor(anchor), .downlinkAnchor(single),
      .downlinkAnchor(.init(rounds: [.init(0, .responder)])),
      .downlinkTag(.init(rounds: [0, 2], skippedBlocks: 3)), .downlinkTag(.init()),
      .uplinkTag(.init(interval: 100, randomWindow: 20, deviceID: [1, 2], stampWidth: .bits64)),
      .uplinkTag(.init()), .uplinkAnchor, .uplinkSyncAnchor(.bits40), .uplinkSyncAnchor(.bits64),
      .advertiser(.init(count: 8, interval: 2)), .observer(.init()),
    ]
  }()

  private func configuration(_ role: SessionConfiguration.Role) -> SessionConfiguration {
    var configuration = SessionConfiguration(role: role, sessionID: 42, address: MACAddress(1))
    configuration.slotsPerRound = 10
    configuration.slotDuration = 1_200
    return configuration
  }

  @Test("A role survives its profile, as text and as parameters", arguments: roles)
  func roundTrip(_ role: SessionConfiguration.Role) throws {
    let configuration = configuration(role)
    #expect(configuration.problems().errors.isEmpty, "\(configuration.problems())")
    let profile = SessionProfile(configuration)
    let text = profile.text(includingSecrets: true)
    let read = try SessionProfile([UInt8](text.utf8))
    #expect(read == profile, "\(text)")
    let again = try SessionConfiguration(read)
    #expect(again.role == role)
    #expect(SessionProfile(again) == profile)
  }

  @Test("A tag of downlink TDoA sends no device type and no peers")
  func tagParameters() {
    let list = configuration(.downlinkTag(.init())).parameters(for: .fira2)
    #expect(list.contains(TLV(0x11, [8])) && list.contains(TLV(0x01, [5])))
    for id: UInt8 in [0x00, 0x05, 0x07, 0x2E] { #expect(!list.contains { $0.id == id }) }
  }

  @Test("The place of an anchor is packed as AOSP's vectors have it")
  func locations() {
    // The bytes of the location in AOSP's test of a measurement read back equal.
    let bytes: [UInt8] = [0x07, 0x09, 0x07, 0x05, 0x09, 0x07, 0x05, 0x09, 0x0A, 0x01]
    #expect(AnchorLocation(relative: bytes)?.bytes == bytes)
    let long = bytes + [0x02, 0x08]
    #expect(AnchorLocation(geographic: long)?.bytes == long)
    let place = AnchorLocation.geographic(
      latitude: 52.520_008, longitude: 13.404_954, altitude: -34)
    #expect(AnchorLocation(parameter: place.parameter)?.bytes == place.bytes)
    #expect(AnchorLocation(parameter: [0]) == nil && AnchorLocation(parameter: [1, 2]) == nil)
    // A location out of range becomes the nearest location in range.
    #expect(
      AnchorLocation(relative: AnchorLocation.relative(x: .max, y: .min, z: .max).bytes)
        == .relative(x: 134_217_727, y: -134_217_728, z: 8_388_607))
  }

  static let mistakes: [(SessionConfiguration.Role, word: String)] = [
    (.downlinkAnchor(.init(rounds: [])), "no ranging round"),
    (.downlinkAnchor(.init(rounds: [.init(0, .initiator(responders: []))])), "no responder"),
    (
      .downlinkAnchor(.init(rounds: [.init(0, .initiator(responders: [MACAddress(1)]))])),
      "two parts"
    ),
    (.downlinkTag(.init(rounds: [4, 4])), "named twice"),
    (.downlinkTag(.init(rounds: [20])), "has room for 20"),
    (
      .downlinkAnchor(
        .init(rounds: [.init(0, .initiator(responders: (2...10).map { MACAddress(UInt16($0)) }))])),
      "takes 11 slots"
    ),
    (
      .downlinkAnchor(
        .init(rounds: [.init(0, .initiator(responders: [MACAddress(2)], slots: [0]))])),
      "a slot each"
    ),
  ]

  @Test("Rounds that cannot work are errors before the chip sees them", arguments: mistakes)
  func roundsThatCannotWork(_ role: SessionConfiguration.Role, word: String) {
    let errors = configuration(role).problems().errors
    #expect(errors.count == 1 && errors[0].sentence.contains(word), "\(errors)")
  }

  @Test("Frames without a payload, and FiRa 1.x, do not go with messages")
  func frames() {
    var tag = configuration(.downlinkTag(.init()))
    #expect(tag.problems(for: Dialect(generation: .fira1)).errors.count == 1)
    tag.rframe = 3
    #expect(tag.problems().errors.first?.sentence.contains("no payload") == true)
  }

  @Test("Rounds in a profile for two-way ranging are an error")
  func roundsOfTwoWay() throws {
    var profile = Preset.firaStatic.profile()
    profile.rounds = [.init(0, .responder)]
    #expect(throws: DriverError.self) { _ = try SessionConfiguration(profile) }
    let text = #"{"session_id": 1, "parameters": {}, "rounds": [256]}"#
    #expect(throws: ProfileError.self) { _ = try SessionProfile([UInt8](text.utf8)) }
  }
}
