// SPDX-License-Identifier: Apache-2.0

import Accessory
import AccessoryProtocol
import Testing
import UCI
import UWB
import UWBSimulator

/// An accessory and apps on simulated chips, with real sockets and pseudo-terminals in between.
@Suite(.timeLimit(.minutes(10))) struct AccessoryTests {
  @Test(arguments: [SessionConfiguration.Role.controller, .controlee])
  func theHandshakeLeadsToDistances(role: SessionConfiguration.Role) async throws {
    var options = Accessory.Options.patient
    options.role = role
    var fixture = try await AccessoryFixture(phones: [.qm33PDoA], options: options)
    _ = try await fixture.range()
    #expect(fixture.phone.accessory?.uwb.role == role)
    let own = await fixture.events.first { event -> Double? in
      guard case .measured(_, let measurement) = event else { return nil }
      return measurement.result.distanceCentimetres.map { Double($0) / 100 }
    }
    #expect(abs(try #require(own) - 3) < 0.2)
    #expect(fixture.accessory.rangingApps.map(\.name) == ["app 1"])
    #expect(try await fixture.phone.stop() == .accessoryUwbDidStop)
    let printed = await fixture.events.first { event -> String? in
      if case .stopped = event { "\(event)" } else { nil }
    }
    #expect(printed == "app 1: stopped ranging: the app stopped it")
    #expect(try await fixture.chips.sessions() == 0)
    #expect(fixture.accessory.rangingApps.isEmpty)
    await fixture.end()
  }

  @Test(arguments: ["qm33", "sr250", "fira1"])
  func chipsIdentifyThemselves(name: String) async throws {
    let profile = try #require(ChipProfile.named(name))
    let chips = try await ChipFixture(profile, phones: [])
    let uwb = try Accessory(chips.device).configurationData().uwb
    switch profile.name {
    case "qm33":
      #expect(uwb.manufacturer == 0x0003_F53F && uwb.model == 3_000 && uwb.clockDrift == 25)
      // The data equals captured data of a board with this firmware.
      #expect(uwb.middleware == 0x0101_0000)
    case "sr250":
      #expect(uwb.manufacturer == 0x0010_1132 && uwb.clockDrift == 100)
      #expect(uwb.model == 0x0000_0301)
    default: #expect(uwb.manufacturer == 0)
    }
    #expect(uwb.version == .v11)
    await chips.end()
  }

  /// The app ranges with several accessories in one session; only one of them exists here.
  @Test(arguments: [true, false]) func accessoriesMayShareARound(_ isOneToMany: Bool) async throws {
    var options = Accessory.Options.patient
    options.isOneToMany = isOneToMany
    var fixture = try await AccessoryFixture(.qm33PDoA, phones: [.qm33PDoA], options: options)
    try await fixture.phone.initialize()
    let data = try fixture.phone.shareable()
    #expect(try await fixture.phone.configure(data) == .accessoryUwbDidStart)
    let accessory = try #require(fixture.phone.accessory)
    var configuration = try data.session(of: .app, with: accessory.uwb)
    configuration.isOneToMany = true
    let session = try await fixture.chips.phones[0].makeSession(configuration)
    let stream = session.measurements()
    try await session.start()
    var statuses: [Status] = []
    for try await measurement in stream where statuses.count < 3 {
      statuses.append(measurement.result.status)
      if statuses.count == 3 { break }
    }
    #expect(statuses.allSatisfy { $0 == (isOneToMany ? .ok : .rangingRxTimeout) }, "\(statuses)")
    try await session.close()
    await fixture.end()
  }

  @Test func chipsCanDecodeShareableData() async throws {
    var options = Accessory.Options.patient
    options.leavesDataToChip = true
    var fixture = try await AccessoryFixture(.sr250, phones: [.qm33PDoA], options: options)
    var (data, _) = try await fixture.range()
    #expect(try await fixture.phone.stop() == .accessoryUwbDidStop)
    #expect(try await fixture.chips.sessions() == 0)
    // The chip refuses data that it cannot decode, here of an unknown version.
    data.version = .v20
    #expect(try await fixture.phone.configure(data) == .accessoryUwbDidStop)
    let refusal = await fixture.refusal()
    guard case .device(let error) = refusal?.reason, error.code == .refused else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    for (version, isTaken) in [(ConfigurationVersion.v10, true), (.v11, true), (.v20, false)] {
      options.version = version
      let accessory = try? Accessory(fixture.chips.device, options: options)
      #expect((accessory != nil) == isTaken)
    }
    options.version = .v11
    await fixture.end()
    let other = try await ChipFixture(.qm33, phones: [])
    #expect(throws: AccessoryError.self) { try Accessory(other.device, options: options) }
    await other.end()
  }

  @Test func severalPhonesRangeUpToTheLimit() async throws {
    let chips = try await ChipFixture(phones: [.qm33, .qm33, .qm33])
    var options = Accessory.Options.patient
    options.maximumSessions = 2
    let accessory = try Accessory(chips.device, options: options)
    let events = accessory.events
    var streams: [RangingStream<RangingMeasurement>] = []
    var phones: [TestApp] = []
    for index in 0..<3 {
      var phone = try TestApp(of: accessory, as: "phone \(index)")
      try await phone.initialize()
      let data = try phone.shareable()
      let answer = try await phone.configure(data)
      #expect(answer == (index < 2 ? .accessoryUwbDidStart : .accessoryUwbDidStop))
      if index < 2 {
        let session = try await phone.session(data, on: chips.phones[index])
        streams.append(session.measurements())
        try await session.start()
      }
      phones.append(phone)
    }
    for (index, stream) in streams.enumerated() {
      #expect(abs(try await meanDistance(stream) - Double(3 + index)) < 0.1)
    }
    let refusal = await events.first { event -> (Accessory.App, AccessoryError)? in
      guard case .refused(let app, let error) = event else { return nil }
      return (app, error)
    }
    #expect(refusal?.0.name == "phone 2")
    #expect(refusal?.1.reason == .tooManySessions(limit: 2))
    #expect(Set(phones.map { $0.accessory?.uwb.address }).count == 3)
    // One session is free again.
    #expect(try await phones[0].stop() == .accessoryUwbDidStop)
    #expect(try await phones[2].configure(phones[2].shareable()) == .accessoryUwbDidStart)
    await accessory.close()
    #expect(try await chips.sessions() == 0)
    await chips.end()
  }

  /// The chip's notification of one session does not affect the others.
  @Test func phonesEndIndependently() async throws {
    let chips = try await ChipFixture(phones: [.qm33PDoA, .qm33PDoA])
    var options = Accessory.Options.patient
    options.role = .controlee
    let accessory = try Accessory(chips.device, options: options)
    let events = accessory.events
    var phones: [TestApp] = []
    var sessions: [UWBSession] = []
    for index in 0..<2 {
      var phone = try TestApp(of: accessory, as: "phone \(index)")
      try await phone.initialize()
      let data = try phone.shareable()
      let session = try await phone.session(data, on: chips.phones[index])
      let stream = session.measurements()
      try await session.start()
      #expect(try await phone.configure(data) == .accessoryUwbDidStart)
      #expect(abs(try await meanDistance(stream, of: 2) - Double(3 + index)) < 0.2)
      phones.append(phone)
      sessions.append(session)
    }
    // A controller that stops informs its controlees.
    try await sessions[0].close()
    #expect(try await phones[0].next() == .accessoryUwbDidStop)
    #expect(try await phones[1].stop() == .accessoryUwbDidStop)
    var ends: [String: Accessory.StopReason] = [:]
    for await case .stopped(let app, let reason) in events {
      ends[app.name] = reason
      if ends.count == 2 { break }
    }
    guard case .byChip(let error) = ends["phone 0"], error.endReason == .stoppedInBand else {
      Issue.record("\(ends)")
      return
    }
    #expect(ends["phone 1"] == .byApp)
    await accessory.close()
    await chips.end()
  }

  @Test func theChipsLimitIsReported() async throws {
    let fixture = try await AccessoryFixture(isAsked: false)
    var last: AccessoryMessage?
    for _ in 0..<6 {
      var phone = try TestApp(of: fixture.accessory)
      try await phone.initialize()
      last = try await phone.configure(phone.shareable())
    }
    #expect(last == .accessoryUwbDidStop)
    #expect(
      await fixture.refusal()?.reason
        == .device(.refused(command: "SESSION_INIT_CMD", .maxSessionsExceeded)))
    #expect(fixture.accessory.rangingApps.count == 5)
    await fixture.end()
  }

  @Test func rangingContinuesWithoutAChannel() async throws {
    var fixture = try await AccessoryFixture(phones: [.qm33PDoA], as: "phone")
    let (data, session) = try await fixture.range()
    fixture.phone.channel.close()
    let isGone = await fixture.events.first { event -> Bool? in
      if case .disconnected = event { return true }
      return nil
    }
    #expect(isGone == true)
    #expect(abs(try await meanDistance(session.measurements(), of: 5) - 3) < 0.1)
    // The app reconnects and finds its session.
    var again = try TestApp(of: fixture.accessory, as: "phone")
    #expect(try await again.configure(data) == .accessoryUwbDidStart)
    #expect(try await fixture.chips.sessions() == 1)
    #expect(try await again.stop() == .accessoryUwbDidStop)
    #expect(try await fixture.chips.sessions() == 0)
    await fixture.end()
  }

  @Test func aHundredCyclesLeaveNoSessionOnTheChip() async throws {
    let fixture = try await AccessoryFixture(isAsked: false)
    for _ in 0..<100 {
      var phone = try TestApp(of: fixture.accessory)
      try await phone.initialize()
      #expect(try await phone.configure(phone.shareable()) == .accessoryUwbDidStart)
      #expect(try await phone.stop() == .accessoryUwbDidStop)
      phone.channel.close()
    }
    #expect(try await fixture.chips.sessions() == 0)
    #expect(fixture.accessory.rangingApps.isEmpty)
    await fixture.end()
  }
}
