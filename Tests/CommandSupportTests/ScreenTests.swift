// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Formats
import Foundation
import Glibc
import ProgramTestSupport
import Testing
import UWBSimulator
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
      ("peer", true), ("estimate ± sd", true), ("short-term", true), ("ok/failed", true),
      ("azimuth", columns != 60), ("trend", columns != 60), ("RSSI", columns == 132),
      ("age", true), ("distance", columns == 132), ("speed", columns == 132),
      ("elevation", columns == 132), ("path", columns == 132),
    ] {
      #expect(lines[0].contains(title) == isShown, "\(title) in: \(lines[0])")
    }
    // Titles and cells end in the same column.
    let (title, age) = ("ok/failed", Set(lines[1...3].map { $0.suffix(2) }))
    let end = try #require(lines[0].firstRange(of: title)).upperBound
    let width = lines[0].distance(from: lines[0].startIndex, to: end)
    for line in lines[1...3] { #expect(line.prefix(width).hasSuffix(" 5/0"), "\(line)") }
    #expect(age == [" s"], "\(lines)")
    #expect(lines[1].hasPrefix("0x0001") && lines[3].hasPrefix("0x0003"))
    #expect(lines[4].hasPrefix("5 rounds, ") && lines[4].hasSuffix(", 0 lost"))
  }

  /// The window is too small for the table, but nothing on the screen is damaged.
  @Test(arguments: [40, 1])
  func narrowerWindowsCutTheTable(_ columns: Int) throws {
    let lines = try table(Self.three + ["-n", "5"], columns: columns).lines
    #expect(lines.count == 5)
    #expect(lines[1].hasPrefix(columns == 1 ? "0" : "0x0001 "))
  }

  @Test(arguments: [
    (8, "… and 4 more peers; enlarge the window to see them"),
    (5, "… and 1 more peer; enlarge the window to see it"),
  ])
  func peersThatDoNotFitAreCounted(_ peers: Int, _ line: String) throws {
    let lines = try table(
      ["range", "--responders", "\(peers)", "--interval", "50", "-n", "5"], columns: 80, rows: 8
    ).lines
    #expect(lines.count == 7)
    #expect(lines[5] == line)
  }

  @Test(arguments: [20, 40]) func theFootIsReadableInANarrowWindow(_ columns: Int) throws {
    let session = try TerminalSession(Self.three, columns: columns)
    // A peer has been measured. The narrowest table has only its distance.
    try session.expect(columns == 20 ? " m  " : " ±0.")
    session.press("?")
    for _ in 0..<100 where !session.screen.lines.contains(where: { $0.hasSuffix("this line") }) {
      try session.expect("\u{1B}[J")
    }
    let text = session.screen.lines.joined(separator: " ")
    #expect(text.contains(" lost; Ctrl-C ends, ? lists keys q ends, p pauses and continues"))
    session.press("q")
    #expect(try session.status() == 0)
    #expect(session.screen.wraps == 0, "\(session.screen.lines)")
  }

  @Test func aTableFollowsTheWindow() throws {
    let session = try TerminalSession(Self.three, columns: 132)
    // A peer has been measured. Rounds that arrive together are drawn once, so no particular count
    // is certain to be drawn.
    try session.expect(" dBm")
    session.resize(columns: 60, rows: 24)
    // Output for the old size may arrive after the change.
    func header() -> String { session.screen.lines.first ?? "" }
    for _ in 0..<100
    where !header().hasSuffix("ok/failed  age") || header().contains("trend") {
      try session.expect("ok/failed")
    }
    #expect(header().hasSuffix("ok/failed  age") && header().count < 60, "\(session.screen.lines)")
    let wraps = session.screen.wraps
    try session.expect("lost")
    #expect(session.screen.lines.count == 5, "\(session.screen.lines)")
    session.resize(columns: 100, rows: 10)
    for _ in 0..<100 where !header().contains("RSSI") { try session.expect("ok/failed") }
    #expect(header().contains("RSSI") && header().contains("trend"), "\(session.screen.lines)")
    try session.expect("lost")
    #expect(session.screen.lines.count == 5, "\(session.screen.lines)")
    #expect(session.screen.wraps == wraps)
    session.interrupt()
    #expect(try session.status() == 0)
    // The screen has one summary, in two lines.
    #expect(session.screen.lines.count == 6, "\(session.screen.lines)")
    #expect(session.screen.lines.count { $0.contains(" Hz, ") } == 1)
    #expect(session.screen.lines.last?.hasPrefix("  ") == true)
  }

  @Test func aTableIsDrawnBelowWhatCameMeanwhile() throws {
    let session = try TerminalSession(Self.three)
    try session.expect("Ctrl-C ends")
    try session.stop()
    try session.writeFromElsewhere("\r\n[1]+  Stopped\r\n$ fg\r\n")
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
    #expect(session.screen.lines.contains { $0.contains(" m (short-term 0.") })
    #expect(session.screen.lines.last?.hasPrefix("3 distances, ") == true)
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
    #expect(session.screen.wraps == 0, "\(session.screen.lines)")
  }

  // MARK: colours and symbols

  @Test func verdictsHaveColours() throws {
    let session = try TerminalSession(["doctor", "/dev/null"], rows: 60)
    #expect(try session.status() != 0)
    #expect(session.screen.styles.contains("[1;31m"), "\(session.seen)")
    #expect(session.screen.lines.contains { $0.hasPrefix("FAIL  ") }, "\(session.screen.lines)")
    let plain = try ChildProcess.run(["doctor", "sim"])
    #expect(!plain.output.contains("\u{1B}"))
  }

  @Test(arguments: [["NO_COLOR": "1"], ["TERM": "dumb"]], ["doctor", "range"])
  func coloursCanBeTurnedOff(_ environment: [String: String], _ command: String) throws {
    let arguments = command == "doctor" ? ["doctor", "sim"] : ["range", "-n", "2"]
    let session = try TerminalSession(
      arguments, kind: environment["TERM"] ?? "xterm", environment: environment)
    #expect(try session.status() == 0)
    #expect(session.screen.styles == [])
  }

  /// The controlee never starts, so the peer is silent.
  @Test func silentPeersHaveAColour() throws {
    let (bench, chip) = try simulatedChip()
    let session = try TerminalSession(["range", "--device", chip.path, "--interval", "50"])
    try session.expect("silent ")
    #expect(session.screen.styles.contains("[33m"), "\(session.seen)")
    session.interrupt()
    #expect(try session.status() == 82)
    bench.stop()
  }

  @Test func otherLocalesShowASCII() throws {
    for (locale, bars) in [("C", "_.-:=+*#"), ("de_DE.UTF-8", "▁▂▃▄▅▆▇█")] {
      let session = try TerminalSession(
        ["range", "-n", "3", "--interval", "50"], environment: ["LC_ALL": locale])
      #expect(try session.status() == 0)
      let text = session.screen.lines.joined(separator: "\n")
      #expect(text.contains(where: bars.contains), "\(text)")
      #expect(text.utf8.contains { $0 >= 0x80 } == (locale != "C"), "\(text)")
    }
  }

  /// All symbols of help, tables and JSON keys.
  @Test(arguments: [
    ["test", "ss-twr"], ["json"], ["range", "--help"], ["config", "list"], ["explain"],
    ["calibrate", "list"],
  ])
  func textsAreASCIIInOtherLocales(_ command: [String]) throws {
    let session = try TerminalSession(command, environment: ["LC_ALL": "C"])
    #expect(try session.status() == 0)
    let odd = session.seen.filter { !$0.isASCII }
    #expect(odd.isEmpty, "\(odd)")
  }

  @Test(arguments: [["compute", "locate", "--help"], ["compute", "filter", "--help"]])
  func textsOfTablesAreASCIIInOtherLocales(_ command: [String]) throws {
    let session = try TerminalSession(
      command, environment: ["LC_ALL": "C"], program: ChildProcess.uwblab)
    #expect(try session.status() == 0)
    #expect(!session.seen.isEmpty && session.seen.allSatisfy(\.isASCII))
  }

  /// Lists and their sentences; no word of them is longer than half of the window.
  @Test(arguments: [
    ["explain"], ["config", "list"], ["calibrate", "list"], ["json"], ["caps"],
    ["explain", "RANGING_RX_TIMEOUT"],
  ])
  func listsFitTheWindow(_ command: [String]) throws {
    let session = try TerminalSession(command, columns: 80)
    #expect(try session.status() == 0)
    #expect(session.screen.wraps == 0, "\(session.screen.lines)")
  }

  @Test(arguments: [20, 40, 80, 200], [Self.three, ["find"], ["accessory", "--listen", "tcp:0"]])
  func liveLinesFitEveryWidth(_ columns: Int, _ command: [String]) throws {
    let session = try TerminalSession(
      command + ["-n", "5"], columns: columns, rows: 50, isComplete: false)
    #expect(try session.status() == 0)
    // The words of other lines may be longer than the narrowest window.
    #expect(columns == 20 || session.screen.wraps == 0, "\(session.screen.lines)")
    #expect(session.screen.unknown == [])
    #expect(session.screen.lines.contains { $0.contains(" m") }, "\(session.screen.lines)")
  }

  @Test(arguments: [
    ("abc", 2, "ab"), ("abc", 3, "abc"), ("東京 1", 3, "東"), ("東京 1", 4, "東京"), ("", 0, ""),
    ("e\u{301}e\u{301}", 1, "e\u{301}"), ("\u{1B}[31mabc\u{1B}[0m", 2, "\u{1B}[31mab\u{1B}[0m"),
    ("👩‍👩‍👧x", 2, "👩‍👩‍👧"),
  ])
  func linesAreCutAtColumns(_ line: String, _ width: Int, _ result: String) {
    #expect(line.cut(to: width) == result)
  }

  @Test func wideCharactersTakeTwoColumns() {
    #expect("東京".columns == 4 && "東京".left(6) == "東京  " && "東京".right(5) == " 東京")
    #expect("東京 東京".wrapped(to: 5, indent: 1) == "東京\n 東京")
  }

  /// Lines that are redrawn would cover the output of commands.
  @Test func theOutputOfCommandsStaysOnTheScreen() throws {
    let session = try TerminalSession([
      "accessory", "--listen", "tcp:0", "-n", "12", "--region", "near=3", "--on-enter",
      "echo command of $UWB_REGION",
    ])
    #expect(try session.status() == 0)
    let lines = session.screen.lines
    #expect(lines.count { $0 == "command of near" } == 1, "\(lines)")
    #expect(lines.last == "1 app, 12 measured, 0 failed", "\(lines)")
  }

  @Test func explanationsOfFailuresWrap() throws {
    let (bench, chip) = try simulatedChip()
    let session = try TerminalSession(
      ["range", "--device", chip.path, "--interval", "50", "-n", "3"], rows: 50)
    #expect(try session.status() == 82)
    #expect(session.screen.wraps == 0, "\(session.screen.lines)")
    #expect(session.screen.lines.contains { $0.contains("likely causes") })
    bench.stop()
  }

  // MARK: keys

  @Test(
    "q ends, and restores the mode of the terminal",
    arguments: [
      (Self.three, " ±0."), (["find"], " m (short-term "),
      (["accessory", "--listen", "tcp:0"], " m "),
    ])
  func qEnds(_ command: [String], _ measured: String) throws {
    let session = try TerminalSession(command)
    try session.expect(measured)
    #expect(session.isRaw)
    session.press("q")
    #expect(try session.status() == 0)
    #expect(!session.isRaw)
    let lines = session.screen.lines
    #expect(lines.count { $0.contains("measured,") || $0.contains(" distance") } == 1, "\(lines)")
  }

  /// Each signal draws the table, and a drawing switches the keys on.
  @Test func aDrawingDuringTheEndDoesNotTurnTheKeysOn() throws {
    let session = try TerminalSession(Self.three)
    try session.expect(" ±0.")
    session.press("q")
    for _ in 0..<2_000 { session.signal(SIGWINCH) }
    #expect(try session.status() == 0)
    #expect(!session.isRaw)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func everyEndRestoresTheModeOfTheTerminal(_ signal: Int32) throws {
    let session = try TerminalSession(Self.three)
    // A peer was measured.
    try session.expect(" ±0.")
    #expect(session.isRaw)
    session.signal(signal)
    #expect(try session.status() == 0)
    #expect(!session.isRaw)
  }

  @Test func pPausesAndTheQuestionMarkShowsTheKeys() throws {
    let session = try TerminalSession(Self.three)
    try session.expect(" ±0.")
    session.press("?")
    try session.expect("q ends, p pauses")
    session.press("p")
    for text in ["paused", "hides this"] { try session.expect(text) }
    // All drawings during a pause are the same, whatever the chip measures meanwhile.
    let before = session.screen.lines
    session.resize(columns: 78, rows: 24)
    for _ in 0..<2 { try session.expect("hides this") }
    #expect(session.screen.lines == before)
    session.press("p?")
    func notes() -> Int {
      session.screen.lines.count { $0.contains("paused") || $0.contains("hides this") }
    }
    for _ in 0..<100 where notes() > 0 { try session.expect("lists keys") }
    #expect(notes() == 0)
    session.press("q")
    #expect(try session.status() == 0)
  }

  @Test func theModeIsRestoredWhileStopped() throws {
    let session = try TerminalSession(Self.three)
    try session.expect(" ±0.")
    session.signal(SIGTSTP)
    while session.state != "T" { sched_yield() }
    #expect(!session.isRaw)
    session.signal(SIGCONT)
    for _ in 0..<100 where !session.isRaw { try session.expect("lists keys") }
    #expect(session.isRaw)
    session.press("q")
    #expect(try session.status() == 0)
    #expect(!session.isRaw)
  }

  // MARK: width

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
