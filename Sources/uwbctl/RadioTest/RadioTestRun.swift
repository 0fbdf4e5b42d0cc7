// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UWB
import UWBLink

/// A radio test on a device, with another device of this machine at the other end if the test needs one.
struct RadioTestRun: Sendable {
  var name: String
  var test: RadioTest
  var configuration: RadioTestConfiguration
  /// The test of the other end; nil where there is none.
  var counterpart: RadioTest?
  /// The device of the other end; nil: an embedded simulated chip, or a device elsewhere.
  var otherDevice: String?

  func run(
    _ device: DeviceOptions, _ capture: CaptureOptions, _ format: OutputFormat
  ) async throws {
    try await reporting {
      try await cancelledBySignals {
        let results = try await device.withDevice(
          capture, peers: counterpart == nil ? 0 : 1
        ) { device, peers in
          try await measure(device, try await other(peers))
        }
        try report(results, format)
      }
    }
  }

  private func other(_ peers: SimulatedPeers?) async throws -> UWBDevice? {
    if let otherDevice { return try await UWBDevice.open(LinkEndpoint(otherDevice)) }
    guard counterpart != nil, let peer = peers?.others.first else { return nil }
    return try await UWBDevice.open(SimulatedPeers.endpoint(peer))
  }

  struct Results: Sendable {
    var own: RadioTestResult?
    var other: RadioTestResult?
  }

  private func measure(_ device: UWBDevice, _ other: UWBDevice?) async throws -> Results {
    guard let other, let counterpart else {
      return Results(own: try await Self.attempt(device, test, configuration))
    }
    // The responder or sender starts first; a sender sends for longer than the other end listens.
    var longer = configuration
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
    var results = Results()
    do {
      results.own = try await Self.attempt(last.0, last.1, configuration)
      if case .periodicTX = counterpart { started.cancel() }
      results.other = try await started.value
    } catch {
      started.cancel()
      _ = try? await started.value
      await other.close()
      throw error
    }
    await other.close()
    return test == .ssTWR(isResponder: true)
      ? Results(own: results.other, other: results.own) : results
  }

  private static func attempt(
    _ device: UWBDevice, _ test: RadioTest, _ configuration: RadioTestConfiguration,
    started: @Sendable () -> Void = {}
  ) async throws -> RadioTestResult? {
    do throws(DriverError) {
      return try await device.run(test, configuration, started: started)
    } catch {
      guard case .refused(let command, let status) = error.kind,
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
      guard !Task.isCancelled else { return }
      throw Failure(
        .noPeer, "The test did not finish in time.",
        try:
          "Check that the other end sends, with the same channel, preamble, SFD and RFRAME, and for "
          + "longer than this end listens.")
    }
    let report = RadioTestReport(name: name, result: own, other: results.other, test: test)
    standardOutput.write(format == .json ? report.json + "\n" : report.text)
    guard own.status.isSuccess else { throw Failure(.noPeer) }
  }
}
