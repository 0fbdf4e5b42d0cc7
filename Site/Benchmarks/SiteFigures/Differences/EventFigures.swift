// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SiteScenarios
import UWBSite

/// The places of an uplink site while synchronisation fails, and anchors restart or move.
struct EventFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events",
    abstract: "Places while synchronisation is lost, a reference is replaced, an anchor fails.")

  @Option(help: "The seed.") var seed: UInt64 = 1
  @Option(help: "The number of runs without synchronisation.") var runs: UInt64 = 40
  @Option(help: "A page of documentation whose tables are replaced.") var page: String?

  /// An event at `start`, whose effects are over at `end`.
  private struct Event {
    var name: String
    var start = 10.0
    var end = 20.0
    var scenario = UplinkScenario()
    /// Metres by which the site file has the second anchor wrong.
    var wrong = SIMD3<Double>.zero
  }

  private static var events: [Event] {
    var silent = Event(name: "no synchronisation for 6 s")
    silent.scenario.isSending = { _, time in !(10..<16 ~= time) }
    var replaced = Event(name: "the reference falls silent, a second one goes on")
    replaced.scenario.references = [0, 4]
    replaced.scenario.isSending = { reference, time in reference == 4 || time < 10 }
    var anchor = Event(name: "an anchor restarts")
    anchor.scenario.restarts = [(3, 10)]
    var reference = Event(name: "the only reference restarts")
    reference.scenario.restarts = [(0, 10)]
    var moved = Event(name: "an anchor is 1 m from its place in the site file", start: 3, end: 40)
    moved.wrong = [0, 1, 0]
    return [silent, replaced, anchor, reference, moved]
  }

  func run() throws {
    let header = [
      "event", "largest error before", "meanwhile", "after", "largest radius of 95 % meanwhile",
      "longest time without a place", "reports",
    ]
    let table = [header] + Self.events.map { row($0) }
    for row in table { print(row.joined(separator: " | ")) }
    let radii = SilentRun.table(seeds: seed..<seed + runs)
    for row in radii { print(row.joined(separator: " | ")) }
    guard let page else { return }
    try FigurePage.replace("events", in: page, with: table)
    try FigurePage.replace("radii", in: page, with: radii)
  }

  private func row(_ event: Event) -> [String] {
    var run = EventRun(tags: 2, wrong: event.wrong)
    var scenario = event.scenario
    (scenario.seed, scenario.seconds, scenario.path) = (seed, event.end + 10, EventRun.path)
    run.follow(scenario)
    func places(_ times: Range<Double>) -> [EventRun.Found] {
      run.found.filter { times.contains($0.time) }
    }
    func error(_ found: [EventRun.Found]) -> String {
      found.map(\.error).max().map { "\(Int((100 * $0).rounded())) cm" } ?? ""
    }
    let meanwhile = places(event.start..<event.end)
    let times = run.found.map(\.time).filter { $0 > 3 } + [scenario.seconds]
    let gap = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
    let radius = meanwhile.map(\.radius).max().map { "\(Int((100 * $0).rounded())) cm" }
    return [
      event.name, event.start > 3 ? error(places(3..<event.start)) : "", error(meanwhile),
      error(places(event.end..<scenario.seconds)), radius ?? "", "\(Figure.number(gap)) s",
      run.reports.joined(separator: ", "),
    ]
  }
}

/// The errors and radii of places while an uplink site has no synchronisation.
private enum SilentRun {
  private static let start = 10.0
  /// The paths of the tags.
  private static let paths: [(name: String, path: @Sendable (Double) -> SIMD3<Double>)] = [
    ("at rest", { _ in [9, 6, 1.2] }),
    ("walks straight on", { time in [0.8 * time - 1, 6, 1.2] }),
    ("walks in circles", EventRun.path),
  ]

  static func table(seeds: Range<UInt64>) -> [[String]] {
    let header = [
      "tag", "seconds without synchronisation", "places", "within their radius of 95 %",
      "error of 95 %", "median radius",
    ]
    return [header]
      + paths.flatMap { name, path in
        let found = seeds.flatMap { follow(path, seed: $0) }
        return [0.0..<0.5, 0.5..<1, 1..<1.5, 1.5..<2.3, 0.5..<2.3].map { times in
          row(name, times, found.filter { times.contains($0.time - start) })
        }
      }
  }

  private static func follow(
    _ path: @escaping @Sendable (Double) -> SIMD3<Double>, seed: UInt64
  ) -> [EventRun.Found] {
    var scenario = UplinkScenario()
    (scenario.seed, scenario.seconds, scenario.path) = (seed, start + 3, path)
    scenario.isSending = { _, time in time < start }
    var run = EventRun(tags: 2, wrong: .zero)
    run.follow(scenario)
    return run.found
  }

  private static func row(_ name: String, _ times: Range<Double>, _ found: [EventRun.Found])
    -> [String]
  {
    func centimetres(_ values: [Double], _ part: Double) -> String {
      "\(Int((100 * Errors.quantile(values, part)).rounded())) cm"
    }
    let within = found.count { $0.error <= $0.radius }
    return [
      name, "\(Figure.number(times.lowerBound)) to \(Figure.number(times.upperBound))",
      "\(found.count)", "\(Figure.number(100 * Double(within) / Double(max(1, found.count)))) %",
      centimetres(found.map(\.error), 0.95), centimetres(found.map(\.radius), 0.5),
    ]
  }
}

/// Two tags on circles in an uplink site, and their places.
struct EventRun {
  struct Found {
    /// Seconds of the run, the error in the plane, and the stated radius of 95 % in metres.
    var time, error, radius: Double
  }

  private(set) var found: [Found] = []
  private(set) var reports: [String] = []
  private let tags: Int
  private var rounds: OneWayRounds
  private var engine: Engine

  init(tags: Int, wrong: SIMD3<Double>) {
    self.tags = tags
    var anchors = UplinkScenario.anchors
    anchors[1] += wrong
    rounds = OneWayRounds(anchors.map { Facing($0) }, sources: 1)
    engine = Engine(
      tags: (0..<tags).map { Engine.Tag("T\($0)", height: .fixed(1.2)) },
      anchors: anchors.enumerated().map { Engine.Anchor("A\($0)", TagTrack.Anchor($1)) })
  }

  /// The tags blink in turn, each on its own circle.
  static let path: @Sendable (Double) -> SIMD3<Double> = { time in
    let turn = Int((time / UplinkScenario().blinkInterval).rounded()) % 2
    let angle = time / 6 + (turn == 0 ? 0 : 3)
    return [10 + 4 * cos(angle), 7 + 4 * sin(angle), 1.2]
  }

  mutating func follow(_ scenario: UplinkScenario) {
    // A tag keeps its circle, whatever the number of its blink.
    var truths: [[(time: Double, place: SIMD3<Double>)]] = Array(repeating: [], count: tags)
    scenario.messages(tags: tags) { now, sender, anchor, message, place in
      if let place, case .tag(let tag) = sender, truths[tag].last?.time != now {
        truths[tag].append((now, place))
      }
      let line = OneWayLine(time: now, device: "A\(anchor)", senders: [], message)
      let moment = OneWayRounds.Moment(time: now, source: 0, arrival: now)
      for finding in rounds.add(line, from: sender, to: .anchor(anchor), at: moment) {
        add(finding)
      }
      for finding in rounds.due(at: now, onlyLate: true) { add(finding) }
      drain(now, truths)
    }
  }

  private mutating func add(_ finding: OneWayRounds.Finding) {
    switch finding {
    case .restarted(let source): engine.restartClock(of: source)
    case .arrivals(let tag, let arrivals, let at):
      engine.add(arrivals, at: at.time, tag: tag, source: at.source, arrival: at.arrival)
    case .angles: break
    }
  }

  private mutating func drain(
    _ now: Double, _ truths: [[(time: Double, place: SIMD3<Double>)]]
  ) {
    var events: [Engine.Event] = []
    engine.drain(now: now) { events.append($0) }
    for event in events {
      switch event {
      case .place(let tag, let place):
        // A place is at most 0.3 s old.
        let near = truths[tag].suffix(4).min {
          abs($0.time - place.time) < abs($1.time - place.time)
        }
        guard let near else { continue }
        let error = place.position - near.place
        let flat = (error.x * error.x + error.y * error.y).squareRoot()
        found.append(Found(time: now, error: flat, radius: place.r95))
      case .lost(let tag, _): reports.append("T\(tag) lost at \(Figure.number(now)) s")
      case .anchorMoved(let anchor, let time, _):
        reports.append("A\(anchor) moved, at \(Figure.number(time)) s")
      case .anchorDoubtful(let anchor, let time):
        reports.append("A\(anchor) doubtful, at \(Figure.number(time)) s")
      case .anchorRestored(let anchor, let time):
        reports.append("A\(anchor) restored, at \(Figure.number(time)) s")
      default: break
      }
    }
  }
}
