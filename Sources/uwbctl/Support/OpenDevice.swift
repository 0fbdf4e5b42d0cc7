// SPDX-License-Identifier: Apache-2.0

import UWBCapture
import UWBDriver
import UWBLink
import UWBSimulator

extension DeviceOptions {
  /// Opens the device, or an embedded simulated one with its peers, lends it to `body`, and closes
  /// everything again.
  ///
  /// - Parameters:
  ///   - capture: where packets are recorded.
  ///   - peers: how many other simulated chips there are.
  func withDevice<R: Sendable>(
    _ capture: CaptureOptions, peers count: Int = 0,
    _ body: (UWBDevice, SimulatedPeers?) async throws -> R
  ) async throws -> R {
    let peers =
      isSimulated
      ? try SimulatedPeers(profile: simChip.profile, peers: count, seed: seed) : nil
    defer { peers?.bench.stop() }
    let endpoint = try peers.map { SimulatedPeers.endpoint($0.own) } ?? LinkEndpoint(device)
    let file = try capture.start(self)
    defer { capture.finish(file) }
    var options = driverOptions
    options.tap = file?.tap
    let device = try await UWBDevice.open(endpoint, options: options)
    let result: R
    do {
      result = try await body(device, peers)
    } catch {
      await device.close()
      throw error
    }
    await device.close()
    return result
  }
}
