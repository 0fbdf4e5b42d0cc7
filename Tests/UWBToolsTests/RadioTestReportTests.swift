// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing
import UWBTestSupport
import UCI
import UWB
import UWBTools

@Suite(.ownThreads) struct RadioTestReportTests {
  private static func time(_ ticks: UInt32) -> RadioTestResult {
    RadioTestResult(
      status: .ok,
      content: .time(seconds: Double(ticks) * RadioTestResult.tick, ticks: ticks))
  }

  @Test func distanceNeedsBothEnds() {
    let alone = RadioTestReport(
      name: "ss-twr", result: Self.time(1_000), test: .ssTWR(isResponder: false))
    #expect(alone.distance == nil)
    #expect(!alone.text.contains("distance"))
    let both = RadioTestReport(
      name: "ss-twr", result: Self.time(11_279), other: Self.time(10_000),
      test: .ssTWR(isResponder: false))
    #expect(abs((both.distance ?? 0) - 3) < 0.01)
    let seenFromTheOther = RadioTestReport(
      name: "ss-twr", result: Self.time(10_000), other: Self.time(11_279),
      test: .ssTWR(isResponder: true))
    #expect(seenFromTheOther.distance == both.distance)
    #expect(
      both.json
        == #"{"test":"ss-twr","status":"OK","status_code":0,"ticks":11279,"other_ticks":10000,"#
        + #""distance_m":3.000,"receivers":[],"carrier_offset_ppm":null}"#)
  }

  @Test func receiversHaveUnits() {
    var result = RadioTestResult(status: .ok, content: .sent)
    result.receivers = [TestReceiver(rawRSSI: -19_200)]
    result.carrierOffsetPPM = -1.25
    let report = RadioTestReport(name: "per-rx", result: result, test: .perRX(psdu: []))
    #expect(report.text.contains("receiver        -75.0 dBm\n"))
    #expect(report.text.contains("carrier offset  -1.250 ppm\n"))
    #expect(report.json.contains(#"{"rssi_dbm":-75.00}"#))
  }

  @Test(arguments: [("01:02 0a", [1, 2, 10]), ("", []), ("0102", [1, 2])] as [(String, [UInt8])])
  func payloadsAreBytes(_ text: String, _ bytes: [UInt8]) {
    #expect(FrameOptions.Bytes(argument: text)?.values == bytes)
  }

  @Test(arguments: ["1", "0x", "zz", "012"])
  func invalidPayloadsAreErrors(_ text: String) {
    #expect(FrameOptions.Bytes(argument: text) == nil)
  }

  @Test func parametersAreGivenByName() throws {
    let options = try TestOptions.parse(["--set", "PSDU_DATA_RATE=1", "--channel", "5"])
    #expect(try options.configuration().additional == [TLV(0x16, [1])])
    #expect(try options.configuration().channel == 5)
    #expect(throws: (any Error).self) { try TestOptions.parse(["--set", "NO_SUCH_THING=1"]) }
  }

  @Test func framesAndTimesAreGivenInTheirUnits() throws {
    let frames = try FrameOptions.parse(["-n", "5", "--gap", "100", "--random"])
    let options = try TestOptions.parse(["-t", "2", "--timeout", "1.5", "--rframe", "3"])
    let configuration = try options.configuration(frames)
    #expect(configuration.packets == 5 && configuration.gap == 100 && configuration.isRandom)
    #expect(configuration.limit == 2_000 && configuration.patience == 1_500)
    #expect(configuration.rframe == 3)
  }
}
