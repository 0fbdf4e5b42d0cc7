// SPDX-License-Identifier: Apache-2.0
import AccessoryProtocol
import Foundation
import Testing
import UWB
import UWBSimulator

@testable import NearbyInteraction

/// Shareable data that is lost, late, doubled, truncated or handed to the wrong accessory, and
/// accessories that go: what the app's side makes of it, with a real accessory behind a socket.
@Suite struct SessionFaultTests {
  /// A session whose accessory is not heard ends in a time-out, and ranges when it is run again.
  private func triesAgain(_ meeting: Encounter) async throws {
    let (recorder, session) = (meeting.recorder, meeting.session)
    #expect(await recorder.wait { $0.last == .removed(.timeout) })
    #expect(recorder.objects.isEmpty)
    session.timeouts.preparedness = .seconds(20)
    meeting.accessory.deliver(.whole)
    session.run(try #require(session.configuration))
    #expect(await recorder.waitForUpdates(3))
    #expect(abs(try #require(recorder.objects.last?.distance) - 3) < 0.15)
    let data = recorder.calls.compactMap { if case .shareable(let data) = $0 { data } else { nil } }
    #expect(data.count == 2 && Set(data).count == 2)
    #expect(try await meeting.accessory.sessions == 1)
  }

  @Test(arguments: [TestAccessory.Delivery.lost, .truncated])
  func dataThatDoesNotArriveTimesOutAndTheNextRunRanges(
    _ delivery: TestAccessory.Delivery
  ) async throws {
    let meeting = try await Encounter(role: .controlee)
    meeting.session.timeouts.preparedness = .milliseconds(200)
    meeting.accessory.deliver(delivery)
    try await meeting.run()
    try await triesAgain(meeting)
    await meeting.end()
  }

  /// It arrives when the app has given up: the accessory ranges with nobody, until the next data.
  @Test func dataThatIsLateStartsNobody() async throws {
    let meeting = try await Encounter(role: .controlee)
    let (recorder, accessory) = (meeting.recorder, meeting.accessory)
    meeting.session.timeouts.preparedness = .milliseconds(200)
    accessory.deliver(.lost)
    try await meeting.run()
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
    try await triesAgain(meeting)
    await meeting.end()
  }

  @Test(arguments: [SessionConfiguration.Role.controller, .controlee])
  func dataThatComesTwiceDisturbsNobody(_ role: SessionConfiguration.Role) async throws {
    let meeting = try await Encounter(role: role)
    meeting.accessory.deliver(.twice)
    try await meeting.run()
    #expect(await meeting.recorder.waitForUpdates(10))
    #expect(meeting.recorder.milestones.count == 2)
    #expect(try await meeting.accessory.sessions == 1)
    await meeting.end()
  }

  /// An app that mixes its accessories up: each gets what was made for the other.
  @Test func dataForAnotherTokenRangesWithNobody() async throws {
    let stage = try Stage(others: [SIMD3<Double>(2, 0, 1), SIMD3<Double>(5, 1, 1)])
    let accessories = [
      try await TestAccessory(stage.others[0], role: .controlee),
      try await TestAccessory(stage.others[1], role: .controlee),
    ]
    let recorders = [Recorder(), Recorder()]
    var sessions: [NISession] = []
    var tokens: [NIDiscoveryToken] = []
    for (index, recorder) in recorders.enumerated() {
      recorder.connect(to: accessories[1 - index])
      let session = recorder.session(on: stage.path)
      session.timeouts.preparedness = .milliseconds(400)
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
    // By the token of the object, as apps are to do it.
    let owners = Dictionary(uniqueKeysWithValues: zip(tokens, accessories))
    for (recorder, session) in zip(recorders, sessions) {
      recorder.onEach { session, call in
        let token = (session.configuration as? NINearbyAccessoryConfiguration)?
          .accessoryDiscoveryToken
        guard case .shareable(let data) = call, let token, let owner = owners[token] else { return }
        Task { try await owner.take(data) }
      }
      session.timeouts.preparedness = .seconds(20)
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
    stage.bench.stop()
  }

  /// The accessory's chip loses its power in the middle, and another process serves it then.
  @Test func anAccessoryThatIsKilledTimesOutAndServesAgain() async throws {
    let meeting = try await Encounter(role: .controlee)
    let (recorder, session) = (meeting.recorder, meeting.session)
    session.timeouts.silence = .milliseconds(200)
    try await meeting.run()
    #expect(await recorder.waitForUpdates(3))
    let chip = meeting.stage.others[0]
    chip.unplug()
    #expect(await recorder.wait { $0.last == .removed(.timeout) })
    try chip.replug()
    let again = try await TestAccessory(chip, role: .controlee)
    recorder.connect(to: again)
    let before = recorder.objects.count
    session.timeouts.silence = .seconds(10)
    session.run(try await again.configuration())
    #expect(await recorder.waitForUpdates(before + 3), "\(recorder.milestones)")
    await again.close()
    await meeting.end()
  }
}
