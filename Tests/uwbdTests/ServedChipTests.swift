// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import ProgramTestSupport
import Testing
import UWBLink
import UWBSimulator
import UWBTestSupport
import Varlink

@testable import UWBService

/// `uwbctl` with a chip that the service uses. Each error names the service and the next step.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ServedChipTests {
  @Test(arguments: [
    ["monitor", "-t", "5"], ["capture", "served.pcapng", "-t", "5"], ["reset"],
    ["send", "20 02 00 00"], ["info", "--direct"], ["range", "--direct", "-n", "1"],
  ])
  func aCommandThatNeedsTheChipNamesExclusive(_ command: [String]) async throws {
    try await ServiceBench.lendService { bench, _ in
      try bench.client().call("Describe")
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      let end = try ChildProcess.run(
        command + ["--device", bench.chip.path], in: folder.path("."), service: bench.path)
      #expect(end.status == 75, "\(end.complaints)")
      #expect(end.complaints.contains("The service uwbd shares it"), "\(end.complaints)")
      #expect(end.complaints.contains("--exclusive"), "\(end.complaints)")
      #expect(!end.complaints.contains("ModemManager"), "\(end.complaints)")
      #expect(!end.complaints.contains("0 packets"), "\(end.complaints)")
    }
  }

  @Test func theDoctorNamesTheService() async throws {
    try await ServiceBench.lendService { bench, _ in
      try bench.client().call("Describe")
      let end = try ChildProcess.run(["doctor", bench.chip.path], service: bench.path)
      #expect(end.status == 75, "\(end.complaints)")
      #expect(end.output.contains("The service uwbd shares it as \(bench.chip.path)."))
      #expect(end.output.contains("uwbctl doctor \(bench.chip.path) --exclusive"))
      #expect(!end.output.contains("kill"), "\(end.output)")
      let alone = try ChildProcess.run(
        ["doctor", bench.chip.path, "--exclusive"], service: bench.path)
      #expect(alone.status == 0, "\(alone.output)\(alone.complaints)")
    }
  }

  @Test(arguments: [["list"], ["range", "-n", "1"], ["range", "-n", "1", "--direct"]])
  func aFullServiceSaysThatItIsFull(_ command: [String]) async throws {
    try await ServiceBench.lendService(Permissions(connections: .init(all: 1))) { bench, _ in
      let first = try bench.client()
      try first.call("Describe")
      let device = command == ["list"] ? [] : ["--device", bench.chip.path]
      let end = try ChildProcess.run(command + device, service: bench.path)
      #expect(end.status == (command == ["list"] ? 0 : 75), "\(end.complaints)")
      #expect(end.complaints.contains("at most 1 connection"), "\(end.complaints)")
      #expect(end.complaints.contains("End idle programs"), "\(end.complaints)")
      first.close()
    }
  }

  /// The groups of devices do not affect access to a socket.
  @Test func aClosedSocketDoesNotLeadToUdevRules() throws {
    let error = LinkError(
      .permissionDenied, endpoint: "uwbd:/run/uwbd/control",
      detail: "the service admits the group of its socket", recoverySuggestion: "Join the group.")
    let failure = try #require(Failure(error))
    #expect(failure.status == .permission)
    #expect(failure.suggestion == "Join the group.")
  }
}
