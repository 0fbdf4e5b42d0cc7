// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import Formats
import Foundation
import Glibc
import SystemPackage
import ProgramTestSupport
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport
import UWBTools

/// The doctor on existing lines.
@Suite(.ownThreads) struct DoctorTests {
  /// - Parameter isPatient: Whether the check before the reset waits until the chip answers.
  static func findings(
    _ path: String, profile: DeviceProfile? = nil, isPatient: Bool = false
  ) async throws -> [Check: Finding] {
    var checkup = Checkup(
      endpoint: .serial(path: FilePath(path)), options: .init(profile: profile))
    checkup.sampleTime = .seconds(60)
    if isPatient { checkup.answerTime = .seconds(60) }
    let found = try await checkup.run { _ in }
    // The results have the order of the table, each check occurs at most once, and each bad result
    // has advice.
    let order = found.map { Check.allCases.firstIndex(of: $0.check)! }
    #expect(order == order.sorted() && Set(order).count == order.count)
    for finding in found {
      let isBad = finding.verdict == .warn || finding.verdict == .fail
      #expect((finding.advice != nil) == isBad)
      #expect((finding.status != .success) == (finding.verdict == .fail))
    }
    return Dictionary(uniqueKeysWithValues: found.map { ($0.check, $0) })
  }

  @Test func whatAChipDoesNotListIsAWarning() async throws {
    let (bench, chip) = try simulatedChip(.pica)
    let found = try await Self.findings(chip.path, isPatient: true)
    #expect(chip.disorderlyCommands == 0)
    bench.stop()
    #expect(found.values.filter { $0.verdict == .fail } == [])
    #expect(found[.capabilities]?.verdict == .warn)
    #expect(found[.capabilities]?.text.contains("SCHEDULE_MODE time scheduled") == true)
    #expect(found[.sessions]?.text == "the chip answers only with errors before its reset")
    #expect(found[.selfTest]?.text.hasPrefix("session created, configured, started") == true)
  }

  @Test(arguments: [ChipProfile.qm33, .sr250, .fira1])
  func aGoodChipHasNoFailure(_ profile: ChipProfile) async throws {
    let (bench, chip) = try simulatedChip(profile)
    let found = try await Self.findings(
      chip.path, profile: profile.dialect.vendor == .nxp ? .nxp : nil)
    bench.stop()
    #expect(found.values.filter { $0.verdict == .fail } == [])
    #expect(
      Set(found.keys)
        == Set(Check.allCases).subtracting([.udevRule, .modemManager] + BluetoothCheckTests.checks),
      "a pseudo-terminal has nothing to do with udev")
    #expect(found[.dtr]?.verdict == .skipped)
    #expect(found[.selfTest]?.text.contains("RANGING_RX_TIMEOUT (0x21)") == true)
    #expect(found[.firmware]?.verdict == (profile.name == "fira1" ? .warn : .ok))
  }

  @Test func aSignalIsNotAFailedCheck() async throws {
    let (bench, chip) = try simulatedChip(.qm33)
    let task = Task { [path = chip.path] in
      var findings: [Finding] = []
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: CancellationError.self) {
        try await Checkup(endpoint: .serial(path: FilePath(path))).run { findings.append($0) }
      }
      return findings
    }
    let findings = await task.value
    bench.stop()
    #expect(!findings.isEmpty && !findings.contains { $0.verdict == .fail })
  }

  @Test func emptyRoundsAreRounds() async throws {
    var profile = ChipProfile.qm33
    profile.reportsFailures = false
    let (bench, chip) = try simulatedChip(profile)
    let found = try await Self.findings(chip.path)
    bench.stop()
    #expect(found[.selfTest]?.verdict == .ok)
    #expect(found[.selfTest]?.text.contains("3 rounds without an entry") == true)
  }

  @Test func silentChipsFailAtTheReset() async throws {
    let (bench, chip) = try simulatedChip()
    chip.faults.mute = true
    let found = try await Self.findings(chip.path)
    bench.stop()
    #expect(found[.open]?.verdict == .ok)
    #expect(found[.framing]?.verdict == .ok)
    #expect(found[.sessions]?.verdict == .skipped)
    #expect(found[.reset]?.verdict == .fail)
    #expect(found[.reset]?.status == .silent)
    #expect(found[.reset]?.advice?.contains("J20") == true)
    #expect(found[.selfTest] == nil, "nothing is asked of a chip that does not answer")
  }

  @Test func textOnTheLineIsQuoted() async throws {
    // The text is longer than the doctor's quotation, so that the doctor waits for no further byte.
    let text = Array(String(repeating: "deca> unknown command\r\n", count: 30).utf8)
    let terminal = try ScriptedTerminal { _ in text }
    terminal.say(text)
    let found = try await Self.findings(terminal.path)
    terminal.hangUp()
    let framing = try #require(found[.framing])
    #expect(framing.verdict == .fail)
    #expect(framing.status == .protocolError)
    #expect(framing.text.contains("it looks like text: \"deca> unknown command / deca>"))
    #expect(found[.reset]?.verdict == .fail)
    #expect(found[.reset]?.status == .protocolError)
  }

  /// Waits until a terminal has this number of octets to read.
  private static func waitForOctets(_ count: Int, at path: String) {
    let terminal = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    defer { close(terminal) }
    var waiting = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    var available: Int32 = 0
    while available < count, poll(&waiting, 1, -1) == 1 {
      _ = ioctl(terminal, UInt(FIONREAD), &available)
    }
  }

  @Test func packetsLeftByAnEarlierProgramAreCounted() async throws {
    let (bench, chip) = try simulatedChip()
    let ranging = hexBytes(
      "62 00 00 19 00000000 01000000 00 c8000000 01 00 00 00000000 00000000 00")
    for _ in 0..<5 { chip.chatter(ranging) }
    Self.waitForOctets(5 * ranging.count, at: chip.path)
    let found = try await Self.findings(chip.path)
    bench.stop()
    let stale = try #require(found[.stale])
    #expect(stale.verdict == .warn)
    #expect(stale.text.contains("5 SESSION_INFO_NTF"))
    #expect(stale.text.contains("left over"))
    #expect(found[.reset]?.verdict == .ok)
  }

  @Test func sessionsLeftByAnEarlierProgramAreCounted() async throws {
    let (bench, chip) = try simulatedChip()
    let link = try await PacketLink(.serial(path: FilePath(chip.path)))
    #expect(
      try await link.ask(Segmentation.packets(SessionInit(sessionID: 7)), timeout: .seconds(300))
        != nil)
    await link.closeAndWait()
    let found = try await Self.findings(chip.path)
    bench.stop()
    #expect(found[.sessions]?.verdict == .warn)
    #expect(found[.sessions]?.text.hasPrefix("1 left") == true)
    #expect(found[.selfTest]?.verdict == .ok)
  }

  @Test func portsHeldByAnotherProgramAreNotOpened() async throws {
    let (bench, chip) = try simulatedChip()
    let holder = try #require(HolderProcess(holding: chip.path))
    let found = try await Self.findings(chip.path)
    holder.end()
    bench.stop()
    let finding = try #require(found[.holder])
    #expect(finding.verdict == .fail)
    #expect(finding.status == .busy)
    #expect(finding.text == "It is open in sleep (process \(holder.pid)).")
    #expect(finding.advice?.contains("kill \(holder.pid)") == true)
    #expect(found[.open] == nil)
  }

  @Test func aRefusedConnectionIsAFailure() async throws {
    let found = try await Checkup(endpoint: .tcp(host: "127.0.0.1", port: "1")).run { _ in }
    #expect(found.map(\.check) == [.device, .open])
    #expect(found.last?.status == .unavailable)
  }

  @Test func aRadioThatDoesNotTransmitIsAFailure() {
    func result(_ status: Status, _ distance: UInt16 = 0xFFFF) -> TwoWayMeasurement {
      TwoWayMeasurement(peer: MACAddress(2), status: status, rawDistance: distance)
    }
    #expect(
      Checkup.judge([result(.rangingTxFailed)], rounds: 1, channel: 9).status == .deviceFailure)
    #expect(Checkup.judge([result(.rangingRxTimeout)], rounds: 1, channel: 9).verdict == .ok)
    #expect(Checkup.judge([result(.ok, 123)], rounds: 1, channel: 9).text.contains("123 cm"))
    #expect(Checkup.judge([], rounds: 0, channel: 9).verdict == .warn)
  }

  @Test(arguments: [
    ([UInt8]("AT+UINIT\r\nOK\r\n".utf8), #"it looks like text: "AT+UINIT / OK""#),
    ([0, 0, 0, 0], "all 4 bytes are 0x00"),
    ([0x60, 0xFF, 0x80], "it begins with 60 ff 80"), ([], nil),
  ])
  func bytesThatAreNotUCIAreDescribed(_ bytes: [UInt8], _ words: String?) {
    #expect(Checkup.words(bytes) == words)
  }

  @Test func theSummaryCountsFailuresAndWarnings() {
    let ok = Finding.ok(.device, "")
    let warn = Finding.warn(.stale, "", "")
    let fail = Finding.fail(.reset, .silent, "", "")
    #expect(Finding.summary([ok], on: standardOutput) == "All checks passed.\n")
    #expect(
      Finding.summary([ok, warn, fail, warn], on: standardOutput) == "1 failure, 2 warnings.\n")
  }

  @Test func linesCannotControlATerminal() {
    let finding = Finding.fail(.holder, .busy, "open in \u{1B}[2J", "kill\n\u{9B}31m")
    #expect(
      finding.text(on: standardError) == """
        FAIL  other programs  open in \\u{1b}[2J
                              do: kill\\u{a}\\u{9b}31m

        """)
    #expect(
      Finding.json.line(finding)
        == #"{"check":"holder","verdict":"fail","text":"open in \u001b[2J","#
        + #""advice":"kill\n\u009b31m"}"# + "\n")
  }
}
