// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Glibc
import SystemPackage
import Testing
import UCI
import UWBDriver
import UWBSimulator

/// What an accessory makes of an app that begins anew, comes by a second channel, or is not heard.
@Suite struct TurnTests {
  /// What was reported up to the answer that has come last.
  private func names(
    _ events: AsyncStream<Accessory.Event>, until isLast: (Accessory.Event) -> Bool
  ) async -> [String] {
    var names: [String] = []
    for await event in events {
      switch event {
      case .connected: names.append("connected")
      case .offered: names.append("offered")
      case .started: names.append("started")
      case .measured: break
      case .stopped(_, let reason): names.append("stopped \(reason)")
      case .refused: names.append("refused")
      case .ignored: names.append("ignored")
      case .disconnected: names.append("disconnected")
      }
      if isLast(event) { break }
    }
    return names
  }

  @Test func initializeWhileItRangesEndsTheSessionSilently() async throws {
    var meeting = try await Meeting()
    let data = try meeting.phone.shareable()
    #expect(try await meeting.phone.configure(data) == .accessoryUwbDidStart)
    let before = meeting.phone.accessory?.uwb.address
    // The next message is the answer, with another address.
    try await meeting.phone.initialize()
    #expect(meeting.phone.accessory?.uwb.address != before)
    #expect(try await meeting.stage.sessions() == 0 && meeting.accessory.rangingApps.isEmpty)
    #expect(
      await names(meeting.events) { if case .stopped = $0 { true } else { false } }
        == ["connected", "offered", "started", "stopped replaced"])
    await meeting.end()
  }

  @Test func replacedDataSaysStartAndNotStop() async throws {
    var meeting = try await Meeting()
    let first = try meeting.phone.shareable()
    #expect(try await meeting.phone.configure(first) == .accessoryUwbDidStart)
    let second = try meeting.phone.shareable()
    #expect(try await meeting.phone.configure(second) == .accessoryUwbDidStart)
    #expect(try await meeting.phone.stop() == .accessoryUwbDidStop)
    var ids: [UInt32] = []
    for await event in meeting.events {
      if case .started(_, let id) = event { ids.append(id) }
      if case .stopped(_, .byApp) = event { break }
    }
    #expect(ids == [first.sessionID, second.sessionID])
    await meeting.end()
  }

  @Test func doubledDataIsNoNewSession() async throws {
    var meeting = try await Meeting()
    let data = try meeting.phone.shareable()
    for _ in 0..<3 {
      #expect(try await meeting.phone.configure(data) == .accessoryUwbDidStart)
    }
    #expect(try await meeting.phone.stop() == .accessoryUwbDidStop)
    #expect(
      await names(meeting.events) { if case .stopped = $0 { true } else { false } }
        == ["connected", "offered", "started", "stopped byApp"])
    await meeting.end()
  }

  /// The app has come back before its old channel was found to be broken.
  @Test func aSecondChannelTakesThePlaceOfTheFirst() async throws {
    var meeting = try await Meeting(as: "phone")
    var again = try Phone(of: meeting.accessory, as: "phone")
    try await again.initialize()
    #expect(try await meeting.phone.next() == nil)
    // What the end of the first brings has been handled when the third answer is there.
    for _ in 0..<3 { try await again.initialize() }
    again.channel.close()
    #expect(
      await names(meeting.events) { if case .disconnected = $0 { true } else { false } }
        == ["connected", "offered", "connected"] + [String](repeating: "offered", count: 4)
        + ["disconnected"])
    await meeting.end()
  }

  // MARK: silence

  @Test func whoIsHeardIsNotSilent() async throws {
    var options = Accessory.Options()
    options.silence = 100
    var meeting = try await Meeting(phones: [.qm33PDoA], options: options)
    _ = try await meeting.range()
    // Three times as long as the silence that ends it: rounds are 20 ms apart.
    var heard = 0
    for await event in meeting.events {
      if case .measured(_, let measurement) = event, measurement.result.status.isSuccess {
        heard += 1
      }
      if case .stopped(_, let reason) = event { Issue.record("\(reason)") }
      if heard == 15 { break }
    }
    #expect(meeting.accessory.rangingApps.count == 1)
    await meeting.end()
  }

  @Test func withoutALimitSilenceEndsNothing() async throws {
    var options = Accessory.Options()
    options.silence = 0
    var meeting = try await Meeting(options: options)
    #expect(
      try await meeting.phone.configure(meeting.phone.shareable()) == .accessoryUwbDidStart)
    var rounds = 0
    for await event in meeting.events {
      if case .stopped(_, let reason) = event { Issue.record("\(reason)") }
      if case .measured = event { rounds += 1 }
      if rounds == 10 { break }
    }
    #expect(meeting.accessory.rangingApps.count == 1)
    await meeting.end()
  }

  // MARK: the end

  @Test func aClosedAccessoryServesNobodyAndItsEventsEnd() async throws {
    let meeting = try await Meeting()
    await meeting.accessory.close()
    var late = try Phone(of: meeting.accessory)
    #expect(try await late.next() == nil)
    let told = await names(meeting.events) { _ in false }
    #expect(told.prefix(2) == ["connected", "offered"])
    await meeting.stage.end()
  }

  @Test func aTaskThatServesEndsWithItsCancellation() async throws {
    let stage = try await Stage(phones: [])
    let accessory = try Accessory(stage.device)
    let listener = try SocketListener(.tcp(host: "127.0.0.1", port: 0))
    let serving = Task { await accessory.serve(listener) }
    var phone = Phone(try await SocketChannel.connect(to: listener.endpoint))
    try await phone.initialize()
    serving.cancel()
    await serving.value
    #expect(try await phone.next() == nil)
    await #expect(throws: DataChannelError.self) {
      _ = try await SocketChannel.connect(to: listener.endpoint)
    }
    await accessory.close()
    await stage.end()
  }

  /// A listener that is closed ends those whom it has brought.
  @Test func aListenerThatIsClosedEndsItsChannels() async throws {
    let stage = try await Stage(phones: [])
    let accessory = try Accessory(stage.device)
    let listener = try SocketListener(.tcp(host: "127.0.0.1", port: 0))
    let serving = Task { await accessory.serve(listener) }
    var phone = Phone(try await SocketChannel.connect(to: listener.endpoint))
    try await phone.initialize()
    listener.close()
    await serving.value
    #expect(try await phone.next() == nil)
    await accessory.close()
    await stage.end()
  }

  // MARK: what the chip is

  @Test func optionsGoBeforeWhatTheChipSays() async throws {
    let stage = try await Stage(phones: [])
    var options = Accessory.Options()
    options.manufacturer = 0x0102_0304
    options.model = 77
    options.updateRate = .infrequent
    for role in [SessionConfiguration.Role.controller, .controlee] {
      options.role = role
      let data = try Accessory(stage.device, options: options).configurationData()
      #expect(data.uwb.manufacturer == 0x0102_0304 && data.uwb.model == 77)
      #expect(data.uwb.role == role && data.preferredUpdateRate == .infrequent)
    }
    await stage.end()
  }

  /// A chip that says something else of itself: its answer to CORE_GET_CAPS_INFO with other values.
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

  private func number(_ capability: CapabilityID, of stage: Stage) -> UInt8? {
    capability.number(in: Capabilities(stage.device.capabilities).numbering)
  }

  @Test func theLimitThatAChipStatesIsKept() async throws {
    // MAX_SESSIONS, 0xE9.
    let stage = try await Stage(profile([0xE9: [1, 0, 0, 0]]), phones: [])
    let accessory = try Accessory(stage.device)
    let events = accessory.events
    var phones = [try Phone(of: accessory), try Phone(of: accessory)]
    for index in 0..<2 {
      try await phones[index].initialize()
      let answer = try await phones[index].configure(phones[index].shareable())
      #expect(answer == (index == 0 ? .accessoryUwbDidStart : .accessoryUwbDidStop))
    }
    let refusal = await events.first { event -> AccessoryError? in
      if case .refused(_, let error) = event { error } else { nil }
    }
    #expect(refusal == .tooManySessions(limit: 1))
    // Fresh data of the one that ranges takes its own place.
    #expect(try await phones[0].configure(phones[0].shareable()) == .accessoryUwbDidStart)
    await accessory.close()
    await stage.end()
  }

  @Test func aChipHasTheRolesThatItStates() async throws {
    let plain = try await Stage(phones: [])
    let types = try #require(number(.deviceType, of: plain))
    let roles = try #require(number(.deviceRoles, of: plain))
    await plain.end()
    // Types: controller 1, controlee 2. Roles: responder 1, initiator 2.
    let cases: [([UInt8], [UInt8], SessionConfiguration.Role?)] = [
      ([3], [3, 0], .controller), ([2], [3, 0], .controlee), ([3], [1, 0], .controlee),
      ([1], [3, 0], .controller), ([1], [1, 0], nil), ([2], [2, 0], nil),
    ]
    for (type, role, expected) in cases {
      let stage = try await Stage(profile([types: type, roles: role]), phones: [])
      let data = try? Accessory(stage.device).configurationData()
      #expect(data?.uwb.role == expected, "\(type) \(role)")
      if let expected {
        var options = Accessory.Options()
        options.role = expected == .controller ? .controlee : .controller
        let isPossible = type == [3] && role == [3, 0]
        #expect(((try? Accessory(stage.device, options: options)) != nil) == isPossible)
      }
      await stage.end()
    }
  }

  @Test func onlySomeVersionsAreLeftToTheChip() async throws {
    let stage = try await Stage(.sr250, phones: [])
    var options = Accessory.Options()
    options.leavesDataToChip = true
    for version in [ConfigurationVersion.v10, .v11] {
      options.version = version
      #expect(
        try Accessory(stage.device, options: options).configurationData().uwb.version == version)
    }
    options.version = .v20
    #expect(throws: AccessoryError.self) { try Accessory(stage.device, options: options) }
    await stage.end()
  }
}
