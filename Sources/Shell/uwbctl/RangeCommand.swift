// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import System
import Ranging
import UCI
import UCIReference
import UWB
import UWBLink
import UWBSimulator
import UWBTools

struct RangeCommand: DeviceCommand {
  static let configuration = CommandConfiguration(
    commandName: "range",
    abstract: "Range with other devices and print the measurements.",
    discussion: """
      Without --device, an embedded simulated pair ranges. With a board, start the other end with the \
      same values, for example:
        uwbctl range --device /dev/ttyACM0
        uwbctl range --device /dev/ttyACM1 --role controlee
      With several controlees, each of them shares the round:
        uwbctl range --device /dev/ttyACM0 --responders 2
        uwbctl range --device /dev/ttyACM1 --role controlee --one-to-many
        uwbctl range --device /dev/ttyACM2 --role controlee --one-to-many --address 0002
      In one-way ranging, anchors and tags take roles of their own. A chip that lacks a role refuses it:
        uwbctl range --role dl-tdoa-tag --format json
        uwbctl range --device /dev/ttyACM0 --role dl-tdoa-anchor --responders 3 --location 0,0,2.5
      With -n, it also ends after as many rounds in a row in which no peer was measured. On a terminal, \
      ? lists the keys.
      """)

  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @OptionGroup(title: "Session") var session: RangeOptions
  @OptionGroup(title: "One-way ranging") var oneWay: OneWayOptions
  @OptionGroup(title: "Diagnostics") var diagnostics: DiagnosticsOptions
  @OptionGroup(title: "Computed values") var estimation: EstimationOptions
  @OptionGroup(title: "Regions") var regions: RegionOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @OptionGroup(title: "End") var end: RunOptions

  @Option(
    help:
      "Output format; json is one object a line (default: table on a terminal, otherwise text)."
  )
  var format: RangeFormat?

  func execute() async throws {
    var configuration = try session.configuration(oneWay)
    configuration.diagnostics = diagnostics.request
    let settings = try estimation.settings(
      channel: Int(configuration.channel), peers: configuration.peers)
    if !session.force { try configuration.validate() }
    if configuration.role.isOneWay {
      try checkOneWay(configuration.role)
      return try await rangeOneWay(configuration)
    }
    let unread = Locked(0)
    let actions = try RegionActions(regions)
    let measured = try await lending {
      try await range(configuration, settings, actions, unread)
    } end: {
      // The session is closed at this point.
      await actions.finish()
    }
    if measured == 0, case let count = unread.withLock({ $0 }), count > 0 {
      throw Failure(
        .noPeer,
        "No peer was measured: "
          + counted(count, "report of the chip is", "reports of the chip are")
          + " unreadable, or of an unknown session.",
        try: "Record them with --capture FILE, and decode them: uwbctl decode --file FILE.")
    }
    if measured == 0 {
      throw Failure(
        .noPeer, "No peer was measured.",
        try:
          "Check that the other end runs with the same session id, channel, preamble, slot, interval "
          + "and STS, and with swapped addresses; each of several controlees needs --one-to-many. "
          + "uwbctl diff compares two ends.")
    }
  }

  /// Opens the device, and ranges.
  ///
  /// - Parameter unread: The counter of unreadable reports.
  /// - Returns: The number of measurements.
  private func range(
    _ configuration: SessionConfiguration, _ settings: EstimationSettings, _ actions: RegionActions,
    _ unread: Locked<Int>
  ) async throws -> Int {
    let measured = try await options.withDevice(
      capture, peers: configuration.peers.count, end
    ) { device, simulated in
      if !session.force {
        try configuration.problems(
          for: device.dialect, capabilities: Capabilities(device.capabilities)
        ).warnings.report(strictly: session.strict)
      }
      let others = try await simulated?.start(configuration.mirrored) ?? []
      let printing = Locked<RangePrinter?>(nil)
      let events = device.events
      let watch = Task {
        for await event in events {
          if case .message(let message) = event, message.opcode == .sessionInfo {
            unread.withLock { $0 += 1 }
          }
          guard let text = Self.announcement(of: event) else { continue }
          if let printer = printing.withLock({ $0 }) { printer.say(text) } else { note(text) }
        }
      }
      defer { watch.cancel() }
      return try await lending {
        try await device.withSession(configuration, checked: !session.force) {
          try await run($0, settings, actions, printing)
        }
      } end: {
        for device in others { await device.close() }
      }
    }
    return measured ?? 0
  }

  /// Returns the text for a lost or returned device; measurements resume afterwards.
  private static func announcement(of event: DeviceEvent) -> String? {
    switch event {
    case .lost(let cause): "\(cause) Waiting for the device to come back."
    case .recovered: "The device is back, with its session."
    case .sessionLost(_, let cause): "The device is back, but not its session. \(cause)"
    default: nil
    }
  }

  /// Ranges, and prints the summary even after an error.
  ///
  /// - Parameter printing: Receives the printer for messages.
  /// - Returns: The number of measurements.
  private func run(
    _ session: UWBSession, _ settings: EstimationSettings, _ actions: RegionActions,
    _ printing: Locked<RangePrinter?>
  ) async throws -> Int {
    let device = session.device
    let configuration = session.configuration
    let stream = session.estimatedRounds(settings, capacity: 1_024)
    let printer = RangePrinter(
      format ?? .standard,
      showsComputed: session.hasDiagnostics || estimation.calibration != nil,
      peers: configuration.peers, interval: .milliseconds(configuration.interval),
      clock: PacketLink.now)
    printing.withLock { $0 = printer }
    actions.report { ended in
      if let complaint = ended.complaint { printer.say(complaint) }
    }
    settings.noteMissingCalibration(on: device.family, peers: configuration.peers)
    let isRanging = try await Self.start(session)
    printer.begin()
    defer {
      let summary = printer.finish(dropped: stream.dropped)
      let statistics = device.statistics
      let text = summary.text(
        counted(statistics.bytesSkipped, "byte") + " skipped, "
          + counted(statistics.resynchronisations, "resynchronisation"))
      standardError.write(standardError.wrapped(text, indent: 2) + "\n")
      for line in summary.failuresExplained(in: device.dialect).split(separator: "\n") {
        standardError.write(standardError.wrapped(String(line), indent: 6) + "\n")
      }
    }
    let watched = try regions.rules.map { rules in
      RegionWatch(rules) { change, measurement in
        actions.take(change, measurement)
        printer.say("\(measurement.peer) \(change.text)")
      }
    }
    do {
      if isRanging { try await measure(session, stream, watched, printer) }
    } catch {
      await watched?.end()
      throw error
    }
    await watched?.end()
    return printer.summary.measured
  }

  /// Starts ranging. Waits for a device that is lost in the meantime.
  ///
  /// - Returns: Whether the session ranges; false if the task was cancelled.
  private static func start(_ session: UWBSession) async throws -> Bool {
    do throws(DriverError) { try await session.start() } catch {
      guard error.linkError?.code == .cancelled else { throw error }
      return false
    }
    return true
  }

  private func measure(
    _ session: UWBSession, _ stream: RangingStream<EstimatedRound>, _ regions: RegionWatch?,
    _ printer: RangePrinter
  ) async throws {
    let hasRSSI = session.device.dialect.generation >= .fira2
    // Ranging works without the socket; `multicast` and `diff` then cannot find the session.
    let control = try? RangeControl(session, device: options.device)
    defer { control?.stop() }
    for try await round in stream {
      if isEnough(printer.summary), round.sequenceNumber != printer.summary.lastSequence {
        return try checkCount(printer.summary)
      }
      printer.take(round, hasRSSI: hasRSSI)
      if case .estimate(let estimate) = round { regions?.update(estimate) }
      guard isEnough(printer.summary) else { continue }
      // A round with an entry for each peer, or an empty round, is complete.
      if case .empty = round { return try checkCount(printer.summary) }
      // Includes added controlees; peers with extended addresses are in the configuration only.
      let peers = max(session.configuration.peers.count, session.controlees.count)
      if printer.summary.rowsInRound >= peers { return try checkCount(printer.summary) }
    }
    guard !Task.isCancelled, let ending = session.unexpectedEnd else { return }
    let dialect = session.device.dialect
    throw Failure(
      .sessionEnded, ending.description(in: dialect),
      try: ending.recoverySuggestion(in: dialect)
        ?? "Start it again. If it ends again, record the packets with --capture FILE.")
  }

  /// Returns whether `-n` ends ranging: after its rounds, or after as many in a row without a
  /// measurement.
  private func isEnough(_ summary: RangeSummary) -> Bool {
    end.count.map { max(summary.measuredRounds, summary.silentRounds) >= $0 } ?? false
  }

  /// Throws if the peers disappeared before enough rounds were measured.
  private func checkCount(_ summary: RangeSummary) throws {
    guard let count = end.count, 1..<count ~= summary.measuredRounds else { return }
    throw Failure(
      .noPeer, "Only \(summary.measuredRounds) of \(count) rounds were measured, and then none.",
      try: "Check that the other end still runs, and is near.")
  }
}
