// SPDX-License-Identifier: Apache-2.0

import System
import SystemPackage
package import UWB
package import UWBLink
import UWBSimulator

/// The device to open and the capture, resolved from `--device` and `--capture`.
package struct OpenTarget {
  package let endpoint: LinkEndpoint
  package let tap: UWBDevice.PacketTap?
  /// The file of the packets; nil without a capture.
  let capture: CaptureFile?
  /// The embedded simulated chips; nil for another device.
  package let simulated: SimulatedPeers?
  /// The connection that keeps a service from opening the chip.
  private let loan: FileDescriptor?

  /// Resolves the options.
  ///
  /// - Parameters:
  ///   - peers: The number of further simulated chips.
  ///   - notesSimulation: Whether to print a note that the chips are simulated.
  /// - Throws: `LinkError`, `CaptureError`, or the error of the pseudo-terminal.
  package init(
    _ device: String, _ chip: ChipOptions, _ capture: CaptureOptions?, peers: Int = 0,
    notesSimulation: Bool = true
  ) async throws {
    simulated = device == DeviceOptions.simulated ? try chip.simulatedChip(peers: peers) : nil
    if simulated != nil, notesSimulation { note("Simulated chips: --device names a board.") }
    endpoint = try simulated.map { SimulatedPeers.endpoint($0.own) } ?? LinkEndpoint(device)
    self.capture = try capture?.start(device, simulated: simulated == nil ? nil : chip.model)
    tap = self.capture?.tap
    loan =
      chip.exclusive && simulated == nil
      ? try await runBlocking { [endpoint] in
        Result { () throws(LinkError) in try endpoint.borrow(for: Program.name) }
      }.get() : nil
  }

  /// Stops the simulated chips, and returns the chip to the service.
  package func finish() {
    simulated?.bench.stop()
    try? loan?.close()
  }
}

extension DeviceOptions {
  /// Opens the device, or an embedded simulated one with its peers, passes it to `body`, and closes
  /// it.
  ///
  /// - Parameters:
  ///   - capture: The options for recording packets.
  ///   - peers: The number of further simulated chips.
  ///   - resetPolicy: The treatment of the sessions on the chip.
  ///   - recording: Called with the file of the packets, before the device is opened.
  ///   - resetAdvice: The next step for a chip that answers only with errors; nil asks the user or
  ///     suggests `--reset`.
  ///   - recovery: Whether to wait for a lost device.
  package func withDevice<R: Sendable>(
    _ capture: CaptureOptions? = nil, peers count: Int = 0,
    resetPolicy: UWBDevice.ResetPolicy = .reset, resetAdvice: String? = nil,
    recovery: RecoveryPolicy? = nil, recording: ((CaptureFile) -> Void)? = nil,
    _ body: (UWBDevice, SimulatedPeers?) async throws -> R
  ) async throws -> R {
    let target = try await OpenTarget(device, chip, capture, peers: count)
    defer { target.finish() }
    if let capture = target.capture { recording?(capture) }
    var driverOptions = chip.driverOptions
    (driverOptions.tap, driverOptions.recovery) = (target.tap, recovery)
    driverOptions.resetPolicy = resetPolicy
    let device: UWBDevice
    do throws(DriverError) {
      device = try await UWBDevice.open(target.endpoint, options: driverOptions)
    } catch {
      guard error.code == .needsReset else { throw error }
      if let resetAdvice {
        throw Failure(.deviceFailure, "\(error)", try: resetAdvice)
      }
      try await Prompt.confirmReset()
      driverOptions.resetPolicy = .reset
      device = try await UWBDevice.open(target.endpoint, options: driverOptions)
    }
    if driverOptions.resetPolicy == .keepState, device.wasReset {
      note("The chip did not answer without a reset, so it was reset.")
    }
    let result: Result<R, any Error>
    do { result = .success(try await body(device, target.simulated)) } catch {
      result = .failure(Self.advised(error, device))
    }
    await device.close()
    guard let cause = device.remainingSession else { return try result.get() }
    let remains = Failure(remaining: cause)
    if case .failure(let error) = result, error as? DriverError != cause,
      !Ending.isCancellation(error)
    {
      _ = remains.report()
      throw error
    }
    throw remains
  }

  /// Adds advice to the error of a service that rejects a command for the whole chip.
  private static func advised(_ error: any Error, _ device: UWBDevice) -> any Error {
    guard case .service = device.endpoint, let cause = error as? DriverError,
      cause.status == .rejected
    else { return error }
    return Failure(
      ExitStatus(cause), "\(cause)",
      try: "A service shares the chip: commands for the whole chip need --exclusive.")
  }
}

extension Failure {
  /// Creates the failure for a session that may remain on the chip.
  ///
  /// - Parameter cause: The error of closing the session.
  fileprivate init(remaining cause: DriverError) {
    let isClosed = cause.code == .closed
    self.init(
      isClosed ? .silent : ExitStatus(cause),
      isClosed ? "The chip did not end its session in time." : "\(cause)",
      try: "It may still be ranging: uwbctl reset ends every session of a chip.")
  }
}

/// Runs `body` and then `end`, even after an error.
package nonisolated(nonsending) func lending<R>(
  _ body: nonisolated(nonsending) () async throws -> R,
  end: nonisolated(nonsending) () async -> Void
) async throws -> R {
  let result: R
  do { result = try await body() } catch {
    await end()
    throw error
  }
  await end()
  return result
}
