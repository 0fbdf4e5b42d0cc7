// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UWB
import UWBLink

/// A radio test on a device, with another device at its other end where there is one here.
struct RadioTestRun: Sendable {
  var name: String
  var test: RadioTest
  var configuration: RadioTestConfiguration
  /// What the other end runs; nil where the test needs none.
  var counterpart: RadioTest?
  /// The device at the other end; without one, an embedded simulated chip is, or somebody else.
  var otherDevice: String?

  func run(
    _ device: DeviceOptions, _ capture: CaptureOptions, _ format: OutputFormat
  ) async throws {
    try await reporting {
      try await cancelledBySignals {
        do {
          let results = try await device.withDevice(
            capture, peers: counterpart == nil ? 0 : 1
          ) { device, peers in
            try await measure(device, try await other(peers))
          }
          try report(results, format)
        } catch let missing as Missing {
          standardError.write("uwbctl: \(missing)\n")
          throw ExitCode(ExitStatus.configuration.rawValue)
        }
      }
    }
  }

  private func other(_ peers: SimulatedPeers?) async throws -> UWBDevice? {
    if let otherDevice { return try await UWBDevice.open(LinkEndpoint(otherDevice)) }
    guard counterpart != nil, let peer = peers?.others.first else { return nil }
    return try await UWBDevice.open(SimulatedPeers.endpoint(peer))
  }

  /// The chip does not know the command of a test.
  private struct Missing: Error, CustomStringConvertible {
    var chip: String
    var command: String
    var status: Status

    var description: String {
      "This chip (\(printable(chip))) does not have this test: it answered \(command) with \(status) "
        + "(\(status.rawValue))."
    }
  }

  struct Results: Sendable {
    var own: RadioTestResult?
    var other: RadioTestResult?
  }

  private func measure(_ device: UWBDevice, _ other: UWBDevice?) async throws -> Results {
    guard let other, let counterpart else {
      return Results(own: try await Self.attempt(device, test, configuration))
    }
    // Whoever answers, or sends, is there first; a sender sends longer than anyone listens.
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
      guard case .refused(let command, let status) = error,
        status == .unknownOID || status == .unknownGID
      else { throw error }
      throw Missing(chip: device.profile.name, command: command, status: status)
    }
  }

  private func report(_ results: Results, _ format: OutputFormat) throws {
    guard let own = results.own else {
      guard !Task.isCancelled else { return }
      standardError.write(
        "uwbctl: Nothing came of the test in time.\n  try: Check that the other end sends, with the "
          + "same channel, preamble, SFD and RFRAME, and longer than this one listens.\n")
      throw ExitCode(ExitStatus.noPeer.rawValue)
    }
    let report = RadioTestReport(name: name, result: own, other: results.other, test: test)
    standardOutput.write(format == .json ? report.json + "\n" : report.text)
    guard own.status.isSuccess else { throw ExitCode(ExitStatus.noPeer.rawValue) }
  }
}
