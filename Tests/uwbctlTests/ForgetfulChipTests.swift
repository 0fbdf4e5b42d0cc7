// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProgramTestSupport
import Testing
import UWBTestSupport
import UWBSimulator
import UWBTools
import uwbctl

/// The program with a chip that answers only with errors until it is reset, forgets each host, and
/// reports only schedules that it does not support.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ForgetfulChipTests {
  @Test func everyCommandSaysResetAndWorksAfterIt() throws {
    let (bench, chip) = try simulatedChip(.pica)
    let device = ["--device", chip.path]
    for command in [
      ["caps"] + device, ["config", "get"] + device, ["send", "20020000"] + device,
      ["diff", "--capabilities", chip.path, chip.path],
    ] {
      let refused = try ChildProcess.run(command)
      #expect(refused.status == 81, "\(command)")
      #expect(refused.complaints.contains("must be reset"), "\(refused.complaints)")
      #expect(refused.complaints.contains("  try: Give --reset"), "\(refused.complaints)")
      let done = try ChildProcess.run(command + ["--reset"])
      #expect(done.status == 0, "\(command): \(done.complaints)")
      #expect(!done.output.isEmpty)
    }
    // Where a reset does not help, it is not recommended.
    for (command, words) in [
      (["config", "get", "--session", "1"] + device, "leave out --session"),
      (["diff", chip.path, chip.path], "--capabilities --reset"),
    ] {
      let refused = try ChildProcess.run(command)
      #expect(refused.status == 81 && refused.complaints.contains(words), "\(refused.complaints)")
    }
    let reset = try ChildProcess.run(["reset"] + device)
    #expect(reset.status == 0, "\(reset.complaints)")
    #expect(chip.disorderlyCommands == 0)
    bench.stop()
  }

  @Test func rangeWarnsAndStrictRefuses() throws {
    let bench = SimulatedBench(scene: Scene(seed: 3))
    let chips = try (0..<2).map { try bench.add(profile: .pica, at: SIMD3(Double($0), 0, 1)) }
    bench.start()
    let strict = try ChildProcess.run(["range", "--device", chips[0].path, "--strict"])
    #expect(strict.status == 78)
    #expect(strict.complaints.contains("  try: Leave out --strict"))
    let other = try ChildProcess(
      ["range", "--device", chips[1].path, "--role", "controlee", "-t", "280"])
    // The session ranges.
    _ = try other.read(until: "#0")
    let ranged = try ChildProcess.run([
      "range", "--device", chips[0].path, "-n", "3", "-t", "280", "--format", "json",
    ])
    #expect(ranged.status == 0, "\(ranged.complaints)")
    #expect(ranged.complaints.contains("warning: This chip does not list SCHEDULE_MODE"))
    #expect((1...3).contains(ranged.output.split(separator: "\n").count))
    #expect(ranged.output.contains(#""rssi_dbm":null"#))
    other.end()
    #expect(chips.map(\.disorderlyCommands) == [0, 0])
    bench.stop()
  }
}
