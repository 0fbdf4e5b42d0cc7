// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UCI
import UWB
import UWBLink
import UWBSimulator

/// `uwbctl range`: measure distances and print them.
struct RangeCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "range",
    abstract: "Range and print what is measured.",
    discussion: """
      Without --device an embedded simulated pair ranges. With a board, start the other end with the \
      same values, for example:
        uwbctl range --device /dev/ttyACM0
        uwbctl range --device /dev/ttyACM1 --role controlee
      """)

  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup(title: "Session") var session: RangeOptions
  @OptionGroup(title: "Diagnostics") var diagnostics: DiagnosticsOptions
  @OptionGroup(title: "Computed values") var estimation: EstimationOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @OptionGroup(title: "End") var end: RunOptions

  @Option(help: "table, text, json (one object a line) or csv (default: table on a terminal).")
  var format: RangeFormat?

  func execute() async throws {
    var configuration = try session.configuration()
    configuration.diagnostics = diagnostics.request
    let settings = try estimation.settings(
      channel: Int(configuration.channel), peers: configuration.peers)
    if !session.force { try configuration.validate() }
    let target = try OpenTarget(options, capture, peers: configuration.peers.count)
    defer { target.finish() }
    var driverOptions = options.driverOptions
    driverOptions.recovery = end.recovery
    let device = try await target.open(driverOptions)
    let watch = Task { [events = device.events] in
      for await event in events { Self.announce(event) }
    }
    defer { watch.cancel() }
    var others: [UWBDevice] = []
    let summary: RangeSummary
    do {
      others = try await target.simulated?.start(RangeOptions.mirrored(configuration)) ?? []
      summary = try await device.withSession(configuration, checked: !session.force) {
        try await measure($0, settings)
      }
    } catch {
      await close([device] + others)
      throw error
    }
    let statistics = device.statistics
    let failures = summary.failuresExplained(in: device.dialect)
    await close([device] + others)
    standardError.write(
      summary.text(
        "\(statistics.bytesSkipped) bytes skipped, "
          + "\(statistics.resynchronisations) resynchronisations") + "\n")
    standardError.write(failures)
    if summary.measured == 0 {
      standardError.write(
        "uwbctl: No peer was measured.\n  try: Check that the other end runs with the same session "
          + "id, channel, preamble, slot, interval and STS, and with the addresses crossed; uwbctl "
          + "diff compares two ends.\n")
      throw ExitCode(ExitStatus.noPeer.rawValue)
    }
  }

  /// Says on standard error when the device is lost and found again; the measurements go on behind.
  private static func announce(_ event: DeviceEvent) {
    switch event {
    case .lost(let cause):
      standardError.write("uwbctl: \(cause)\n  waiting for the device to come back\n")
    case .recovered: standardError.write("uwbctl: The device is back, with its session.\n")
    case .sessionLost(_, let cause):
      standardError.write("uwbctl: The device is back, but not its session. \(cause)\n")
    default: break
    }
  }

  private func close(_ devices: [UWBDevice]) async {
    for device in devices { await device.close() }
  }

  private func measure(
    _ session: UWBSession, _ settings: EstimationSettings
  ) async throws -> RangeSummary {
    var pipeline = RangePipeline(
      format ?? .standard, hasRSSI: session.device.dialect.generation >= .fira2,
      showsComputed: session.hasDiagnostics || estimation.calibration != nil)
    let stream = session.estimates(settings, capacity: 1_024)
    try await session.start()
    // Without a folder for its socket ranging works as well; multicast will say that it finds none.
    let control =
      session.configuration.role == .controller
      ? try? RangeControl(session, device: options.device) : nil
    defer { control?.stop() }
    let timer = end.duration.map { seconds in
      Task {
        try await Task.sleep(for: .seconds(seconds))
        // The stream ends when the session leaves ACTIVE.
        try await session.stop()
      }
    }
    defer { timer?.cancel() }
    for try await estimate in stream {
      if let count = end.count, pipeline.summary.rounds == count,
        estimate.measurement.sequenceNumber != pipeline.summary.lastSequence
      {
        break
      }
      pipeline.take(estimate)
      if let count = end.count, pipeline.summary.rounds == count,
        configurationIsComplete(session, pipeline.summary)
      {
        break
      }
    }
    return pipeline.finish(dropped: stream.dropped)
  }

  /// The last round asked for has an entry for each peer: no need to wait for the next one.
  private func configurationIsComplete(_ session: UWBSession, _ summary: RangeSummary) -> Bool {
    summary.rowsInRound >= session.configuration.peers.count
  }
}
