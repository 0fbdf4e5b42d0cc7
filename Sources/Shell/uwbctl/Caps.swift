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

struct Caps: DeviceCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the capabilities that a chip reports.",
    discussion: """
      Some chips report more than they can do, so the list is a hint. The chip is reset only with \
      --reset, or if it does not answer otherwise.
      """)

  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Flag(help: "Reset the chip first, which ends its sessions.") var reset = false
  @Option(help: "Output format; json is one object a line.") var format = OutputFormat.text

  func execute() async throws {
    let list = try await options.withDevice(capture, resetPolicy: reset ? .reset : .keepState) {
      device, _ in
      CapabilityList(device.capabilities, dialect: device.dialect)
    }
    format.print(list.rows, CapabilityList.json, whole: list.text)
  }
}
