// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UWB
import UWBLink

struct Reset: Command {
  static let configuration = CommandConfiguration(
    abstract: "Reset a chip, which ends its sessions.",
    discussion: """
      Sends CORE_DEVICE_RESET, after NXP's CORE_DEVICE_INIT where the chip needs it, waits until the \
      chip is ready and reads its device information. The USB connection and the calibration are \
      kept. A board that does not answer needs its reset button, or to be unplugged.
      """)

  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "Output format: text or json.") var format = OutputFormat.text

  func execute() async throws {
    let target = try OpenTarget(options, capture)
    defer { target.finish() }
    let clock = ContinuousClock()
    let start = clock.now
    let device = try await target.open(options.driverOptions)
    let time = clock.now - start
    let name = "\(device.profile.name), UCI \(device.info.uciVersion)"
    await device.close()
    switch format {
    case .text:
      standardOutput.write(
        "\(printable(name)): reset and ready after \(ChipChecks.milliseconds(time))\n")
    case .json:
      var line = JSONLine()
      line.add("device", device.endpoint.description)
      line.add("family", device.profile.name)
      line.add("uci", "\(device.info.uciVersion)")
      line.add("ready_ms", Double(time / .microseconds(1)) / 1_000, digits: 1)
      standardOutput.write(line.text + "\n")
    }
  }
}
