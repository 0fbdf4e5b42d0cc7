// SPDX-License-Identifier: Apache-2.0

import DriverTestSupport
import CommandSupport
import Dispatch
import Formats
import Foundation
import Glibc
import ProgramTestSupport
import Synchronization
import System
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport
import UWBTools
import uwbctl

/// The ends of `range`, and its reports of rounds without any response.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct EndTests {
  private static let simulated = "uwbctl range: Simulated chips: --device names a board.\n"
  private static let notCalibrated =
    "uwbctl range: Not calibrated: ± 0.30 m of it repeats; uwblab calibrate delay reduces it "
    + "to 0.05 m.\n"

  private func profile(_ parameters: String, _ folder: TemporaryFolder) throws -> String {
    try folder.write(
      """
      {
        "session_id": 42,
        "parameters": {
          "DEVICE_TYPE": "controller", "DEVICE_ROLE": "initiator", "MULTI_NODE_MODE": "unicast",
          "DEVICE_MAC_ADDRESS": "0x0000", "NUMBER_OF_CONTROLEES": 1, "DST_MAC_ADDRESS": "0x0001",
          "CHANNEL_NUMBER": 9, "RANGING_DURATION": "50 ms", "SLOTS_PER_RR": 6,
          "VENDOR_ID": "08:07", "STATIC_STS_IV": "01:02:03:04:05:06", \(parameters)
        }
      }
      """, to: "session.json")
  }

  @Test func theChipsEndIsToldWithItsReason() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try profile(#""MAX_NUMBER_OF_MEASUREMENTS": 5"#, folder)
    let end = try ChildProcess.run(["range", "--profile", file, "-t", "30"])
    #expect(end.status == 85, "\(end.complaints)")
    #expect(
      end.complaints.hasPrefix(Self.simulated + Self.notCalibrated + "5 rounds, "),
      "\(end.complaints)")
    #expect(end.complaints.contains("(0x2)"), "\(end.complaints)")
    #expect(end.complaints.contains("\n  try: "), "\(end.complaints)")
  }

  /// Ends `range` by a signal after its first round.
  private func interrupted(_ chip: ScriptedTerminal) throws -> ChildProcess.Outcome {
    let child = try ChildProcess(["range", "--device", chip.path])
    _ = try child.read(until: "no peer")
    defer { chip.hangUp() }
    return child.interrupt()
  }

  @Test func aSignalIsNoSuchEnd() throws {
    let child = try ChildProcess(["range", "--interval", "50"])
    _ = try child.read(until: "\n")
    let end = child.interrupt()
    #expect(end.status == 0)
    #expect(end.complaints.contains(" Hz, "), "\(end.complaints)")
    #expect(end.complaints.hasPrefix(Self.simulated + Self.notCalibrated), "\(end.complaints)")
    let rest = end.complaints.dropFirst((Self.simulated + Self.notCalibrated).count)
    #expect(!rest.contains("uwbctl range:"), "\(end.complaints)")
  }

  @Test func anInterruptedTestOfTheRadioHasNoResult() throws {
    let session = try TerminalSession(["test", "per-rx", "-n", "60000", "-vv"])
    try session.expect("PER_RX")
    session.interrupt()
    #expect(try session.status() == 0)
    #expect(session.seen.contains("Stopped: a test has no result before its end."))
  }

  @Test func thePeersEndIsToldWithItsReason() async throws {
    let bench = SimulatedBench(scene: Scene(seed: 5))
    let own = try bench.add(profile: .qm33, at: SIMD3(0, 0, 1))
    let other = try bench.add(profile: .qm33, at: SIMD3(3, 0, 1))
    bench.start()
    var configuration = SessionConfiguration(
      role: .controller, sessionID: 42, address: MACAddress(0), peers: [MACAddress(1)])
    configuration.additional = [TLV(0x2F, [3])]
    let controller = try await UWBDevice.open(.serial(path: FilePath(own.path)), options: .patient)
    let child = try ChildProcess(["range", "--device", other.path, "--role", "controlee"])
    let session = try await controller.makeSession(configuration)
    let stream = session.measurements()
    try await session.start()
    for try await measurement in stream where measurement.result.status.isSuccess { break }
    try await session.close()
    let end = child.outcome()
    await controller.close()
    bench.stop()
    #expect(end.status == 85, "\(end.complaints)")
    #expect(end.complaints.contains("(0x5)"), "\(end.complaints)")
    #expect(end.complaints.contains(" Hz, 1 peer, "), "\(end.complaints)")
  }

  @Test func theSummaryIsPrintedWhenTheDeviceIsLost() async throws {
    let bench = SimulatedBench(scene: Scene(seed: 6))
    let own = try bench.add(profile: .qm33, at: SIMD3(0, 0, 1))
    bench.start()
    let child = try ChildProcess([
      "range", "--device", own.path, "--recover", "0", "--format", "json",
    ])
    _ = try child.read(until: "\n")
    own.unplug()
    let end = child.outcome()
    bench.stop()
    #expect(end.status == 74, "\(end.complaints)")
    #expect(end.complaints.contains(" Hz, "), "\(end.complaints)")
    #expect(end.complaints.contains("uwbctl range: "), "\(end.complaints)")
  }

  @Test func aTimeLimitWhileTheDeviceIsGoneIsNoSuccess() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let bench = SimulatedBench(scene: Scene(seed: 6))
    let own = try bench.add(profile: .qm33, at: SIMD3(0, 0, 1))
    try own.link(at: folder.path("board"))
    bench.start()
    defer { bench.stop() }
    let child = try ChildProcess([
      "range", "--device", folder.path("board"), "-t", "8", "--format", "json",
    ])
    _ = try child.read(until: "\n")
    own.unplug()
    let end = child.outcome()
    #expect(end.status == 74, "\(end.complaints)")
    #expect(end.complaints.contains("The time was over while the device was lost."))
    #expect(end.complaints.contains(" Hz, "), "\(end.complaints)")
  }

  /// By default, each of these signals would end the program before it sends a message to the chip.
  @Test(arguments: Signals.ending) func noSignalLeavesASession(_ signal: Int32) throws {
    let (bench, chip) = try simulatedChip()
    defer { bench.stop() }
    let child = try ChildProcess(["range", "--device", chip.path, "--format", "text"])
    _ = try child.read(until: "\n")
    #expect(chip.sessionCount == 1)
    child.process.send(signal)
    let end = child.outcome()
    #expect(end.status == 82, "\(end.complaints)")
    #expect(chip.sessionCount == 0)
  }

  @Test func aTerminalThatIsClosedIsTheEndOfTheProgram() throws {
    let (bench, chip) = try simulatedChip()
    defer { bench.stop() }
    var (master, slave): (Int32, Int32) = (-1, -1)
    try #require(openpty(&master, &slave, nil, nil, nil) == 0)
    let error = Pipe()
    // The terminal is not the controlling terminal, so closing it causes no SIGHUP, only an error
    // of the next line.
    let child = try SpawnedProcess(
      ChildProcess.uwbctl, ["range", "--device", chip.path, "--interval", "50"],
      standardOutput: slave, standardError: error.fileHandleForWriting.fileDescriptor)
    close(slave)
    try error.fileHandleForWriting.close()
    var byte: UInt8 = 0
    #expect(read(master, &byte, 1) == 1)
    close(master)
    let complaints = String(
      decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(child.terminationStatus == 82, "\(complaints)")
    #expect(!complaints.contains("standard output"), "\(complaints)")
    #expect(chip.sessionCount == 0)
  }

  @Test(arguments: [
    ["decode", "--file", "/dev/null"], ["decode", "--format", "json"],
  ])
  func nothingIsSaidOnStandardError(_ command: [String]) throws {
    let end = try ChildProcess.run(command)
    #expect(end.status == 0, "\(end.complaints)")
    #expect(end.output == "")
    #expect(end.complaints == "uwbctl decode: There is no frame.\n")
  }

  /// Returns a chip that fails once at its start, and takes long to return.
  private func failingChip(mute isMute: Bool) throws -> ScriptedTerminal {
    let starts = Mutex(0)
    return try ScriptedTerminal { packet in
      switch (packet[0], packet[1]) {
      case (0x20, 0x00):
        if isMute, starts.withLock({ $0 }) > 0 { return [] }
        return hexBytes("40 00 00 01 00 60 01 00 01 01")
      case (0x20, 0x02): return hexBytes("40 02 00 0A 00 00 02 00 02 00 02 01 10 00")
      case (0x20, 0x03): return hexBytes("40 03 00 02 00 00")
      case (0x21, 0x00):
        return hexBytes("41 00 00 05 00 01 00 00 00 61 02 00 06 01 00 00 00 00 00")
      case (0x21, 0x03): return hexBytes("41 03 00 02 00 00 61 02 00 06 01 00 00 00 03 00")
      case (0x22, 0x00):
        let count = starts.withLock {
          $0 += 1
          return $0
        }
        if count == 1 { return hexBytes("60 01 00 01 FF") }
        return hexBytes("42 00 00 01 00 61 02 00 06 01 00 00 00 02 00")
          + hexBytes("62 00 00 19 00000000 01000000 00 c8000000 01 00 00 00000000 00000000 00")
      case (0x22, 0x01): return hexBytes("42 01 00 01 00 61 02 00 06 01 00 00 00 03 00")
      case (0x21, 0x01): return hexBytes("41 01 00 01 00 61 02 00 06 01 00 00 00 01 00")
      default: return [packet[0] & 0x0F | 0x40, packet[1], 0, 1, 0x08]
      }
    }
  }

  @Test func aLossAtTheStartIsRecovered() async throws {
    let terminal = try failingChip(mute: false)
    let end = try ChildProcess.run(["range", "--device", terminal.path, "-n", "1"])
    terminal.hangUp()
    #expect(end.status == 82, "\(end.complaints)")
    #expect(end.complaints.contains("The device is back"), "\(end.complaints)")
    #expect(
      end.complaints.contains("1 round, ") && end.complaints.contains("1 empty"),
      "\(end.complaints)")
  }

  /// The chip has failed, and is not back at the time limit.
  @Test func theTimeLimitHoldsDuringALossAtTheStart() throws {
    let chip = try failingChip(mute: true)
    let end = try ChildProcess.run(["range", "--device", chip.path, "-t", "10"])
    chip.hangUp()
    #expect(end.status == 81, "\(end.complaints)")
    #expect(end.complaints.contains("0 rounds, "), "\(end.complaints)")
  }

  @Test(arguments: [
    ("42 01 00 01 02", 82), ("42 01 00 01 0A", 82), ("60 07 00 01 0A", 82), ("42 01 00 00", 82),
    ("60 01 00 01 FF", 81),
  ])
  func aSignalHoldsWhateverTheChipSaysToStop(_ answer: String, _ status: Int32) throws {
    let terminal = try rangingChip([.sessionStop: answer])
    let end = try interrupted(terminal)
    #expect(end.status == status, "\(end.complaints)")
    #expect(end.complaints.hasPrefix(Self.notCalibrated + "1 round, "), "\(end.complaints)")
    if answer.hasPrefix("42") {
      let removal = hexBytes("21 01 00 04 01 00 00 00")
      #expect(terminal.bytes.suffix(removal.count) == removal[...])
    }
  }

  @Test func aChipThatDoesNotAnswerToStopIsAskedToRemoveTheSession() throws {
    let terminal = try rangingChip([.sessionStop: "", .sessionGetState: "41 06 00 02 00 02"])
    let end = try ChildProcess.run(["range", "--device", terminal.path, "-n", "1"])
    terminal.hangUp()
    #expect(end.status == 82, "\(end.complaints)")
    let removal = hexBytes("21 01 00 04 01 00 00 00")
    #expect(terminal.bytes.suffix(removal.count) == removal[...])
  }

  @Test func theTimeLimitHoldsWhileTheChipFailsToMakeTheSession() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let chip = try rangingChip([.sessionInit: "60 01 00 01 FF"])
    let link = folder.path("board")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: chip.path)
    let end = try ChildProcess.run(["range", "--device", link, "-t", "10"])
    chip.hangUp()
    #expect(end.status == 81, "\(end.complaints)")
    #expect(end.complaints.contains("Waiting for the device"), "\(end.complaints)")
  }

  @Test(arguments: [
    ["range"], ["find", "--accessory", "tcp:1"], ["accessory", "--listen", "tcp:0"],
  ])
  func theTimeLimitHoldsWhileTheDeviceIsOpened(_ command: [String]) throws {
    let silent = try ScriptedTerminal { _ in [] }
    let end = try ChildProcess.run(command + ["--device", silent.path, "-t", "0.3"])
    silent.hangUp()
    #expect(end.status == 80, "\(end.complaints)")
    #expect(end.complaints.contains("The time was over before"), "\(end.complaints)")
  }

  @Test(arguments: [["range"], ["reset"], ["info", "--reset"]])
  func aRefusedResetIsAFailureOfTheDevice(_ command: [String]) throws {
    let terminal = try rangingChip([.coreDeviceReset: "40 00 00 01 01"])
    let end = try ChildProcess.run(command + ["--device", terminal.path])
    terminal.hangUp()
    #expect(end.status == 81, "\(end.complaints)")
    #expect(end.complaints.contains("refused CORE_DEVICE_RESET_CMD"), "\(end.complaints)")
  }

  /// The answer arrives after the time-out of the command.
  @Test func aSessionThatIsMadeLateIsRemoved() throws {
    let isGivenUp = Flag()
    let terminal = try ScriptedTerminal { packet in
      switch (packet[0], packet[1]) {
      case (0x21, 0x00):
        isGivenUp.value.store(true, ordering: .relaxed)
        return []
      case (0x20, 0x02) where isGivenUp.value.load(ordering: .relaxed): return []
      case (0x21, 0x05):
        return [[0x21, 0], [0x20, 2], packet].flatMap(rangingAnswer)
      default: return rangingAnswer(packet)
      }
    }
    let end = try ChildProcess.run(["range", "--device", terminal.path, "-n", "1"])
    terminal.hangUp()
    #expect(end.status == 82, "\(end.complaints)")
    let removal = hexBytes("21 01 00 04 01 00 00 00")
    #expect(terminal.bytes.suffix(removal.count) == removal[...])
  }

  /// The answers of a chip that does not answer SESSION_DEINIT, and reports that the session
  /// exists.
  private static let keepingAnswers: [Opcode: String] = [
    .sessionDeinit: "", .sessionGetState: "41 06 00 02 00 03",
  ]

  private func expectKept(_ end: ChildProcess.Outcome) {
    #expect(end.status == 80, "\(end.complaints)")
    #expect(end.complaints.contains("SESSION_DEINIT_CMD"), "\(end.complaints)")
  }

  @Test func aSessionThatTheChipKeepsIsTold() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let socket = "unix:" + folder.path("socket")
    let chips = (try rangingChip(Self.keepingAnswers), try rangingChip(Self.keepingAnswers))
    let accessory = try ChildProcess(
      ["accessory", "--device", chips.0.path, "--listen", socket])
    _ = try accessory.read(until: "listening")
    let find = try ChildProcess(["find", "--device", chips.1.path, "--accessory", socket])
    _ = try find.read(until: "accessory_started")
    for command in [find, accessory] {
      command.process.interrupt()
      let end = command.outcome()
      expectKept(end)
      #expect(end.complaints.contains("  try: It may still be ranging"), "\(end.complaints)")
    }
    chips.0.hangUp()
    chips.1.hangUp()
  }

  @Test func aSessionThatACalibrationLeavesIsTold() throws {
    let isRanging = DispatchSemaphore(value: 0)
    let chips = (
      try rangingChip(Self.keepingAnswers) { if $0 == .sessionStart { isRanging.signal() } },
      try rangingChip([:])
    )
    let child = try calibrate(chips.0, chips.1)
    #expect(isRanging.wait(timeout: .now() + 600) == .success)
    child.process.interrupt()
    expectKept(child.outcome())
    chips.0.hangUp()
    chips.1.hangUp()
  }

  @Test(arguments: ["40 03 00 01 08", "40 03 00 03 00 05 00"])
  func aChipThatDoesNotListItsCapabilitiesRanges(_ answer: String) throws {
    let terminal = try rangingChip([.coreGetCapsInfo: answer])
    let end = try ChildProcess.run(["range", "--device", terminal.path, "-n", "1"])
    terminal.hangUp()
    #expect(end.status == 82, "\(end.complaints)")
    #expect(end.complaints.hasPrefix(Self.notCalibrated + "1 round, "), "\(end.complaints)")
  }

  @Test(arguments: ["62 00 00 03 01 02 03", nil])
  func reportsThatNobodyTakesAreTold(_ report: String?) throws {
    // The report belongs to a session that the chip does not have, because the chip may use the id
    // in place of the handle.
    let report =
      report ?? "62 00 00 19 00000000 2A000000 00 c8000000 01 00 00 00000000 00000000 00"
    let started = "42 00 00 01 00 61 02 00 06 01 00 00 00 02 00"
    let round = emptyRound.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let end = try interrupted(rangingChip([.sessionStart: started + report + round]))
    #expect(end.status == 82, "\(end.complaints)")
    #expect(end.complaints.contains("1 report of the chip"), "\(end.complaints)")
  }

  private func calibrate(_ chips: ScriptedTerminal...) throws -> ChildProcess {
    let boards = zip("AB", chips).flatMap { ["--board", "\($0)=\($1.path)"] }
    return try ChildProcess(
      ["calibrate", "delay", "--pair", "A,B=1", "--yes", "-n", "1", "--interval", "20"] + boards,
      program: ChildProcess.uwblab)
  }

  @Test func aCalibrationDoesNotWaitForAChipThatReportsNothing() throws {
    let chips = (try rangingChip([:]), try rangingChip([:]))
    let end = try calibrate(chips.0, chips.1).outcome()
    chips.0.hangUp()
    chips.1.hangUp()
    #expect(end.status == 82, "\(end.complaints)")
    #expect(end.complaints.contains("reported no rounds"), "\(end.complaints)")
  }

  @Test func aCalibrationWhoseSessionTheChipEndsFails() throws {
    let started = "42 00 00 01 00 61 02 00 06 01 00 00 00 02 00"
    let chips = (
      try rangingChip([.sessionStart: started + "61 02 00 06 01 00 00 00 03 81"]),
      try rangingChip([:])
    )
    let end = try calibrate(chips.0, chips.1).outcome()
    chips.0.hangUp()
    chips.1.hangUp()
    #expect(end.status == 78, "\(end.complaints)")
    #expect(end.complaints.contains("(0x81)"), "\(end.complaints)")
  }

  @Test func aCalibrationThatIsInterruptedWhileItOpensIsUnfinished() throws {
    let isOpening = DispatchSemaphore(value: 0)
    let silent = try ScriptedTerminal { _ in
      isOpening.signal()
      return []
    }
    let other = try rangingChip([:])
    let child = try calibrate(silent, other)
    #expect(isOpening.wait(timeout: .now() + 600) == .success)
    child.process.interrupt()
    let end = child.outcome()
    silent.hangUp()
    other.hangUp()
    #expect(end.status == 84, "\(end.complaints)")
  }

  // MARK: rounds without a measurement

  private func quietBench() throws -> (SimulatedBench, SimulatedBench.Chip) {
    var profile = ChipProfile.qm33
    profile.reportsFailures = false
    return try simulatedChip(profile)
  }

  @Test func emptyRoundsAreRounds() async throws {
    let (bench, chip) = try quietBench()
    defer { bench.stop() }
    let end = try ChildProcess.run([
      "range", "--device", chip.path, "-n", "5", "--interval", "50",
    ])
    #expect(end.status == 82, "\(end.complaints)")
    #expect(
      end.complaints.hasPrefix(Self.notCalibrated + "5 rounds, ")
        && end.complaints.contains(", 5 empty, 0 lost, 0 dropped"),
      "\(end.complaints)")
    #expect(end.output.split(separator: "\n").count == 5, "\(end.output)")
    #expect(end.output.contains("#4  no peer was measured"), "\(end.output)")
  }

  /// A round in which the peer 0001 is measured at two metres.
  private static func measured(_ sequence: String) -> String {
    "62 00 00 38 \(sequence) 01000000 00 c8000000 01 00 00 00000000 00000000 01"
      + "0100 00 00 c800 00000000 00000000 00000000 02 00000000 00000000 00000000"
  }

  /// A peer that answers every second round, and no more after some rounds.
  @Test(arguments: [3, 9]) func onlyMeasuredRoundsCount(_ count: Int) throws {
    let terminal = try ScriptedTerminal { packet in
      guard (packet[0], packet[1]) == (0x22, 0x00) else { return rangingAnswer(packet) }
      // An even round has no measurement; an odd round of the first five pairs has one.
      var bytes = hexBytes("42 00 00 01 00 61 02 00 06 01 00 00 00 02 00")
      for number in 0..<30 {
        let sequence = String(format: "%02x000000", number)
        bytes += hexBytes(
          number % 2 == 1 && number < 10
            ? Self.measured(sequence)
            : "62 00 00 19 \(sequence) 01000000 00 c8000000 01 00 00 00000000 00000000 00")
      }
      return bytes
    }
    let end = try ChildProcess.run(["range", "--device", terminal.path, "-n", "\(count)"])
    terminal.hangUp()
    if count == 3 {
      #expect(end.status == 0, "\(end.complaints)")
      #expect(end.complaints.hasPrefix(Self.notCalibrated + "6 rounds, "), "\(end.complaints)")
      #expect(end.complaints.contains(", 3 measured, "), "\(end.complaints)")
    } else {
      #expect(end.status == 82, "\(end.complaints)")
      #expect(end.complaints.contains("Only 5 of 9 rounds were measured"), "\(end.complaints)")
    }
  }

  @Test func theTableSaysWhoIsSilent() throws {
    let (bench, chip) = try quietBench()
    defer { bench.stop() }
    let session = try TerminalSession([
      "range", "--device", chip.path, "--interval", "50", "--peer", "0001,0002",
    ])
    try session.expect("silent 2 s")
    let lines = session.screen.lines
    #expect(lines.contains { $0.hasPrefix("0x0001") && $0.contains("silent ") }, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("0x0002") }, "\(lines)")
    session.interrupt()
    #expect(try session.status() == 82)
  }

  // MARK: noise

  private final class Flag: Sendable { let value = Atomic(false) }

  @Test(arguments: [
    (["range"], 76), (["send", "21", "05", "00", "00"], 76), (["caps"], 76), (["doctor"], 76),
    (["monitor", "-t", "1", "--only", "data", "--not", "data"], 0),
  ])
  func noiseIsNotAnUnpluggedDevice(_ arguments: [String], _ expected: Int) async throws {
    var state: UInt32 = 9
    let noise = (0..<100_000).map { _ -> UInt8 in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
    let terminal = try ScriptedTerminal { _ in noise }
    // The thread is abandoned if the terminal accepts no more bytes.
    Thread { terminal.say(noise) }.start()
    let path = arguments == ["doctor"] ? [terminal.path] : ["--device", terminal.path]
    let end = try ChildProcess.run(arguments + path)
    #expect(Int(end.status) == expected, "\(end.complaints)")
    if expected == 76 {
      #expect((end.output + end.complaints).contains("not UCI"), "\(end.output)\(end.complaints)")
    } else {
      #expect(!end.complaints.contains(" 0 bytes skipped"), "\(end.complaints)")
    }
  }
}
