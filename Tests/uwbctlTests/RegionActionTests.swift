// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProgramTestSupport
import Ranging
import Synchronization
import Testing
import UWBTestSupport
import UWBTools

/// Actions of `range` and `accessory` when a peer enters or leaves a region.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct RegionActionTests {
  private static let near = ["--region", "near=9", "--interval", "50"]

  // MARK: arguments

  @Test(arguments: ["range", "accessory"])
  func aRegionWithoutItsRadiusIsRefused(_ command: String) throws {
    let outcome = try ChildProcess.run([command, "--region", "near"])
    #expect(outcome.status == 64, "\(outcome.complaints)")
    #expect(outcome.output.isEmpty)
  }

  @Test(arguments: [("no-such-line", 69), ("/dev/null:3", 69), ("gpiochip99:0", 69)])
  func aLineThatIsNotThereIsSaidBeforeAnythingBegins(_ line: String, _ status: Int32) throws {
    let outcome = try ChildProcess.run(["range", "--region", "near=9", "--gpio", line])
    #expect(outcome.status == status)
    #expect(outcome.output.isEmpty && outcome.complaints.contains(line))
    #expect(outcome.complaints.contains("\n  try: "), "\(outcome.complaints)")
  }

  // MARK: commands

  @Test func theValuesAreInTheEnvironment() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let environment = folder.path("environment")
    let print = "echo --; env | grep ^UWB_ | sort"
    let outcome = try ChildProcess.run(
      ["range", "-n", "20"] + Self.near + [
        "--dwell", "0.2", "--on-enter", "(\(print)) >> \(environment)", "--on-dwell",
        "(\(print)) >> \(environment)", "--on-leave", "(\(print)) >> \(environment)",
      ])
    #expect(outcome.status == 0, "\(outcome.complaints)")
    let visits = try String(contentsOfFile: environment, encoding: .utf8).split(separator: "--\n")
    #expect(visits.count == 3)
    for (visit, event) in zip(visits, ["enter", "dwell", "leave"]) {
      var values: [Substring: Substring] = [:]
      for line in visit.split(separator: "\n") {
        let parts = line.split(separator: "=", maxSplits: 1)
        values[parts[0]] = parts[1]
      }
      #expect(values["UWB_EVENT"].map { $0 == event } == true, "\(visit)")
      #expect(values["UWB_REGION"] == "near" && values["UWB_PEER"] == "0x0001")
      #expect(values["UWB_CAUSE"] == (event == "leave" ? "ended" : "distance"))
      let metres = values["UWB_DISTANCE_M"].flatMap { Double($0) } ?? .nan
      let deviation = values["UWB_DEVIATION_M"].flatMap { Double($0) } ?? .nan
      #expect(1...4 ~= metres && 0.01...0.5 ~= deviation, "\(visit)")
      #expect(values["UWB_AZIMUTH_DEG"] != nil && values["UWB_INSIDE_S"] != nil)
      #expect(values["UWB_APP"] == nil)
    }
    #expect(outcome.complaints.contains("0x0001 entered near ("), "\(outcome.complaints)")
    #expect(outcome.complaints.contains("0x0001 left near after"), "\(outcome.complaints)")
  }

  /// A command that hangs delays no round, and delays the end only briefly. A command that fails
  /// only prints a line on standard error.
  @Test func badCommandsDoNotHarmRanging() throws {
    let outcome = try ChildProcess.run(
      ["range", "-n", "60"] + Self.near + [
        "--dwell", "0.5", "--on-enter", "trap '' TERM; sleep 600 & wait; sleep 600", "--on-dwell",
        "exit 3", "--on-leave", "kill -9 $$", "--command-time", "1",
      ])
    #expect(outcome.status == 0)
    #expect(outcome.complaints.contains("60 rounds"), "\(outcome.complaints)")
    for said in [
      "the command of --on-enter took too long and was ended",
      "the command of --on-dwell ended with status 3",
      "the command of --on-leave was ended by signal 9",
    ] {
      #expect(outcome.complaints.contains(said), "\(outcome.complaints)")
    }
  }

  /// The signals that end the program do not reach its commands, which run to their end.
  @Test func theLastCommandsRunAtTheEnd() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let child = try ChildProcess(
      ["range", "--format", "json"] + Self.near + [
        "--on-enter", "echo in >> log", "--on-leave", "sleep 0.2; echo $UWB_CAUSE >> log",
      ], in: folder.path(""))
    _ = try child.read(until: "\"sequence\":9,")
    child.end()
    #expect(child.process.terminationStatus == 0)
    #expect(try String(contentsOfFile: folder.path("log"), encoding: .utf8) == "in\nended\n")
  }

  @Test func theAccessoryTellsTheEndOfCommands() throws {
    let outcome = try ChildProcess.run([
      "accessory", "--listen", "tcp:0", "-n", "20", "--format", "json", "--region", "near=9",
      "--on-enter", "echo \"$UWB_APP\"; exit 7", "--on-leave", "true",
    ])
    #expect(outcome.status == 0)
    #expect(outcome.complaints.contains("app 1\n"), "\(outcome.complaints)")
    let lines = try outcome.objects()
    let regions = lines.filter { $0["event"] as? String == "region" }
    #expect(regions.compactMap { $0["change"] as? String } == ["entered"])
    let commands = lines.filter { $0["event"] as? String == "command" }
    #expect(commands.compactMap { $0["option"] as? String } == ["--on-enter", "--on-leave"])
    #expect(commands.compactMap { $0["exit_status"] as? Int } == [7, 0])
  }

  // MARK: the runner

  private static func job(_ command: String) -> CommandRunner.Job {
    .init(
      option: "--on-enter", command: command, values: ["UWB_REGION": "$(touch injected); '"],
      region: "near", change: .entered)
  }

  private func outcomes(
    limit: Duration, _ commands: [String]
  ) async -> [CommandRunner.Outcome] {
    let runner = CommandRunner(limit: limit)
    let seen = Mutex<[CommandRunner.Outcome]>([])
    runner.report { ended in seen.withLock { $0.append(ended.outcome) } }
    for command in commands { runner.run(Self.job(command)) }
    await runner.finish()
    return seen.withLock { $0 }
  }

  @Test func eachEndIsTold() async {
    #expect(
      await outcomes(limit: .seconds(60), ["exit 0", "exit 255", "kill -15 $$", "no-such-program"])
        == [.exited(0), .exited(255), .killed(signal: 15), .exited(127)])
    // Only the signals that this program ignores get their default action back.
    #expect(await outcomes(limit: .seconds(60), ["kill -13 $$"]) == [.killed(signal: 13)])
  }

  @Test func valuesAreNotRead() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = folder.path("said")
    let commands = ["echo $UWB_REGION > \(file)", "test ! -e injected"]
    #expect(await outcomes(limit: .seconds(60), commands) == [.exited(0), .exited(0)])
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "$(touch injected); '\n")
  }

  @Test func commandsDoNotPileUp() async {
    let many = await outcomes(
      limit: .milliseconds(300), ["sleep 600"] + Array(repeating: "true", count: 40))
    #expect(many.count == 41 && many.first == .tookTooLong)
    // When the commands beyond the sixteenth arrived, at most one command had started.
    let refused = many.filter { $0 == .dropped }.count
    #expect(24...41 ~= refused, "\(many)")
  }

  /// Background processes of a command end with it when it exceeds its time limit.
  @Test func aGroupIsEndedTogether() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = folder.path("pid")
    let command = "sleep 600 & echo $! > \(file); wait"
    #expect(await outcomes(limit: .milliseconds(500), [command]) == [.tookTooLong])
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let process = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    // Another process inherits orphans, and reaps them after a while.
    func isAlive() -> Bool {
      let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      return status.map { !$0.contains(") Z ") } ?? false
    }
    while isAlive() { sched_yield() }
  }
}
