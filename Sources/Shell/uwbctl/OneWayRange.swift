// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Synchronization
import UCI
import UCIReference
import UWB
import UWBTools

/// Prints the messages of one-way ranging, and counts them.
final class OneWayPrinter: Sendable {
  private let format: RangeFormat
  private let state = Mutex(OneWaySummary())

  /// - Parameter format: A table is printed as text, because messages have no distance.
  init(_ format: RangeFormat) { self.format = format }

  /// The columns of CSV. The number of the status is left out, because its name is there.
  private static let columns = OneWayRow.json.columns.filter { $0.key.path != "status_code" }

  var summary: OneWaySummary { state.withLock { $0 } }

  /// Prints the header before the first message.
  func begin() {
    guard format == .csv else { return }
    standardOutput.write(Self.columns.map(\.key.path).joined(separator: ",") + "\n")
  }

  func take(_ measurement: OneWayMeasurement) {
    let row = state.withLock { $0.add(measurement) }
    switch format {
    case .table, .text:
      standardOutput.write(standardOutput.wrapped(Self.text(row), indent: 14) + "\n")
    case .json: standardOutput.write(OneWayRow.json.line(row))
    case .csv:
      // Only lists contain commas.
      let cells = Self.columns.map { ($0.plain(row) ?? "").replacing(",", with: " ") }
      standardOutput.write(cells.joined(separator: ",") + "\n")
    }
  }

  private static func text(_ row: OneWayRow) -> String {
    let measurement = row.measurement
    var line =
      "\(fixed(row.seconds, 3).right(9)) s  #\(measurement.sequenceNumber)  \(measurement.peer)"
      + "  \(row.message ?? row.kind)"
    guard measurement.status.isSuccess else { return line + "  \(measurement.status)" }
    switch measurement.result {
    case .downlink(let message):
      line += "  block \(message.values.blockIndex) round \(message.values.roundIndex)"
      if let sent = message.sent { line += "  tx \(sent)" }
      if let received = message.received { line += "  rx \(received)" }
    case .uplink(let blink):
      line += "  frame \(blink.frameNumber)"
      if let sent = blink.txTimestamp { line += "  tx \(sent)" }
      line += "  rx \(blink.rxTimestamp)"
    case .angle(let frame): line += "  frame \(frame.frameSequenceNumber)"
    }
    if let azimuth = row.angles.azimuth.valid { line += "  az \(fixed(azimuth, 1))°" }
    if let elevation = row.angles.elevation.valid { line += "  el \(fixed(elevation, 1))°" }
    if row.nonLineOfSight == true { line += "  NLoS" }
    return line
  }
}

extension RangeCommand {
  /// Checks that no option is given that one-way ranging cannot use.
  func checkOneWay(_ role: SessionConfiguration.Role) throws {
    try require(
      regions.rules == nil && estimation.calibration == nil && diagnostics.request == nil,
      "One-way ranging measures no distances: leave out --region, --calibration and --diagnostics.")
    try require(
      role.measures || end.count == nil,
      "This role only sends and measures nothing to count: end it with -t or Ctrl-C.")
  }

  /// Takes part in one-way ranging, and prints received messages.
  func rangeOneWay(_ configuration: SessionConfiguration) async throws {
    var options = options
    options.chip.simChip = options.chip.simChip ?? .fira2
    let others = configuration.counterparts
    let printer = OneWayPrinter(format ?? .standard)
    try await options.withDevice(
      capture, peers: others.count, end
    ) { [force = session.force, strict = session.strict, end] device, simulated in
      if !force {
        try configuration.problems(
          for: device.dialect, capabilities: Capabilities(device.capabilities)
        ).warnings.report(strictly: strict)
      }
      simulated?.arrangeRoom(isTag: configuration.role.oneWayUsage != 0)
      try await Self.naming(configuration.role, of: device) {
        try await device.withSession(configuration, checked: !force) { session in
          let stream = session.oneWayMeasurements(capacity: 1_024)
          let senders = try await simulated?.start(others) ?? []
          try await lending {
            try await session.start()
            printer.begin()
            if !configuration.role.measures { note("This role sends until it is ended: Ctrl-C.") }
            try await Self.receive(stream, of: session, printer, end.count)
          } end: {
            for sender in senders { await sender.close() }
          }
        }
      }
    }
    guard configuration.role.measures else { return }
    standardError.write(standardError.wrapped(printer.summary.text, indent: 2) + "\n")
    guard printer.summary.measured == 0 else { return }
    throw Failure(
      .noPeer, "No message was received.",
      try:
        "Check that the senders run with the same session id, channel, preamble, slots, interval "
        + "and STS, and that anchors and tags name the same ranging rounds.")
  }

  /// Adds the role to the error of a chip that refuses it. No other role is tried.
  private static func naming(
    _ role: SessionConfiguration.Role, of device: UWBDevice, _ body: () async throws -> Void
  ) async throws {
    do { try await body() } catch let error as DriverError
      where error.refusedParameters.contains(where: { $0.id == AppConfigID.deviceRole.rawValue })
    {
      func name(_ role: UInt8) -> String { AppConfigID.deviceRole.form().text([role]) }
      let listed = Capabilities(device.capabilities).roles.map { roles in
        (0...8).filter { roles.rawValue >> $0 & 1 == 1 }.map { name(UInt8($0)) }
      }
      throw Failure(
        ExitStatus(error),
        "This chip refuses the role \(name(role.deviceRole))"
          + (listed.map { "; it lists \($0.joined(separator: ", "))" } ?? "") + ". \(error)",
        try: "Use a chip that lists the role: uwbctl caps prints the roles as DEVICE_ROLES.")
    }
  }

  /// Prints messages until the count is reached, or the session ends.
  private static func receive(
    _ stream: RangingStream<OneWayMeasurement>, of session: UWBSession, _ printer: OneWayPrinter,
    _ count: Int?
  ) async throws {
    for try await measurement in stream {
      // The messages of a notification belong together.
      if let count, printer.summary.notifications >= count,
        printer.summary.lastSequence != measurement.sequenceNumber
      {
        return
      }
      printer.take(measurement)
    }
    guard !Task.isCancelled, let ending = session.unexpectedEnd else { return }
    let dialect = session.device.dialect
    throw Failure(
      .sessionEnded, ending.description(in: dialect),
      try: ending.recoverySuggestion(in: dialect) ?? "Start it again.")
  }
}

extension Replay {
  /// Prints the messages of one-way ranging of a capture.
  ///
  /// - Returns: false for a capture without any.
  func replayOneWay(_ capture: Capture) async throws -> Bool {
    let messages = capture.oneWayMeasurements()
    guard let first = messages.first?.receivedAt else { return false }
    let printer = OneWayPrinter(format ?? .standard)
    printer.begin()
    let clock = ContinuousClock()
    let start = clock.now
    let end = time.limit.map { start + $0 }
    do {
      for message in messages {
        if let count, printer.summary.notifications >= count,
          printer.summary.lastSequence != message.sequenceNumber
        {
          break
        }
        try Task.checkCancellation()
        if speed.factor.isFinite {
          let seconds = Double(message.receivedAt - first) / 1e9 / speed.factor
          let due = start + .seconds(min(seconds, 1e9))
          try await clock.sleep(until: min(due, end ?? due))
        }
        if let end, clock.now >= end { break }
        printer.take(message)
      }
    } catch is CancellationError {
      // After Ctrl-C, the summary covers the messages replayed so far.
    }
    standardError.write(standardError.wrapped(printer.summary.text, indent: 2) + "\n")
    return true
  }
}
