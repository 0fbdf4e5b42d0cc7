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

  func run() throws {
    uplink()
    downlink()
    cost()
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

  private func uplink() {
    for setting in Self.settings {
      var live = DifferenceErrors()
      var later = DifferenceErrors()
      var textbook = DifferenceErrors()
      for number in 0..<runs {
        var scenario = UplinkScenario()
        (scenario.interval, scenario.loss) = (setting.interval, setting.loss)
        (scenario.blocked, scenario.seed) = (setting.blocked, seed + UInt64(number))
        var clocks = UplinkClocks(places: UplinkScenario.anchors)
        var lines = Extrapolation()
        var waiting: [(SIMD3<Double>, [UplinkClocks.Stamp])] = []
        scenario.run { now, event in
          switch event {
          case .sync(_, let sent, let received):
            for entry in received {
              clocks.addSync(from: 0, sent: sent, at: entry.anchor, received: entry.stamp)
              lines.add(sent: sent, entry.anchor, entry.stamp)
            }
            for (truth, stamps) in waiting {
              later.add(clocks.arrivals(stamps, waits: true), truth)
            }
            waiting = []
          case .blink(let truth, let stamps):
            guard now > 3 else { return }
            live.add(clocks.arrivals(stamps, waits: false), truth)
            textbook.add(lines.arrivals(stamps), truth)
            waiting.append((truth, stamps))
          }
        }
      }
      print(setting, "live", live, textbook, setting.aims.live)
      print(setting, "between frames", later, textbook, setting.aims.later)
    }
  }

  private func print(
    _ setting: Setting, _ kind: String, _ errors: DifferenceErrors, _ textbook: DifferenceErrors,
    _ aims: (Double, Double)?
  ) {
    func aim(_ value: Double?) -> ClosedRange<Double>? {
      value.flatMap { $0.isFinite ? 0...$0 : nil }
    }
    let name = "last two frames"
    for figure in [
      Figure(
        id: "R4", quantity: "uplink, \(setting.name), \(kind): difference", unit: "cm RMS",
        textbook: (name, 100 * Errors.rms(textbook.differences)),
        value: 100 * Errors.rms(errors.differences), aim: aim(aims?.0)),
      Figure(
        id: "R4", quantity: "uplink, \(setting.name), \(kind): place", unit: "cm RMS",
        textbook: (name, 100 * Errors.rms(textbook.places)),
        value: 100 * Errors.rms(errors.places), aim: aim(aims?.1)),
    ] { Swift.print(figure.line) }
    Swift.print("     \(errors.places.count) places, \(errors.refused) refused")
  }

  // MARK: downlink

  private func downlink() {
    var own = DifferenceErrors(anchors: DownlinkScenario.anchors)
    var textbook = own
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
    }
    for slot in 1..<DownlinkScenario.anchors.count {
      Swift.print(
        Figure(
          id: "R5", quantity: "downlink, slot \(slot): difference", unit: "cm RMS",
          textbook: ("carriers", 100 * Errors.rms(textbook.bySlot[slot] ?? [])),
          value: 100 * Errors.rms(own.bySlot[slot] ?? []), aim: 0...6.1
        ).line)
    }
    for (name, part, aim) in [("RMS", Double?.none, 4.2), ("95 %", 0.95, 7.3)] {
      func value(_ places: [Double]) -> Double {
        100 * (part.map { Errors.quantile(places, $0) } ?? Errors.rms(places))
      }
      Swift.print(
        Figure(
          id: "R5", quantity: "downlink: place", unit: "cm \(name)",
          textbook: ("carriers", value(textbook.places)), value: value(own.places), aim: 0...aim
        ).line)
    }
  }

  // MARK: cost

  private func cost() {
    var scenario = UplinkScenario()
    scenario.seconds = 20
    var clocks = UplinkClocks(places: UplinkScenario.anchors)
    let solver = ArrivalSolver(
      places: UplinkScenario.anchors, height: (UplinkScenario.height, 0.05))
    var blinks: [[UplinkClocks.Stamp]] = []
    scenario.run { _, event in
      switch event {
      case .sync(_, let sent, let received):
        for entry in received {
          clocks.addSync(from: 0, sent: sent, at: entry.anchor, received: entry.stamp)
        }
      case .blink(_, let stamps): blinks.append(stamps)
      }
    }
    let last = blinks.suffix(8)
    let clock = ContinuousClock()
    var count = 0
    let spent = clock.measure {
      for _ in 0..<100 {
        for stamps in last {
          guard let arrivals = clocks.arrivals(stamps, waits: false) else { continue }
          _ = try? solver.solve(arrivals)
          count += 1
        }
      }
    }
    let micro = spent / .microseconds(1) / Double(max(1, count))
    Swift.print(
      Figure(
        id: "R4", quantity: "1,000 blinks a second x 8 anchors", unit: "% of a core",
        value: micro / 10, aim: 0...25
      ).line)
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

  init(anchors: [SIMD3<Double>] = UplinkScenario.anchors) {
    self.anchors = anchors
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
    guard let place = try? solver.solve(arrivals) else {
      refused += 1
      return
    }
    let arm = place.position - truth
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
