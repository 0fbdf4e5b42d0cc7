// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Testing
import UCI
import UWB
import UWBSimulator

/// Messages that are damaged, late, doubled, lost or somebody else's, and chips that go.
@Suite struct FaultTests {
  @Test func truncatedDataIsRefusedAndTheNextIsTaken() async throws {
    var meeting = try await Meeting()
    let data = try meeting.phone.shareable()
    try await meeting.phone.channel.send(
      AppMessage.configureAndStart(Array(data.bytes.dropLast(4))).bytes)
    #expect(try await meeting.phone.next() == .accessoryUwbDidStop)
    guard case .message(.invalidConfiguration(let field, _)) = await meeting.refusal() else {
      Issue.record("not refused")
      return
    }
    #expect(field == "destination address")
    #expect(try await meeting.stage.sessions() == 0)
    #expect(try await meeting.phone.configure(data) == .accessoryUwbDidStart)
    await meeting.end()
  }

  /// Who is told that the accessory does not range is not ranged with.
  @Test func refusedDataEndsWhatWasRangedWith() async throws {
    var meeting = try await Meeting()
    #expect(
      try await meeting.phone.configure(meeting.phone.shareable()) == .accessoryUwbDidStart)
    let next = try meeting.phone.shareable()
    try await meeting.phone.channel.send(
      AppMessage.configureAndStart(Array(next.bytes.dropLast(4))).bytes)
    #expect(try await meeting.phone.next() == .accessoryUwbDidStop)
    #expect(await meeting.stop() == .replaced)
    #expect(meeting.accessory.rangingApps.isEmpty)
    #expect(try await meeting.stage.sessions() == 0)
    await meeting.end()
  }

  @Test func dataBeforeInitializeIsRefused() async throws {
    var meeting = try await Meeting(isAsked: false)
    let data = ShareableConfigurationData(sessionID: 7, address: 2)
    #expect(try await meeting.phone.configure(data) == .accessoryUwbDidStop)
    #expect(await meeting.refusal() == .notInitialized)
    await meeting.end()
  }

  @Test func doubledDataIsAnsweredTwiceAndStartsOnce() async throws {
    var meeting = try await Meeting()
    let data = try meeting.phone.shareable()
    #expect(try await meeting.phone.configure(data) == .accessoryUwbDidStart)
    #expect(try await meeting.phone.configure(data) == .accessoryUwbDidStart)
    #expect(try await meeting.stage.sessions() == 1)
    // Fresh data, as after a re-run with a configuration that the app has kept.
    #expect(
      try await meeting.phone.configure(meeting.phone.shareable()) == .accessoryUwbDidStart)
    #expect(await meeting.stop() == .replaced)
    #expect(try await meeting.stage.sessions() == 1)
    await meeting.end()
  }

  @Test func lostDataLeavesTheChipAlone() async throws {
    var meeting = try await Meeting(phones: [.qm33PDoA])
    let (session, stream) = try await meeting.rangeAlone(meeting.phone.shareable())
    var rounds = 0
    for try await measurement in stream {
      #expect(measurement.result.distanceCentimetres == nil)
      rounds += 1
      if rounds == 3 { break }
    }
    #expect(try await meeting.stage.sessions() == 0)
    // The app gives up and begins anew, as Apple's sample does.
    try await session.close()
    #expect(try await meeting.phone.stop() == .accessoryUwbDidStop)
    try await meeting.phone.initialize()
    #expect(
      try await meeting.phone.configure(meeting.phone.shareable()) == .accessoryUwbDidStart)
    await meeting.end()
  }

  /// Late: the phone ranges no more. Of another accessory: it ranges with another address.
  @Test(arguments: ["late", "of another accessory"])
  func dataThatNobodyRangesWithEndsInSilence(which: String) async throws {
    var options = Accessory.Options()
    options.silence = 200
    var meeting = try await Meeting(phones: [.qm33PDoA], options: options)
    let data = try meeting.phone.shareable()
    if which == "of another accessory" {
      let own = meeting.phone.accessory
      meeting.phone.accessory?.uwb.address ^= 0x0101
      _ = try await meeting.rangeAlone(data)
      meeting.phone.accessory = own
    } else {
      try await meeting.rangeAlone(data).session.close()
    }
    #expect(try await meeting.phone.configure(data) == .accessoryUwbDidStart)
    #expect(try await meeting.phone.next() == .accessoryUwbDidStop)
    var measured = 0
    for await event in meeting.events {
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
    #expect(try await meeting.stage.sessions() == 0)
    await meeting.end()
  }

  @Test func messagesOfVendorsAreIgnored() async throws {
    var meeting = try await Meeting(isAsked: false)
    try await meeting.phone.channel.send([0x2F, 1, 2])
    let ignored = await meeting.events.first { event -> AccessoryProtocolError? in
      guard case .ignored(_, let error) = event else { return nil }
      return error
    }
    #expect(ignored == .unknownMessage(0x2F))
    try await meeting.phone.initialize()
    #expect(meeting.phone.accessory != nil)
    await meeting.end()
  }

  @Test func anAccessoryThatEndsTellsItsAppsAndANewOneServesThem() async throws {
    var meeting = try await Meeting()
    #expect(
      try await meeting.phone.configure(meeting.phone.shareable()) == .accessoryUwbDidStart)
    await meeting.accessory.close()
    #expect(try await meeting.phone.next() == .accessoryUwbDidStop)
    #expect(try await meeting.phone.next() == nil)
    #expect(try await meeting.stage.sessions() == 0)
    let second = try Accessory(meeting.stage.device)
    var again = try Phone(of: second)
    try await again.initialize()
    #expect(try await again.configure(again.shareable()) == .accessoryUwbDidStart)
    await second.close()
    await meeting.end()
  }

  @Test func aChipThatIsUnpluggedEndsTheSession() async throws {
    var meeting = try await Meeting()
    #expect(
      try await meeting.phone.configure(meeting.phone.shareable()) == .accessoryUwbDidStart)
    meeting.stage.bench.chips[0].unplug()
    #expect(try await meeting.phone.next() == .accessoryUwbDidStop)
    guard case .byChip(.link) = await meeting.stop() else {
      Issue.record("another reason")
      return
    }
    await meeting.end()
  }

  @Test func aChipThatIsPluggedInAgainRangesOn() async throws {
    var meeting = try await Meeting(
      phones: [.qm33PDoA], recovery: RecoveryPolicy(limit: .seconds(20)))
    _ = try await meeting.range()
    let events = meeting.accessory.events
    let chip = meeting.stage.bench.chips[0]
    chip.unplug()
    try chip.replug()
    var isBack = false
    let distance = await events.first { event -> Int? in
      guard case .measured(_, let measurement) = event else { return nil }
      isBack = isBack || measurement.followsInterruption
      return isBack ? measurement.result.distanceCentimetres : nil
    }
    #expect(abs(try #require(distance) - 300) < 20)
    #expect(try await meeting.phone.stop() == .accessoryUwbDidStop)
    #expect(try await meeting.stage.sessions() == 0)
    await meeting.end()
  }

  @Test func theOtherSidesEndIsTheChipsWord() async throws {
    var options = Accessory.Options()
    options.role = .controlee
    var meeting = try await Meeting(phones: [.qm33PDoA], options: options)
    let session = try await meeting.range().session
    // A controller that stops tells its controlees over the air.
    try await session.close()
    #expect(try await meeting.phone.next() == .accessoryUwbDidStop)
    guard case .byChip(.sessionEnded(_, .stoppedInBand)) = await meeting.stop() else {
      Issue.record("another reason")
      return
    }
    await meeting.end()
  }
}
