// SPDX-License-Identifier: Apache-2.0

import Accessory
import Testing
import UCI
import UCIReference
import UWB
import UWBSimulator

/// An accessory's data depends on the capabilities of its chip.
@Suite(.timeLimit(.minutes(10))) struct AccessoryChipTests {
  @Test func optionsOverrideTheChip() async throws {
    let chips = try await ChipFixture(phones: [])
    var options = Accessory.Options.patient
    options.manufacturer = 0x0102_0304
    options.model = 77
    options.updateRate = .infrequent
    for role in [SessionConfiguration.Role.controller, .controlee] {
      options.role = role
      let data = try Accessory(chips.device, options: options).configurationData()
      #expect(data.uwb.manufacturer == 0x0102_0304 && data.uwb.model == 77)
      #expect(data.uwb.role == role && data.preferredUpdateRate == .infrequent)
    }
    await chips.end()
  }

  /// A chip with other values in its answer to CORE_GET_CAPS_INFO.
  private func profile(_ changes: [UInt8: [UInt8]]) -> ChipProfile {
    var profile = ChipProfile.qm33PDoA
    var list: [UInt8: [UInt8]] = [:]
    var rest = profile.capabilities.dropFirst(2)
    while let number = rest.popFirst(), let length = rest.popFirst() {
      list[number] = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
    }
    list.merge(changes) { $1 }
    profile.capabilities =
      [0, UInt8(list.count)]
      + list.sorted { $0.key < $1.key }.flatMap { [$0.key, UInt8($0.value.count)] + $0.value }
    return profile
  }

  private func number(_ capability: CapabilityID, of chips: ChipFixture) -> UInt8? {
    capability.number(in: Capabilities(chips.device.capabilities).numbering)
  }

  @Test func theChipsReportedLimitIsKept() async throws {
    // MAX_SESSIONS, 0xE9.
    let chips = try await ChipFixture(profile([0xE9: [1, 0, 0, 0]]), phones: [])
    let accessory = try Accessory(chips.device)
    let events = accessory.events
    var phones = [try TestApp(of: accessory), try TestApp(of: accessory)]
    for index in 0..<2 {
      try await phones[index].initialize()
      let answer = try await phones[index].configure(phones[index].shareable())
      #expect(answer == (index == 0 ? .accessoryUwbDidStart : .accessoryUwbDidStop))
    }
    let refusal = await events.first { event -> AccessoryError? in
      if case .refused(_, let error) = event { error } else { nil }
    }
    #expect(refusal?.reason == .tooManySessions(limit: 1))
    // New data of an app that ranges replaces its session.
    #expect(try await phones[0].configure(phones[0].shareable()) == .accessoryUwbDidStart)
    await accessory.close()
    await chips.end()
  }

  /// The role is the role in the chip's report, or any requested role, because only the chip
  /// decides.
  @Test func chipsHaveTheirReportedRoles() async throws {
    let plain = try await ChipFixture(phones: [])
    let types = try #require(number(.deviceType, of: plain))
    let roles = try #require(number(.deviceRoles, of: plain))
    await plain.end()
    // Types: controller 1, controlee 2. Roles: responder 1, initiator 2.
    let cases: [([UInt8], [UInt8], SessionConfiguration.Role)] = [
      ([3], [3, 0], .controller), ([2], [3, 0], .controlee), ([3], [1, 0], .controlee),
      ([1], [3, 0], .controller), ([1], [1, 0], .controller), ([2], [2, 0], .controller),
    ]
    for (index, (type, role, expected)) in cases.enumerated() {
      let chips = try await ChipFixture(profile([types: type, roles: role]), phones: [])
      let accessory = try Accessory(chips.device)
      let data = try accessory.configurationData()
      #expect(data.uwb.role == expected, "\(type) \(role)")
      #expect(try accessory.warnings.isEmpty == (index < 4), "\(type) \(role)")
      var options = Accessory.Options.patient
      options.role = expected == .controller ? .controlee : .controller
      let other = try Accessory(chips.device, options: options)
      #expect(try other.configurationData().uwb.role == options.role)
      #expect(try other.warnings.isEmpty == (type == [3] && role == [3, 0]))
      await chips.end()
    }
  }

  /// iPhones range on channel 9.
  @Test func chipsThatDoNotListTheChannelAreAsked() async throws {
    let plain = try await ChipFixture(phones: [])
    let channels = try #require(number(.channels, of: plain))
    await plain.end()
    // Bits: channel 5 is the first, 9 the fourth.
    for (mask, isListed) in [(1, false), (8, true)] as [(UInt8, Bool)] {
      let chips = try await ChipFixture(profile([channels: [mask]]), phones: [])
      let warnings = try Accessory(chips.device).warnings
      #expect(warnings.map(\.parameters) == (isListed ? [] : [[.channelNumber]]))
      await chips.end()
    }
  }
}
