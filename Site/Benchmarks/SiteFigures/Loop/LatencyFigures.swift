// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SiteServer
import Synchronization
import UWBSite
import Varlink

/// The time from the last range of a round in a pipe to the place at a sink.
struct LatencyFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latency",
    abstract: "Source to place through a pipe, beside a relay that only reads the lines.",
    discussion: "The first 2 seconds, in which the places of all tags are searched, do not count.")

  @Option(help: "Tags, each with 10 rounds a second of 8 ranges.")
  var tags = 100

  @Option(help: "Seconds.")
  var seconds = 10

  @Flag(help: "Record a history as well, and serve two clients at a socket, 20 times a second.")
  var served = false

  func run() throws {
    let relay = try LatencyScene.measure(tags: tags, seconds: seconds) { path, clock, isEnded in
      LineRelay(path, clock, isEnded).run()
    }
    let site = try LatencyScene.site(tags: tags)
    let places = try LatencyScene.measure(tags: tags, seconds: seconds) { path, clock, isEnded in
      let source = try Source(argument: path, SiteNames(site))
      let servers = served ? try Servers() : nil
      defer { servers?.close() }
      // The last sink: its times include the work of the others.
      let sinks = (servers?.sinks ?? []) + [LatencySink(clock)]
      var runner = try SiteRunner(
        site, [source], sinks: sinks, epoch: Date().timeIntervalSince1970, isStopped: isEnded)
      servers?.connect()
      try runner.run()
    }
    for (id, part, aim) in [("p50", 0.5, 2.0), ("p99", 0.99, 10.0)] {
      print(
        Figure(
          id: id, quantity: "\(tags) tags at 10 Hz, 8 ranges: source to place", unit: "ms",
          textbook: ("relay of lines", 1000 * Errors.quantile(relay.latencies, part)),
          value: 1000 * Errors.quantile(places.latencies, part), aim: 0...aim
        ).line)
    }
    print(
      Figure(
        id: "cpu", quantity: "the same, feeder included", unit: "% of a core",
        textbook: ("relay of lines", 100 * relay.load), value: 100 * places.load
      ).line)
    print(
      "\(places.latencies.count) of \(tags * (10 * seconds - LatencyScene.warmUp)) rounds "
        + "after the first 2 s have a place")
    let turns = [0.5, 0.99, 1].map { 1000 * Errors.quantile(places.turns, $0) }
    print(
      "loop: \(turns[0]) ms of processor time in a turn, p99 \(turns[1]) ms, at most \(turns[2]) ms"
    )
    print(
      "memory: \(places.memory.first) MiB after the first 2 s, \(places.memory.last) MiB at the end"
    )
  }
}

/// A history and a service in a folder of their own, with clients that read each reply.
private final class Servers {
  private static let clients = 2

  private let folder = NSTemporaryDirectory() + "/latency-" + UUID().uuidString
  private let history: HistorySink
  private let service: ServiceSink
  private let octets = Octets()
  private var tasks: [Task<Void, Never>] = []

  init() throws {
    history = try HistorySink(HistoryFolder(folder)) { print($0) }
    service = ServiceSink(at: folder + "/socket")
  }

  var sinks: [any SiteSink] { [history, service] }

  func connect() {
    let path = folder + "/socket"
    let octets = octets
    tasks = (0..<Self.clients).map { _ in
      Task {
        // The service ends the replies with the run.
        guard let client = try? await VarlinkClient.connect(to: path) else { return }
        defer { client.close() }
        let replies = client.replies(
          to: "org.swift-uwb.Site.Watch", Array(#"{"after": 0, "every_ms": 50}"#.utf8))
        do { for try await reply in replies { octets.add(reply.count) } } catch {}
      }
    }
  }

  func close() {
    for task in tasks { task.cancel() }
    print("clients: \(octets.count >> 20) MiB of replies")
    history.close()
    service.close()
    try? FileManager.default.removeItem(atPath: folder)
  }
}

/// The result of a measurement.
struct LatencyResult {
  var latencies: [Double]
  /// The processor time of each turn of the loop in seconds: beside a latency, whether the loop or
  /// the machine was late.
  var turns: [Double]
  var load: Double
  /// MiB after the first rounds and after the last one.
  var memory: (first: Int, last: Int)
}

/// The moment at which the last line of each tag's round was written, and the delays until its end.
final class LatencyClock: Sendable {
  private struct State {
    var sent: [Double?]
    var latencies: [Double] = []
    var turns: [Double] = []
  }

  private let state: Mutex<State>

  init(tags: Int) { state = Mutex(State(sent: Array(repeating: nil, count: tags))) }

  static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

  func send(_ tag: Int) { state.withLock { $0.sent[tag] = Self.now } }

  /// Notes the first end of a round.
  func end(_ tag: Int) {
    let now = Self.now
    state.withLock { state in
      guard let sent = state.sent[tag] else { return }
      state.latencies.append(now - sent)
      state.sent[tag] = nil
    }
  }

  var latencies: [Double] { state.withLock(\.latencies) }

  /// Notes the processor time of a turn of the loop.
  func endTurn(_ seconds: Double) { state.withLock { $0.turns.append(seconds) } }

  var turns: [Double] { state.withLock(\.turns) }
}

private final class LatencySink: SiteSink {
  private let clock: LatencyClock
  private var last: Double?

  init(_ clock: LatencyClock) { self.clock = clock }

  func receive(_ batch: SiteBatch) {
    let now = Self.spent
    if let last { clock.endTurn(now - last) }
    last = now
    for case .place(let tag, _, _) in batch.events.lazy.map(\.kind) {
      if let number = Int(tag) { clock.end(number) }
    }
  }

  /// The processor time of this thread in seconds.
  private static var spent: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + 1e-9 * Double(time.tv_nsec)
  }
}

/// Reads lines, and finds the last one of each round.
private struct LineRelay {
  private let path: String
  private let clock: LatencyClock
  private let isEnded: @Sendable () -> Bool

  init(_ path: String, _ clock: LatencyClock, _ isEnded: @escaping @Sendable () -> Bool) {
    (self.path, self.clock, self.isEnded) = (path, clock, isEnded)
  }

  func run() {
    guard let file = FileHandle(forReadingAtPath: path) else { return }
    var splitter = LineSplitter()
    while !isEnded(), case let data = file.availableData, !data.isEmpty {
      splitter.add(Array(data)[...])
      while let line = splitter.next() {
        // The last line of a round has the last anchor. The tag is between quotation marks.
        let text = String(decoding: line, as: UTF8.self)
        guard text.contains("\"A7\""), let tag = text.split(separator: "\"").dropFirst(5).first
        else { continue }
        if let number = Int(tag) { clock.end(number) }
      }
    }
  }
}

/// A hall with eight anchors, and a feeder of ranges of tags at rest.
enum LatencyScene {
  private static let anchors: [SIMD3<Double>] = [
    [0, 0, 2.5], [20, 0, 3], [20, 15, 2.5], [0, 15, 3], [10, 0, 3], [20, 7, 2.5], [10, 15, 3],
    [0, 7, 2.5],
  ]

  static func site(tags: Int) throws -> Site {
    let anchors = anchors.enumerated().map { index, place in
      "{\"id\": \"A\(index)\", \"position_m\": [\(place.x), \(place.y), \(place.z)],"
        + " \"position_sd_m\": [0.02, 0.02, 0.02]}"
    }
    let tags = (0..<tags).map { "{\"id\": \"\($0)\", \"height_m\": 1}" }
    let text =
      "{\"version\": 1, \"gauge\": {\"kind\": \"measured\"}, "
      + "\"anchors\": [\(anchors.joined(separator: ", "))], "
      + "\"tags\": [\(tags.joined(separator: ", "))]}"
    return try Site(json: Array(text.utf8))
  }

  /// Feeds a pipe while the body reads it at a path.
  static func measure(
    tags: Int, seconds: Int,
    _ body:
      @escaping @Sendable (String, LatencyClock, @escaping @Sendable () -> Bool) throws -> Void
  ) throws -> LatencyResult {
    let (pipe, clock, isEnded) = (Pipe(), LatencyClock(tags: tags), StopFlag())
    let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
    let (start, spent) = (LatencyClock.now, Foundation.clock())
    let finished = DispatchSemaphore(value: 0)
    DispatchQueue(label: "reader").async {
      try? body(path, clock, { isEnded.isSet })
      finished.signal()
    }
    let memory = feed(pipe.fileHandleForWriting, tags, seconds, clock)
    Thread.sleep(forTimeInterval: 0.2)
    isEnded.set()
    try pipe.fileHandleForWriting.close()
    finished.wait()
    let load = Double(Foundation.clock() - spent) / Double(CLOCKS_PER_SEC)
    return LatencyResult(
      latencies: clock.latencies, turns: clock.turns, load: load / (LatencyClock.now - start),
      memory: memory)
  }

  /// The memory of the process in MiB.
  private static var memory: Int {
    let status = FileManager.default.contents(atPath: "/proc/self/status") ?? Data()
    let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first {
      $0.hasPrefix("VmRSS:")
    }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
  }

  /// The first rounds, in which the places of all tags are searched at once.
  static let warmUp = 20

  /// Writes the rounds of all tags, evenly over each tenth of a second.
  ///
  /// - Returns: the memory after the first rounds and after the last one.
  private static func feed(
    _ file: FileHandle, _ tags: Int, _ seconds: Int, _ clock: LatencyClock
  ) -> (first: Int, last: Int) {
    var generator = SplitMix64(seed: 3)
    let start = LatencyClock.now
    var first = memory
    for round in 0..<(10 * seconds) {
      if round == warmUp { first = memory }
      for tag in 0..<tags {
        let due = start + (Double(round) + Double(tag) / Double(tags)) / 10
        let wait = due - LatencyClock.now
        if wait > 1e-4 { Thread.sleep(forTimeInterval: wait) }
        var lines = ""
        for (index, anchor) in anchors.enumerated() {
          let arm = SIMD3(2 + Double(tag % 17), 2 + Double(tag % 11), 1) - anchor
          let range = (arm * arm).sum().squareRoot() + 0.05 * (generator.uniform() - 0.5)
          lines += "{\"t\": \(due - start), \"tag\": \"\(tag)\", \"anchor\": \"A\(index)\", "
          lines += "\"distance_m\": \(range)}\n"
        }
        if round >= warmUp { clock.send(tag) }
        try? file.write(contentsOf: Data(lines.utf8))
      }
    }
    return (first, memory)
  }
}

private final class StopFlag: Sendable {
  private let flag = Atomic<Bool>(false)
  var isSet: Bool { flag.load(ordering: .relaxed) }
  func set() { flag.store(true, ordering: .relaxed) }
}

private final class Octets: Sendable {
  private let sum = Atomic<Int>(0)
  var count: Int { sum.load(ordering: .relaxed) }
  func add(_ count: Int) { sum.wrappingAdd(count, ordering: .relaxed) }
}
