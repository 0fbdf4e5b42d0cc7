// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Synchronization
import System
import Testing
import UCI
import UWB
import UWBLink

/// Short time-outs, so that a silent chip delays a test little.
let hasty: DeviceProfile = {
  var profile = DeviceProfile.generic
  profile.responseTimeout = 600
  profile.resetTimeout = 600
  profile.stateTimeout = 600
  return profile
}()

@Suite(.timeLimit(.minutes(10))) struct HandshakeTests {
  @Test func aDWM3001CDKIsRecognisedByItsOwnWords() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    #expect(device.profile == .qorvo)
    #expect(device.dialect.generation == .fira2)
    #expect(device.info.uciVersion == UCIVersion(2, 0))
    #expect(device.capabilities.count == 26)
    #expect(device.state == .ready)
    await device.close()
    #expect(chip.opcodes == [[0x20, 0x00], [0x20, 0x02], [0x20, 0x03]])
  }

  @Test("Vendor information decides on the profile, however damaged it is")
  func profiles() throws {
    func profile(_ vendorInfo: [UInt8]) -> DeviceProfile {
      var info = DeviceInfo()
      info.vendorInfo = vendorInfo
      return .matching(info)
    }
    let qorvo = Array(DWM3001CDK.deviceInfo[14...])
    #expect(profile(qorvo) == .qorvo && profile(qorvo.dropLast()) == .qorvo)
    // The older layout lacks one byte, so that its fields are one byte earlier.
    #expect(profile(Array(qorvo.dropFirst())) == .qorvo)
    for wrong in [qorvo.dropLast(2), qorvo + [0], qorvo.map { $0 == 0xDE ? 0xDF : $0 }] {
      #expect(profile(Array(wrong)) == .generic)
    }
    #expect(profile([0, 2] + Array("SR".utf8) + [0]) == .nxp)
    #expect(profile([0, 6] + Array("SR250X".utf8)) == .nxp)
    for wrong in [
      [], [0], [0, 200] + Array("SR250".utf8), [0, 1] + Array("SR250".utf8),
      [1, 2] + Array("SR250".utf8), [0, 5] + Array("DW250".utf8), [0, 0, 0, 0, 0],
    ] as [[UInt8]] { #expect(profile(wrong) == .generic, "\(wrong)") }
  }

  @Test func cancellationEndsTheOpeningOfASilentChip() async throws {
    // Only cancellation can end the handshake within the time limit of the suite.
    var patient = hasty
    patient.responseTimeout = 3_600_000
    let (asked, question) = AsyncStream<Void>.makeStream()
    let chip = try ScriptedChip { _, _ in
      question.yield()
      return []
    }
    let opening = Task { [patient] in
      try await UWBDevice.open(chip.endpoint, options: .init(profile: patient))
    }
    for await _ in asked { break }
    opening.cancel()
    let outcome = await opening.result
    #expect(throws: DriverError.link(LinkError(.cancelled, endpoint: "\(chip.endpoint)"))) {
      try outcome.get()
    }
  }

  @Test func aRunningChipIsQueriedAndNotReset() async throws {
    let chip = try ScriptedChip { packet, _ in
      [DWM3001CDK.rxTimeout(sequence: 1)] + DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .init(resetPolicy: .keepState))
    #expect(!device.wasReset)
    #expect(device.profile == .qorvo)
    #expect(device.capabilities.count == 26)
    await device.close()
    #expect(chip.packets.map { $0[0...1] } == [[0x20, 0x02], [0x20, 0x03]])
  }

  @Test func aChipThatAnswersNothingBeforeAResetIsResetAllTheSame() async throws {
    let wasReset = Atomic(false)
    let chip = try ScriptedChip { packet, _ in
      if packet[1] == 0 { wasReset.store(true, ordering: .relaxed) }
      return wasReset.load(ordering: .relaxed) ? DWM3001CDK.answers(packet) : []
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .init(resetPolicy: .keepState))
    #expect(device.wasReset)
    await device.close()
    #expect(
      chip.packets.map { $0[0...1] } == [
        [0x20, 0x02], [0x20, 0x00], [0x20, 0x02], [0x20, 0x03],
      ])
  }

  @Test func aChipThatTakesItsTimeAfterTheResponseToAResetIsWaitedFor() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      packet.starts(with: [0x20, 0x00])
        ? [bytes("40 00 00 01 00"), DWM3001CDK.ready] : DWM3001CDK.answers(packet)
    } pace: { packet, _ in
      packet == DWM3001CDK.ready ? 700_000 : 0
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    #expect(device.state == .ready)
    await device.close()
  }

  @Test func staleNotificationsAndHalfAFrameBeforeTheAnswerDoNoHarm() async throws {
    let stale = (0..<20).flatMap { DWM3001CDK.rxTimeout(sequence: $0) }
    let chip = try ScriptedChip(greeting: [Array(stale[17...])]) { packet, _ in
      DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    #expect(device.profile == .qorvo)
    await device.close()
  }

  @Test func anAnswerBehindALongBacklogIsWaitedForAndNothingElseIsTried() async throws {
    let chip = try ScriptedChip { packet, count in
      guard count == 1 else { return DWM3001CDK.answers(packet) }
      var lines: [[UInt8]] = []
      for number in 0..<30 { lines.append(DWM3001CDK.rxTimeout(sequence: UInt8(number))) }
      return lines + DWM3001CDK.answers(packet)
    } pace: { packet, count in
      // The chip pauses between its packets: 30 stale notifications take longer than the time-out
      // of an answer.
      packet[0] == 0x62 && count == 1 ? 20_000 : 0
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .init(profile: hasty))
    #expect(chip.opcodes == [[0x20, 0x00], [0x20, 0x02], [0x20, 0x03]])
    await device.close()
  }

  private static func boots(_ packet: [UInt8], resets: Int, inits: Int) -> [[UInt8]] {
    switch (packet[0], packet[1]) {
    case (0x2E, 0x00):
      inits == 1 ? [bytes("60 07 00 01 0a")] : [bytes("4e 00 00 01 00"), DWM3001CDK.ready]
    case (0x20, 0x00):
      resets == 1
        ? [DWM3001CDK.ready, bytes("60 07 00 01 0a")]
        : [bytes("40 00 00 01 00"), DWM3001CDK.ready]
    case (0x20, 0x02):
      [bytes("40 02 00 12 00 03 00 02 00 02 00 02 00 08 00 06") + Array("SR250X".utf8)]
    case (0x20, 0x03): [bytes("40 03 00 02 00 00")]
    default: []
    }
  }

  @Test("NXP chips take nothing before CORE_DEVICE_INIT")
  func anNXPChipInItsBootStateIsInitialisedFirst() async throws {
    let chip = try ScriptedChip(greeting: [bytes("60 01 00 01 00")]) { packet, count in
      Self.boots(packet, resets: count - 2, inits: count)
    }
    let device = try await UWBDevice.open(chip.endpoint)
    #expect(device.profile == .nxp)
    #expect(device.dialect.generation == .fira3)
    await device.close()
    #expect(
      chip.packets.map { Array($0.prefix(2)) } == [
        [0x2E, 0x00], [0x2E, 0x00], [0x20, 0x00], [0x20, 0x00], [0x20, 0x02], [0x20, 0x03],
      ])
  }

  /// The chip boots for longer than the time-out, and does not receive the earlier reset.
  @Test func anNXPChipThatIsLateToSayThatItBootsIsInitialisedAsWell() async throws {
    let chip = try ScriptedChip { packet, count in
      count == 1
        ? [bytes("60 01 00 01 00")] : Self.boots(packet, resets: count - 3, inits: count - 1)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .init(profile: hasty))
    await device.close()
    #expect(
      chip.packets.map { Array($0.prefix(2)) } == [
        [0x20, 0x00], [0x2E, 0x00], [0x2E, 0x00], [0x20, 0x00], [0x20, 0x00], [0x20, 0x02],
        [0x20, 0x03],
      ])
  }

  @Test func aChipWhoseFirstWordsComeLateIsInitialisedAllTheSame() async throws {
    let chip = try ScriptedChip { packet, count in
      switch (packet[0], packet[1]) {
      // The chip's own messages after power-up. It does not accept the reset before it is
      // configured.
      case (0x20, 0x00) where count == 1: [DWM3001CDK.ready]
      case (0x2E, 0x00): [bytes("4e 00 00 01 00"), DWM3001CDK.ready]
      default: DWM3001CDK.answers(packet)
      }
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .init(profile: hasty))
    #expect(
      chip.opcodes == [[0x20, 0x00], [0x2E, 0x00], [0x20, 0x00], [0x20, 0x02], [0x20, 0x03]])
    await device.close()
  }

  @Test func aSilentDeviceIsAnErrorWithItsCause() async throws {
    let chip = try ScriptedChip { _, _ in [] }
    let error = await #expect(throws: DriverError.self) {
      try await UWBDevice.open(chip.endpoint, options: .init(profile: hasty))
    }
    #expect(error == .noAnswer(command: "CORE_DEVICE_RESET_CMD", milliseconds: 600, garbage: 0))
    #expect(error?.recoverySuggestion != nil)
  }

  @Test func garbageIsToldFromSilence() async throws {
    let chip = try ScriptedChip { _, _ in [Array("uwb> unknown command\r\n".utf8)] }
    let error = await #expect(throws: DriverError.self) {
      try await UWBDevice.open(chip.endpoint, options: .init(profile: hasty))
    }
    #expect(error?.code == .noAnswer)
    #expect(error.map { $0.garbage > 0 } == true)
  }

  @Test func aDeviceThatDisappearsDuringTheHandshakeIsReportedAtOnce() async throws {
    let chip = try ScriptedChip { packet, count in count < 2 ? DWM3001CDK.answers(packet) : nil }
    let error = await #expect(throws: DriverError.self) {
      try await UWBDevice.open(chip.endpoint, options: .patient)
    }
    guard let cause = error?.linkError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .closedByPeer)
  }

  @Test func aChipThatAlwaysAsksForARetryFails() async throws {
    let chip = try ScriptedChip { _, _ in [bytes("60 07 00 01 0a")] }
    let error = await #expect(throws: DriverError.self) {
      try await UWBDevice.open(chip.endpoint, options: .init(profile: hasty))
    }
    #expect(error == .retriesExhausted(command: "CORE_DEVICE_RESET_CMD", attempts: 10))
    #expect(chip.packets.count == 11)
  }
}

@Suite(.timeLimit(.minutes(10))) struct CommandTests {
  /// A device after its handshake. The script answers and counts the commands that follow.
  static func open(
    _ profile: DeviceProfile = hasty, clock: AlarmClock = .system,
    _ script: @escaping ScriptedChip.Script
  ) async throws -> (UWBDevice, ScriptedChip) {
    let handshake = Atomic(0)
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, count in
      let before = handshake.load(ordering: .relaxed)
      guard before == 0 else { return script(packet, count - before) }
      if ScriptedChip.endsHandshake(packet) { handshake.store(count, ordering: .relaxed) }
      return DWM3001CDK.answers(packet)
    }
    var options = UWBDevice.Options(profile: profile)
    options.clock = clock
    return (try await UWBDevice.open(chip.endpoint, options: options), chip)
  }

  @Test func aQuestionIsRepeatedOnceAfterATimeout() async throws {
    let (device, chip) = try await Self.open { packet, count in
      count == 1 ? [] : DWM3001CDK.answers(packet)
    }
    #expect(try await device.send(GetSessionCount()).count == 0)
    #expect(chip.sent.count == 2)
    await device.close()
  }

  @Test func aDeviceErrorEndsTheCommandAtOnce() async throws {
    let (device, _) = try await Self.open { _, _ in [bytes("60 01 00 01 ff")] }
    let error = await #expect(throws: DriverError.self) {
      _ = try await device.send(GetSessionCount())
    }
    #expect(error == .deviceError(command: "SESSION_GET_COUNT_CMD"))
    await device.close()
  }

  @Test func manyCallersTakeTurns() async throws {
    let (device, chip) = try await Self.open(.generic) { packet, _ in DWM3001CDK.answers(packet) }
    try await withThrowingTaskGroup(of: UInt8?.self) { group in
      for _ in 0..<50 { group.addTask { try await device.send(GetSessionCount()).count } }
      for try await count in group { #expect(count == 0) }
    }
    #expect(chip.sent.count == 50)
    await device.close()
  }

  @Test func aClosedDeviceFailsWithClosed() async throws {
    let (device, _) = try await Self.open { packet, _ in DWM3001CDK.answers(packet) }
    await device.close()
    await device.close()
    let error = await #expect(throws: DriverError.self) {
      _ = try await device.send(GetSessionCount())
    }
    #expect(error == .closed)
  }
}
