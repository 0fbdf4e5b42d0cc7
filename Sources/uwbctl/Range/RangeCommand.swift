// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UCI
import UWB
import UWBLink
import UWBSimulator

struct RangeCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "range",
    abstract: "Range with other devices and print the measurements.",
    discussion: """
      Without --device, an embedded simulated pair ranges. With a board, start the other end with the \
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

  @Option(
    help:
      "Output format: table, text, json (one object a line) or csv (default: table on a terminal, otherwise text)."
  )
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
      throw Failure(
        .noPeer, "No peer was measured.",
        try:
          "Check that the other end runs with the same session id, channel, preamble, slot, interval "
          + "and STS, and with swapped addresses; uwbctl diff compares two ends.")
    }
  }

  /// Prints when the device is lost and found again; measurements resume after that.
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
    // Ranging works without the socket; multicast will not find the session then.
    let control =
      session.configuration.role == .controller
      ? try? RangeControl(session, device: options.device) : nil
    defer { control?.stop() }
    let timer = end.time.limit.map { limit in
      Task {
        try await Task.sleep(for: limit)
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
        isRoundComplete(session, pipeline.summary)
      {
        break
      }
    }
    return pipeline.finish(dropped: stream.dropped)
  }

  /// Whether the last round has an entry for each peer, so that there is no need to wait for the next.
  private func isRoundComplete(_ session: UWBSession, _ summary: RangeSummary) -> Bool {
    summary.rowsInRound >= session.configuration.peers.count
  }
}
