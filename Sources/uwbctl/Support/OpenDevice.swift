// SPDX-License-Identifier: Apache-2.0

import UWB

extension DeviceOptions {
  /// Opens the device, or an embedded simulated one with its peers, lends it to `body`, and closes
  /// everything again.
  ///
  /// - Parameters:
  ///   - capture: where packets are recorded.
  ///   - peers: how many other simulated chips there are.
  ///   - opening: what becomes of the sessions on the chip.
  func withDevice<R: Sendable>(
    _ capture: CaptureOptions, peers count: Int = 0, opening: UWBDevice.Opening = .reset,
    _ body: (UWBDevice, SimulatedPeers?) async throws -> R
  ) async throws -> R {
    let target = try OpenTarget(self, capture, peers: count)
    defer { target.finish() }
    let device = try await target.open(driverOptions, opening)
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
