// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Formats
import JSON
import Testing
import UWBTestSupport
import UCI
import UWBLink

@testable import UWB
import UWBTools

@Suite(.ownThreads) struct RangeTests {
  static func row(_ sequence: UInt32, _ peer: UInt16, _ status: Status = .ok) -> RangeRow {
    RangeRow(
      seconds: Double(sequence) * 0.1,
      measurement: RangingMeasurement(
        sessionToken: 1, sequenceNumber: sequence, receivedAt: UInt64(sequence) * 100_000_000,
        result: TwoWayMeasurement(
          peer: MACAddress(peer), status: status,
          rawDistance: status == .ok ? 100 : 0xFFFF)),
      hasRSSI: true)
  }

  @Test func theSummaryCountsRoundsPeersFailuresAndGaps() {
    var summary = RangeSummary()
    for row in [
      Self.row(0, 1), Self.row(0, 2), Self.row(1, 1, .rangingRxTimeout), Self.row(1, 2),
      Self.row(4, 1), Self.row(4, 2),
    ] { summary.add(row) }
    #expect(summary.rounds == 3)
    #expect(summary.missing == 2)
    #expect(summary.measured == 5)
    #expect(summary.failed == 1)
    #expect(summary.rowsInRound == 2)
    #expect(abs(summary.rate - 5) < 1e-9)
    #expect(
      summary.text("and so on")
        == "3 rounds, 5.0 Hz, 2 peers, 5 measured, 1 failed (1 RANGING_RX_TIMEOUT), 2 lost, "
        + "0 dropped, and so on")
  }

  @Test func membersThatAreNullAreLeftOut() {
    for row in [Self.row(0, 1), Self.row(1, 2, .rangingRxTimeout)] {
      func members(hasNulls: Bool) -> [Substring] {
        var text = JSONText()
        row.append(to: &text, hasNulls: hasNulls)
        #expect(text.string.first == "{" && text.string.last == "}")
        return text.string.dropFirst().dropLast().split(
          separator: ",", omittingEmptySubsequences: false)
      }
      let (all, some) = (members(hasNulls: true), members(hasNulls: false))
      #expect(all.contains { $0.hasSuffix(":null") })
      #expect(some == all.filter { !$0.hasSuffix(":null") })
    }
  }

  @Test func gapsBetweenEmptyRoundsAreLost() {
    var summary = RangeSummary()
    func empty(_ sequence: UInt32) -> EmptyRound {
      EmptyRound(sessionToken: 1, sequenceNumber: sequence, receivedAt: UInt64(sequence))
    }
    #expect(summary.add(Self.row(0, 1)) == 0)
    for number: UInt32 in 1...17 { summary.add(empty(number)) }
    #expect(summary.add(Self.row(18, 1)) == 0)
    #expect(summary.missing == 0)
    summary.add(empty(21))
    #expect(summary.add(Self.row(24, 1)) == 2)
    #expect(summary.missing == 4)
    #expect(summary.rounds == 21 && summary.empty == 18)
  }

  @Test(arguments: [
    ([], 25, 2_400), (["--interval", "5", "--responders", "8"], 13, 400),
    (["--interval", "20"], 6, 2_400), (["--interval", "20", "--responders", "2"], 13, 1_800),
    (["--interval", "20", "--role", "controlee", "--one-to-many"], 13, 1_800),
    (["--slot", "1200", "--slots", "30"], 30, 1_200),
  ])
  func theScheduleFitsTheInterval(_ arguments: [String], _ slots: Int, _ duration: Int) throws {
    let configuration = try RangeOptions.parse(arguments).configuration()
    #expect(Int(configuration.slotsPerRound) == slots)
    #expect(Int(configuration.slotDuration) == duration)
    try configuration.validate()
  }

  @Test func bothEndsOfASessionMatch() throws {
    let ours = try RangeOptions.parse(["--responders", "2"]).configuration()
    let theirs = ours.mirrored
    #expect(theirs.map(\.address) == ours.peers)
    #expect(theirs.allSatisfy { $0.role == .controlee && $0.peers == [ours.address] })
    let controlee = try RangeOptions.parse(["--role", "controlee"]).configuration()
    let controller = try RangeOptions.parse([]).configuration()
    #expect(controlee.peers == [controller.address] && controller.peers == [controlee.address])
    #expect(!controlee.isOneToMany && !controller.isOneToMany)
    #expect(controller.mirrored == [controlee])
  }

  /// Options can describe each peer of the demonstration.
  @Test func simulatedControleesAreConfiguredAsTheOptionsDescribe() throws {
    let controller = try RangeOptions.parse(["--responders", "2"]).configuration()
    let described = try ["0001", "0002"].map {
      try RangeOptions.parse(["--role", "controlee", "--one-to-many", "--address", $0])
        .configuration()
    }
    #expect(controller.mirrored == described)
    #expect(described.allSatisfy { $0.isOneToMany && $0.problems().errors.isEmpty })
    let growing = try RangeOptions.parse(["--one-to-many"]).configuration()
    #expect(growing.isOneToMany && growing.peers == [MACAddress(1)])
    #expect(growing.problems().errors.isEmpty)
  }

  @Test(arguments: [
    ["--address", "xyz"], ["--peer", "1", "--responders", "2"], ["--responders", "0"],
    ["--sts", "0102"], ["--role", "controlee", "--responders", "2"],
    ["--profile", "session.json", "--one-to-many"],
  ])
  func invalidArgumentsAreErrors(_ arguments: [String]) {
    #expect(throws: (any Error).self) { try RangeOptions.parse(arguments) }
  }

  @Test func keysAreGivenInWireOrder() throws {
    let sts = try RangeOptions.parse(["--sts", "0807010203040506"]).configuration().sts
    #expect(sts == .fixed(.init(vendorID: [8, 7], iv: [1, 2, 3, 4, 5, 6])))
  }

  @Test func eachKindOfFailureHasItsStatus() {
    func link(_ code: LinkError.Code) -> CommandSupport.ExitStatus {
      CommandSupport.ExitStatus(LinkError(code, endpoint: "x"))
    }
    #expect(link(.notFound) == .unavailable)
    #expect(link(.permissionDenied) == .permission)
    #expect(link(.busy) == .busy)
    #expect(link(.deviceGone) == .deviceGone)
    #expect(
      CommandSupport.ExitStatus(DriverError.noAnswer(command: "", milliseconds: 1, garbage: 0))
        == .silent)
    #expect(
      CommandSupport.ExitStatus(DriverError.noAnswer(command: "", milliseconds: 1, garbage: 9))
        == .protocolError)
    #expect(CommandSupport.ExitStatus(DriverError.invalidConfiguration("")) == .configuration)
  }

  @Test(arguments: [
    (1.005, 2, "1.00"), (-0.004, 2, "0.00"), (-2.5, 1, "-2.5"), (12, 0, "12"), (0.0499, 3, "0.050"),
  ])
  func numbersAreWrittenWithFixedDigits(_ value: Double, _ digits: Int, _ text: String) {
    #expect(fixed(value, digits) == text)
  }

  @Test func antennaPairsAreNumbers() throws {
    #expect(try DiagnosticsOptions.parse([]).request == nil)
    #expect(try DiagnosticsOptions.parse(["--diagnostics"]).request != nil)
    let pairs = try DiagnosticsOptions.parse(["--antenna-pairs", "1,2"]).request?.antennaPairs
    #expect(pairs == [1, 2])
    for wrong in ["1,x", "256", "1,2,3,4,5,6,7,8,9"] {
      #expect(throws: (any Error).self) {
        try DiagnosticsOptions.parse(["--antenna-pairs", wrong])
      }
    }
  }
}
