// SPDX-License-Identifier: Apache-2.0
import Accessory
import Foundation
import Testing
import UWB
import UWBSimulator

@testable import NearbyInteraction

/// The reactions of the app's side to shareable data that is lost, late, repeated, truncated or
/// misdirected, and to accessories that disappear.
@Suite struct SessionFaultTests {
  /// A session whose accessory is not measured times out, and ranges when it is run again.
  private func triesAgain(_ fixture: SessionFixture) async throws {
    let (recorder, session) = (fixture.recorder, fixture.session)
    #expect(await recorder.wait { $0.last == .removed(.timeout) })
    #expect(recorder.objects.isEmpty)
    session.timeouts.firstMeasurement = .seconds(20)
    fixture.accessory.deliver(.whole)
    session.run(try #require(session.configuration))
    #expect(await recorder.waitForUpdates(3))
    #expect(abs(try #require(recorder.objects.last?.distance) - 3) < 0.15)
    let data = recorder.calls.compactMap { if case .shareable(let data) = $0 { data } else { nil } }
    #expect(data.count == 2 && Set(data).count == 2)
    #expect(try await fixture.accessory.sessions == 1)
  }

  @Test(arguments: [TestAccessory.Delivery.lost, .truncated])
  func lostDataTimesOutAndTheNextRunRanges(
    _ delivery: TestAccessory.Delivery
  ) async throws {
    let fixture = try await SessionFixture(role: .controlee)
    fixture.session.timeouts.firstMeasurement = .milliseconds(200)
    fixture.accessory.deliver(delivery)
    try await fixture.run()
    try await triesAgain(fixture)
    await fixture.end()
  }

  /// The data arrives after the timeout: the accessory measures nothing until the next data.
  @Test func lateDataStartsNothing() async throws {
    let fixture = try await SessionFixture(role: .controlee)
    let (recorder, accessory) = (fixture.recorder, fixture.accessory)
    fixture.session.timeouts.firstMeasurement = .milliseconds(200)
    accessory.deliver(.lost)
    try await fixture.run()
    #expect(await recorder.wait { $0.last == .removed(.timeout) })
    guard case .shareable(let late)? = recorder.calls.first(where: { $0.isShareable }) else {
      Issue.record("no data")
      return
    }
    let events = accessory.accessory.events
    accessory.deliver(.whole)
    try await accessory.take(late)
    for await case .started in events { break }
    #expect(try await accessory.sessions == 1)
    try await triesAgain(fixture)
    await fixture.end()
  }

  @Test(arguments: [SessionConfiguration.Role.controller, .controlee])
  func repeatedDataChangesNothing(_ role: SessionConfiguration.Role) async throws {
    let fixture = try await SessionFixture(role: role)
    fixture.accessory.deliver(.twice)
    try await fixture.run()
    #expect(await fixture.recorder.waitForUpdates(10))
    #expect(fixture.recorder.milestones.count == 2)
    #expect(try await fixture.accessory.sessions == 1)
    await fixture.end()
  }

  /// An app that confuses two accessories: each gets the data for the other.
  @Test func dataForOtherTokensMeasuresNothing() async throws {
    let chips = try ChipFixture(others: [SIMD3(2, 0, 1), SIMD3(5, 1, 1)])
    let accessories = [
      try await TestAccessory(chips.others[0], role: .controlee),
      try await TestAccessory(chips.others[1], role: .controlee),
    ]
    let recorders = [Recorder(), Recorder()]
    var sessions: [NISession] = []
    var tokens: [NIDiscoveryToken] = []
    for (index, recorder) in recorders.enumerated() {
      recorder.connect(to: accessories[1 - index])
      let session = recorder.session(on: chips.path)
      session.timeouts.firstMeasurement = .milliseconds(400)
      let configuration = try await accessories[index].configuration()
      tokens.append(configuration.accessoryDiscoveryToken)
      session.run(configuration)
      sessions.append(session)
    }
    #expect(tokens[0] != tokens[1])
    for recorder in recorders {
      #expect(await recorder.wait { $0.last == .removed(.timeout) })
      #expect(recorder.objects.isEmpty)
    }
    // The app identifies the accessory by the token of the object, as apps should.
    let owners = Dictionary(uniqueKeysWithValues: zip(tokens, accessories))
    for (recorder, session) in zip(recorders, sessions) {
      recorder.onEach { session, call in
        let token = (session.configuration as? NINearbyAccessoryConfiguration)?
          .accessoryDiscoveryToken
        guard case .shareable(let data) = call, let token, let owner = owners[token] else { return }
        Task { try await owner.take(data) }
      }
      session.timeouts.firstMeasurement = .seconds(20)
      session.run(try #require(session.configuration))
    }
    let truth: [Float] = [2, Float(26).squareRoot()]
    for (index, recorder) in recorders.enumerated() {
      #expect(await recorder.waitForUpdates(4))
      let last = try #require(recorder.objects.last)
      #expect(last.discoveryToken == tokens[index])
      #expect(abs(try #require(last.distance) - truth[index]) < 0.15)
    }
    for session in sessions { await session.close() }
    for accessory in accessories { await accessory.close() }
    chips.bench.stop()
  }

  /// The accessory's chip loses power while ranging, and another process serves it afterwards.
  @Test func killedAccessoriesTimeOutAndServeAgain() async throws {
    let fixture = try await SessionFixture(role: .controlee)
    let (recorder, session) = (fixture.recorder, fixture.session)
    session.timeouts.inactivity = .milliseconds(200)
    try await fixture.run()
    #expect(await recorder.waitForUpdates(3))
    let chip = fixture.chips.others[0]
    chip.unplug()
    #expect(await recorder.wait { $0.last == .removed(.timeout) })
    try chip.replug()
    let again = try await TestAccessory(chip, role: .controlee)
    recorder.connect(to: again)
    let before = recorder.objects.count
    session.timeouts.inactivity = .seconds(10)
    session.run(try await again.configuration())
    #expect(await recorder.waitForUpdates(before + 3), "\(recorder.milestones)")
    await again.close()
    await fixture.end()
  }
}
