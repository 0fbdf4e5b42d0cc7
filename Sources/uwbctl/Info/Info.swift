// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UCIReference
import UWB
import UWBLink
import UWBSimulator

struct Info: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the identity and capabilities of a chip.",
    discussion: "Resets the chip, which ends its sessions.")

  @OptionGroup var options: DeviceOptions
  @OptionGroup var capture: CaptureOptions
  @Option(help: "Output format: text or json.") var format = OutputFormat.text

  func run() async throws {
    try await reporting {
      try await options.withDevice(capture) { device, _ in
        let capabilities = Capabilities(device.capabilities)
        standardOutput.write(
          format == .json ? json(device, capabilities) : text(device, capabilities))
      }
    }
  }

  private func text(_ device: UWBDevice, _ capabilities: Capabilities) -> String {
    let info = device.info
    var table = TextTable()
    for (name, value) in [
      ("device", device.endpoint.description), ("family", device.profile.name),
      ("UCI", "\(info.uciVersion)"), ("MAC", "\(info.macVersion)"), ("PHY", "\(info.phyVersion)"),
      ("test", "\(info.testVersion)"),
      ("vendor info", info.vendorInfo.map { hexDigits($0) }.joined()),
    ] { table.add(name, value) }
    if let channels = capabilities.channels {
      table.add("channels", channels.map(String.init).joined(separator: ", "))
    }
    for parameter in device.capabilities {
      table.add(
        CapabilityID.name(of: parameter.id, in: capabilities.numbering),
        parameter.value.map { hexDigits($0) }.joined(separator: " "))
    }
    return table.text
  }

  private func json(_ device: UWBDevice, _ capabilities: Capabilities) -> String {
    let info = device.info
    var line = JSONLine()
    line.add("device", device.endpoint.description)
    line.add("family", device.profile.name)
    line.add("uci", "\(info.uciVersion)")
    line.add("mac", "\(info.macVersion)")
    line.add("phy", "\(info.phyVersion)")
    line.add("test", "\(info.testVersion)")
    line.add("vendor_info", info.vendorInfo.map { hexDigits($0) }.joined())
    line.add("channels", capabilities.channels ?? [])
    line.add(
      "capabilities",
      device.capabilities.map { parameter in
        var entry = JSONLine()
        entry.add("id", parameter.id)
        entry.add("name", CapabilityID.name(of: parameter.id, in: capabilities.numbering))
        entry.add("value", parameter.value.map { hexDigits($0) }.joined())
        return entry
      })
    return line.text + "\n"
  }
}

/// A byte as two hexadecimal digits.
func hexDigits(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 16)
  return digits.count < 2 ? "0" + digits : digits
}
