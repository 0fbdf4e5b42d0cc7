// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Foundation
import Glibc
import ProgramTestSupport
import Ranging
import Testing
import UWBLab
import UWBTestSupport

@testable import uwblab

/// The guided dialogue at a terminal.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct CalibrateTerminalTests {
  private let quick = ["--rounds", "12", "--interval", "10"]

  @Test func stepByStep() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = folder.path("delays.json")
    let session = try TerminalSession(
      ["calibrate", "delay", "--output", file] + quick, program: ChildProcess.uwblab)
    try session.expect("(1 of 3) A – B: distance from antenna to antenna in m, s skips, q quits: ")
    session.answer("far away")
    try session.expect("Enter a number from 0.05 to 1000.")
    session.answer("2,5 m")
    try session.expect("12 of 12 measured, 2.7")
    try session.expect("Enter keeps it, r measures again, s skips, q quits: ")
    session.answer("what?")
    try session.expect("Unknown answer: what?")
    session.answer("r")
    // The dialogue offers the earlier distance.
    try session.expect("(1 of 3) A – B: distance from antenna to antenna in m, Enter for 2.500")
    for pair in ["A – B", "A – C", "B – C"] {
      if pair != "A – B" { try session.expect(pair) }
      session.answer(pair == "A – B" ? "" : "3")
      try session.expect("Enter keeps it")
      session.answer("")
    }
    #expect(try session.status() == 0)
    #expect(session.seen.contains("Written to"))
    let delays = try RangingCalibration(file: file).antennaDelays ?? []
    #expect(delays.map(\.board) == ["A", "B", "C"])
    for (found, truth) in zip(delays, [0.12, 0.171, 0.137]) {
      #expect(abs(found.delay - truth) < 0.06)
    }
  }

  @Test func skippedPlacementsAreMissing() throws {
    let session = try TerminalSession(
      ["calibrate", "delay"] + quick, program: ChildProcess.uwblab)
    for value in ["2", "s", "s"] {
      try session.expect("of 3) ")
      session.answer(value)
      if value == "2" {
        try session.expect("q quits: ")
        try session.expect("Enter keeps it, r measures again, s skips, q quits: ")
        session.answer("")
      }
    }
    #expect(try session.status() == 0)
    #expect(session.seen.contains("Only sums are known"))
    #expect(session.seen.contains("Nothing was written: use --output FILE or --write."))
  }

  /// A line that the terminal wraps cannot be redrawn.
  @Test func theBarFitsANarrowWindow() throws {
    let session = try TerminalSession(
      ["calibrate", "delay", "--rounds", "2000", "--interval", "10"], columns: 30,
      program: ChildProcess.uwblab)
    try session.expect("quits: ")
    session.answer("2")
    try session.expect("[#")
    session.interrupt()
    #expect(try session.status() == ExitStatus.unfinished.rawValue)
    let bars = session.screen.lines.filter { $0.contains("[#") || $0.contains(" of 2000") }
    #expect(bars.isEmpty, "\(session.screen.lines)")
  }

  /// Ctrl-C at a question, Ctrl-C during a measurement, and q: the file is not changed.
  @Test(arguments: ["question", "measuring", "quit"])
  func quittingLeavesTheFileUnchanged(_ kind: String) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write("{delay_m: 1}", to: "delays.json")
    let session = try TerminalSession(
      ["calibrate", "delay", "--output", file, "--rounds", "2000", "--interval", "10"],
      program: ChildProcess.uwblab)
    try session.expect("s skips, q quits: ")
    switch kind {
    case "question": session.interrupt()
    case "measuring":
      session.answer("2")
      try session.expect("[#")
      session.interrupt()
    default: session.answer("q")
    }
    #expect(try session.status() == ExitStatus.unfinished.rawValue)
    #expect(session.seen.contains("Nothing was written."))
    #expect(try folder.read("delays.json") == "{delay_m: 1}")
  }
}
