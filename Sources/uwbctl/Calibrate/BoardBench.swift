// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Synchronization
import SystemPackage
import UCI
import UWB
import UWBLink
import UWBSimulator

/// Boards of this machine, opened, that range in pairs.
final class BoardBench: Sendable {
  struct Board: Sendable {
    var name: String
    var device: UWBDevice
    /// Phases of single frames, where the chip reports them.
    var phases: PhaseTap
    /// Of simulated boards, which are placed by program.
    fileprivate var chip: SimulatedBench.Chip?
  }

  /// What one round brought.
  struct Reading: Sendable {
    /// Metres; nil when the round failed.
    var range: Double?
    /// dBm.
    var power: Double?
    /// Of the round, by name.
    var status: String
    /// Seconds.
    var time: Double
  }

  let boards: [Board]
  private let options: BoardOptions
  private let simulation: SimulatedBench?
  private let lastSession = Atomic<UInt32>(0x4341_0000)

  private init(boards: [Board], options: BoardOptions, simulation: SimulatedBench?) {
    self.boards = boards
    self.options = options
    self.simulation = simulation
  }

  /// Opens all of them, lends them to `body`, and closes them again.
  ///
  /// - Parameters:
  ///   - usual: how many simulated boards there are, unless that is given.
  ///   - hasBias: whether the level shifts their distances.
  static func with<R: Sendable>(
    _ options: BoardOptions, usual: Int, least: Int = 2, hasBias: Bool = false,
    _ body: (BoardBench) async throws -> R
  ) async throws -> R {
    var places = try options.named.map { ($0.name, $0.endpoint, nil as SimulatedBench.Chip?) }
    var simulation: SimulatedBench?
    if places.isEmpty {
      let (bench, chips) = try simulated(
        options.simulated ?? usual, options, hasBias: hasBias)
      simulation = bench
      places = chips.map { ($0.name, SimulatedPeers.endpoint($0), $0) }
    }
    guard places.count >= least else {
      throw ValidationError("It takes \(least) boards: --board NAME=DEVICE for each.")
    }
    defer { simulation?.stop() }
    var boards: [Board] = []
    let result: R
    do {
      for (name, endpoint, chip) in places {
        var driverOptions = options.chip.driverOptions
        let phases = PhaseTap()
        driverOptions.tap = { direction, packet, _ in phases.take(direction, packet) }
        let device = try await UWBDevice.open(endpoint, options: driverOptions)
        boards.append(Board(name: name, device: device, phases: phases, chip: chip))
      }
      result = try await body(
        BoardBench(boards: boards, options: options, simulation: simulation))
    } catch {
      for board in boards { await board.device.close() }
      throw error
    }
    for board in boards { await board.device.close() }
    return result
  }

  /// Boards with delays that are not calibrated, as they come from a factory.
  private static func simulated(
    _ count: Int, _ options: BoardOptions, hasBias: Bool
  ) throws -> (SimulatedBench, [SimulatedBench.Chip]) {
    var scene = Scene(seed: options.chip.seed)
    if hasBias {
      scene.radio.powerBias = [.init(level: -95, bias: -0.03), .init(level: -65, bias: 0.04)]
    }
    let bench = SimulatedBench(scene: scene)
    var words: [String] = []
    let chips = try (0..<count).map { index in
      let name = String(UnicodeScalar(UInt8(65 + index)))
      let delay = 0.12 + 0.017 * Double(index * 3 % 5)
      words.append("\(name) \(fixed(delay, 3)) m")
      var placement = Placement(at: Position(50 + 10 * Double(index), 50, 1), yaw: 180)
      placement.antennaDelayError = delay
      return try bench.add(
        profile: options.chip.simChip.profile, placement: placement, name: name)
    }
    bench.start()
    standardError.write(
      "Simulated boards, which move by themselves. Their delays are in truth: "
        + words.joined(separator: ", ") + ".\n")
    return (bench, chips)
  }

  /// Ranges between two boards.
  ///
  /// - Parameters:
  ///   - distance: where simulated boards go.
  ///   - angle: degrees to the left, as the first one sees the other.
  ///   - wantsPhases: whether the chip is asked for phases of single frames.
  func range(
    _ a: Int, _ b: Int, distance: Double, angle: Double = 0, wantsPhases: Bool = false
  ) async throws -> [Reading] {
    if simulation != nil {
      let (x, y) = (cos(angle * .pi / 180), sin(angle * .pi / 180))
      boards[a].chip?.placement.motion = .still(Position(0, 0, 1))
      boards[a].chip?.placement.yaw = 0
      boards[b].chip?.placement.motion = .still(Position(distance * x, distance * y, 1))
    }
    // An id of its own for each: a controller ends its session in band, some milliseconds after it
    // is gone, and that must not end the next one.
    let id = lastSession.add(1, ordering: .relaxed).newValue
    let (plain, controlee) = try options.session(id: id)
    var controller = plain
    if wantsPhases {
      // Qorvo's ENABLE_DIAGNOSTICS, and of its reports the angles.
      controller.additional += [TLV(0xE8, [1]), TLV(0xE9, [0x02])]
    }
    _ = boards[a].phases.drain()
    let rounds = options.rounds
    let label = "\(boards[a].name) – \(boards[b].name)"
    let first = boards[a].device
    let (ends, others) = (controller, controlee)
    return try await boards[b].device.withSession(others) { other in
      try await other.start()
      return try await first.withSession(ends) { session in
        try await Self.take(rounds, session, label)
      }
    }
  }

  private static func take(
    _ rounds: Int, _ session: UWBSession, _ label: String
  ) async throws -> [Reading] {
    var progress = Progress(label, of: rounds)
    var readings: [Reading] = []
    var measured = 0
    let hasPower = session.device.dialect.generation >= .fira2
    let stream = session.measurements(capacity: 256)
    try await session.start()
    for try await measurement in stream {
      let result = measurement.result
      let range = result.distanceCentimetres.map { Double($0) / 100 }
      readings.append(
        Reading(
          range: range, power: hasPower ? result.rssiDBm : nil, status: "\(result.status)",
          time: Double(measurement.receivedAt) / 1e9))
      if range != nil { measured += 1 }
      progress.show(measured)
      // Half of them lost is no place to calibrate at, but what there is may be looked at.
      if measured == rounds || readings.count >= 2 * rounds + 10 { break }
    }
    progress.clear()
    try Task.checkCancellation()
    return readings
  }
}

extension [BoardBench.Reading] {
  /// A line for people: how many, the middle, how they scatter, and by how much they are too long.
  func summary(truth: Double) -> String {
    let ranges = compactMap(\.range)
    guard !ranges.isEmpty else {
      let reasons = Set(map(\.status)).sorted().joined(separator: ", ")
      return "nothing was measured in \(count) rounds: \(printable(reasons))"
    }
    let sorted = ranges.sorted()
    let middle = sorted[sorted.count / 2]
    let spread = 1.4826 * ranges.map { Swift.abs($0 - middle) }.sorted()[ranges.count / 2]
    let mean = ranges.reduce(0, +) / Double(ranges.count)
    let centre = Swift.abs(mean - middle) < 2 * Swift.max(spread, 0.005) ? mean : middle
    let limit = 4 * Swift.max(spread, 0.01)
    let far = ranges.count { Swift.abs($0 - middle) > limit }
    let excess = centre - truth
    return "\(ranges.count) of \(count) measured, \(fixed(centre, 3)) m, spread "
      + "\(fixed(100 * spread, 1)) cm, \(far) far off; \(fixed(100 * Swift.abs(excess), 1)) cm too "
      + (excess < 0 ? "short" : "long")
  }
}
