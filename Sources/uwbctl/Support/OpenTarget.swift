// SPDX-License-Identifier: Apache-2.0

import UWBCapture
import UWBDriver
import UWBLink
import UWBSimulator

/// What `--device` and `--capture` lead to: where to open, and where to record.
struct OpenTarget {
  let endpoint: LinkEndpoint
  let tap: UWBDevice.PacketTap?
  /// The embedded simulated chips; nil for any other device.
  let simulated: SimulatedPeers?
  private let file: CaptureFile?
  private let capture: CaptureOptions

  /// - Parameter peers: how many other simulated chips there are.
  /// - Throws: `LinkError`, `CaptureError`, or why there is no pseudo-terminal.
  init(_ options: DeviceOptions, _ capture: CaptureOptions, peers: Int = 0) throws {
    self.capture = capture
    simulated = options.isSimulated ? try options.chip.simulatedChip(peers: peers) : nil
    endpoint =
      try simulated.map { SimulatedPeers.endpoint($0.own) } ?? LinkEndpoint(options.device)
    file = try capture.start(options)
    tap = file?.tap
  }

  /// Opens the device with the driver, recorded.
  func open(_ options: UWBDevice.Options) async throws(DriverError) -> UWBDevice {
    var options = options
    options.tap = tap
    return try await UWBDevice.open(endpoint, options: options)
  }

  /// Says so when the capture is not complete, and ends the simulated chip.
  func finish() {
    capture.finish(file)
    simulated?.bench.stop()
  }
}
