// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UCI
import UCIReference
import UWB
import UWBLink
import UWBSimulator

struct Info: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the identity and capabilities of a chip.",
    discussion: "Resets the chip, which ends its sessions.")

  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "Output format.") var format = OutputFormat.text

  func execute() async throws {
    try await options.withDevice(capture) { device, _ in
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

struct Caps: Command {
  static let configuration = CommandConfiguration(
    abstract: "Show the capabilities that a chip reports.",
    discussion: """
      Some chips report more than they can do, so the list is a hint. The chip is reset only with \
      --reset, or if it does not answer otherwise.
      """)

  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Flag(help: "Reset the chip first, which ends its sessions.") var reset = false
  @Option(help: "Output format; json is one object a line.") var format = OutputFormat.text

  func execute() async throws {
    let list = try await options.withDevice(capture, resetPolicy: reset ? .reset : .keepState) {
      device, _ in
      CapabilityList(device.capabilities, dialect: device.dialect)
    }
    if format == .text { return standardOutput.write(list.text) }
    format.print(list.rows, CapabilityList.json) { _ in "" }
  }
}

struct CapabilityList {
  struct Row {
    var number: UInt8
    var subID: UInt8?
    var name: String
    var words: String
    var bytes: [UInt8]
    var summary: String
  }

  let rows: [Row]

  init(_ parameters: [TLV], dialect: Dialect) {
    let capabilities = Capabilities(parameters)
    rows = parameters.map { tlv in
      Row(
        number: tlv.id, subID: tlv.subID,
        name: CapabilityID.name(of: tlv.id, subID: tlv.subID, in: capabilities.numbering),
        words: capabilities.words(for: tlv, dialect: dialect), bytes: tlv.value,
        summary: capabilities.id(of: tlv)?.parameter(in: dialect, length: tlv.value.count)?.summary
          ?? "")
    }
  }

  var text: String {
    var table = TextTable()
    for row in rows { table.add(row.name, printable(row.words)) }
    return table.text
  }

  static let json = JSONTable<Row>("caps", each: "capability") {
    $0.key("id", "number") { $0.number }
    $0.key("sub_id?", "second byte of the number") { $0.subID }
    $0.key("name", "name") { $0.name }
    $0.key("meaning", "value in words") { $0.words }
    $0.key("octets", "bytes in wire order, hexadecimal") { hexDigits($0.bytes) }
    $0.key("summary", "description") { $0.summary }
  }
}

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
  @Option(help: "Output format.") var format = OutputFormat.text

  func execute() async throws {
    let clock = ContinuousClock()
    let start = clock.now
    var options = options
    // Through a service, a reset would end only the sessions of this program.
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
