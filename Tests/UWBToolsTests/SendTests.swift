// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ProgramTestSupport
import Testing
import UWBTestSupport
import UCI
import UWBTools

@Suite(.ownThreads) struct SendTests {
  static func plan(_ arguments: [String]) throws -> SendPlan {
    SendPlan(try SendPlan.packets(arguments), dialect: .assumed)
  }

  @Test func validPacketsHaveNoProblems() throws {
    let plan = try Self.plan(["20000001 00", "2105 00 00", "2E 00 00 02 00 00"])
    #expect(plan.problems == [])
    #expect(plan.messages.count == 3)
    #expect(try Self.plan(["20", "02", "00", "00"]).messages == [[[0x20, 2, 0, 0]]])
  }

  @Test(arguments: [
    ("40 00 00 01 00", "is sent by chips"),
    ("60 01 00 01 01", "is sent by chips"),
    ("20 00 00 00", "Not a valid CORE_DEVICE_RESET_CMD"),
    ("20 02 00 01 00", "CORE_GET_DEVICE_INFO_CMD has 1 byte too many"),
    ("31 03 00 01 01", "announces another segment"),
    ("31 03 00 01 01 20 02 00 00", "interrupted"),
    ("2E 3F 00 04 53 74 4F 50", "\"STOP\" in ASCII"),
  ])
  func invalidPacketsHaveAReason(_ hex: String, _ reason: String) throws {
    let plan = try Self.plan([hex])
    #expect(plan.problems.contains { "\($0)".contains(reason) })
    // With --force it is sent unchanged.
    #expect(plan.messages.flatMap { $0 }.flatMap { $0 } == hexBytes(hex))
  }

  @Test func segmentsOfAMessageAreCheckedTogether() throws {
    let whole = "31 03 00 05 01 00 00 00 01 21 03 00 03 08 02 60"
    #expect(try Self.plan([whole]).problems.count == 1, "a parameter is cut")
    let plan = try Self.plan(["31 03 00 05 01 00 00 00 01", "21 03 00 04 08 02 60 09"])
    #expect(plan.problems == [])
    #expect(plan.messages.count == 1)
    #expect(plan.messages[0].count == 2)
  }

  @Test func payloadsAreSplitIntoPackets() throws {
    let payload = "01000000 01 28 06 010203040506"
    let frames = try SendPlan.packets([payload], command: "1:0x3", segment: 6)
    #expect(frames.count == 3)
    #expect(frames.map { $0[0] } == [0x31, 0x31, 0x21])
    #expect(frames.flatMap { $0.dropFirst(4) } == hexBytes(payload))
    #expect(SendPlan(frames, dialect: .assumed).problems == [])
  }

  @Test(
    arguments: [
      ("zz", nil, 255), ("20020001", nil, 255), ("00", "16:0", 255), ("00", "1", 255),
      ("20020000", nil, 0),
    ] as [(String, String?, Int)])
  func invalidPacketsAreErrors(_ hex: String, _ command: String?, _ segment: Int) {
    #expect(throws: ValidationError.self) {
      try SendPlan.packets([hex], command: command, segment: segment)
    }
  }
}
