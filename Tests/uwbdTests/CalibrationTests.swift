// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON
import Testing
import UWBSimulator
import UWBTestSupport
import Varlink

/// Calibrations of chips that programs share.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct CalibrationTests {
  private func metres(_ value: JSON?) throws -> Double {
    switch try #require(value) {
    case .number(let number): number
    case .integer(let number): Double(number)
    default: .nan
    }
  }

  @Test(arguments: [
    #"{"delay_m": 0.5}"#,
    #"""
    {"antenna_delays": [{"board": "CHIP", "delay_m": 0.3}, {"board": "0001", "delay_m": 0.2},
      {"board": "other", "delay_m": 0.4}]}
    """#,
  ]) func programsReceiveCorrectedDistances(_ calibration: String) async throws {
    try await ServiceBench.lend { bench in
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      let chip = String(bench.chip.path.split(separator: "/").last ?? "")
      let file = try folder.write(
        calibration.replacing("CHIP", with: chip), to: "board.json")
      let service = try bench.launch(["--calibration", "\(chip)=\(file)"])
      let client = try bench.client()
      #expect(try client.call("Start", ServiceBench.start()).error == nil)
      let reply = try bench.client().call("Monitor")
      let measured = try #require(reply.parameters["measurement"]?.object)
      let reported = try metres(measured["distance_cm"]) / 100
      #expect(abs(try metres(measured["computed_m"]) - (reported - 0.5)) < 0.001)
      // Boards without a calibration have 0.3 m.
      #expect(try metres(measured["estimate_sd_m"]) < 0.2)
      service.send(SIGTERM)
      service.waitUntilExit()
    }
  }

  @Test func aCalibrationThatCannotBeUsedEndsTheService() async throws {
    try await ServiceBench.lend { bench in
      let chip = bench.chip.path
      for (text, status) in [
        ("\(chip)=/none", EX_NOINPUT), ("other=/none", EX_USAGE), ("/none", EX_USAGE),
      ] {
        let service = try bench.launch(["--calibration", text])
        service.waitUntilExit()
        #expect(service.terminationStatus == status, "\(text)")
      }
    }
  }
}
