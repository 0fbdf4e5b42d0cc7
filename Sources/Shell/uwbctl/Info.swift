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
    let info = device.info
    var table = TextTable()
    for (name, value) in [
      ("device", device.endpoint.description), ("family", device.profile.name),
      ("UCI", "\(info.uciVersion)"), ("MAC", "\(info.macVersion)"), ("PHY", "\(info.phyVersion)"),
      ("test", "\(info.testVersion)"),
    ] + vendorRows(info) { table.add(name, printable(value)) }
    for row in CapabilityList(device.capabilities, dialect: device.dialect).rows {
      table.add(row.name, printable(row.words))
    }
    return table.text
  }

  /// Returns the details in the vendor's bytes, or the bytes themselves if their form is unknown.
  private static func vendorRows(_ info: DeviceInfo) -> [(String, String)] {
    switch info.vendorDetails {
    case .qorvo(let qorvo):
      [
        ("firmware", "\(qorvo.firmware), build \(qorvo.build)"), ("OEM version", qorvo.oemVersion),
        ("chip", "0x" + String(qorvo.deviceID, radix: 16)), ("chip id", hexDigits(qorvo.socID)),
      ]
    case .nxp(let nxp):
      [
        ("firmware", nxp.firmware ?? "?"), ("chip", nxp.deviceName),
        ("chip id", nxp.chipID.map { hexDigits($0) } ?? "?"),
        ("clock error", nxp.maxPPM.map { "at most \($0) ppm" } ?? "?"),
      ]
    case nil: [("vendor info", hexDigits(info.vendorInfo))]
    }
  }
}
