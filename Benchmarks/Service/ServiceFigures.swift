// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The costs of the service that shares chips. Each figure is compared with its aim, or with the
/// value without the service, which is measured in turn. The chips and the programs are other
/// processes.
struct ServiceFigures {
  private let seconds: Int
  private var isWell = true

  /// The error if a process is missing or does not start.
  private struct Failure: Error, CustomStringConvertible { var description: String }

  /// Prints a table. Returns whether nothing was lost. Requires the program `uwbd` in the folder of
  /// this program. Takes 8 to 12 minutes. The quick form takes 30 seconds, and measures only the
  /// delays at the socket.
  static func run(_ settings: Settings) -> Bool {
    guard access(Child.folder.appending(path: "uwbd").path, X_OK) == 0 else {
      print(
        """
        There is no uwbd in \(Child.folder.path). Build it with the same options as this program, \
        such as:
          swift build -c release --product uwbd
        """)
      return false
    }
    var figures = ServiceFigures(seconds: 20)
    print("\n" + Report.machine)
    print(settings.quick ? "30 seconds" : "8 to 12 minutes; with --quick 30 seconds")
    print("| figure | measured | compared with | aim |\n|---|---|---|---|")
    do {
      let seconds = settings.quick ? 2 : 8
      figures.isWell = try HopFigures.measure(seconds: seconds, isQuick: settings.quick)
      if settings.quick { return figures.isWell }
      try figures.measureDelay(rounds: 3)
      try figures.measureReaders()
      try figures.measureRest()
      try figures.measurePython()
    } catch {
      print("\(error)")
      return false
    }
    return figures.isWell
  }

  private func write(_ figure: String, _ measured: String, _ other: String, _ aim: String) {
    print("| \(figure) | \(measured) | \(other) | \(aim) |")
    fflush(nil)
  }

  private func shown(_ value: Double, _ digits: Int = 0) -> String {
    String(format: "%.\(digits)f", value)
  }

  // MARK: the service

  /// The service with its chips.
  final class Bench {
    let chips: Child
    let paths: [String]
    let service: Child
    let socket: String
    let sizes: [String]
    private let stamps: String

    init(chips count: Int, hertz: Int, frames: Int, measurements: Int) throws {
      let base = NSTemporaryDirectory() + "uwb-service-\(getpid())"
      (stamps, socket) = (base + ".stamps", base + ".socket")
      sizes = ["\(frames)", "\(hertz)", stamps]
      chips = try Child(["chips", "\(count)"] + sizes + ["\(measurements)"])
      let reader = chips
      paths = try (0..<count).map { _ in try reader.readLine() }
      service = try Child("uwbd", ["--socket", socket] + paths)
      for _ in 0..<10_000 where access(socket, F_OK) != 0 && service.process.isRunning {
        usleep(1_000)
      }
      guard access(socket, F_OK) == 0 else {
        service.process.terminate()
        throw Failure(description: "uwbd does not listen at \(socket).")
      }
      try ReaderProcess.waitForChips(paths, at: socket)
    }

    func end() throws {
      service.process.terminate()
      try service.end()
      try chips.end()
      unlink(stamps)
    }

    private func text(_ name: String) -> String {
      let path = "/proc/\(service.process.processIdentifier)/\(name)"
      // The size of such a file is not known before it is read.
      let contents = FileManager.default.contents(atPath: path)
      return contents.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private func status(_ key: String, _ text: String) -> Int {
      text.split(separator: "\n").first { $0.hasPrefix(key + ":") }?
        .split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// The processor time of the service in seconds.
    var processor: Double {
      let fields = text("stat").split(separator: ")").last?.split(separator: " ") ?? []
      guard fields.count > 12 else { return 0 }
      let ticks = (Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)
      return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The resident memory of the service in KiB, and the part of it that belongs to files.
    var memory: (all: Int, files: Int) {
      let text = text("status")
      return (status("VmRSS", text), status("RssFile", text))
    }

    /// The number of waits of each thread of the service.
    var waits: [String: Int] {
      let threads = "/proc/\(service.process.processIdentifier)/task"
      let numbers = (try? FileManager.default.contentsOfDirectory(atPath: threads)) ?? []
      return Dictionary(
        uniqueKeysWithValues: numbers.map {
          ($0, status("voluntary_ctxt_switches", text("task/\($0)/status")))
        })
    }
  }

  // MARK: figures

  /// Measures a program that opens the chip itself, through a process that only forwards, and
  /// through the service.
  private mutating func measureDelay(rounds: Int) throws {
    enum Way: CaseIterable { case direct, relayed, shared }
    var results: [Way: [[Double]]] = [:]
    let frames = 100 * seconds
    for _ in 0..<rounds {
      for way in Way.allCases {
        let bench = try Bench(chips: 1, hertz: 100, frames: frames, measurements: 1)
        if way != .shared {
          bench.service.process.terminate()
          bench.service.process.waitUntilExit()
        }
        let relay = way == .relayed ? try Child(["relay", bench.paths[0]]) : nil
        let path = way == .shared ? "uwbd:\(bench.socket)" : try relay?.readLine() ?? bench.paths[0]
        let host = try Child(["host", "0"] + bench.sizes + ["0", path])
        let result = try host.readLine().split(separator: " ").map { Double($0) ?? 0 }
        results[way, default: []].append(result)
        isWell = isWell && Int(result[0]) == frames
        try host.end()
        try relay?.end()
        try bench.end()
      }
    }
    func middle(_ way: Way, _ column: Int) -> Double {
      Percentiles((results[way] ?? []).map { $0[column] }).p50
    }
    func both(_ way: Way) -> String { "\(shown(middle(way, 4))), \(shown(middle(way, 5)))" }
    let (p50, p99) = (
      middle(.shared, 4) - middle(.direct, 4), middle(.shared, 5) - middle(.direct, 5)
    )
    write(
      "S1: chip to program, 100 Hz, p50 and p99 in us", both(.shared),
      "\(both(.direct)) without the service; \(both(.relayed)) through one that only passes on",
      "+\(shown(p50)) <= 40 \(p50 <= 40 ? "met" : "MISSED"), "
        + "+\(shown(p99)) <= 150 \(p99 <= 150 ? "met" : "MISSED")")
  }

  /// The measurements that readers received, and their costs.
  private struct Reading {
    var core: Double
    var p50: Double
    var p99: Double
    var missing: Int
    /// The number of lost measurements of reading connections, and of the stopped one.
    var lost: Int
    var lostByStopped: Int
    /// The growth of the service's memory in KiB.
    var grown: Int
  }

  private func read(
    _ connections: Int, _ measurements: Int, hertz: Int, pause: Int, stops: Bool = false
  ) throws -> Reading {
    // The stopped connection and its comparison take longer: about a minute.
    let seconds = connections == 1 || pause > 0 ? seconds : 3 * seconds
    let bench = try Bench(
      chips: 1, hertz: hertz, frames: seconds * hertz, measurements: measurements)
    let readers = try Child(
      ["readers", "\(connections)"] + bench.sizes + ["\(pause)", bench.socket, "\(measurements)"]
        + (stops ? ["stop"] : []))
    _ = try readers.readLine()
    let (before, memory, begin) = (bench.processor, bench.memory.all, Date.now)
    _ = try readers.readLine()
    let core = (bench.processor - before) / Date.now.timeIntervalSince(begin)
    let grown = bench.memory.all - memory
    let numbers = try readers.readLine().split(separator: " ").map { Double($0) ?? 0 }
    try readers.end()
    try bench.end()
    return Reading(
      core: core, p50: numbers[0], p99: numbers[1], missing: Int(numbers[2]), lost: Int(numbers[3]),
      lostByStopped: Int(numbers[4]), grown: grown)
  }

  private mutating func measureReaders() throws {
    let all = try read(50, 10, hertz: 20, pause: 0)
    let one = try read(1, 10, hertz: 20, pause: 0)
    func percent(_ reading: Reading) -> String { shown(100 * reading.core, 1) + " %" }
    func verdict(_ value: Double, _ limit: Double) -> String {
      "<= \(shown(limit)) \(value <= limit ? "met" : "MISSED")"
    }
    write(
      "S2: 50 programs, 10 tags at 20 Hz, of a core", percent(all), "\(percent(one)) with one",
      verdict(100 * all.core, 15) + " %")
    let batches = try read(50, 10, hertz: 20, pause: 50)
    write(
      "S2: the same with `every_ms` of 50", percent(batches), percent(all),
      verdict(100 * batches.core, 4) + " %")
    let stopped = try read(50, 10, hertz: 20, pause: 0, stops: true)
    write(
      "S3: one of the 50 takes nothing: p99 of the others in us", shown(stopped.p99),
      "\(shown(all.p99)) without it", verdict(100 * (stopped.p99 / all.p99 - 1), 10) + " % more")
    write(
      "S3: memory, and the losses it learns of",
      "+\(stopped.grown) KiB, \(stopped.lostByStopped) with \(stopped.missing) missing",
      "+\(all.grown) KiB", verdict(Double(stopped.grown), 2_048) + " KiB")
    for reading in [all, one, batches, stopped] where reading.missing != 0 || reading.lost != 0 {
      print("lost: \(reading.lost), missing: \(reading.missing)")
      isWell = false
    }
  }

  private mutating func measureRest() throws {
    let bench = try Bench(chips: 2, hertz: 1, frames: 1, measurements: 1)
    // In this time, threads that were only needed for the start exit.
    sleep(10)
    let (processor, waits, begin) = (bench.processor, bench.waits, Date.now)
    sleep(UInt32(seconds))
    let time = Date.now.timeIntervalSince(begin)
    let core = 100 * (bench.processor - processor) / time
    let woken = bench.waits.map { $1 - (waits[$0] ?? 0) }.reduce(0, +)
    let (wakes, memory) = (Double(woken) / time, bench.memory)
    try bench.end()
    write(
      "S9: two chips at rest: of a core, wakes a second", "\(shown(core, 2)) %, \(shown(wakes, 2))",
      "", "\(core <= 0.1 ? "met" : "MISSED"): 0.1 %; \(wakes == 0 ? "met" : "MISSED"): 0")
    write(
      "S9: resident memory", "\(shown(Double(memory.all) / 1_024, 1)) MiB",
      "\(shown(Double(memory.files) / 1_024, 1)) of it the program and its libraries",
      "\(memory.all <= 25 * 1_024 ? "met" : "MISSED"): 25 MiB")
  }

  /// Measures the package for Python, if this runs in the repository.
  private mutating func measurePython() throws {
    guard access("python/src/uwb", F_OK) == 0 else { return }
    let count = seconds * 1_000
    let bench = try Bench(chips: 1, hertz: 100, frames: seconds * 100, measurements: 10)
    let code = """
      import sys, time
      sys.path.insert(0, "python/src")
      import uwb
      with uwb.connect(sys.argv[1]) as service:
          with service.start(eval(sys.argv[2])) as session:
              for number, m in enumerate(session.measurements(queue=10_000)):
                  if number == 0: begin = time.monotonic(), time.process_time()
                  if number == \(count) - 1: break
      print((time.process_time() - begin[1]) / (time.monotonic() - begin[0]))
      """
    let python = try Child(
      "/usr/bin/env", ["python3", "-c", code, bench.socket, ReaderProcess.session])
    let core = 100 * (Double(try python.readLine()) ?? .infinity)
    try python.end()
    try bench.end()
    write(
      "S11: Python, 1,000 measurements a second, of a core", "\(shown(core, 1)) %", "",
      "<= 15 % \(core <= 15 ? "met" : "MISSED")")
  }
}
