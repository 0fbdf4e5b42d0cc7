// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWBLink

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List UWB boards, debug probes and other serial ports of USB devices.",
    discussion: """
      Shows what the kernel knows, without opening a port. "open as" is a name for --device that does \
      not depend on the USB socket. To find out whether a device speaks UCI, use uwbctl doctor.
      """)

  @Option(help: "Output format: text, or json (one object a line).") var format = OutputFormat.text
  @Flag(help: "Also list the built-in serial ports of the machine.") var all = false

  func run() {
    let reports = PortReport.all(Discovery(), ProcessTable(), all: all)
    for report in reports {
      standardOutput.write(format == .json ? report.json + "\n" : report.text)
    }
    if reports.isEmpty {
      standardError.write(
        "uwbctl: No serial device is plugged in.\n  try: Plug in a board (a DWM3001CDK at J20) and look "
          + "at the kernel log: sudo dmesg | tail\n")
    }
  }
}
