// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import CommandSupport
import Formats
import UCI
package import UWB
import UWBLink

/// A radio test on a device, with a second device of this machine if the test needs one.
package struct RadioTestRun: Sendable {
  package var name: String
  package var test: RadioTest
  package var configuration: RadioTestConfiguration
  /// The test of the other end; nil without one.
  package var counterpart: RadioTest?
  /// The device of the other end; nil for an embedded simulated chip or a remote device.
  package var otherDevice: String?

  package init(
    name: String, test: RadioTest, configuration: RadioTestConfiguration,
    counterpart: RadioTest? = nil, otherDevice: String? = nil
  ) {
    self.name = name
    self.test = test
    self.configuration = configuration
    self.counterpart = counterpart
    self.otherDevice = otherDevice
  }

  package func run(
    _ device: DeviceOptions, _ capture: CaptureOptions, _ format: OutputFormat
  ) async throws {
    let results = try await device.withDevice(capture, peers: counterpart == nil ? 0 : 1) {
      try await measure($0, try await other($1))
    }
    try report(results, format)
  }

  private func other(_ peers: SimulatedPeers?) async throws -> UWBDevice? {
    if let otherDevice { return try await UWBDevice.open(LinkEndpoint(otherDevice)) }
    guard counterpart != nil, let peer = peers?.others.first else { return nil }
    return try await UWBDevice.open(SimulatedPeers.endpoint(peer))
  }

  private typealias Results = (own: RadioTestResult?, other: RadioTestResult?)

  private func measure(_ device: UWBDevice, _ other: UWBDevice?) async throws -> Results {
    guard let other, let counterpart else {
      return (try await Self.attempt(device, test, configuration), nil)
    }
    // The responder or sender starts first; a sender sends longer than the other end listens.
    var longer = configuration
    longer.limit = nil
    if case .periodicTX = counterpart {
      longer.packets = configuration.packets &* 2 &+ 5_000_000 / max(1, configuration.gap)
    }
    let (first, last): ((UWBDevice, RadioTest), (UWBDevice, RadioTest)) =
      test == .ssTWR(isResponder: true)
      ? ((device, test), (other, counterpart)) : ((other, counterpart), (device, test))
    let (signal, hasStarted) = AsyncStream<Void>.makeStream()
    let started = Task { [longer] in
      defer { hasStarted.finish() }
      return try await Self.attempt(first.0, first.1, longer) { hasStarted.finish() }
    }
    for await _ in signal {}
    let isResponder = test == .ssTWR(isResponder: true)
    return try await lending {
      let result = try await Self.attempt(last.0, last.1, configuration)
      if case .periodicTX = counterpart { started.cancel() }
      let second = try await started.value
      return isResponder ? (second, result) : (result, second)
    } end: {
      started.cancel()
      _ = try? await started.value
      await other.close()
    }
  }

  private static func attempt(
    _ device: UWBDevice, _ test: RadioTest, _ configuration: RadioTestConfiguration,
    started: @Sendable () -> Void = {}
  ) async throws -> RadioTestResult? {
    do throws(DriverError) {
      return try await device.run(test, configuration, started: started)
    } catch {
      guard error.code == .refused, let command = error.command, let status = error.status,
        status == .unknownOID || status == .unknownGID
      else { throw error }
      throw Failure(
        .configuration,
        "This chip (\(device.profile.name)) does not have this test: it answered \(command) with "
          + "\(status) (\(status.rawValue)).")
    }
  }

  private func report(_ results: Results, _ format: OutputFormat) throws {
    guard let own = results.own else {
      guard !Task.isCancelled else { return note("Stopped: a test has no result before its end.") }
      if configuration.limit != nil, case .periodicTX = test {
        return note("Stopped before all frames were sent, because the time is over.")
      }
      throw Failure(
        .noPeer, "The test did not finish in time.",
        try:
          "Check that the other end sends, with the same channel, preamble, SFD and RFRAME, and for "
          + "longer than this end listens.")
    }
    let report = RadioTestReport(name: name, result: own, other: results.other, test: test)
    if format == .json {
      standardOutput.write(report.json + "\n")
    } else {
      standardOutput.write(lines: report.text)
    }
    guard own.status.isSuccess else { throw Failure(.noPeer) }
  }
}
