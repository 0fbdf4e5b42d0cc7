// SPDX-License-Identifier: Apache-2.0

import Accessory
import AccessoryProtocol
import Channels
import System
import Testing
import UCI
import UCIReference
import UWB
import UWBSimulator
import UWBTestSupport

/// An accessory and Android phones on simulated chips.
@Suite(.timeLimit(.minutes(10))) struct AndroidTests {
  /// A phone over a socket, in single steps.
  private struct Phone {
    var app: TestApp
    var capability = AndroidCapability()
    var version: UInt8 = 0

    init(of accessory: Accessory, as name: String? = nil) throws {
      app = try TestApp(of: accessory, as: name)
    }

    mutating func send(_ message: [UInt8]) async throws -> AndroidAccessoryMessage {
      try await app.channel.send(message)
      let bytes = await app.incoming.next()
      return try AndroidAccessoryMessage(try #require(bytes))
    }

    mutating func ask(_ newest: UInt8 = 3) async throws {
      let answer = try await send(
        AndroidPhoneMessage(.capabilityRequest(.uwb), version: newest).bytes)
      guard case .capabilityResponse(let capability?, _) = answer.content else {
        Issue.record("\(answer)")
        return
      }
      (self.capability, version) = (capability, answer.version)
    }

    /// The choice of a phone for its chip.
    func choice(for chip: UWBDevice? = nil) throws -> AndroidChoice {
      var own = capability
      if let chip { own = AndroidCapability(of: Capabilities(chip.capabilities), address: 0) }
      own.address = .shortAddress(except: capability.address)
      return try AndroidChoice(choosingFor: capability, by: own)
    }

    mutating func configure(
      _ choice: AndroidChoice
    ) async throws -> AndroidAccessoryMessage {
      let content = AndroidPhoneMessage.Content.configuration(choice, wantsMotion: false)
      return try await send(
        AndroidPhoneMessage(content, version: version == 3 ? 3 : 1).bytes)
    }

    mutating func stop(_ set: AndroidTechnologies = .uwb) async throws -> AndroidAccessoryMessage {
      try await send(AndroidPhoneMessage(.stop(set), version: version).bytes)
    }
  }

  private static let started = AndroidAccessoryMessage.Content.configurationResponse(.uwb)
  private static let refused = AndroidAccessoryMessage.Content.configurationResponse([])
  private static let stopped = AndroidAccessoryMessage.Content.stopResponse(.uwb)
  private static let notStopped = AndroidAccessoryMessage.Content.stopResponse([])

  @Test(arguments: [1, 2, 3, 7] as [UInt8], [SessionConfiguration.Role.controller, .controlee])
  func dialoguesOfEachVersionAndRole(
    version: UInt8, role: SessionConfiguration.Role
  ) async throws {
    var options = Accessory.Options.patient
    options.role = role
    let fixture = try await AccessoryFixture(
      phones: [.qm33PDoA], options: options, isAsked: false)
    var phone = try Phone(of: fixture.accessory)
    try await phone.ask(version)
    #expect(phone.version == min(version, 3))
    let chip = fixture.chips.phones[0]
    let choice = try phone.choice(for: chip)
    #expect(choice.role == role)
    let session = try await chip.makeSession(
      try choice.session(of: .app, with: phone.capability))
    let stream = session.measurements()
    try await session.start()
    let answer = try await phone.configure(choice)
    #expect(answer == AndroidAccessoryMessage(Self.started, version: phone.version))
    #expect(abs(try await meanDistance(stream, of: 5) - 3) < 0.2)
    #expect(try await phone.stop().content == Self.stopped)
    #expect(try await fixture.chips.sessions() == 0)
    try await session.close()
    await fixture.end()
  }

  /// A capture has each message of both ends with its protocol.
  @Test func messagesOfBothProtocolsAreTapped() async throws {
    let chips = try await ChipFixture(phones: [])
    let messages = Locked<[DialogueMessage]>([])
    let accessory = try Accessory(chips.device, options: .patient) { _, message in
      messages.withLock { $0.append(message) }
    }
    var android = try Phone(of: accessory)
    try await android.ask()
    #expect(try await android.configure(android.choice()).content == Self.started)
    #expect(try await android.stop().content == Self.stopped)
    var iPhone = try TestApp(of: accessory)
    try await iPhone.initialize()
    let all = messages.withLock { $0 }
    #expect(all.map(\.kind) == Array(repeating: .android, count: 6) + [.apple, .apple])
    #expect(all.map(\.isFromPhone) == [true, false, true, false, true, false, true, false])
    #expect(all.map { $0.bytes[$0.kind == .android ? 1 : 0] } == [0, 1, 2, 3, 6, 7, 0x0A, 0x01])
    await accessory.close()
    await chips.end()
  }

  /// Phones of both kinds range with one chip at the same time.
  @Test func phonesOfBothKindsRangeTogether() async throws {
    let chips = try await ChipFixture(phones: [.qm33PDoA, .qm33PDoA])
    let accessory = try Accessory(chips.device, options: .patient)
    var iPhone = try TestApp(of: accessory)
    try await iPhone.initialize()
    let data = try iPhone.shareable()
    let first = try await iPhone.session(data, on: chips.phones[0])
    try await first.start()
    #expect(try await iPhone.configure(data) == .accessoryUwbDidStart)
    var android = try Phone(of: accessory)
    try await android.ask()
    let choice = try android.choice(for: chips.phones[1])
    let second = try await chips.phones[1].makeSession(
      try choice.session(of: .app, with: android.capability))
    try await second.start()
    #expect(try await android.configure(choice).content == Self.started)
    #expect(abs(try await meanDistance(first.measurements(), of: 5) - 3) < 0.2)
    #expect(abs(try await meanDistance(second.measurements(), of: 5) - 4) < 0.2)
    #expect(accessory.rangingApps.count == 2)
    #expect(try await android.stop().content == Self.stopped)
    #expect(try await iPhone.stop() == .accessoryUwbDidStop)
    try await first.close()
    try await second.close()
    await accessory.close()
    await chips.end()
  }

  @Test func requestsAndStopsInAnyOrder() async throws {
    let fixture = try await AccessoryFixture(isAsked: false)
    var phone = try Phone(of: fixture.accessory)
    #expect(
      try await phone.send([1, 6, 1, 0]) == AndroidAccessoryMessage(Self.notStopped, version: 1))
    try await phone.ask()
    let address = phone.capability.address
    try await phone.ask(1)
    try await phone.ask()
    #expect(phone.capability.address == address)
    #expect(try await phone.send([3, 0, 2, 0]).content == .capabilityResponse(nil, .unknown))
    #expect(try await phone.configure(phone.choice()).content == Self.started)
    // A request and a stop of another technology do not disturb ranging.
    try await phone.ask()
    #expect(phone.capability.address == address)
    #expect(try await phone.stop(AndroidTechnologies(rawValue: 2)).content == Self.notStopped)
    #expect(fixture.accessory.rangingApps.count == 1)
    // A second configuration replaces the session, even if it equals the first.
    let choice = try phone.choice()
    for _ in 0..<2 {
      #expect(try await phone.configure(choice).content == Self.started)
      #expect(await fixture.stop() == .replaced)
      #expect(try await fixture.chips.sessions() == 1)
    }
    #expect(try await phone.stop().content == Self.stopped)
    #expect(try await phone.stop().content == Self.notStopped)
    #expect(try await fixture.chips.sessions() == 0)
    await fixture.end()
  }

  @Test func impossibleConfigurationsAreRefused() async throws {
    let fixture = try await AccessoryFixture(isAsked: false)
    var phone = try Phone(of: fixture.accessory)
    try await phone.ask()
    #expect(try await phone.configure(phone.choice()).content == Self.started)
    var choice = try phone.choice()
    choice.channel = 14
    #expect(try await phone.configure(choice).content == Self.refused)
    #expect(
      await fixture.refusal()?.reason
        == .invalidConfiguration(field: "channel", reason: "14 was not offered"))
    // The session that ranged has ended.
    #expect(try await fixture.chips.sessions() == 0)
    #expect(try await phone.send([3, 2, 0, 0, 0, 0, 0]).content == Self.refused)
    #expect(try await phone.send([1, 2, 1, 0, 1, 0, 0, 0x14, 0, 1]).content == Self.refused)
    #expect(try await phone.send([4, 2, 0, 0, 0, 0]).content == Self.refused)
    // Other damaged messages have no answer.
    for message in [[1], [0, 0, 1, 0], [3, 9, 0], [3, 6, 1]] as [[UInt8]] {
      try await phone.app.channel.send(message)
    }
    try await phone.ask()
    #expect(try await phone.configure(phone.choice()).content == Self.started)
    await fixture.end()
  }

  /// A new connection has another address, and a configuration without a request uses the last
  /// capabilities.
  @Test func aPhoneReturns() async throws {
    let fixture = try await AccessoryFixture(isAsked: false)
    var phone = try Phone(of: fixture.accessory, as: "phone")
    try await phone.ask()
    let choice = try phone.choice()
    #expect(try await phone.configure(choice).content == Self.started)
    phone.app.channel.close()
    var again = try Phone(of: fixture.accessory, as: "phone")
    again.version = 3
    #expect(try await again.configure(choice).content == Self.started)
    try await again.ask()
    #expect(again.capability.address == phone.capability.address)
    var last = try Phone(of: fixture.accessory, as: "phone")
    try await last.ask()
    #expect(last.capability.address != phone.capability.address)
    #expect(try await last.stop().content == Self.stopped)
    await fixture.end()
  }

  private func disconnection(_ fixture: AccessoryFixture) async {
    let isGone = await fixture.events.first { event -> Bool? in
      if case .disconnected = event { true } else { nil }
    }
    #expect(isGone == true)
  }

  /// The phone vanishes without a stop, and its chip may continue.
  @Test func rangingWithoutAChannelIsLimited() async throws {
    let time = VirtualTime()
    let fixture = try await AccessoryFixture(isAsked: false, clock: time.clock)
    for isBack in [true, false] {
      var phone = try Phone(of: fixture.accessory, as: "phone")
      try await phone.ask()
      #expect(try await phone.configure(phone.choice()).content == Self.started)
      phone.app.channel.close()
      await disconnection(fixture)
      time.advance(.seconds(29))
      #expect(fixture.accessory.rangingApps.count == 1)
      if isBack {
        var again = try Phone(of: fixture.accessory, as: "phone")
        try await again.ask()
        time.advance(.seconds(2))
        #expect(try await again.stop().content == Self.stopped)
        again.app.channel.close()
        #expect(await fixture.stop() == .byApp)
        await disconnection(fixture)
      } else {
        time.advance(.seconds(1))
        #expect(await fixture.stop() == .lostChannel)
        #expect(try await fixture.chips.sessions() == 0)
      }
    }
    await fixture.end()
  }

  @Test func aHundredVisitsLeaveNoSessionOnTheChip() async throws {
    let fixture = try await AccessoryFixture(isAsked: false)
    for visit in 0..<100 {
      var phone = try Phone(of: fixture.accessory)
      try await phone.ask(UInt8(visit % 3 + 1))
      #expect(try await phone.configure(phone.choice()).content == Self.started)
      #expect(try await phone.stop().content == Self.stopped)
      phone.app.channel.close()
    }
    #expect(try await fixture.chips.sessions() == 0)
    #expect(fixture.accessory.rangingApps.isEmpty)
    await fixture.end()
  }

  @Test func eachKindOfPhoneCanBeExcluded() async throws {
    for phones in [Accessory.Phones.android, .iPhone] {
      var options = Accessory.Options.patient
      options.phones = phones
      let fixture = try await AccessoryFixture(options: options, isAsked: false)
      let app = try TestApp(of: fixture.accessory)
      try await app.channel.send(
        phones == .iPhone ? [1, 0, 1, 0] : AppMessage.initialize.bytes)
      let error = await fixture.events.first { event -> AccessoryError? in
        if case .ignored(_, let error) = event { error } else { nil }
      }
      #expect(error?.reason == .unknownMessage(phones == .iPhone ? 0x01 : 0x0A))
      await fixture.end()
    }
  }
}
