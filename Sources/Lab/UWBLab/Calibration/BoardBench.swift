// SPDX-License-Identifier: Apache-2.0

import Formats
import Ranging
import Synchronization
import UCI
package import UWB

/// Several open boards of this machine that range in pairs.
package final class BoardBench: Sendable {
  package struct Board: Sendable {
    package let name: String
    package let device: UWBDevice
  }

  /// The options of ranging.
  package struct Options: Sendable {
    /// Returns the two ends of a session with this id.
    package typealias Session =
      @Sendable (UInt32) throws -> (
        controller: SessionConfiguration, controlee: SessionConfiguration
      )

    let session: Session
    /// The number of measurements at each placement.
    package var rounds = 100
    /// A function that moves simulated boards: to a distance in metres and an angle in degrees to
    /// the left, seen from the first board.
    package var place: (@Sendable (Int, Int, _ distance: Double, _ angle: Double) -> Void)?

    package init(session: @escaping Session) { self.session = session }
  }

  /// The result of one round.
  package struct Reading: Sendable {
    /// The distance in metres; nil if the round failed.
    package var range: Double?
    /// The received level in dBm.
    var power: Double?
    /// The status of the round, by name.
    var status: String
    /// The time in seconds.
    var time: Double
  }

  /// The measurements at a placement: the reading of each round, and the phase difference of each
  /// frame in radians if the chip reports it.
  typealias Measured = (readings: [Reading], phases: [Double])

  package let boards: [Board]
  private let options: Options
  private let console: any CalibrationConsole
  private let lastSession = Atomic<UInt32>(0x4341_0000)

  private init(_ boards: [Board], _ options: Options, _ console: any CalibrationConsole) {
    (self.boards, self.options, self.console) = (boards, options, console)
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
        let device = try await UWBDevice.open(endpoint, options: driverOptions)
        boards.append(Board(name: name, device: device))
      }
      result = .success(try await body(BoardBench(boards, options, console)))
    } catch let error as DriverError where error.linkError?.code == .cancelled {
      result = .failure(CancellationError())
    } catch {
      result = .failure(error)
    }
    for board in boards { await board.device.close() }
    let remaining = boards.lazy.compactMap(\.device.remainingSession).first
    switch result {
    case .success, .failure(is CancellationError): if let remaining { throw remaining }
    case .failure: break
    }
    return try result.get()
  }

  /// Ranges between two boards.
  ///
  /// - Parameter wantsPhases: whether the chip has to report phases of single frames.
  func range(
    _ a: Int, _ b: Int, distance: Double, angle: Double = 0, wantsPhases: Bool = false
  ) async throws -> Measured {
    options.place?(a, b, distance, angle)
    // Each session has a new id. A controller ends its session over the air some milliseconds after
    // it was closed, which must not end the next session.
    let id = lastSession.add(1, ordering: .relaxed).newValue
    var (controller, controlee) = try options.session(id)
    if wantsPhases { controller.diagnostics = DiagnosticsRequest(.phases) }
    let label = "\(boards[a].name) – \(boards[b].name)"
    return try await boards[b].device.withSession(controlee) {
      [controller, device = boards[a].device] other in
      try await other.start()
      return try await device.withSession(controller) { session in
        try await self.measured(by: session, label)
      }
    }
  }

  private func measured(by session: UWBSession, _ label: String) async throws -> Measured {
    var (readings, phases): Measured = ([], [])
    var measured = 0
    let hasPower = session.device.dialect.generation >= .fira2
    let stream = session.rounds()
    try await session.start()
    // More failed rounds prevent a calibration, but their results may be shown.
    let rounds = 2 * options.rounds + 10
    let interval = Duration.milliseconds(session.configuration.interval)
    // Some chips do not report rounds in which no peer answered.
    let timer = Task {
      try await Task.sleep(for: .seconds(3) + interval * rounds)
      try await session.close()
    }
    defer {
      timer.cancel()
      console.clearProgress()
    }
    for try await event in stream {
      if case .diagnostics(let opcode, let payload) = event {
        phases += unsafe EstimationPipeline.phases(opcode, payload.span.bytes)
      }
      guard case .measurement(let measurement) = event else { continue }
      let result = measurement.result
      let range = result.distanceCentimetres.map { Double($0) / 100 }
      readings.append(
        Reading(
          range: range, power: hasPower ? result.rssiDBm : nil, status: "\(result.status)",
          time: Double(measurement.receivedAt) / 1e9))
      if range != nil { measured += 1 }
      console.showProgress(label, measured, of: options.rounds)
      if measured == options.rounds || readings.count >= rounds { break }
    }
    try Task.checkCancellation()
    if let end = session.unexpectedEnd { throw end }
    return (readings, phases)
  }
}

extension [BoardBench.Reading] {
  /// Returns a line with the number of measurements, their median, their spread, and their error.
  func summary(truth: Double) -> String {
    let ranges = compactMap(\.range).sorted()
    guard !ranges.isEmpty else {
      if isEmpty { return "nothing was measured: the chip reported no rounds" }
      let reasons = Set(map(\.status)).sorted().joined(separator: ", ")
      return "nothing was measured in \(counted(count, "round")): \(printable(reasons))"
    }
    let middle = ranges[ranges.count / 2]
    let spread = 1.4826 * ranges.map { Swift.abs($0 - middle) }.sorted()[ranges.count / 2]
    let mean = ranges.reduce(0, +) / Double(ranges.count)
    let centre = Swift.abs(mean - middle) < 2 * Swift.max(spread, 0.005) ? mean : middle
    let outliers = ranges.count { Swift.abs($0 - middle) > 4 * Swift.max(spread, 0.01) }
    let excess = centre - truth
    return "\(ranges.count) of \(count) measured, \(fixed(centre, 3)) m, spread "
      + "\(fixed(100 * spread, 1)) cm, \(counted(outliers, "outlier")); "
      + "\(fixed(100 * Swift.abs(excess), 1)) cm too \(excess < 0 ? "short" : "long")"
  }
}
