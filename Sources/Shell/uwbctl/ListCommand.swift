// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import SystemPackage
import UWBLink
import UWBTools

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List UWB boards and other serial ports of USB devices.",
    discussion: """
      Shows the kernel's information, without opening a port. "open as" is a name for --device that does \
      not depend on the USB socket. To find out whether a device speaks UCI, use uwbctl doctor. For \
      chips that the service uwbd shares, on any bus, it also shows the sessions and their programs.
      """)

  @Option(help: "Output format; json is one object a line.") var format = OutputFormat.text
  @Flag(help: "Also list the built-in serial ports of the machine.") var all = false

  func run() {
    var shared: [SharedPort] = []
    do throws(LinkError) { shared = try SharedPort.all() } catch {
      note(error.description, try: error.recoverySuggestion)
    }
    let reports = PortReport.all(Discovery(), ProcessTable(), shared, all: all)
    format.print(reports, PortReport.json, text: \.text)
    if reports.isEmpty {
      note(
        "No serial device is plugged in.",
        try: "Plug in a board (a DWM3001CDK at J20) and look at the kernel log: sudo dmesg | tail")
    }
  }
}
