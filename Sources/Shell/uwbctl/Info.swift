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

struct Info: DeviceCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the identity and capabilities of a chip.",
    discussion: """
      The chip is reset only with --reset, or if it does not answer otherwise.
      """)

  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Flag(help: "Reset the chip first, which ends its sessions.") var reset = false
  @Option(help: "Output format.") var format = OutputFormat.text

  func execute() async throws {
    try await options.withDevice(capture, resetPolicy: reset ? .reset : .keepState) { device, _ in
      format.print([device], UWBDevice.json, text: Self.text)
    }
  }

  private static func text(_ device: UWBDevice) -> String {
    let (info, capabilities) = (device.info, Capabilities(device.capabilities))
    var table = TextTable()
    for (name, value) in [
      ("device", device.endpoint.description), ("family", device.profile.name),
      ("UCI", "\(info.uciVersion)"), ("MAC", "\(info.macVersion)"), ("PHY", "\(info.phyVersion)"),
      ("test", "\(info.testVersion)"), ("vendor info", hexDigits(info.vendorInfo)),
    ] { table.add(name, value) }
    if let channels = capabilities.channels {
      table.add("channels", channels.map(String.init).joined(separator: ", "))
    }
    for parameter in device.capabilities {
      table.add(
        CapabilityID.name(of: parameter.id, in: capabilities.numbering),
        hexDigits(parameter.value, separator: " "))
    }
    return table.text
  }
}
