// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWBLink

/// `uwbctl list`: the devices that are plugged in.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the serial ports of USB devices: UWB boards, debug probes and bridges.",
    discussion: """
      Nothing is opened: what is said comes from the kernel. "open as" is what --device takes; it \
      names the same board in whatever socket it is plugged. Whether a chip that speaks UCI is \
      behind a port, only opening it can tell: uwbctl doctor does.
      """)

  @Option(help: "text, or json: one object a line.") var format = OutputFormat.text
  @Flag(help: "Also the serial ports of the machine itself.") var all = false

  func run() {
    let reports = PortReport.all(Discovery(), ProcessTable(), all: all)
    for report in reports {
      standardOutput.write(format == .json ? report.json + "\n" : report.text)
    }
    if reports.isEmpty {
      standardError.write(
        "uwbctl: No serial device is plugged in.\n  try: \(Self.advice)\n")
    }
  }

  private static let advice =
    "Plug in a board (a DWM3001CDK by J20) and see what the kernel says with: sudo dmesg | tail"
}
