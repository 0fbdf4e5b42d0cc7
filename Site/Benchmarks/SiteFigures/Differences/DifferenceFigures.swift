// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SiteScenarios
import UWBSite

/// Differences of time, uplink and downlink, beside the methods of textbooks on the same stamps.
struct DifferenceFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "differences",
    abstract: "Uplink with clocks that drift, and downlink by stamps: errors and cost.")

  @Option(help: "Runs of each kind.") var runs = 8
  @Option(help: "The first seed. Settings were chosen on seeds below 1000.") var seed: UInt64 = 1000

  @Option(help: "A page of documentation whose table is replaced.") var page: String?

  func run() throws {
    let figures = uplink() + downlink() + cost()
    let missed = figures.count { !$0.isReached }
    print("\(figures.count) figures, \(missed) missed")
    if let page { try FigurePage.replace("differences", in: page, with: FigurePage.table(figures)) }
    if missed > 0 { throw ExitCode.failure }
  }

  // MARK: uplink

  private struct Setting {
    var name: String
    var interval: Double
    var loss = 0.0
    var blocked = 0.0
    /// Centimetres: differences and places, live and between two frames.
    var aims: (live: (Double, Double)?, later: (Double, Double)?) = (nil, nil)
  }

  private static let settings = [
    Setting(name: "50 ms", interval: 0.05),
    Setting(name: "150 ms", interval: 0.15, aims: ((9.8, 6.4), (8.0, 4.6))),
    Setting(name: "500 ms", interval: 0.5, aims: ((26, .infinity), nil)),
    Setting(name: "150 ms, 20 % lost", interval: 0.15, loss: 0.2, aims: ((12.8, 8.2), nil)),
    Setting(name: "150 ms, 10 % late", interval: 0.15, blocked: 0.1),
  ]

  private func uplink() -> [Figure] {
    Self.settings.flatMap { setting in
      var live = DifferenceErrors()
      var later = DifferenceErrors()
      var textbook = DifferenceErrors()
      var filtered = DifferenceErrors(isTextbook: true)
      for number in 0..<runs {
        var scenario = UplinkScenario()
        (scenario.interval, scenario.loss) = (setting.interval, setting.loss)
        (scenario.blocked, scenario.seed) = (setting.blocked, seed + UInt64(number))
        var clocks = UplinkClocks(places: UplinkScenario.anchors)
        var lines = Extrapolation()
        var filter = RobustClocks(scenario)
        var waiting: [(SIMD3<Double>, [UplinkClocks.Stamp])] = []
        scenario.run { now, event in
          switch event {
          case .sync(_, let sent, let received):
            for entry in received {
              clocks.addSync(from: 0, sent: sent, at: entry.anchor, received: entry.stamp)
              lines.add(sent: sent, entry.anchor, entry.stamp)
              filter.add(sent: sent, entry.anchor, entry.stamp)
            }
            for (truth, stamps) in waiting {
              later.add(clocks.arrivals(stamps, waits: true), truth)
            }
            waiting = []
          case .blink(let truth, let stamps):
            guard now > 3 else { return }
            live.add(clocks.arrivals(stamps, waits: false), truth)
            textbook.add(lines.arrivals(stamps), truth)
            filtered.add(filter.arrivals(stamps), truth)
            waiting.append((truth, stamps))
          }
        }
      }
      return figures(setting, "live", live, textbook, filtered, setting.aims.live)
        + figures(setting, "between frames", later, textbook, filtered, setting.aims.later)
    }
  }

  private func figures(
    _ setting: Setting, _ kind: String, _ errors: DifferenceErrors, _ textbook: DifferenceErrors,
    _ filtered: DifferenceErrors, _ aims: (Double, Double)?
  ) -> [Figure] {
    func aim(_ value: Double?) -> ClosedRange<Double>? {
      value.flatMap { $0.isFinite ? 0...$0 : nil }
    }
    let name = "last two frames"
    let figures = [
      Figure(
        id: "R4", quantity: "uplink, \(setting.name), \(kind): difference", unit: "cm RMS",
        textbook: (name, 100 * Errors.rms(textbook.differences)),
        filter: 100 * Errors.rms(filtered.differences),
        value: 100 * Errors.rms(errors.differences), aim: aim(aims?.0)),
      Figure(
        id: "R4", quantity: "uplink, \(setting.name), \(kind): place", unit: "cm RMS",
        textbook: (name, 100 * Errors.rms(textbook.places)),
        filter: 100 * Errors.rms(filtered.places),
        value: 100 * Errors.rms(errors.places), aim: aim(aims?.1)),
    ]
    for figure in figures { print(figure.line) }
    print("     \(errors.places.count) places, \(errors.refused) refused")
    return figures
  }

  // MARK: downlink

  private func downlink() -> [Figure] {
    var own = DifferenceErrors(anchors: DownlinkScenario.anchors)
    var textbook = own
    var filtered = DifferenceErrors(anchors: DownlinkScenario.anchors, isTextbook: true)
    for number in 0..<(runs * 100) {
      var scenario = DownlinkScenario()
      scenario.seed = seed + UInt64(number)
      let (truth, messages) = scenario.run()
      var rounds = DownlinkRounds(places: DownlinkScenario.anchors)
      own.add(messages.flatMap { rounds.add($0) }.last, truth)
      // Carriers only: one round, without its final.
      var carriers = DownlinkRounds(places: DownlinkScenario.anchors)
      for message in messages where message.block == scenario.blocks - 1 && message.kind != .final {
        _ = carriers.add(message)
      }
      textbook.add(carriers.finish().last, truth)
      // The clock of the tag by poll and final, the clocks of responders by their carriers.
      var round = DownlinkRounds(places: DownlinkScenario.anchors)
      let last = messages.filter { $0.block == scenario.blocks - 1 }
      filtered.add(last.flatMap { round.add($0) }.last, truth)
    }
    var figures = (1..<DownlinkScenario.anchors.count).map { slot in
      Figure(
        id: "R5", quantity: "downlink, slot \(slot): difference", unit: "cm RMS",
        textbook: ("carriers", 100 * Errors.rms(textbook.bySlot[slot] ?? [])),
        filter: 100 * Errors.rms(filtered.bySlot[slot] ?? []),
        value: 100 * Errors.rms(own.bySlot[slot] ?? []), aim: 0...6.1)
    }
    for (name, part, aim) in [("RMS", Double?.none, 4.2), ("95 %", 0.95, 7.3)] {
      func value(_ places: [Double]) -> Double {
        100 * (part.map { Errors.quantile(places, $0) } ?? Errors.rms(places))
      }
      figures.append(
        Figure(
          id: "R5", quantity: "downlink: place", unit: "cm \(name)",
          textbook: ("carriers", value(textbook.places)), filter: value(filtered.places),
          value: value(own.places), aim: 0...aim))
    }
    for figure in figures { print(figure.line) }
    return figures
  }

  // MARK: cost

  /// The lines of twenty tags that blink in turn, with the frames of synchronisation.
  private func uplinkLines() -> (lines: [(OneWayLine, Engine.Node, Engine.Node)], blinks: Int) {
    var scenario = UplinkScenario()
    // Blinks that wait for a frame of synchronisation cost, too.
    (scenario.seconds, scenario.blinkInterval) = (20, 0.001)
    scenario.path = { _ in SIMD3(9, 6, 1.2) }
    var lines: [(OneWayLine, Engine.Node, Engine.Node)] = []
    scenario.messages(tags: 20) { now, sender, anchor, message, _ in
      let line = OneWayLine(time: now, device: "A\(anchor)", senders: [], message)
      lines.append((line, sender, .anchor(anchor)))
    }
    return (lines, Int(scenario.seconds / scenario.blinkInterval))
  }

  /// The lines of the tags of one cluster, five rounds a second.
  private func downlinkLines(tags: Int) -> [(OneWayLine, Engine.Node, Engine.Node)] {
    var scenario = DownlinkScenario()
    scenario.blocks = 10
    let messages = scenario.run().messages
    return messages.flatMap { stamp in
      (0..<tags).map { tag in
        let line = OneWayLine(
          time: 0.2 * Double(stamp.block), device: "T\(tag)", senders: [], .downlink(stamp))
        return (line, .anchor(stamp.anchor), .tag(tag))
      }
    }
  }

  private func cost() -> [Figure] {
    let (blinks, count) = uplinkLines()
    let uplink = time(blinks, tags: 20, UplinkScenario.anchors)
    let tags = 1000
    let downlink = time(downlinkLines(tags: tags), tags: tags, DownlinkScenario.anchors)
    let figures = [
      Figure(
        id: "R4", quantity: "1,000 blinks a second x 8 anchors, from stamps to places",
        unit: "% of a core", value: uplink.seconds / 20 * 100, aim: 0...25),
      Figure(
        id: "R5", quantity: "\(tags) tags, 5 rounds of 6 responders a second",
        unit: "% of a core", value: downlink.seconds / 2 * 100, aim: nil),
    ]
    for figure in figures { print(figure.line) }
    print("     \(count) blinks of 20 tags: \(uplink.places) places; downlink: \(downlink.places)")
    return figures
  }

  /// Returns the time and the number of places of lines through rounds and engine.
  private func time(
    _ lines: [(OneWayLine, Engine.Node, Engine.Node)], tags: Int, _ anchors: [SIMD3<Double>]
  ) -> (seconds: Double, places: Int) {
    var rounds = OneWayRounds(anchors.map { Facing($0) }, sources: 1)
    var engine = Engine(
      tags: (0..<tags).map { Engine.Tag("T\($0)", height: .fixed(1.2)) },
      anchors: anchors.enumerated().map { Engine.Anchor("A\($0)", TagTrack.Anchor($1)) })
    var places = 0
    let spent = ContinuousClock().measure {
      for (line, sender, receiver) in lines {
        let moment = OneWayRounds.Moment(time: line.time, source: 0, arrival: line.time)
        for finding in rounds.add(line, from: sender, to: receiver, at: moment) {
          guard case .arrivals(let tag, let arrivals, let at) = finding else { continue }
          engine.add(arrivals, at: at.time, tag: tag, source: at.source, arrival: at.arrival)
        }
        engine.drain(now: line.time) { if case .place = $0 { places += 1 } }
      }
    }
    return (spent / .seconds(1), places)
  }
}

/// Errors of differences and places against the truth.
struct DifferenceErrors {
  var differences: [Double] = []
  var bySlot: [Int: [Double]] = [:]
  var places: [Double] = []
  var refused = 0
  private let anchors: [SIMD3<Double>]
  private let solver: ArrivalSolver
  private let isTextbook: Bool

  /// - Parameter isTextbook: whether places are the textbook's.
  init(anchors: [SIMD3<Double>] = UplinkScenario.anchors, isTextbook: Bool = false) {
    (self.anchors, self.isTextbook) = (anchors, isTextbook)
    solver = ArrivalSolver(places: anchors, height: (UplinkScenario.height, 0.05))
  }

  mutating func add(_ arrivals: Arrivals?, _ truth: SIMD3<Double>) {
    func length(_ arm: SIMD3<Double>) -> Double { (arm * arm).sum().squareRoot() }
    guard let arrivals else {
      refused += 1
      return
    }
    for anchor in anchors.indices.dropFirst() {
      guard let found = arrivals.difference(0, anchor) else { continue }
      let error = found - (length(truth - anchors[anchor]) - length(truth - anchors[0]))
      differences.append(error)
      bySlot[anchor, default: []].append(error)
    }
    let found =
      isTextbook
      ? RobustPlace.solve(arrivals, anchors, height: UplinkScenario.height)
      : (try? solver.solve(arrivals))?.position
    guard let found else {
      refused += 1
      return
    }
    let arm = found - truth
    places.append((arm.x * arm.x + arm.y * arm.y).squareRoot())
  }
}

/// The textbook's clocks: a line through the last two frames of synchronisation.
struct Extrapolation {
  private var frames: [Int: [(sent: UInt64, received: UInt64)]] = [:]

  mutating func add(sent: UInt64, _ anchor: Int, _ received: UInt64) {
    frames[anchor, default: []].append((sent, received))
    if frames[anchor]?.count ?? 0 > 2 { frames[anchor]?.removeFirst() }
  }

  func arrivals(_ stamps: [UplinkClocks.Stamp]) -> Arrivals? {
    guard let own = stamps.first(where: { $0.anchor == 0 }) else { return nil }
    var entries = [Arrivals.Entry(anchor: 0, metres: 0, deviation: 0.045)]
    for stamp in stamps where stamp.anchor != 0 {
      guard let pair = frames[stamp.anchor], pair.count == 2 else { continue }
      let step = Double(Ticks.between(pair[0].received, pair[1].received, bits: 40))
      let rate = Double(Ticks.between(pair[0].sent, pair[1].sent, bits: 40)) / step - 1
      let later = Ticks.between(pair[1].received, stamp.received, bits: 40)
      let reference = Ticks.between(pair[1].sent, own.received, bits: 40)
      let arm = UplinkScenario.anchors[stamp.anchor] - UplinkScenario.anchors[0]
      let flight = (arm * arm).sum().squareRoot() / Ticks.metres
      let ticks = Double(later - reference) + Double(later) * rate + flight
      entries.append(
        Arrivals.Entry(anchor: stamp.anchor, metres: ticks * Ticks.metres, deviation: 0.07))
    }
    return Arrivals(entries)
  }
}
