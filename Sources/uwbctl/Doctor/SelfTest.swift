// SPDX-License-Identifier: Apache-2.0

import UCI
import UCIReference
import UWB

/// Runs a complete session. A peer is not needed: a round without an answer also shows that the radio
/// transmits and listens.
struct SelfTest {
  let device: UWBDevice

  /// "UWB?" in ASCII: unlikely to be in use.
  private static let sessionID: UInt32 = 0x5557_423F
  private static let rounds = 3
  private static let patience = Duration.seconds(4)

  func run() async throws -> Finding {
    var configuration = SessionConfiguration(
      role: .controller, sessionID: Self.sessionID, address: MACAddress(0x0001),
      peers: [MACAddress(0x0002)])
    configuration.interval = 100
    let channels = Capabilities(device.capabilities).channels ?? [9]
    configuration.channel = channels.contains(9) || channels.isEmpty ? 9 : UInt8(channels[0])
    do {
      let measurements = try await device.withSession(configuration) { session in
        try await measure(session)
      }
      return judge(measurements, channel: configuration.channel)
    } catch let error as DriverError {
      return .fail(
        .selfTest, ExitStatus(error), error.description,
        error.recoverySuggestion
          ?? "Reset the board and try again; if that does not help, its firmware rejects "
          + "FiRa's defaults: compare with what the vendor's tool sends (uwbctl monitor --proxy)."
      )
    }
  }

  private func measure(_ session: UWBSession) async throws -> [TwoWayMeasurement] {
    let stream = session.measurements()
    try await session.start()
    let timer = Task {
      try await Task.sleep(for: Self.patience)
      // The stream ends when the session leaves ACTIVE.
      try await session.stop()
    }
    defer { timer.cancel() }
    var results: [TwoWayMeasurement] = []
    for try await measurement in stream {
      results.append(measurement.result)
      if results.count == Self.rounds { break }
    }
    return results
  }

  func judge(_ results: [TwoWayMeasurement], channel: UInt8) -> Finding {
    let text = "session created, configured, started and removed on channel \(channel); "
    guard !results.isEmpty else {
      return .warn(
        .selfTest, text + "no round was reported within \(Self.patience.components.seconds) s.",
        "Most chips report rounds without an answer; this one may not. Range with a second board to find "
          + "out."
      )
    }
    if let answered = results.first(where: { $0.status.isSuccess }) {
      let distance = answered.distanceCentimetres.map { ", \($0) cm away" } ?? ""
      return .ok(.selfTest, text + "another board answered\(distance)")
    }
    if let failed = results.first(where: { $0.status == .rangingTxFailed }) {
      return .fail(
        .selfTest, .deviceFailure, text + "the radio does not transmit: \(failed.status) (0x20).",
        "Erase the whole flash, which may contain old configuration pages, and install the firmware "
          + "again; or load the calibration of the board.")
    }
    let statuses = Set(results.map { "\($0.status) (0x\(String($0.status.rawValue, radix: 16)))" })
    return .ok(
      .selfTest,
      text + "no answer, as expected without a second board: "
        + statuses.sorted().joined(separator: ", "))
  }
}
