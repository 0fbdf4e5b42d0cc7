// SPDX-License-Identifier: Apache-2.0

import Formats
package import Ranging
import Synchronization
package import UWB

/// Opened boards of this machine that range in pairs.
package final class BoardBench: Sendable {
  package struct Board: Sendable {
    package let name: String
    package let device: UWBDevice
    /// Phases of single frames, where the chip reports them.
    package let phases: PhaseTap
  }

  /// The options of ranging.
  package struct Options: Sendable {
    /// Returns the two ends of a session with this id.
    package typealias Session =
      @Sendable (UInt32) throws -> (
        controller: SessionConfiguration, controlee: SessionConfiguration
      )

    let session: Session
    /// Measurements at each placement.
    package var rounds = 100
    /// Moves simulated boards to a distance in metres, and to an angle in degrees to the left, seen
    /// from the first one.
    package var place: (@Sendable (Int, Int, _ distance: Double, _ angle: Double) -> Void)?

    package init(session: @escaping Session) { self.session = session }
  }

  /// The result of one round.
  package struct Reading: Sendable {
    /// Metres; nil when the round failed.
    package var range: Double?
    /// dBm.
    var power: Double?
    /// The status of the round, by name.
    var status: String
    /// Seconds.
    var time: Double
  }

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
        var driverOptions = driverOptions
        let phases = PhaseTap()
        driverOptions.tap = { direction, packet, _ in phases.take(direction, packet) }
        let device = try await UWBDevice.open(endpoint, options: driverOptions)
        boards.append(Board(name: name, device: device, phases: phases))
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
  /// - Parameter wantsPhases: whether the chip is asked for phases of single frames.
  func range(
    _ a: Int, _ b: Int, distance: Double, angle: Double = 0, wantsPhases: Bool = false
  ) async throws -> [Reading] {
    options.place?(a, b, distance, angle)
    // A new id for each session: a controller ends its session in band some milliseconds after it
    // was closed, and that must not end the next one.
    let id = lastSession.add(1, ordering: .relaxed).newValue
    var (controller, controlee) = try options.session(id)
    if wantsPhases {
      // Qorvo's ENABLE_DIAGNOSTICS, and the angles of its reports.
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
    // Where half of the rounds fail a calibration is not possible, but the results may be shown.
    let rounds = 2 * options.rounds + 10
    let interval = Duration.milliseconds(session.configuration.interval)
    // Some chips do not report rounds without an answering peer.
    let timer = Task {
      try await Task.sleep(for: .seconds(3) + interval * rounds)
      try await session.close()
    }
    defer { timer.cancel() }
    for try await measurement in stream {
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
    console.clearProgress()
    try Task.checkCancellation()
    if let end = session.unexpectedEnd { throw end }
    return readings
  }
}

extension [BoardBench.Reading] {
  /// Returns a line with the number of measurements, their centre, their spread, and their error.
  func summary(truth: Double) -> String {
    let ranges = compactMap(\.range).sorted()
    guard !ranges.isEmpty else {
      if isEmpty { return "nothing was measured: the chip reported no rounds" }
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

/// Phase differences of single frames from Qorvo's range diagnostics, read from the packets.
package final class PhaseTap: Sendable {
  private let phases = Mutex<[Double]>([])

  /// Returns the phases since the last call, in radians.
  func drain() -> [Double] {
    phases.withLock { list in
      defer { list.removeAll() }
      return list
    }
  }

  /// Handles a packet, header included.
  func take(_ direction: PacketDirection, _ packet: RawSpan) {
    guard direction == .inbound, let header = try? PacketHeader(parsing: packet),
      header.type == .notification, header.opcode == RangeDiagnosticsNotification.qorvoOpcode,
      !header.moreFollows, packet.byteCount > PacketHeader.length
    else { return }
    var reader = PayloadReader(packet.extracting(droppingFirst: PacketHeader.length))
    guard
      let diagnostics = try? RangeDiagnosticsNotification(
        from: &reader, dialect: Dialect(generation: .fira2, vendor: .qorvo))
    else { return }
    // TDoA, PDoA and AoA as 16 bits in two's complement, 2^-11 rad each, figure of merit, kind of
    // angle. Source: Qorvo's UCI range diagnostics.
    let found = diagnostics.reports.flatMap(\.items).compactMap { item -> Double? in
      guard item.type == 1, item.value.count >= 6 else { return nil }
      let word = UInt16(item.value[2]) | UInt16(item.value[3]) << 8
      return Double(Int16(bitPattern: word)) / 2048
    }
    phases.withLock { $0 += found }
  }
}

/// The prompts and the output of a calibration, for the user who places the boards.
package protocol CalibrationConsole: Sendable {
  /// Prompts for a line; nil when no answer will come.
  ///
  /// - Throws: `CancellationError`.
  func ask(_ question: String) async throws -> String?
  /// Shows lines, line ends included.
  func show(_ text: String)
  /// Shows the number of finished measurements of a placement.
  func showProgress(_ label: String, _ count: Int, of total: Int)
  /// Removes the output of `showProgress`.
  func clearProgress()
}

/// The result of a calibration as text, as a calibration, and as charts.
package struct CalibrationReport {
  package let text: String
  package let calibration: RangingCalibration
  package let charts: [Chart]
  /// The reason why the calibration must not be written; nil if it may be.
  package var problem: LabError?
}

/// The steps of placing the boards, one placement after another.
struct Guide<Measured: Sendable> {
  struct Stop {
    /// The boards placed: `A – B`.
    var name: String
    /// The suggested number, in `unit`.
    var value: Double?
  }

  let console: any CalibrationConsole
  /// Whether the user is prompted; otherwise every number must be known, and everything is kept.
  let isInteractive: Bool
  /// The meaning of the number: `distance from antenna to antenna`.
  let quantity: String
  /// The unit, m or °.
  let unit: String
  let limits: ClosedRange<Double>

  /// Measures each placement until it is kept or skipped.
  ///
  /// - Parameters:
  ///   - measure: measures at the index of the stop and its number.
  ///   - summary: returns a line about the measurements.
  /// - Throws: `CancellationError` on quitting, `LabError` when there is no answer, and the errors
  ///   of `measure`.
  func run(
    _ stops: [Stop], measure: (Int, Double) async throws -> Measured,
    summary: (Measured, Double) -> String
  ) async throws -> [(stop: Int, value: Double, measured: Measured)] {
    var kept: [(stop: Int, value: Double, measured: Measured)] = []
    for (index, stop) in stops.enumerated() {
      var suggestion = stop.value
      placing: while true {
        let name = "(\(index + 1) of \(stops.count)) \(stop.name)"
        guard let value = try await askValue(name, suggestion) else { break }
        suggestion = value
        let measured = try await measure(index, value)
        console.show("  \(stop.name), \(fixed(value, 3)) \(unit): \(summary(measured, value))\n")
        switch try await askVerdict() {
        case "r": continue placing
        case "s": break placing
        default:
          kept.append((index, value, measured))
          break placing
        }
      }
    }
    return kept
  }

  private func askVerdict() async throws -> String {
    guard isInteractive else { return "" }
    while true {
      let answer = try await ask("  Enter keeps it, r measures again, s skips, q quits: ")
      if ["", "k", "r", "s"].contains(answer) { return answer }
      console.show("  Unknown answer: \(printable(answer))\n")
    }
  }

  /// Prompts for the number; nil: the placement is skipped.
  private func askValue(_ name: String, _ suggestion: Double?) async throws -> Double? {
    guard isInteractive else {
      guard let suggestion else {
        throw LabError(.usage, "\(name): without prompts, every \(quantity) must be given.")
      }
      return suggestion
    }
    let usual = suggestion.map { ", Enter for \(fixed($0, 3))" } ?? ""
    while true {
      let answer = try await ask("\(name): \(quantity) in \(unit)\(usual), s skips, q quits: ")
      if answer == "s" { return nil }
      if answer.isEmpty, let suggestion { return suggestion }
      if let value = quantityValue(answer, unit), limits.contains(value) { return value }
      console.show(
        "  Enter a number from \(fixed(limits.lowerBound, 2)) to \(fixed(limits.upperBound, 0)).\n")
    }
  }

  private func ask(_ question: String) async throws -> String {
    guard let answer = try await console.ask(question)?.lowercased() else {
      console.show("\n")
      throw LabError(
        .noAnswer, "No terminal to prompt on.",
        suggestion: "Give --yes and all numbers as options.")
    }
    if answer == "q" { throw CancellationError() }
    return answer
  }
}

/// Reads a number as users type it, in metres or degrees: `2.5`, `2,5`, `2.5 m`, `250cm`.
package func quantityValue(_ text: String, _ unit: String) -> Double? {
  var rest = text[...]
  var factor = 1.0
  for (suffix, scale) in [("cm", 0.01), ("mm", 0.001)] where unit == "m" && rest.hasSuffix(suffix) {
    rest = rest.dropLast(2)
    factor = scale
  }
  if rest.hasSuffix(unit) { rest = rest.dropLast(unit.count) }
  let plain = rest.filter { $0 != " " }.map { $0 == "," ? "." : String($0) }.joined()
  guard plain.allSatisfy({ $0.isASCII && ($0.isNumber || ".-+e".contains($0)) }) else {
    return nil
  }
  return Double(plain).flatMap { $0.isFinite ? $0 * factor : nil }
}
