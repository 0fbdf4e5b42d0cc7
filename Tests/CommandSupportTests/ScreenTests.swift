// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Foundation
import Glibc
import ProgramTestSupport
import Testing
import UWBTestSupport

/// The contents of a terminal's screen, whatever its size.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ScreenTests {
  private static let three = ["range", "--responders", "3", "--interval", "50"]

  /// The table of a run that has ended by itself.
  private func table(_ arguments: [String], columns: Int, rows: Int = 24) throws -> TerminalScreen {
    let session = try TerminalSession(
      arguments, columns: columns, rows: rows, isComplete: false)
    #expect(try session.status() == 0)
    #expect(session.screen.wraps == 0, "\(session.screen.lines)")
    #expect(session.screen.unknown == [])
    return session.screen
  }

  @Test(arguments: [60, 80, 132, 0])
  func aTableFits(_ columns: Int) throws {
    let lines = try table(Self.three + ["-n", "5"], columns: columns).lines
    try #require(lines.count == 5, "\(lines)")
    for (title, isShown) in [
      ("peer", true), ("distance", true), ("estimate ± sd", true), ("ok/failed", true),
      ("azimuth", columns != 60), ("RSSI", columns != 60), ("speed", columns == 132),
      ("elevation", columns == 132), ("path", columns == 132),
    ] {
      #expect(lines[0].contains(title) == isShown, "\(title) in: \(lines[0])")
    }
    // Titles and cells end in the same column.
    for line in lines[1...3] { #expect(line.count == lines[0].count, "\(line)") }
    #expect(lines[1].hasPrefix("0x0001") && lines[3].hasPrefix("0x0003"))
    #expect(lines[1].hasSuffix(" 5/0"))
    #expect(lines[4].hasPrefix("5 rounds, ") && lines[4].hasSuffix(", 0 lost"))
  }

  /// The screen is too small to show the table, but nothing is damaged.
  @Test(arguments: [40, 1])
  func narrowerWindowsCutTheTable(_ columns: Int) throws {
    let lines = try table(Self.three + ["-n", "5"], columns: columns).lines
    #expect(lines.count == 5)
    #expect(lines[1].hasPrefix(columns == 1 ? "0" : "0x0001 "))
  }

  @Test func peersThatDoNotFitAreCounted() throws {
    let lines = try table(
      ["range", "--responders", "8", "--interval", "50", "-n", "5"], columns: 80, rows: 8
    ).lines
    #expect(lines.count == 7)
    #expect(lines[5] == "… and 4 more peers; enlarge the window to see them")
  }

  @Test func aTableFollowsTheWindow() throws {
    let session = try TerminalSession(Self.three, columns: 132)
    // A measured peer. Rounds that arrive together are drawn once, so no particular count is
    // certain to be drawn.
    try session.expect(" dBm")
    session.resize(columns: 60, rows: 24)
    // Output for the old size may still arrive.
    func header() -> String { session.screen.lines.first ?? "" }
    for _ in 0..<100 where !header().hasSuffix("ok/failed") { try session.expect("ok/failed") }
    #expect(header().hasSuffix("ok/failed") && header().count < 60, "\(session.screen.lines)")
    let wraps = session.screen.wraps
    try session.expect("lost")
    #expect(session.screen.lines.count == 5, "\(session.screen.lines)")
    session.resize(columns: 100, rows: 10)
    for _ in 0..<100 where !header().contains("RSSI") { try session.expect("ok/failed") }
    #expect(header().contains("RSSI"), "\(session.screen.lines)")
    try session.expect("lost")
    #expect(session.screen.lines.count == 5, "\(session.screen.lines)")
    #expect(session.screen.wraps == wraps)
    session.interrupt()
    #expect(try session.status() == 0)
    // The summary, in two lines.
    #expect(session.screen.lines.count == 7, "\(session.screen.lines)")
    #expect(session.screen.lines.last?.hasPrefix("  ") == true)
  }

  @Test func aTableIsDrawnBelowWhatCameMeanwhile() throws {
    let session = try TerminalSession(Self.three)
    try session.expect("Ctrl-C ends")
    session.signal(SIGSTOP)
    session.writeFromElsewhere("\r\n[1]+  Stopped\r\n$ fg\r\n")
    session.signal(SIGCONT)
    for _ in 0..<10 { try session.expect("Ctrl-C ends") }
    let lines = session.screen.lines
    #expect(lines.contains("[1]+  Stopped") && lines.contains("$ fg"), "\(lines)")
    #expect(lines.count { $0.hasPrefix("peer ") } == 2, "\(lines)")
    #expect(lines.suffix(5).first?.hasPrefix("peer ") == true, "\(lines)")
    session.interrupt()
    #expect(try session.status() == 0)
  }

  @Test(arguments: [60, 80])
  func errorsWrap(_ columns: Int) throws {
    for arguments in [
      ["range", "--device", "/dev/no-such-device"], ["range", "--channel", "7"],
      ["range", "--responders", "300"], ["range", "--interval", "every now and then"],
      ["decode", "zz"], ["rnage"],
    ] {
      let session = try TerminalSession(arguments, columns: columns)
      #expect(try session.status() != 0)
      #expect(session.screen.wraps == 0, "\(session.screen.lines)")
    }
  }

  @Test(arguments: [60, 80])
  func findWraps(_ columns: Int) throws {
    let session = try TerminalSession(["find", "-n", "3"], columns: columns)
    #expect(try session.status() == 0)
    #expect(session.screen.wraps == 0)
    #expect(session.screen.lines.contains("the accessory has started ranging"))
    #expect(session.screen.lines.last?.contains(" m ±") == true)
  }

  @Test(arguments: [60, 80])
  func doctorWrapsWithAnIndent(_ columns: Int) throws {
    let session = try TerminalSession(["doctor", "sim"], columns: columns, rows: 60)
    #expect(try session.status() == 0)
    #expect(session.screen.wraps == 0)
    let lines = session.screen.lines
    let firmware = try #require(lines.firstIndex { $0.contains("firmware        UCI 2.0.0") })
    let rest = lines[firmware + 1].drop { $0 == " " }
    #expect(lines[firmware + 1].count - rest.count == 22)
    #expect(rest.hasPrefix(columns == 80 ? "0xdeca0302;" : "firmware 1.1.0"))
    #expect(lines.last == "All checks passed.")
  }

  @Test(arguments: ["range", "find"])
  func nothingIsDrawnOnADumbTerminal(_ command: String) throws {
    let session = try TerminalSession([command, "-n", "2"], kind: "dumb")
    #expect(try session.status() == 0)
    #expect(!session.seen.contains("\u{1B}"), "\(session.seen)")
    #expect(session.seen.contains(" m"), "\(session.seen)")
  }

  @Test(arguments: [1, 10, 20, 30])
  func doctorDoesNotNeedAWideWindow(_ columns: Int) throws {
    let session = try TerminalSession(["doctor", "sim"], columns: columns, rows: 60)
    #expect(try session.status() == 0)
  }

  @Test(arguments: [
    ("one two three", 8, 2, "one two\n  three"), ("one two", 7, 2, "one two"), ("", 5, 2, ""),
    ("ok    a   text here", 12, 10, "ok    a\n          text\n          here"),
    ("/a/path/that/is/long b", 8, 2, "/a/path/that/is/long\n  b"),
    ("    do: this", 8, 4, "    do:\n    this"), ("a b", 1, 0, "a\nb"),
    ("          do: this", 5, 2, "          do:\n  this"), ("a b", 1, 3, "a\n   b"),
  ])
  func linesAreCutAtBlanks(_ line: String, _ width: Int, _ indent: Int, _ result: String) {
    #expect(line.wrapped(to: width, indent: indent) == result)
  }
}
