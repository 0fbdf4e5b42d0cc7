// SPDX-License-Identifier: Apache-2.0

import UWB
import UWBLink
import UWBSimulator

/// Resolves `--device` and `--capture`: what to open, and where to record.
struct OpenTarget {
  let endpoint: LinkEndpoint
  let tap: UWBDevice.PacketTap?
  /// The embedded simulated chips; nil for any other device.
  let simulated: SimulatedPeers?
  private let file: CaptureFile?
  private let capture: CaptureOptions

  /// - Parameter peers: the number of other simulated chips.
  /// - Throws: `LinkError`, `CaptureError`, or the error of the pseudo-terminal.
  init(_ options: DeviceOptions, _ capture: CaptureOptions, peers: Int = 0) throws {
    self.capture = capture
    simulated = options.isSimulated ? try options.chip.simulatedChip(peers: peers) : nil
    endpoint =
      try simulated.map { SimulatedPeers.endpoint($0.own) } ?? LinkEndpoint(options.device)
    file = try capture.start(options)
    tap = file?.tap
  }

  /// Opens the device with the driver.
  ///
  /// - Parameter resetPolicy: what happens to the sessions on the chip. Warns when a chip had to be reset
  ///   although it should not be.
  func open(
    _ options: UWBDevice.Options, _ resetPolicy: UWBDevice.ResetPolicy = .reset
  ) async throws(DriverError) -> UWBDevice {
    var options = options
    options.tap = tap
    options.resetPolicy = resetPolicy
    let device = try await UWBDevice.open(endpoint, options: options)
    if resetPolicy == .keepState, device.wasReset {
      standardError.write("uwbctl: The chip did not answer without a reset, so it was reset.\n")
    }
    return device
  }

  /// Warns if the capture is incomplete, and stops the simulated chip.
  func finish() {
    capture.finish(file)
    simulated?.bench.stop()
  }
}

extension DeviceOptions {
  /// Opens the device, or an embedded simulated one with its peers, lends it to `body`, and closes
  /// everything again.
  ///
  /// - Parameters:
  ///   - capture: where packets are recorded.
  ///   - peers: the number of other simulated chips.
  ///   - resetPolicy: what happens to the sessions on the chip.
  func withDevice<R: Sendable>(
    _ capture: CaptureOptions, peers count: Int = 0, resetPolicy: UWBDevice.ResetPolicy = .reset,
    _ body: (UWBDevice, SimulatedPeers?) async throws -> R
  ) async throws -> R {
    let target = try OpenTarget(self, capture, peers: count)
    defer { target.finish() }
    let device = try await target.open(driverOptions, resetPolicy)
    let result: R
    do {
      result = try await body(device, target.simulated)
    } catch {
      await device.close()
      throw error
    }
    await device.close()
    return result
  }
}
