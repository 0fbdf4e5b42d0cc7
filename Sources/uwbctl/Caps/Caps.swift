// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UCIReference
import UWB
import UWBLink

struct Caps: Command {
  static let configuration = CommandConfiguration(
    abstract: "Show the capabilities that a chip reports.",
    discussion: """
      Some chips claim more than they can do: take it as a hint. The chip is only reset with --reset, \
      or when it does not answer otherwise.
      """)

  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Flag(help: "Reset the chip first, which ends its sessions.") var reset = false
  @Option(help: "Output format: text, or json (one object a line).") var format = OutputFormat.text

  func execute() async throws {
    let list = try await options.withDevice(capture, resetPolicy: reset ? .reset : .keepState) {
      device, _ in
      CapabilityList(device.capabilities, dialect: device.dialect)
    }
    standardOutput.write(format == .json ? list.json : list.text)
  }
}

/// Capabilities as they are printed.
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

  var json: String {
    rows.map { row in
      var line = JSONLine()
      line.add("id", row.number)
      if let subID = row.subID { line.add("sub_id", subID) }
      line.add("name", row.name)
      line.add("meaning", row.words)
      line.add("octets", row.bytes.map { hexDigits($0) }.joined())
      line.add("summary", row.summary)
      return line.text + "\n"
    }.joined()
  }
}
