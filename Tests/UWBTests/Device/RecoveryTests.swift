// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import Synchronization
import SystemPackage
import Testing
import UCI
import UWBLink
import UWBSimulator

@testable import UWB

/// A device that is unplugged or loses its state, and the effects on its users.
@Suite(.timeLimit(.minutes(10))) struct RecoveryTests {
  typealias Ends = EndToEndTests

  /// A simulated board with a symbolic link to its port, as udev creates them.
  struct Board {
    let bench: SimulatedBench
    let chip: SimulatedBench.Chip
    let path: String

    init(_ profile: ChipProfile = .qm33) throws {
      let (bench, chips) = try Ends.bench([profile])
      var folder = Array("/tmp/uwb-test-XXXXXX".utf8CString)
      let made = folder.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }
      path = String(cString: try #require(made)) + "/board"
      self.bench = bench
      chip = chips[0]
      try chip.link(at: path)
    }

    func open(_ recovery: RecoveryPolicy? = RecoveryPolicy()) async throws -> UWBDevice {
      // Time limits apply here, because a chip that has restarted may not answer.
      try await UWBDevice.open(
        .serial(path: FilePath(path)),
        options: .init(profile: chip.profile.needsDeviceInit ? .nxp : nil, recovery: recovery))
    }

    func remove() {
      bench.stop()
      unlink(path)
      rmdir(FilePath(path).removingLastComponent().string)
    }
  }

  /// A session that ranged until its board was unplugged, and whose stream has reported the loss.
  static func interrupted(
    _ board: Board, _ device: UWBDevice
  ) async throws -> (UWBSession, RangingStream<RoundEvent>.Iterator) {
    let session = try await device.makeSession(Ends.configurations().controller)
    var events = session.rounds().makeAsyncIterator()
    try await session.start()
    board.chip.unplug()
    _ = try await Self.events(&events) { !Self.isMeasurement($0) }
    return (session, events)
  }

  /// Skips events until one matches.
  static func events(
    _ iterator: inout RangingStream<RoundEvent>.Iterator,
    until isWanted: (RoundEvent) -> Bool
  ) async throws -> [RoundEvent] {
    var seen: [RoundEvent] = []
    while let event = try await iterator.next() {
      seen.append(event)
      if isWanted(event) { return seen }
    }
    Issue.record("the stream ended: \(seen)")
    return seen
  }

  static func isMeasurement(_ event: RoundEvent) -> Bool {
    if case .measurement = event { true } else { false }
  }

  @Test(arguments: [ChipProfile.qm33, .sr250, .fira1])
  func aSessionResumesWhenItsDeviceIsPluggedInAgain(_ profile: ChipProfile) async throws {
    let board = try Board(profile)
    let device = try await board.open()
    let session = try await device.makeSession(Ends.configurations(peers: 2).controller)
    let stream = session.rounds()
    var events = stream.makeAsyncIterator()
    try await session.start()
    try await session.addControlees([MACAddress(3)])
    _ = try await Self.events(&events, until: Self.isMeasurement)
    board.chip.unplug()
    let before = try await Self.events(&events) { !Self.isMeasurement($0) }
    guard case .interrupted(let error) = before.last, let cause = error.linkError else {
      Issue.record("\(before)")
      return
    }
    #expect(cause.code == .deviceGone)
    #expect(stream.interruption == .link(cause))
    let refusal = await #expect(throws: DriverError.self) { try await session.start() }
    #expect(refusal == .recovering)
    try board.chip.replug()
    let after = try await Self.events(&events, until: Self.isMeasurement)
    guard case .resumed? = after.first, case .measurement(let first)? = after.last else {
      Issue.record("\(after)")
      return
    }
    #expect(first.followsInterruption)
    #expect(stream.interruption == nil)
    var peers: Set<MACAddress> = []
    for try await case .measurement(let measurement) in stream.prefix(6) {
      peers.insert(measurement.result.peer)
    }
    #expect(peers == Set((1...3).map { MACAddress($0) }), "what was added is there again")
    await device.close()
    board.remove()
  }

  @Test(arguments: [ChipProfile.qm33, .sr250, .fira1])
  func theFirstMeasurementAfterAnInterruptionIsMarked(_ profile: ChipProfile) async throws {
    let board = try Board(profile)
    let device = try await board.open()
    let session = try await device.makeSession(Ends.configurations().controller)
    let stream = session.measurements()
    try await session.start()
    var gaps = 0
    var sinceGap = 0
    for try await measurement in stream {
      if measurement.followsInterruption {
        gaps += 1
        sinceGap = 0
        #expect(measurement.sequenceNumber == 0)
      }
      sinceGap += 1
      if sinceGap == 3 {
        if gaps == 3 { break }
        board.chip.unplug()
        try board.chip.replug()
      }
    }
    #expect(gaps == 3)
    #expect(session.state == .active)
    await device.close()
    board.remove()
  }

  /// A device that has not ranged yet is lost after each of these commands.
  @Test(arguments: [[0x21, 0x00], [0x21, 0x03], [0x22, 0x00], []] as [[UInt8]])
  func aLossBeforeTheStartIsLikeAnyOther(_ last: [UInt8]) async throws {
    let board = try Board()
    let isLost = Atomic(false)
    let device = try await UWBDevice.open(
      .serial(path: FilePath(board.path)),
      options: .init(
        tap: { direction, packet, _ in
          let opcode = packet.withUnsafeBytes { Array($0.prefix(2)) }
          guard direction == .outbound, opcode == last,
            !isLost.exchange(true, ordering: .relaxed)
          else { return }
          board.chip.unplug()
          try? board.chip.replug()
        }, recovery: RecoveryPolicy()))
    let session = try await device.makeSession(Ends.configurations().controller)
    #expect(session.state == .idle)
    let stream = session.measurements()
    if last.isEmpty {
      board.chip.unplug()
      try board.chip.replug()
    }
    try await session.start()
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() != nil)
    #expect(session.state == .active)
    await device.close()
    board.remove()
  }

  @Test func waitingForADeviceToStartOnCanBeCancelled() async throws {
    let board = try Board()
    let device = try await board.open()
    let session = try await device.makeSession(Ends.configurations().controller)
    let reports = device.events
    board.chip.unplug()
    for await event in reports { if case .lost = event { break } }
    let start = Task { try await session.start() }
    start.cancel()
    let error = await #expect(throws: DriverError.self) { try await start.value }
    #expect(error?.linkError?.code == .cancelled)
    await device.close()
    board.remove()
  }

  @Test func aDeviceThatDoesNotComeBackFailsTheStart() async throws {
    let board = try Board()
    let device = try await board.open(RecoveryPolicy(limit: .milliseconds(200)))
    let session = try await device.makeSession(Ends.configurations().controller)
    board.chip.unplug()
    let error = await #expect(throws: DriverError.self) { try await session.start() }
    #expect(error?.code == .link || error?.code == .recovering, "\(String(describing: error))")
    await device.close()
    board.remove()
  }

  @Test func allSessionsResumeAfterASecondLossDuringRecovery() async throws {
    let board = try Board()
    // The board is unplugged a second time: the first session ranges again, and the second session
    // is about to.
    let starts = Atomic<Int>(0)
    let tap: UWBDevice.PacketTap = { direction, packet, _ in
      guard direction == .outbound, packet.byteCount > 1,
        unsafe packet.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == 0x22,
        unsafe packet.unsafeLoad(fromByteOffset: 1, as: UInt8.self) == 0x00
      else { return }
      guard starts.add(1, ordering: .relaxed).newValue == 4 else { return }
      board.chip.unplug()
      try? board.chip.replug()
    }
    let device = try await UWBDevice.open(
      .serial(path: FilePath(board.path)), options: .init(tap: tap, recovery: RecoveryPolicy()))
    let reports = device.events
    var sessions: [UWBSession] = []
    var streams: [RangingStream<RoundEvent>.Iterator] = []
    for id in [42, 43] as [UInt32] {
      var configuration = Ends.configurations().controller
      configuration.sessionID = id
      let session = try await device.makeSession(configuration)
      streams.append(session.rounds().makeAsyncIterator())
      sessions.append(session)
      try await session.start()
    }
    board.chip.unplug()
    try board.chip.replug()
    for await event in reports { if case .recovered = event { break } }
    try #require(sessions.map(\.state) == [.active, .active])
    // The first session reported both losses.
    var turns = 0
    while turns < 4 {
      let seen = try await Self.events(&streams[0]) { !Self.isMeasurement($0) }
      if case .interrupted? = seen.last { #expect(turns % 2 == 0) } else { #expect(turns % 2 == 1) }
      turns += 1
    }
    for index in 0...1 { _ = try await Self.events(&streams[index], until: Self.isMeasurement) }
    await device.close()
    board.remove()
  }

  enum Loss: CaseIterable, Sendable { case failure, restart, boot }

  /// Makes a chip lose its sessions while its port stays open.
  static func lose(_ loss: Loss, _ chip: SimulatedBench.Chip) {
    switch loss {
    case .failure: chip.fail()
    case .restart: chip.restart()
    case .boot:
      chip.restart()
      chip.chatter([0x6B, 0x31, 0x00, 0x01, 0x01])
    }
  }

  @Test(arguments: Loss.allCases, [ChipProfile.qm33, .sr250, .fira1])
  func aChipThatLosesItsStateIsResetAndResumes(_ loss: Loss, _ profile: ChipProfile) async throws {
    let board = try Board(profile)
    let device = try await board.open()
    let session = try await device.makeSession(Ends.configurations().controller)
    let stream = session.rounds()
    var events = stream.makeAsyncIterator()
    try await session.start()
    _ = try await Self.events(&events, until: Self.isMeasurement)
    Self.lose(loss, board.chip)
    let before = try await Self.events(&events) { !Self.isMeasurement($0) }
    guard case .interrupted(let cause) = before.last else {
      Issue.record("\(before)")
      return
    }
    // After a restart, an SR250 does not answer at all.
    if cause.code == .noAnswer {
      #expect(loss != .failure && profile.needsDeviceInit)
    } else {
      #expect(cause == (loss == .failure ? .deviceFailed(.error) : .deviceRestarted))
    }
    let after = try await Self.events(&events, until: Self.isMeasurement)
    #expect(after.first == .resumed)
    #expect(session.state == .active)
    #expect(device.statistics.resynchronisations == 0)
    await device.close()
    board.remove()
  }

  @Test(arguments: Loss.allCases)
  func withoutRecoveryEveryConsumerGetsTheCause(_ loss: Loss) async throws {
    let board = try Board()
    let device = try await board.open(nil)
    let session = try await device.makeSession(Ends.configurations().controller)
    let stream = session.measurements()
    let events = device.events
    try await session.start()
    Self.lose(loss, board.chip)
    let error = await #expect(throws: DriverError.self) { for try await _ in stream {} }
    let expected: DriverError = loss == .failure ? .deviceFailed(.error) : .deviceRestarted
    #expect(error == expected)
    // The boot message is a second reason for a loss. A command between the two reasons would fail.
    var (isLost, isAnnounced) = (false, loss != .boot)
    for await event in events {
      if case .lost(expected) = event { isLost = true }
      if case .message(let message) = event, message.opcode == QorvoBootNotification.opcode {
        isAnnounced = true
      }
      if isLost && isAnnounced { break }
    }
    // The session is lost. Closing it costs no time-out, and the chip can be used again.
    try await session.close()
    _ = try await device.send(DeviceReset())
    await device.close()
    board.remove()
  }

  @Test("A session that the chip no longer takes ends with its reason, and the others go on")
  func oneSessionIsLost() async throws {
    // After its restart, the chip rejects the parameters of its first session. It has a handle for
    // each session.
    let isRestarted = Atomic(false)
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      let isSecond = packet.count > 4 && packet[4] == (packet[1] == 0 ? 43 : 2)
      let answers: [[UInt8]]
      if isRestarted.load(ordering: .relaxed), !isSecond, packet.starts(with: [0x21, 0x03]) {
        answers = [bytes("41 03 00 04 04 01 1b 04")]
      } else {
        answers = DWM3001CDK.answers(packet)
      }
      guard isSecond, packet[0] != 0x20 else { return answers }
      // The answer refers to the other handle, in the first field after a status.
      return answers.map { answer in
        var answer = answer
        if let place = answer.firstIndex(of: 1).map({ Int($0) }), answer[0] == 0x61 {
          answer[max(place, 4)] = 2
        } else if answer.starts(with: [0x41, 0x00]) {
          answer[5] = 2
        }
        return answer
      }
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .init(recovery: .init()))
    let reports = device.events
    var sessions: [UWBSession] = []
    for id in [42, 43] as [UInt32] {
      var configuration = SessionTests.configuration
      configuration.sessionID = id
      sessions.append(try await device.makeSession(configuration))
    }
    #expect(sessions.map(\.token) == [1, 2])
    let stream = sessions[0].measurements()
    isRestarted.store(true, ordering: .relaxed)
    chip.say(bytes("60 01 00 01 ff"))
    var lost: [UInt32] = []
    for await event in reports {
      if case .sessionLost(let id, let error) = event {
        lost.append(id)
        #expect(error.code == .parametersRefused)
        #expect(error.refusedParameters.map(\.id) == [0x1B])
      }
      if case .recovered = event { break }
    }
    #expect(lost == [42])
    let error = await #expect(throws: DriverError.self) { for try await _ in stream {} }
    #expect(error?.code == .parametersRefused)
    #expect(sessions[0].state == nil && sessions[1].state == .idle)
    // The session that the chip had created was removed.
    #expect(chip.packets.contains(bytes("21 01 00 04 01 00 00 00")))
    await device.close()
  }

  /// A measurement of eight peers has two packets.
  @Test func measurementsInSeveralPacketsAreJoinedOnTheNextLinkAsWell() async throws {
    let board = try Board()
    let device = try await board.open()
    let session = try await device.makeSession(Ends.configurations(peers: 8).controller)
    let stream = session.measurements()
    try await session.start()
    _ = try await stream.first { _ in true }
    board.chip.unplug()
    try board.chip.replug()
    let again = try await stream.first { $0.followsInterruption }
    #expect(again?.sequenceNumber == 0)
    await device.close()
    board.remove()
  }

  /// The chip also reports this after each reset, and there the driver expects it.
  @Test func aChipThatSaysThatItHasBootedHasLostItsSessions() async throws {
    let boot = bytes("6b 31 00 01 01")
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      (packet.starts(with: [0x20, 0x00]) ? [boot] : []) + DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .init(recovery: .init()))
    let session = try await device.makeSession(SessionTests.configuration)
    let reports = device.events
    var events = session.rounds().makeAsyncIterator()
    try await session.start()
    chip.say(boot)
    let before = try await Self.events(&events) { !Self.isMeasurement($0) }
    #expect(before.last == .interrupted(.deviceRestarted))
    for await event in reports {
      if case .notRecovered(let error) = event { Issue.record(error) }
      if case .recovered = event { break }
    }
    #expect(session.state == .active)
    await device.close()
  }

  /// Each loss is reported before its recovery begins, and does not fail any command of the
  /// recovery.
  @Test func aChipThatKeepsRestartingIsRecoveredAtTheFirstAttempt() async throws {
    let boot = bytes("6b 31 00 01 01")
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .init(recovery: .init()))
    var reports = device.events.makeAsyncIterator()
    for _ in 0..<200 {
      chip.say(boot)
      var seen: [String] = []
      while seen.last != "recovered", let event = await reports.next() {
        switch event {
        case .lost(let error): seen.append("lost: \(error)")
        case .notRecovered(let error): seen.append("not recovered: \(error)")
        case .recovered: seen.append("recovered")
        default: break
        }
      }
      #expect(seen == ["lost: \(DriverError.deviceRestarted)", "recovered"])
    }
    await device.close()
  }

  @Test func whatStillComesOfALostSessionIsNoSignOfItsReturn() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .init(recovery: .init()))
    let session = try await device.makeSession(SessionTests.configuration)
    var events = session.rounds().makeAsyncIterator()
    try await session.start()
    chip.say(bytes("60 01 00 01 ff") + DWM3001CDK.rxTimeout(sequence: 99))
    let before = try await Self.events(&events) { !Self.isMeasurement($0) }
    #expect(before.last == .interrupted(.deviceFailed(.error)))
    let after = try await Self.events(&events, until: Self.isMeasurement)
    guard case .resumed? = after.first, case .measurement(let first)? = after.last else {
      Issue.record("\(after)")
      return
    }
    #expect(first.followsInterruption && first.sequenceNumber == 0)
    await device.close()
  }

  @Test func closingWorksWhileTheDeviceIsAway() async throws {
    let board = try Board()
    let device = try await board.open()
    var (_, events) = try await Self.interrupted(board, device)
    await device.close()
    #expect(try await events.next() == nil)
    let error = await #expect(throws: DriverError.self) {
      _ = try await device.send(GetSessionCount())
    }
    #expect(error == .closed)
    board.remove()
  }

  @Test func aSessionClosedWhileTheDeviceIsAwayDoesNotComeBack() async throws {
    let board = try Board()
    let device = try await board.open()
    let reports = device.events
    var other = Ends.configurations().controller
    other.sessionID = 43
    let kept = try await device.makeSession(other)
    var (gone, events) = try await Self.interrupted(board, device)
    try await gone.close()
    #expect(try await events.next() == nil)
    try board.chip.replug()
    for await event in reports { if case .recovered = event { break } }
    #expect(try await device.send(GetSessionCount()).count == 1)
    #expect(kept.state == .idle)
    try await kept.start()
    await device.close()
    board.remove()
  }

  @Test func aSessionStoppedWhileTheDeviceIsAwayComesBackIdle() async throws {
    let board = try Board()
    let device = try await board.open()
    let reports = device.events
    var (session, events) = try await Self.interrupted(board, device)
    #expect(device.state == nil && session.state == nil)
    try await session.stop()
    #expect(try await events.next() == nil)
    try board.chip.replug()
    for await event in reports { if case .recovered = event { break } }
    #expect(session.state == .idle)
    await device.close()
    board.remove()
  }

  @Test func aCancelledTaskLetsGoOfADeviceThatIsAway() async throws {
    let board = try Board()
    let device = try await board.open()
    let (interruptions, interrupted) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await device.withSession(Ends.configurations().controller) { session in
        let stream = session.rounds()
        try await session.start()
        board.chip.unplug()
        for try await event in stream where !Self.isMeasurement(event) {
          interrupted.yield()
        }
        try Task.checkCancellation()
      }
    }
    for await _ in interruptions { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await device.close()
    board.remove()
  }

  @Test func aDeviceThatIsNotBackInTimeIsAbandonedWithItsCause() async throws {
    let board = try Board()
    let device = try await board.open(RecoveryPolicy(limit: .milliseconds(50)))
    let session = try await device.makeSession(Ends.configurations().controller)
    let stream = session.measurements()
    try await session.start()
    board.chip.unplug()
    let error = await #expect(throws: DriverError.self) { for try await _ in stream {} }
    guard let cause = error?.linkError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .deviceGone)
    await device.close()
    board.remove()
  }

  @Test func anotherChipAtTheSamePathIsNotTakenForTheDevice() async throws {
    let board = try Board()
    let stranger = try board.bench.add(profile: .sr250, at: SIMD3(1, 1, 0))
    let device = try await board.open()
    let reports = device.events
    let (session, _) = try await Self.interrupted(board, device)
    try stranger.link(at: board.path)
    for await event in reports {
      if case .notRecovered(let error) = event {
        // The chip answers neither the reset of a Qorvo chip nor the request for its identity.
        #expect(error != .recovering)
        break
      }
    }
    stranger.unplug()
    try board.chip.replug()
    for await event in reports { if case .recovered = event { break } }
    #expect(session.state == .active)
    await device.close()
    board.remove()
  }

  @Test func changesOfParametersSurvive() async throws {
    let board = try Board()
    let device = try await board.open()
    let reports = device.events
    let session = try await device.makeSession(Ends.configurations().controller)
    try await session.configure([TLV(0x09, [40, 0, 0, 0])])
    try await session.start()
    try await session.configure([TLV(0x2D, [1])])
    board.chip.unplug()
    try board.chip.replug()
    for await event in reports { if case .recovered = event { break } }
    #expect(session.state == .active)
    #expect(
      try await session.parameters([0x09, 0x2D]) == [TLV(0x09, [40, 0, 0, 0]), TLV(0x2D, [1])])
    await device.close()
    board.remove()
  }

  @Test func aChipThatRestartsSilentlyIsFoundByTheWatchdog() async throws {
    let board = try Board()
    let device = try await board.open(RecoveryPolicy(watchdogInterval: .milliseconds(20)))
    let session = try await device.makeSession(Ends.configurations().controller)
    let stream = session.rounds()
    var events = stream.makeAsyncIterator()
    try await session.start()
    _ = try await Self.events(&events, until: Self.isMeasurement)
    board.chip.faults.mute = true
    board.chip.restart()
    board.chip.faults = .none
    let before = try await Self.events(&events) { !Self.isMeasurement($0) }
    #expect(before.last == .interrupted(.deviceRestarted))
    #expect(try await Self.events(&events, until: Self.isMeasurement).first == .resumed)
    await device.close()
    board.remove()
  }

  @Test(.timeLimit(.minutes(10))) func onlyADeviceWithSessionsIsWatched() async throws {
    let board = try Board()
    let device = try await board.open(RecoveryPolicy(watchdogInterval: .milliseconds(5)))
    func isWatched() -> Bool { device.core.state.withLock { $0.watch != nil } }
    #expect(!isWatched())
    for _ in 0..<2 {
      let session = try await device.makeSession(Ends.configurations().controller)
      let watch = try #require(device.core.state.withLock { $0.watch })
      try await session.close()
      // The task ends by itself.
      await watch.value
      #expect(!isWatched())
    }
    await device.close()
    board.remove()
  }

  @Test func aChipThatMayHaveRestartedIsAskedOnceHoweverOftenItSaysSo() async throws {
    let (questions, asked) = AsyncStream<Void>.makeStream()
    let (device, chip) = try await CommandTests.open { packet, _ in
      guard packet.starts(with: [0x21, 0x06]) else { return DWM3001CDK.answers(packet) }
      asked.yield()
      return [bytes("41 06 00 02 00 03")]
    }
    let session = try await device.makeSession(SessionTests.configuration)
    let events = device.events
    chip.say(Array([DWM3001CDK.ready, DWM3001CDK.ready, DWM3001CDK.ready].joined()))
    for await event in events { if case .deviceStatus = event { break } }
    for await _ in questions { break }
    for _ in 0..<5 { _ = try await device.send(GetSessionCount()) }
    #expect(chip.sent.count { $0.starts(with: [0x21, 0x06]) } == 1)
    #expect(session.state == .idle, "it still has the session")
    await device.close()
  }

  @Test func aPortIsFreeOnceItsDeviceIsClosed() async throws {
    let board = try Board()
    for recovery in [nil, RecoveryPolicy()] {
      let device = try await board.open(recovery)
      await device.close()
      let second = try await board.open(recovery)
      #expect(try await second.send(GetSessionCount()).count == 0)
      await second.close()
      withExtendedLifetime(device) {}
    }
    board.remove()
  }
}
