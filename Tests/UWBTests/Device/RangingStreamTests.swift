// SPDX-License-Identifier: Apache-2.0
import System
import Testing
@testable import UWB

@Suite(.timeLimit(.minutes(10))) struct RangingStreamTests {
  /// A session without notifications, with its device.
  static func silentSession() async throws -> (UWBDevice, UWBSession, ScriptedChip) {
    let (device, chip) = try await SessionTests.open()
    return (device, try await device.makeSession(SessionTests.configuration), chip)
  }

  static func take(_ stream: RangingStream<RangingMeasurement>) async {
    do { for try await _ in stream {} } catch {}
  }

  static func block(_ stream: RangingStream<EstimatedMeasurement>) {
    do { while try stream.next() != nil {} } catch {}
  }

  static let message = "a RangingStream has one consumer"

  @Test func twoTasksThatTakeFromOneStreamStopTheProgram() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (device, session, chip) = try await RangingStreamTests.silentSession()
      let stream = session.measurements()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
          group.addTask { await RangingStreamTests.take(stream) }
        }
      }
      withExtendedLifetime((device, chip)) {}
    }
    let error = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(error.contains(Self.message))
  }

  @Test func twoThreadsThatTakeFromOneStreamStopTheProgram() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (device, session, chip) = try await RangingStreamTests.silentSession()
      let stream = session.estimates()
      let threads = (0..<2).map { _ in
        AllocationTests.DoneThread { RangingStreamTests.block(stream) }
      }
      for thread in threads { thread.join() }
      withExtendedLifetime((device, chip)) {}
    }
    let error = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(error.contains(Self.message))
  }

  @Test func aStreamMayMoveFromATaskToAThreadAndBack() async throws {
    let (device, session, chip) = try await Self.silentSession()
    let stream = session.measurements()
    try await session.start()
    #expect(try await stream.first { _ in true }?.sequenceNumber == 0)
    var thread: AllocationTests.DoneThread?
    let second: UInt32? = await withCheckedContinuation { continuation in
      thread = AllocationTests.DoneThread {
        let measurement = try? stream.next()
        continuation.resume(returning: measurement?.sequenceNumber)
      }
    }
    // The call resumed this task, and then it returns.
    thread?.join()
    #expect(second == 1)
    #expect(try await stream.first { _ in true }?.sequenceNumber == 2)
    await device.close()
    withExtendedLifetime(chip) {}
  }

  @Test func aWaitEndsWithItsTimeAndTheStreamGoesOn() async throws {
    let (device, session, chip) = try await Self.silentSession()
    let stream = session.measurements()
    #expect(try stream.next(timeout: .zero) == nil)
    #expect(try stream.next(timeout: .microseconds(1)) == nil)
    try await session.start()
    #expect(try stream.next(timeout: .seconds(300))?.sequenceNumber == 0)
    await device.close()
    withExtendedLifetime(chip) {}
  }

  @Test func aCancelledSubscriptionHearsNothingMore() async throws {
    let (device, session, chip) = try await Self.silentSession()
    let (heard, hear) = AsyncStream<UInt32>.makeStream()
    let subscription = session.onRounds { round in
      if case .measurements(let view) = round.kind { hear.yield(view.sequenceNumber) }
    }
    try await session.start()
    for await number in heard where number == 2 { break }
    subscription.cancel()
    subscription.cancel()
    chip.say(DWM3001CDK.rxTimeout(sequence: 3))
    // The answer arrives after all earlier messages.
    _ = try await device.send(GetSessionCount())
    hear.finish()
    for await number in heard { Issue.record("round \(number)") }
    await device.close()
  }

  @Test func theRoundAndTheMeasurementAfterAnInterruptionAreMarked() throws {
    let gaps = Locked<[RoundNotification.Gap]>([])
    let subscription = Subscription(
      session: SessionRecord(configuration: SessionTests.configuration)
    ) {
      let gap = $0.gap
      gaps.withLock { $0.append(gap) }
    }
    func deliver(_ entries: [TwoWayMeasurement]) throws {
      let payload = SessionInfo(
        sequenceNumber: 0, sessionToken: 1, intervalMilliseconds: 200, twoWay: entries
      ).encoded()
      let round = RoundNotification(
        .measurements(try SessionInfoView(payload.span.bytes)), FrameInfo(receivedAt: 0))
      let isDropped = subscription.deliver(round)
      #expect(!isDropped)
    }
    try deliver([Rounds.entry(1)])
    subscription.interrupt(.deviceRestarted)
    subscription.resume()
    for entries in [[], [], [Rounds.entry(1)], [Rounds.entry(1)]] { try deliver(entries) }
    #expect(
      gaps.withLock { $0 } == [
        [], [], [], [.round, .measurement], .measurement, .measurement, [],
      ])
  }

  @Test func roundsHaveDiagnosticsAndOneWayMeasurementsAsValues() async throws {
    let (device, session, chip) = try await Self.silentSession()
    let stream = session.rounds()
    let info = SessionInfo(
      sequenceNumber: 5, sessionToken: 1, intervalMilliseconds: 200, twoWay: [])
    var angles = info
    angles.type = .oneWayAoA
    var angle = OneWayAoAMeasurement()
    angle.peer = MACAddress(7)
    angles.measurements = .oneWayAoA([angle])
    let opcode = RangeDiagnosticsNotification.qorvoOpcode
    let diagnostics = RangeDiagnosticsNotification(
      sessionToken: 1, sequenceNumber: 5, reports: [])
    for packet in Segmentation.packets(
      type: .notification, opcode: .sessionInfo, payload: angles.encoded())
    {
      chip.say(packet)
    }
    for packet in Segmentation.packets(
      type: .notification, opcode: opcode, payload: diagnostics.encoded())
    {
      chip.say(packet)
    }
    var iterator = stream.makeAsyncIterator()
    guard case .oneWay(let message) = try await iterator.next() else {
      Issue.record("The angle is missing.")
      return
    }
    #expect(message.result == .angle(angle))
    #expect(message.sequenceNumber == 5)
    #expect(try await iterator.next() == .diagnostics(opcode, diagnostics.encoded()))
    await device.close()
    #expect(try await iterator.next() == nil)
  }
}
