// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UCI
import UCIReference
import UWB
import UWBLink
import UWBSimulator
import UWBTools

struct Reset: DeviceCommand {
  static let configuration = CommandConfiguration(
    abstract: "Reset a chip, which ends its sessions.",
    discussion: """
      Sends CORE_DEVICE_RESET, after NXP's CORE_DEVICE_INIT where the chip needs it, waits until the \
      chip is ready and reads its device information. The USB connection and the calibration are \
      kept. A board that does not answer needs its reset button, or to be unplugged.
      """)

  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "Output format.") var format = OutputFormat.text

  func execute() async throws {
    let clock = ContinuousClock()
    let start = clock.now
    var options = options
    // A reset through a service would end only the sessions of this program.
    options.chip.direct = true
    let device = try await options.withDevice(capture) { device, _ in
      (device, time: clock.now - start)
    }
    format.print([device], Self.json) { device, time in
      "\(printable(device.profile.name)), UCI \(device.info.uciVersion): reset and ready after "
        + Checkup.milliseconds(time) + "\n"
    }
  }

  static let json = JSONTable<(UWBDevice, time: Duration)>("reset", each: "device") {
    $0.key("device", "opened device") { $0.0.endpoint.description }
    $0.key("family", "chip family") { $0.0.profile.name }
    $0.key("uci", "UCI version") { "\($0.0.info.uciVersion)" }
    $0.key("ready_ms", "milliseconds until the chip was ready again") {
      Fixed($0.time / .milliseconds(1), 1)
    }
  }
}
