// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UCIReference
import UWB
import UWBLink
import UWBSimulator

/// `uwbctl info`: who the chip is and what it can do.
struct Info: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say who a chip is and what it can do.",
    discussion: "Resets the chip: sessions on it end.")

  enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

  @OptionGroup var options: DeviceOptions
  @OptionGroup var capture: CaptureOptions
  @Option(help: "How to print it.") var format = Format.text

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
    var lines = [
      ("device", device.endpoint.description), ("family", device.profile.name),
      ("UCI", "\(info.uciVersion)"), ("MAC", "\(info.macVersion)"), ("PHY", "\(info.phyVersion)"),
      ("test", "\(info.testVersion)"),
      ("vendor info", info.vendorInfo.map { hexDigits($0) }.joined()),
    ]
    if let channels = capabilities.channels {
      lines.append(("channels", channels.map(String.init).joined(separator: ", ")))
    }
    lines += device.capabilities.map { parameter in
      (
        CapabilityID.name(of: parameter.id, in: capabilities.numbering),
        parameter.value.map { hexDigits($0) }.joined(separator: " ")
      )
    }
    let width = (lines.map(\.0.count).max() ?? 0) + 2
    return lines.map { "\($0.0.left(width))\($0.1)\n" }.joined()
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
    line.addRaw(
      "channels", "[\((capabilities.channels ?? []).map(String.init).joined(separator: ","))]")
    let list = device.capabilities.map { parameter in
      var entry = JSONLine()
      entry.add("id", Int(parameter.id))
      entry.add("name", CapabilityID.name(of: parameter.id, in: capabilities.numbering))
      entry.add("value", parameter.value.map { hexDigits($0) }.joined())
      return entry.text
    }
    line.addRaw("capabilities", "[\(list.joined(separator: ","))]")
    return line.text + "\n"
  }
}

/// Two digits.
func hexDigits(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 16)
  return digits.count < 2 ? "0" + digits : digits
}
