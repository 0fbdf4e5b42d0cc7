// SPDX-License-Identifier: Apache-2.0

import UWBCapture
import UWBDriver
import UWBLink
import UWBSimulator

/// What `--device` and `--capture` lead to: where to open, and where to record.
struct OpenTarget {
  let endpoint: LinkEndpoint
  let tap: UWBDevice.PacketTap?
  private let simulated: SimulatedPeers?
  private let file: CaptureFile?
  private let capture: CaptureOptions

  /// - Throws: `LinkError`, `CaptureError`, or why there is no pseudo-terminal.
  init(_ options: DeviceOptions, _ capture: CaptureOptions) throws {
    self.capture = capture
    simulated = options.isSimulated ? try options.chip.simulatedChip() : nil
    endpoint =
      try simulated.map { SimulatedPeers.endpoint($0.own) } ?? LinkEndpoint(options.device)
    file = try capture.start(options)
    tap = file?.tap
  }

  /// Says so when the capture is not complete, and ends the simulated chip.
  func finish() {
    capture.finish(file)
    simulated?.bench.stop()
  }
}
