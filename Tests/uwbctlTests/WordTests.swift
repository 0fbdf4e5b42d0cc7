// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProgramTestSupport
import Testing
import UWBTestSupport

/// Names and sentences of commands, as users meet them.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct WordTests {
  /// The device parameter and a session parameter have the same number.
  @Test func aParameterThatCanOnlyBeReadIsNamed() throws {
    let outcome = try ChildProcess.run(["config", "set", "DEVICE_STATE=1"])
    #expect(outcome.status == 78)
    #expect(outcome.complaints.contains("DEVICE_STATE"), "\(outcome.complaints)")
    #expect(outcome.complaints.contains("can only be read"))
    #expect(!outcome.complaints.contains("DEVICE_TYPE"))
  }

  /// Commas separate the elements of a list, and no element contains one.
  @Test func capabilitiesAreLists() throws {
    let outcome = try ChildProcess.run(["caps", "--format", "json"])
    let lines = try outcome.objects()
    let sts = try #require(lines.first { $0["name"] as? String == "STS_CONFIG" })
    #expect(sts["meaning"] as? String == "static, provisioned, provisioned with controlee key")
  }

  @Test func infoResetsTheChipOnRequestOnly() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    for options in [[], ["--reset"]] {
      let file = folder.path("\(options.count).pcapng")
      #expect(try ChildProcess.run(["info", "--capture", file] + options).status == 0)
      // A file may be the only argument.
      let decoded = try ChildProcess.run(["decode", file])
      #expect(decoded.status == 0 && decoded.output.contains("CORE_GET_DEVICE_INFO"))
      #expect(decoded.output.contains("CORE_DEVICE_RESET") == !options.isEmpty)
      #expect(decoded.output == (try ChildProcess.run(["decode", "--file", file]).output))
    }
  }

  @Test func framesOfNCJ29D5HaveNames() throws {
    for (frame, name) in [("6e250000", "NXP_TEST_LOOPBACK_NTF"), ("6e210000", "NXP_TEST_STOP_NTF")]
    {
      let decoded = try ChildProcess.run(["decode", frame, "--vendor", "nxp"])
      #expect(decoded.output.contains(name), "\(decoded.output)")
    }
  }

  @Test(arguments: ["OK_NEGATIVE_DISTANCE_REPORT", "RANGING_NEGATIVE_DISTANCE"])
  func negativeDistancesAreExplained(_ name: String) throws {
    let outcome = try ChildProcess.run(["explain", name])
    #expect(outcome.output.contains("uncalibrated boards side by side"), "\(outcome.output)")
    #expect(outcome.output.contains("uwblab calibrate delay"))
  }

  @Test func chipsThatASceneLacksAreMentioned() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let scene = try folder.write(#"{"chips": {"own": {}, "pear 1": {}}}"#, to: "scene.json")
    let outcome = try ChildProcess.run(["range", "-n", "1", "--scene", scene])
    #expect(
      outcome.complaints.contains("places pear 1, but the simulated chips are own, peer 1"),
      "\(outcome.complaints)")
  }

  @Test func theServiceIsInTheHelp() throws {
    #expect(try ChildProcess.run(["--help"]).output.contains("uwbd"))
  }
}
