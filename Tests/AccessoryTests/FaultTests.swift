// SPDX-License-Identifier: Apache-2.0

import Accessory
import AccessoryProtocol
import Channels
import Testing
import UCI
import UWB
import UWBSimulator

/// Damaged, late, repeated, lost and foreign messages, and chips that disappear.
@Suite(.timeLimit(.minutes(10))) struct FaultTests {
  @Test func truncatedDataIsRefusedAndTheNextAccepted() async throws {
    var fixture = try await AccessoryFixture()
    let data = try fixture.phone.shareable()
    try await fixture.phone.channel.send(
      AppMessage.configureAndStart(Array(data.bytes.dropLast(4))).bytes)
    #expect(try await fixture.phone.next() == .accessoryUwbDidStop)
    guard case .invalidConfiguration(let field, _) = await fixture.refusal()?.reason else {
      Issue.record("not refused")
      return
    }
    #expect(field == "destination address")
    #expect(try await fixture.chips.sessions() == 0)
    #expect(try await fixture.phone.configure(data) == .accessoryUwbDidStart)
    await fixture.end()
  }

  /// The app does not range after the accessory has reported that it does not range.
  @Test func refusedDataEndsTheSession() async throws {
    var fixture = try await AccessoryFixture()
    #expect(
      try await fixture.phone.configure(fixture.phone.shareable()) == .accessoryUwbDidStart)
    let next = try fixture.phone.shareable()
    try await fixture.phone.channel.send(
      AppMessage.configureAndStart(Array(next.bytes.dropLast(4))).bytes)
    #expect(try await fixture.phone.next() == .accessoryUwbDidStop)
    #expect(await fixture.stop() == .replaced)
    #expect(fixture.accessory.rangingApps.isEmpty)
    #expect(try await fixture.chips.sessions() == 0)
    await fixture.end()
  }

  @Test func dataBeforeInitializeIsRefused() async throws {
    var fixture = try await AccessoryFixture(isAsked: false)
    let data = ShareableConfigurationData(sessionID: 7, address: 2)
    #expect(try await fixture.phone.configure(data) == .accessoryUwbDidStop)
    #expect(await fixture.refusal()?.reason == .notInitialized)
    await fixture.end()
  }

  @Test func repeatedDataIsAnsweredAndStartsOnce() async throws {
    var fixture = try await AccessoryFixture()
    let data = try fixture.phone.shareable()
    #expect(try await fixture.phone.configure(data) == .accessoryUwbDidStart)
    #expect(try await fixture.phone.configure(data) == .accessoryUwbDidStart)
    #expect(try await fixture.chips.sessions() == 1)
    // New data, as after a new run with a stored configuration.
    #expect(
      try await fixture.phone.configure(fixture.phone.shareable()) == .accessoryUwbDidStart)
    #expect(await fixture.stop() == .replaced)
    #expect(try await fixture.chips.sessions() == 1)
    await fixture.end()
  }

  @Test func lostDataChangesNothingOnTheChip() async throws {
    var fixture = try await AccessoryFixture(phones: [.qm33PDoA])
    let (session, stream) = try await fixture.rangeAlone(fixture.phone.shareable())
    var rounds = 0
    for try await measurement in stream {
      #expect(measurement.result.distanceCentimetres == nil)
      rounds += 1
      if rounds == 3 { break }
    }
    #expect(try await fixture.chips.sessions() == 0)
    // The app restarts, as Apple's sample does.
    try await session.close()
    #expect(try await fixture.phone.stop() == .accessoryUwbDidStop)
    try await fixture.phone.initialize()
    #expect(
      try await fixture.phone.configure(fixture.phone.shareable()) == .accessoryUwbDidStart)
    await fixture.end()
  }

  /// Late data arrives when the phone no longer ranges. With data for another accessory, the phone
  /// ranges with another address.
  @Test(arguments: ["late", "of another accessory"])
  func unusedDataEndsByInactivity(which: String) async throws {
    var options = Accessory.Options()
    options.inactivityTimeout = .milliseconds(200)
    var fixture = try await AccessoryFixture(phones: [.qm33PDoA], options: options)
    let data = try fixture.phone.shareable()
    if which == "of another accessory" {
      let own = fixture.phone.accessory
      fixture.phone.accessory?.uwb.address ^= 0x0101
      _ = try await fixture.rangeAlone(data)
      fixture.phone.accessory = own
    } else {
      try await fixture.rangeAlone(data).session.close()
    }
    #expect(try await fixture.phone.configure(data) == .accessoryUwbDidStart)
    #expect(try await fixture.phone.next() == .accessoryUwbDidStop)
    var measured = 0
    for await event in fixture.events {
      if case .measured(_, let measurement) = event {
        #expect(measurement.result.distanceCentimetres == nil)
        measured += 1
      }
      if case .stopped(_, let reason) = event {
        #expect(reason == .inactivity)
        break
      }
    }
    // 200 ms in rounds of 20 ms.
    #expect(measured == 10)
    #expect(try await fixture.chips.sessions() == 0)
    await fixture.end()
  }

  @Test func vendorMessagesAreIgnored() async throws {
    var fixture = try await AccessoryFixture(isAsked: false)
    try await fixture.phone.channel.send([0x2F, 1, 2])
    let ignored = await fixture.events.first { event -> AccessoryError? in
      guard case .ignored(_, let error) = event else { return nil }
      return error
    }
    #expect(ignored?.reason == .unknownMessage(0x2F))
    try await fixture.phone.initialize()
    #expect(fixture.phone.accessory != nil)
    await fixture.end()
  }

  @Test func closingNotifiesAppsAndAnotherAccessoryCanServe() async throws {
    var fixture = try await AccessoryFixture()
    #expect(
      try await fixture.phone.configure(fixture.phone.shareable()) == .accessoryUwbDidStart)
    await fixture.accessory.close()
    #expect(try await fixture.phone.next() == .accessoryUwbDidStop)
    #expect(try await fixture.phone.next() == nil)
    #expect(try await fixture.chips.sessions() == 0)
    let second = try Accessory(fixture.chips.device)
    var again = try TestApp(of: second)
    try await again.initialize()
    #expect(try await again.configure(again.shareable()) == .accessoryUwbDidStart)
    await second.close()
    await fixture.end()
  }

  @Test func unpluggingEndsTheSession() async throws {
    var fixture = try await AccessoryFixture()
    #expect(
      try await fixture.phone.configure(fixture.phone.shareable()) == .accessoryUwbDidStart)
    fixture.chips.bench.chips[0].unplug()
    #expect(try await fixture.phone.next() == .accessoryUwbDidStop)
    guard case .byChip(let error) = await fixture.stop(), error.code == .link else {
      Issue.record("another reason")
      return
    }
    await fixture.end()
  }

  @Test func rangingContinuesAfterReplugging() async throws {
    var fixture = try await AccessoryFixture(
      phones: [.qm33PDoA], recovery: RecoveryPolicy(limit: .seconds(20)))
    _ = try await fixture.range()
    let events = fixture.accessory.events
    let chip = fixture.chips.bench.chips[0]
    chip.unplug()
    try chip.replug()
    var isBack = false
    let distance = await events.first { event -> Int? in
      guard case .measured(_, let measurement) = event else { return nil }
      isBack = isBack || measurement.followsInterruption
      return isBack ? measurement.result.distanceCentimetres : nil
    }
    #expect(abs(try #require(distance) - 300) < 20)
    #expect(try await fixture.phone.stop() == .accessoryUwbDidStop)
    #expect(try await fixture.chips.sessions() == 0)
    await fixture.end()
  }

  /// The app reconnects before the accessory's device is back, and the accessory keeps the app's
  /// data until then.
  @Test(.timeLimit(.minutes(10))) func dataDuringAnOutageStartsAfterIt() async throws {
    var fixture = try await AccessoryFixture(
      phones: [.qm33PDoA], recovery: RecoveryPolicy(limit: .seconds(20)))
    let losses = fixture.chips.device.events
    let chip = fixture.chips.bench.chips[0]
    chip.unplug()
    for await case .lost in losses { break }
    let data = try fixture.phone.shareable()
    let (_, stream) = try await fixture.rangeAlone(data)
    try await fixture.phone.channel.send(AppMessage.configureAndStart(data.bytes).bytes)
    let waits = await fixture.events.first { event -> Bool? in
      if case .waiting(_, let error) = event { return error.isTransient }
      if case .refused = event { return false }
      return nil
    }
    #expect(waits == true)
    try chip.replug()
    #expect(try await fixture.phone.next() == .accessoryUwbDidStart)
    #expect(abs(try await meanDistance(stream) - 3) < 0.1)
    await fixture.end()
  }

  /// The app gives up while the device is unplugged, and the accessory does not range with it
  /// later.
  @Test(.timeLimit(.minutes(10))) func dataDuringAnOutageCanBeWithdrawn() async throws {
    var fixture = try await AccessoryFixture(recovery: RecoveryPolicy(limit: .seconds(20)))
    let (losses, returns) = (fixture.chips.device.events, fixture.chips.device.events)
    let chip = fixture.chips.bench.chips[0]
    chip.unplug()
    for await case .lost in losses { break }
    let data = try fixture.phone.shareable()
    try await fixture.phone.channel.send(AppMessage.configureAndStart(data.bytes).bytes)
    #expect(try await fixture.phone.stop() == .accessoryUwbDidStop)
    try chip.replug()
    for await case .recovered in returns { break }
    #expect(try await fixture.phone.stop() == .accessoryUwbDidStop)
    #expect(try await fixture.chips.sessions() == 0)
    await fixture.end()
  }

  @Test func thePeersEndIsReportedByTheChip() async throws {
    var options = Accessory.Options()
    options.role = .controlee
    var fixture = try await AccessoryFixture(phones: [.qm33PDoA], options: options)
    let session = try await fixture.range().session
    // A controller that stops informs its controlees.
    try await session.close()
    #expect(try await fixture.phone.next() == .accessoryUwbDidStop)
    guard case .byChip(let error) = await fixture.stop(), error.endReason == .stoppedInBand else {
      Issue.record("another reason")
      return
    }
    await fixture.end()
  }
}
