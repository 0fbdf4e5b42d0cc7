// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Foundation
import Glibc
import ProgramTestSupport
import System
import SystemPackage
import Testing
import UCI
import UWB
import UWBTestSupport
import UWBTools

@testable import uwbctl
@testable import uwblab

/// Files from unknown sources, given to the program in a process of its own.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct HostileFileTests {
  /// Runs a shell command, in which `uwbctl` and `uwblab` are the programs.
  static func sh(_ line: String, in folder: TemporaryFolder) throws -> ChildProcess.Outcome {
    try ChildProcess(
      [
        "-c",
        "uwbctl() { \"$uwbctl\" \"$@\"; }; uwblab() { \"$uwblab\" \"$@\"; }; "
          + "uwbctl=$1; uwblab=$2; \(line)",
        "bash", ChildProcess.uwbctl, ChildProcess.uwblab,
      ], in: folder.path(""), program: "bash"
    ).outcome()
  }

  /// Every command that reads a file, with the file at the end.
  private static let readers = [
    "uwblab compute ds-twr", "uwblab compute ss-twr", "uwblab compute filter",
    "uwblab compute find", "uwblab compute angle t.csv --geometry",
    "uwblab compute locate t.csv --anchors", "uwblab compute ss-twr t.csv --calibration",
    "uwblab calibrate delay --from", "uwblab calibrate angle --from",
    "uwblab calibrate power --from", "uwblab calibrate path --from",
    "uwblab calibrate delay --yes --positions", "uwbctl calibration restore",
    "uwbctl simulate -t 0.1 --scene", "uwbctl range -n 1 --profile",
    "uwbctl range -n 1 --calibration", "uwbctl replay", "uwbctl replay --as-device -t 0.1",
    "uwbctl decode --file", "uwbctl profile check", "uwbctl profile print --from",
    "uwbctl firmware check", "uwbctl diff p.json",
  ]

  /// Returns the command with the program as a variable of the shell, for `ulimit` and `timeout`.
  private static func variable(_ reader: String) -> String {
    "\"$" + reader.prefix(6) + "\"" + reader.dropFirst(6)
  }

  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    _ = try folder.write(
      "time_s,pdoa_rad,anchor,range_m,t1,t2,t3,t4\n1,1,A,1,1,2,3,4\n", to: "t.csv")
    _ = try folder.write(Preset.firaStatic.profile().text(includingSecrets: true), to: "p.json")
    return folder
  }

  /// Words of a shell command line that stand where a file should be.
  private static let noFiles = [
    "directory", "socket", "tty", "missing", "empty", "<(head -c 3M /dev/urandom)",
  ]

  /// Each reader gets each of these words in this process, and two of them in a process of its own.
  /// It rejects the word with one sentence, in time, and with less than 1 GB of memory.
  @Test(arguments: readers.indices)
  func whatIsNoFileIsRefused(_ index: Int) async throws {
    let folder = try folder()
    defer { folder.remove() }
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    try #require(withUnixAddress(folder.path("socket")) { bind(socket, $0, $1) } == 0)
    let made = try Self.sh(
      "mkdir directory && ln -s /dev/tty tty && ln -s /dev/null empty && "
        + "head -c 3M /dev/urandom > random", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let reader = Self.readers[index]
    // `decode` accepts an empty file, which has no invalid frame.
    let files = Self.noFiles.filter { $0 != "empty" || !reader.hasPrefix("uwbctl decode") }
    let statuses: Set<Int32> = [64, 65, 66, 69, 78]
    let command = try Self.parse(reader + " x", in: folder)
    for file in files {
      let link = folder.path("x")
      try? FileManager.default.removeItem(atPath: link)
      try FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: file.hasPrefix("<") ? "random" : file)
      let status = await Self.status(command)
      #expect(statuses.contains(status), "\(reader) \(file): \(status)")
    }
    // Each reader gets one endless file and one other, in turn, because the programs share a few
    // readers of files.
    let endless = ["/dev/zero", "<(yes $(printf 'x%.0s' {1..500}))", "/dev/full"]
    for file in [endless[index % endless.count], files[index % files.count]] {
      let run = try Self.sh(
        "ulimit -v 3000000; timeout 600 \(Self.variable(reader)) \(file)", in: folder)
      #expect(statuses.contains(run.status), "\(reader) \(file): \(run.status) \(run.complaints)")
      #expect(run.complaints.contains(reader.prefix(6)), "\(reader): \(run.complaints)")
      #expect(run.complaints.split(separator: "\n").count <= 4, "\(reader): \(run.complaints)")
    }
  }

  /// No program ever writes to the pipe, so the command waits until a signal ends it.
  @Test func waitingForAPipeCanBeEnded() throws {
    let folder = try folder()
    defer { folder.remove() }
    for reader in [
      "uwbctl replay", "uwblab compute filter", "uwbctl range --profile", "uwbctl decode --file",
    ] {
      let run = try Self.sh(
        "mkfifo -m 600 p-$RANDOM; timeout -s INT 0.5 \(Self.variable(reader)) p-*; s=$?; rm p-*; exit $s",
        in: folder)
      #expect([124, 130, 0].contains(run.status), "\(reader): \(run.status) \(run.complaints)")
    }
  }

  /// Text as programs of Windows write it: a byte order mark and CR LF change nothing, and UTF-16
  /// is refused.
  @Test func textOfWindowsIsRead() throws {
    let folder = try folder()
    defer { folder.remove() }
    _ = try folder.write("6001000101\n2000000101\n", to: "frames")
    _ = try folder.write("time_s,range_m\n0,3\n1,3\n", to: "ranges.csv")
    let mark = #"printf '\xef\xbb\xbf'"#
    for (reader, file) in [
      ("uwbctl decode --file", "frames"), ("uwbctl decode -f - <", "frames"),
      ("uwbctl decode <", "frames"), ("uwbctl profile check", "p.json"),
      ("uwbctl diff p.json", "p.json"), ("uwblab compute filter", "ranges.csv"),
      ("uwblab compute filter --live", "ranges.csv"),
    ] {
      let plain = try Self.sh("\(reader) \(file)", in: folder)
      #expect(!plain.output.isEmpty, "\(reader): \(plain.complaints)")
      for text in ["cat \(file)", "sed 's/$/\\r/' \(file)"] {
        let marked = try Self.sh("(\(mark); \(text)) > marked; \(reader) marked", in: folder)
        #expect(marked.status == plain.status && marked.output == plain.output, "\(reader)")
      }
      for encoding in ["UTF-16", "UTF-16BE"] {
        let text = "(\(mark); cat \(file)) | iconv -f UTF-8 -t \(encoding) > other"
        let other = try Self.sh("\(text); \(reader) other", in: folder)
        #expect(other.status == 65, "\(reader): \(other)")
      }
    }
  }

  @Test func pipesAndStandardInputAreFiles() throws {
    let folder = try folder()
    defer { folder.remove() }
    let table = "printf 'time_s,range_m\\n0,3\\n1,3\\n'"
    for line in [
      "uwblab compute filter <(\(table))", "\(table) | uwblab compute filter",
      "\(table) | uwblab compute filter -", "\(table) | uwblab compute filter /dev/stdin",
      "mkfifo p; (\(table) > p) & uwblab compute filter p",
    ] {
      let run = try Self.sh(line, in: folder)
      #expect(run.status == 0 && run.output.split(separator: "\n").count == 3, "\(line)")
    }
    #expect(try Self.sh("uwbctl profile check - < p.json", in: folder).status == 0)
    #expect(try Self.sh("echo 6001000101 | uwbctl decode --file -", in: folder).status == 0)
  }

  /// The program at the other end of the pipe writes without end.
  @Test(arguments: ["hex", "log", "pcapng"])
  func decodeDoesNotWaitForTheEnd(_ kind: String) throws {
    let folder = try folder()
    defer { folder.remove() }
    let path = folder.path("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    let pipe = try FileDescriptor.open(FilePath(path), .readWrite)
    defer { try? pipe.close() }
    let child = try ChildProcess(["decode", "--file", path])
    switch kind {
    case "hex": try pipe.writeAll("# READY\n6001000101\n".utf8)
    case "log": try pipe.writeAll("a line\n12:00:00.000 NxpUciR <= 6001000101\n".utf8)
    default:
      let file = folder.path("capture")
      let capture = try ChildProcess.run(["info", "--capture", file])
      try #require(capture.status == 0, "\(capture.complaints)")
      try pipe.writeAll(Data(contentsOf: URL(filePath: file)))
    }
    _ = try child.read(until: "READY (0x01)")
  }

  /// Runs a command in this process, and returns its exit status.
  private static func status(_ command: any ParsableCommand) async -> Int32 {
    do {
      if let command = command as? any ReportingCommand {
        try await reporting { try await command.execute() }
      } else if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        var command = command
        try command.run()
      }
      return 0
    } catch {
      return Uwbctl.exitCode(for: error).rawValue
    }
  }

  /// Parses a command line for one of the two programs, whose files are in a folder.
  private static func parse(
    _ line: String, in folder: TemporaryFolder
  ) throws -> any ParsableCommand {
    let words = line.split(separator: " ").map {
      $0.hasSuffix(".csv") || $0.hasSuffix(".json") || $0 == "x"
        ? folder.path(String($0)) : String($0)
    }
    let arguments = Array(words.dropFirst())
    return words[0] == "uwblab"
      ? try Uwblab.parseAsRoot(arguments)
      : try Uwbctl.parseAsRoot(FormerCommand.replaced(in: arguments))
  }

  /// Bytes that crash the decoder of JSON, as `printf` has them.
  private static let badJSON = [
    #"{"a\xff": 1}"#, #"{"delay_m": "\xc3"}"#, #"\xff\xfe{\x00}\x00"#, #"\x00"#, "",
    #"{"delay_m": NaN}"#, #"{"delay_m": -Infinity}"#, #"{"delay_m": 1e999}"#,
    #"{"delay_m": 1e19}"#, #"{"delay_m": 1e+}"#, "[1.e- , 2]",
    #"{"clock_ppm": 10000000000000000000}"#, #"{"dellay_m": 1}"#,
    #"{"anchors": {"A": [0, 0, 1]}, "hight_m": 1}"#,
    #"{"power_bias": [{"rx_power_dbm": -80, "bias_m": 0.1, "bias": 1}]}"#,
  ]

  /// Returns the bytes of a text, in which `\x` begins a hexadecimal byte.
  private static func bytes(_ text: String) throws -> [UInt8] {
    var parts = text.components(separatedBy: #"\x"#)
    return try Array(parts.removeFirst().utf8)
      + parts.flatMap { try [#require(UInt8($0.prefix(2), radix: 16))] + $0.dropFirst(2).utf8 }
  }

  /// Each reader gets each text in this process, and one of them in a process of its own.
  @Test(
    arguments: readers.filter { reader in
      ["s", "y", "calibration", "scene", "restore"].contains { reader.hasSuffix($0) }
    })
  func badJSONIsRefusedEverywhere(_ reader: String) async throws {
    let folder = try folder()
    defer { folder.remove() }
    let command = try Self.parse(reader + " x", in: folder)
    for text in Self.badJSON {
      try Data(Self.bytes(text)).write(to: URL(filePath: folder.path("x")))
      let status = await Self.status(command)
      #expect(status == 65, "\(reader) \(text)")
    }
    let run = try Self.sh("printf '\(Self.badJSON[0])' > x; \(reader) x", in: folder)
    #expect(run.status == 65, "\(reader): \(run.status) \(run.complaints)")
  }

  @Test func nestingIsRefused() throws {
    let folder = try folder()
    defer { folder.remove() }
    for reader in [
      "uwbctl simulate -t 0.1 --scene", "uwblab compute locate t.csv --anchors",
      "uwbctl profile check", "uwbctl diff p.json",
    ] {
      let run = try Self.sh(
        "printf '[%.0s' $(seq 200000) > x; printf '{\"a\":%.0s' $(seq 20000) > y; "
          + "\(reader) x; a=$?; \(reader) y; echo $a $?", in: folder)
      #expect(run.output == "65 65\n", "\(reader): \(run.output) \(run.complaints)")
    }
  }

  /// The file exists, and must keep its content.
  @Test func onlyRegularFilesAreReplaced() throws {
    let folder = try folder()
    defer { folder.remove() }
    let table = "printf 'time_s,range_m\\n0,3\\n1,3\\n' |"
    let made = try Self.sh(
      """
      ln -s /dev/full full; ln -s target link; echo old > target; chmod 640 target; mkfifo pipe
      \(table) uwblab compute filter --plot full -o out.csv; echo "full $? $(stat -c %F full)"
      \(table) uwblab compute filter --plot link -o out.csv; echo "link $? $(stat -c %F link)"
      stat -c '%F %a' target; head -c 4 target; echo
      cat pipe > copy & \(table) uwblab compute filter --plot pipe -o out.csv; echo "pipe $?"; wait
      stat -c %F pipe; head -c 4 copy; echo
      mkdir folder; \(table) uwblab compute filter --plot folder -o out.csv; echo "folder $?"
      \(table) uwblab compute filter -o /dev/full; echo "output $?"
      echo x > mode; chmod 604 mode; \(table) uwblab compute filter --plot mode -o out.csv
      stat -c %a mode; ls | grep -c 'mode\\.'
      """, in: folder)
    #expect(
      made.output == """
        full 73 symbolic link
        link 0 symbolic link
        regular file 640
        <?xm
        pipe 0
        fifo
        <?xm
        folder 73
        output 71
        604
        0

        """, "\(made.complaints)")
  }

  /// A capture may hold keys: other users must not read it, even if they could read the previous
  /// file.
  @Test func capturesBecomePrivate() throws {
    let folder = try folder()
    defer { folder.remove() }
    let run = try Self.sh(
      "echo old > c; chmod 644 c; uwbctl range -n 2 --interval 20 --capture c > /dev/null 2>&1; "
        + "echo $?; stat -c '%a' c; ln -s /dev/full f; "
        + "uwbctl range -n 2 --capture f > /dev/null; echo $?; stat -c %F f", in: folder)
    let lines = run.output.split(separator: "\n")
    #expect(
      lines == ["0", "600", "73", "symbolic link"] || lines == ["0", "600", "71", "symbolic link"],
      "\(run.output)\(run.complaints)")
    #expect(run.complaints.contains("No space left"))
  }

  @Test(arguments: ["+001", "-001", "0x+01", "0x-1", "+", "00+1"])
  func aNumberWithASignIsNoAddress(_ text: String) throws {
    #expect(MACAddress(text) == nil)
    let range = try #require(throws: (any Error).self) {
      try RangeOptions.parse(["--peer", text]).configuration()
    }
    #expect(Uwbctl.exitCode(for: range).rawValue == 64)
    let add = try #require(throws: (any Error).self) {
      try Uwbctl.parseAsRoot(["multicast", "add", "--", text])
    }
    #expect(Uwbctl.exitCode(for: add).rawValue == 64)
  }

  @Test func aNumberWithASignIsNoAddressOfAProgram() throws {
    let folder = try folder()
    defer { folder.remove() }
    #expect(try Self.sh("uwbctl range -n 1 --peer +001", in: folder).status == 64)
    #expect(try Self.sh("uwbctl multicast add -- +001", in: folder).status == 64)
  }

  // MARK: lost output

  /// Input files of commands without output, created once for all of them.
  private static let inputs = Result<[String: Data], any Error> {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let made = try sh(
      "uwbctl range -n 2 --interval 20 --capture c >/dev/null 2>&1; head -c 5000 /dev/urandom > fw; "
        + "uwbctl profile --preset android > q.json; echo '{A: [0, 0, 1]}' > a.json", in: folder)
    guard made.status == 0 else { throw ChildProcess.Failure(what: made.complaints) }
    return try ["c", "fw", "q.json", "a.json"].reduce(into: [:]) {
      $0[$1] = try Data(contentsOf: URL(filePath: folder.path($1)))
    }
  }

  /// Each command reports that its output was lost, and exits with a status for it.
  @Test(arguments: [
    "--help", "help range", "setup", "doctor sim", "doctor /dev/nothing",
    "range -n 2 --interval 20 --format text", "range -n 2 --interval 20 --format csv",
    "accessory -n 2", "find -n 2", "test periodic-tx --packets 10", "calibration list",
    "calibration get", "calibrate backup -", "capture -n 1 --reset -",
    "range --role dl-tdoa-tag --format csv -n 2", "calibration set ant0.ch9.ant_delay=16459 --yes",
    "replay c --speed max",
    "replay c --as-device -t 0.2", "monitor -t 0.3", "send 21 05 00 00", "reset",
    "firmware check fw",
    "info", "caps", "config list", "config get", "config set LOW_POWER_MODE=off",
    "decode 6001000101", "decode --file c", "explain", "profile", "profile check p.json",
    "profile print --from p.json", "diff p.json q.json", "simulate -t 0.2", "json", "json range",
    "uwblab compute locate t.csv --anchors a.json",
  ])
  func lostOutputIsAnError(_ line: String) throws {
    let folder = try folder()
    defer { folder.remove() }
    for (name, data) in try Self.inputs.get() {
      try data.write(to: URL(filePath: folder.path(name)))
    }
    // All commands use the same code to write, so a closed output and a closed pipe take turns.
    let closed: (String, Int32) =
      line.utf8.count.isMultiple(of: 2) ? (">&-", 71) : ("| exec true", 141)
    for (place, status) in [("> /dev/full", 71), closed] {
      let command = line.hasPrefix("uwblab") ? line : "uwbctl \(line)"
      let run = try Self.sh("\(command) \(place); exit ${PIPESTATUS[0]}", in: folder)
      // A pipe can hold a short text before its reader exits.
      #expect(
        run.status == status || status == 141 && !run.complaints.contains("Cannot write"),
        "\(line) \(place): \(run.status) \(run.complaints)")
      if status == 71 {
        let told = run.complaints.components(separatedBy: "Cannot write").count - 1
        #expect(told == 1, "\(line) \(place): \(run.complaints)")
        // No other error is reported as the cause.
        let others = ["No peer was", "No message was", "ends early"].filter(run.complaints.contains)
        #expect(others.isEmpty, "\(line) \(place): \(run.complaints)")
      }
      // The error belongs to the closed descriptor, and not to one that Swift's runtime opened with
      // its number.
      if place == ">&-" { #expect(run.complaints.contains("Bad file descriptor")) }
    }
  }

  @Test func aValueOfAnotherKindIsSaidInPlainWords() throws {
    let folder = try folder()
    defer { folder.remove() }
    for (text, words) in [
      ("{A: 1}", "an object belongs in A"), ("1", "an object belongs at the top"),
    ] {
      let path = try folder.write(text, to: "anchors.json")
      let run = try Self.sh("uwblab compute locate t.csv --anchors \(path)", in: folder)
      #expect(run.status == 65)
      #expect(run.complaints.contains(words), "\(run.complaints)")
      #expect(!run.complaints.contains("Dictionary"), "\(run.complaints)")
    }
  }

  /// The disk has 16 kB, if this user may create such a disk.
  @Test func fullDisksAreSaid() throws {
    let folder = try folder()
    defer { folder.remove() }
    let line = """
      unshare -m true 2>/dev/null || { echo skipped; exit; }
      export uwbctl uwblab
      unshare -m bash -c 'mkdir m; mount -t tmpfs -o size=16k none m || { echo skipped; exit; }
      printf "time_s,range_m\n0,3\n1,3\n" > r.csv
      (echo board_a,board_b,truth_m,range_m; for i in 1 2 3; do for p in A,B B,C A,C; do
        echo $p,2,2.2; done; done) > b.csv
      try() { head -c $1 /dev/zero > m/filler; program=${!2}; shift 2; "$program" "$@" > /dev/null 2> said
        echo $? $(grep -c "No space left" said); rm m/*; }
      try 12288 uwbctl range -n 40 --interval 10 --capture m/c
      try 16384 uwbctl range -n 4 --interval 10 --capture m/c
      try 16384 uwbctl capture m/c -t 1
      try 12288 uwblab compute filter r.csv --plot m/p -o /dev/null
      try 16384 uwblab compute filter r.csv -o m/o
      try 16384 uwbctl simulate -t 1 --stamps m/s
      try 16384 uwbctl calibration backup m/b
      try 16384 uwblab calibrate delay --from b.csv --output m/d'
      """
    let run = try Self.sh(line, in: folder)
    if run.output.contains("skipped") { return }
    let statuses = run.output.split(separator: "\n")
    #expect(
      statuses == ["71 1", "71 1", "71 1", "0 0", "71 1", "71 1", "73 1", "73 1"],
      "\(run.output)\(run.complaints)")
  }

  // MARK: mistakes that were silent

  @Test func missingThingsAreSaidWithAStatus() throws {
    let folder = try folder()
    defer { folder.remove() }
    func run(_ line: String, _ status: Int32, _ words: String...) throws {
      let run = try Self.sh(line, in: folder)
      #expect(run.status == status, "\(line): \(run.status)\n\(run.complaints)")
      for word in words { #expect(run.complaints.contains(word), "\(line): \(run.complaints)") }
    }
    // 32 bits, wrapped at the second stamp of the responder.
    let stamps = "t1,t2,t3,t4,t5,t6\\n100,4294960000,127791000,127799464,638980264,638974700\\n"
    try run(
      "printf '\(stamps)' | uwblab compute ds-twr", 65, "line 2", "--unit", "--counter-bits")
    try run("printf '\(stamps)' | uwblab compute ds-twr --counter-bits 32", 0)
    let ranges = "time_s,anchor,range_m\\n0,A,1\\n0,B,2\\n0,C,3\\n0,D,3\\n1,A,1\\n1,B,2\\n1,C,3\\n"
    try run(
      "echo '{A: [0, 0, 1], B: [3, 0, 1], C: [0, 3, 2]}' > a.json; printf '\(ranges)' | "
        + "uwblab compute locate --anchors a.json", 65, "D (1 row)", "--anchors")
    try run("echo time_s,range_m | uwblab compute filter", 65, "no rows")
    try run(
      "printf 'truth_m,range_m,rx_power_dbm\\n' | uwblab calibrate power --from -", 65, "no rows")
    // Two pairs that have no board in common.
    let pairs = "for i in 1 2 3 4 5 6 7 8 9; do echo A,B,2,2.3; echo C,D,2,2.2; done"
    try run(
      "(echo board_a,board_b,truth_m,range_m; \(pairs)) | uwblab calibrate delay --from - --output d.json; "
        + "grep -q pair_delays d.json", 0, "Written to d.json")
    // Noise, degrees where radians are expected, and two angles only.
    try run(
      "python3 -c 'import random; random.seed(3); print(\"angle_deg,pdoa_rad\"); [print(a, random.uniform"
        + "(-3.1, 3.1), sep=\",\") for a in range(-60, 61, 5) for _ in range(5)]' | "
        + "uwblab calibrate angle --from - --output p.out; s=$?; test ! -e p.out && exit $s", 65)
    try run(
      "python3 -c 'import math; print(\"angle_deg,pdoa_rad\"); [print(a, 150 * math.sin(math.radians(a)), "
        + "sep=\",\") for a in range(-60, 61, 5)]' | uwblab calibrate angle --from - --output p.out; "
        + "s=$?; test ! -e p.out && exit $s", 65, "degrees")
    try run(
      "python3 -c 'import math; print(\"angle_deg,pdoa_rad\"); [print(a, 3 * math.sin(math.radians(a)), "
        + "sep=\",\") for a in (-75, 75) for _ in range(8)]' | uwblab calibrate angle --from - "
        + "--output p.out; s=$?; test ! -e p.out && exit $s", 65)
  }

  /// Each document is read in this process, and one in a process of its own.
  @Test(arguments: [
    ("calibrate power --from", "truth_m,range_m,rx_power_dbm"),
    ("calibrate delay --from", "truth_m,range_m,channel,board_a,board_b"),
    ("calibrate path --from", "nlos,room,range_m,truth_m,rx_power_dbm,fp_power_dbm"),
    ("calibrate angle --from", "angle_deg,pdoa_rad"),
    ("compute filter --output out.csv", "time_s,range_m"),
    ("compute ds-twr --output out.csv", "t1,t2,t3,t4,t5,t6"),
    ("compute find --output out.csv", "time_s,x,y,z,qw,qx,qy,qz,range_m"),
  ])
  func absurdNumbersInTablesAreNoCrash(_ line: String, _ header: String) async throws {
    let folder = try folder()
    defer { folder.remove() }
    let command = try Self.parse("uwblab \(line) x", in: folder)
    for number in ["nan", "inf", "1e19", "1e300", "-1e308", "9223372036854775808", "1e-320"] {
      let cells = header.split(separator: ",").map { _ in number }.joined(separator: ",")
      let rows = String(repeating: cells + "\n", count: 9)
      _ = try folder.write("\(header)\n\(rows)", to: "x")
      let status = await Self.status(command)
      #expect([0, 65].contains(status), "\(line) \(number): \(status)")
    }
    let run = try Self.sh("uwblab \(line) - < x", in: folder)
    #expect([0, 65].contains(run.status), "\(line): \(run.status) \(run.complaints)")
  }
}
