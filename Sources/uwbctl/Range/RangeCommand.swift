// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UCI
import UWBDriver
import UWBLink
import UWBSimulator

/// `uwbctl range`: measure distances and print them.
struct RangeCommand: AsyncParsableCommand {
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

  @Option(help: "table, text, json (one object a line) or csv (default: table on a terminal).")
  var format: RangeFormat?
  @Option(name: [.customShort("n"), .long], help: "End after so many ranging rounds.")
  var count: Int?
  @Option(name: [.customShort("t"), .long], help: "End after so many seconds.")
  var duration: Double?

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count takes 1 or more.") }
    if let duration, !(duration > 0 && duration < 1e9) {
      throw ValidationError("--duration takes more than 0 seconds.")
    }
  }

  func run() async throws {
    let this = self
    try await reporting { try await cancelledBySignals { try await this.range() } }
  }

  private func range() async throws {
    let configuration = try session.configuration()
    try configuration.validate()
    let peers =
      options.isSimulated
      ? try SimulatedPeers(
        profile: options.simChip.profile, peers: configuration.peers.count, seed: options.seed)
      : nil
    let endpoint = try peers.map { SimulatedPeers.endpoint($0.own) } ?? LinkEndpoint(options.device)
    let device = try await UWBDevice.open(endpoint, options: options.driverOptions)
    var others: [UWBDevice] = []
    let summary: RangeSummary
    do {
      others = try await peers?.start(RangeOptions.mirrored(configuration)) ?? []
      summary = try await device.withSession(configuration) { try await measure($0) }
    } catch {
      await close(device, others, peers)
      throw error
    }
    let statistics = device.statistics
    await close(device, others, peers)
    standardError.write(
      summary.text(
        "\(statistics.octetsSkipped) octets skipped, "
          + "\(statistics.resynchronisations) resynchronisations") + "\n")
    if summary.measured == 0 {
      standardError.write(
        "uwbctl: No peer was measured.\n  try: Check that the other end runs with the same session "
          + "id, channel, preamble, slot, interval and STS, and with the addresses crossed.\n")
      throw ExitCode(ExitStatus.noPeer.rawValue)
    }
  }

  private func close(
    _ device: UWBDevice, _ others: [UWBDevice], _ peers: SimulatedPeers?
  ) async {
    await device.close()
    for other in others { await other.close() }
    peers?.bench.stop()
  }

  private func measure(_ session: UWBSession) async throws -> RangeSummary {
    var printer = RangePrinter(format ?? (standardOutput.isTerminal ? .table : .text))
    var summary = RangeSummary()
    var estimators: [MACAddress: RangeEstimator] = [:]
    let hasRSSI = session.device.dialect.generation >= .fira2
    let stream = session.measurements(capacity: 1_024)
    try await session.start()
    let timer = duration.map { seconds in
      Task {
        try await Task.sleep(for: .seconds(seconds))
        // The stream ends when the session leaves ACTIVE.
        try await session.stop()
      }
    }
    defer { timer?.cancel() }
    var start: UInt64?
    for try await measurement in stream {
      if let count, summary.rounds == count,
        measurement.sequenceNumber != summary.lastSequence
      {
        break
      }
      start = start ?? measurement.receivedAt
      let seconds = Double(measurement.receivedAt - (start ?? 0)) / 1e9
      var row = RangeRow(
        seconds: seconds, measurement: measurement, estimate: nil, hasRSSI: hasRSSI)
      if let centimetres = measurement.result.distanceCentimetres {
        row.estimate = estimators[measurement.result.peer, default: RangeEstimator()].update(
          RangeSample(
            time: seconds, distance: Double(centimetres) / 100,
            standardDeviation: Self.chipStandardDeviation, nonLineOfSight: row.nonLineOfSight))
      }
      summary.add(row)
      printer.print(row, summary)
      if let count, summary.rounds == count, configurationIsComplete(session, summary) { break }
    }
    summary.dropped = stream.dropped
    printer.finish(summary)
    return summary
  }

  /// Metres. FiRa notifications carry no uncertainty of the distance; 2 to 5 cm is what boards with
  /// line of sight show.
  private static let chipStandardDeviation = 0.05

  /// The last round asked for has an entry for each peer: no need to wait for the next one.
  private func configurationIsComplete(_ session: UWBSession, _ summary: RangeSummary) -> Bool {
    summary.rowsInRound >= session.configuration.peers.count
  }
}
