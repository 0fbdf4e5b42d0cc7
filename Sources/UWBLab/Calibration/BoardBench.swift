// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import UWB

/// Opened boards of this machine that range in pairs.
package final class BoardBench: Sendable {
  /// A board, opened.
  package struct Board: Sendable {
    package let name: String
    package let device: UWBDevice
    /// Phases of single frames, where the chip reports them.
    package let phases: PhaseTap
  }

  /// How the boards range.
  package struct Options: Sendable {
    /// Measurements at each placement.
    package var rounds = 100
    /// The two ends of a session.
    package var session:
      @Sendable (UInt32) throws -> (
        controller: SessionConfiguration, controlee: SessionConfiguration
      )
    /// Moves simulated boards to a distance in metres, and to an angle in degrees to the left as the
    /// first one sees the second.
    package var place: (@Sendable (Int, Int, _ distance: Double, _ angle: Double) -> Void)?

    package init(
      session:
        @escaping @Sendable (UInt32) throws -> (
          controller: SessionConfiguration, controlee: SessionConfiguration
        )
    ) {
      self.session = session
    }
  }

  /// What one round brought.
  package struct Reading: Sendable {
    /// Metres; nil when the round failed.
    package var range: Double?
    /// dBm.
    var power: Double?
    /// Of the round, by name.
    var status: String
    /// Seconds.
    var time: Double
  }

  package let boards: [Board]
  private let options: Options
  private let console: any CalibrationConsole
  private let lastSession = Atomic<UInt32>(0x4341_0000)

  private init(_ boards: [Board], _ options: Options, _ console: any CalibrationConsole) {
    self.boards = boards
    self.options = options
    self.console = console
  }

  /// Opens boards, lends them to `body`, and closes them again.
  package static func withBoards<R: Sendable>(
    _ places: [(name: String, endpoint: LinkEndpoint)], _ driverOptions: UWBDevice.Options,
    _ options: Options, _ console: any CalibrationConsole,
    _ body: (BoardBench) async throws -> R
  ) async throws -> R {
    var boards: [Board] = []
    let result: Result<R, any Error>
    do {
      for (name, endpoint) in places {
        var driverOptions = driverOptions
        let phases = PhaseTap()
        driverOptions.tap = { direction, packet, _ in phases.take(direction, packet) }
        let device = try await UWBDevice.open(endpoint, options: driverOptions)
        boards.append(Board(name: name, device: device, phases: phases))
      }
      result = .success(try await body(BoardBench(boards, options, console)))
    } catch {
      result = .failure(error)
    }
    for board in boards { await board.device.close() }
    return try result.get()
  }

  /// Ranges between two boards.
  ///
  /// - Parameter wantsPhases: whether the chip is asked for phases of single frames.
  func range(
    _ a: Int, _ b: Int, distance: Double, angle: Double = 0, wantsPhases: Bool = false
  ) async throws -> [Reading] {
    options.place?(a, b, distance, angle)
    // A new id for each session: a controller ends its session in band some milliseconds after it
    // is gone, and that must not end the next one.
    let id = lastSession.add(1, ordering: .relaxed).newValue
    var (controller, controlee) = try options.session(id)
    if wantsPhases {
      // Qorvo's ENABLE_DIAGNOSTICS, and of its reports the angles.
      controller.additional += [TLV(0xE8, [1]), TLV(0xE9, [0x02])]
    }
    _ = boards[a].phases.drain()
    let label = "\(boards[a].name) – \(boards[b].name)"
    return try await boards[b].device.withSession(controlee) {
      [controller, device = boards[a].device] other in
      try await other.start()
      return try await device.withSession(controller) { session in
        try await self.readings(of: session, label)
      }
    }
  }

  private func readings(of session: UWBSession, _ label: String) async throws -> [Reading] {
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
      console.showProgress(label, measured, of: options.rounds)
      // Where half of the rounds fail there is nothing to calibrate, but what came may be shown.
      if measured == options.rounds || readings.count >= 2 * options.rounds + 10 { break }
    }
    console.clearProgress()
    try Task.checkCancellation()
    return readings
  }
}

extension [BoardBench.Reading] {
  /// A line with the number of measurements, their centre, their spread, and their error.
  func summary(truth: Double) -> String {
    let ranges = compactMap(\.range).sorted()
    guard !ranges.isEmpty else {
      let reasons = Set(map(\.status)).sorted().joined(separator: ", ")
      return "nothing was measured in \(count) rounds: \(printable(reasons))"
    }
    let middle = ranges[ranges.count / 2]
    let spread = 1.4826 * ranges.map { Swift.abs($0 - middle) }.sorted()[ranges.count / 2]
    let mean = ranges.reduce(0, +) / Double(ranges.count)
    let centre = Swift.abs(mean - middle) < 2 * Swift.max(spread, 0.005) ? mean : middle
    let outliers = ranges.count { Swift.abs($0 - middle) > 4 * Swift.max(spread, 0.01) }
    let excess = centre - truth
    return "\(ranges.count) of \(count) measured, \(fixed(centre, 3)) m, spread "
      + "\(fixed(100 * spread, 1)) cm, \(outliers) outliers; "
      + "\(fixed(100 * Swift.abs(excess), 1)) cm too \(excess < 0 ? "short" : "long")"
  }
}
