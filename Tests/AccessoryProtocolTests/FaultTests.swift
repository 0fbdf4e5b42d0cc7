// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Testing
import UCI
import UWBDriver
import UWBSimulator

/// Messages that are damaged, late, doubled, lost or somebody else's, and chips that go.
@Suite struct FaultTests {
  private func refusal(_ events: AsyncStream<Accessory.Event>) async -> AccessoryError? {
    await events.first { event in
      guard case .refused(_, let error) = event else { return nil }
      return error
    }
  }

  private func stop(_ events: AsyncStream<Accessory.Event>) async -> Accessory.StopReason? {
    await events.first { event in
      guard case .stopped(_, let reason) = event else { return nil }
      return reason
    }
  }

  @Test func truncatedDataIsRefusedAndTheNextIsTaken() async throws {
    let stage = try await Stage(phones: [])
    let accessory = try Accessory(stage.device)
    let events = accessory.events
    var phone = try Phone(of: accessory)
    try await phone.initialize()
    let data = try phone.shareable()
    try await phone.channel.send(
      AppMessage.configureAndStart(Array(data.octets.dropLast(4))).octets)
    #expect(try await phone.next() == .accessoryUwbDidStop)
    guard case .message(.invalidConfiguration(let field, _)) = await refusal(events) else {
      Issue.record("not refused")
      return
    }
    #expect(field == "destination address")
    #expect(try await stage.sessions() == 0)
    #expect(try await phone.configure(data) == .accessoryUwbDidStart)
    await accessory.close()
    await stage.end()
  }

  @Test func dataBeforeInitializeIsRefused() async throws {
    let stage = try await Stage(phones: [])
    let accessory = try Accessory(stage.device)
    let events = accessory.events
    var phone = try Phone(of: accessory)
    let data = ShareableConfigurationData(sessionID: 7, address: 2)
    #expect(try await phone.configure(data) == .accessoryUwbDidStop)
    #expect(await refusal(events) == .notInitialized)
    await stage.end()
  }

  @Test func doubledDataIsAnsweredTwiceAndStartsOnce() async throws {
    let stage = try await Stage(phones: [])
    let accessory = try Accessory(stage.device)
    var phone = try Phone(of: accessory)
    try await phone.initialize()
    let data = try phone.shareable()
    #expect(try await phone.configure(data) == .accessoryUwbDidStart)
    #expect(try await phone.configure(data) == .accessoryUwbDidStart)
    #expect(try await stage.sessions() == 1)
    // Fresh data, as after a re-run with a configuration that the app has kept.
    let events = accessory.events
    #expect(try await phone.configure(phone.shareable()) == .accessoryUwbDidStart)
    #expect(await stop(events) == .replaced)
    #expect(try await stage.sessions() == 1)
    await accessory.close()
    await stage.end()
  }

  @Test func lostDataLeavesTheChipAlone() async throws {
    let stage = try await Stage()
    let accessory = try Accessory(stage.device)
    var phone = try Phone(of: accessory)
    try await phone.initialize()
    let session = try await phone.session(phone.shareable(), on: stage.phones[0])
    let stream = session.measurements()
    try await session.start()
    var rounds = 0
    for try await measurement in stream {
      #expect(measurement.result.distanceCentimetres == nil)
      rounds += 1
      if rounds == 3 { break }
    }
    #expect(try await stage.sessions() == 0)
    // The app gives up and begins anew, as Apple's sample does.
    try await session.close()
    #expect(try await phone.stop() == .accessoryUwbDidStop)
    try await phone.initialize()
    #expect(try await phone.configure(phone.shareable()) == .accessoryUwbDidStart)
    await accessory.close()
    await stage.end()
  }

  /// Late: the phone ranges no more. Of another accessory: it ranges with another address.
  @Test(arguments: ["late", "of another accessory"])
  func dataThatNobodyRangesWithEndsInSilence(which: String) async throws {
    let stage = try await Stage()
    var options = Accessory.Options()
    options.silence = 200
    let accessory = try Accessory(stage.device, options: options)
    let events = accessory.events
    var phone = try Phone(of: accessory)
    try await phone.initialize()
    let data = try phone.shareable()
    if which == "of another accessory" {
      let own = phone.accessory
      phone.accessory?.uwb.address ^= 0x0101
      let session = try await phone.session(data, on: stage.phones[0])
      try await session.start()
      phone.accessory = own
    } else {
      let session = try await phone.session(data, on: stage.phones[0])
      try await session.start()
      try await session.close()
    }
    #expect(try await phone.configure(data) == .accessoryUwbDidStart)
    #expect(try await phone.next() == .accessoryUwbDidStop)
    var measured = 0
    for await event in events {
      if case .measured(_, let measurement) = event {
        #expect(measurement.result.distanceCentimetres == nil)
        measured += 1
      }
      if case .stopped(_, let reason) = event {
        #expect(reason == .silence)
        break
      }
    }
    // 200 ms in rounds of 20 ms.
    #expect(measured == 10)
    #expect(try await stage.sessions() == 0)
    await stage.end()
  }

  @Test func messagesOfVendorsAreIgnored() async throws {
    let stage = try await Stage(phones: [])
    let accessory = try Accessory(stage.device)
    let events = accessory.events
    var phone = try Phone(of: accessory)
    try await phone.channel.send([0x2F, 1, 2])
    let ignored = await events.first { event -> AccessoryProtocolError? in
      guard case .ignored(_, let error) = event else { return nil }
      return error
    }
    #expect(ignored == .unknownMessage(0x2F))
    try await phone.initialize()
    #expect(phone.accessory != nil)
    await stage.end()
  }

  @Test func anAccessoryThatEndsTellsItsAppsAndANewOneServesThem() async throws {
    let stage = try await Stage(phones: [])
    let first = try Accessory(stage.device)
    var phone = try Phone(of: first)
    try await phone.initialize()
    #expect(try await phone.configure(phone.shareable()) == .accessoryUwbDidStart)
    await first.close()
    #expect(try await phone.next() == .accessoryUwbDidStop)
    #expect(try await phone.next() == nil)
    #expect(try await stage.sessions() == 0)
    let second = try Accessory(stage.device)
    var again = try Phone(of: second)
    try await again.initialize()
    #expect(try await again.configure(again.shareable()) == .accessoryUwbDidStart)
    await second.close()
    await stage.end()
  }

  @Test func aChipThatIsUnpluggedEndsTheSession() async throws {
    let stage = try await Stage(phones: [])
    let accessory = try Accessory(stage.device)
    let events = accessory.events
    var phone = try Phone(of: accessory)
    try await phone.initialize()
    #expect(try await phone.configure(phone.shareable()) == .accessoryUwbDidStart)
    stage.bench.chips[0].unplug()
    #expect(try await phone.next() == .accessoryUwbDidStop)
    guard case .byChip(.link) = await stop(events) else {
      Issue.record("another reason")
      return
    }
    await stage.end()
  }

  @Test func aChipThatIsPluggedInAgainRangesOn() async throws {
    let stage = try await Stage(recovery: Recovery(limit: .seconds(20)))
    let accessory = try Accessory(stage.device)
    var phone = try Phone(of: accessory)
    try await phone.initialize()
    let data = try phone.shareable()
    let session = try await phone.session(data, on: stage.phones[0])
    let stream = session.measurements()
    try await session.start()
    #expect(try await phone.configure(data) == .accessoryUwbDidStart)
    _ = try await meanDistance(stream, of: 2)
    let events = accessory.events
    let chip = stage.bench.chips[0]
    chip.unplug()
    try chip.replug()
    var isBack = false
    let distance = await events.first { event -> Int? in
      guard case .measured(_, let measurement) = event else { return nil }
      isBack = isBack || measurement.followsInterruption
      return isBack ? measurement.result.distanceCentimetres : nil
    }
    #expect(abs(try #require(distance) - 300) < 20)
    #expect(try await phone.stop() == .accessoryUwbDidStop)
    #expect(try await stage.sessions() == 0)
    await stage.end()
  }

  @Test func theOtherSidesEndIsTheChipsWord() async throws {
    let stage = try await Stage()
    var options = Accessory.Options()
    options.role = .controlee
    let accessory = try Accessory(stage.device, options: options)
    let events = accessory.events
    var phone = try Phone(of: accessory)
    try await phone.initialize()
    let data = try phone.shareable()
    #expect(try await phone.configure(data) == .accessoryUwbDidStart)
    let session = try await phone.session(data, on: stage.phones[0])
    let stream = session.measurements()
    try await session.start()
    _ = try await meanDistance(stream, of: 2)
    // A controller that stops tells its controlees over the air.
    try await session.close()
    #expect(try await phone.next() == .accessoryUwbDidStop)
    guard case .byChip(.sessionEnded(_, .stoppedInBand)) = await stop(events) else {
      Issue.record("another reason")
      return
    }
    await stage.end()
  }
}
