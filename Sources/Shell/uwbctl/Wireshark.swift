// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import UWBTools

struct Wireshark: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a dissector for Wireshark and tshark.",
    discussion: """
      Writes a plugin in Lua, which shows UCI packets of captures as "uwbctl decode" does: messages \
      of vendors, parameters and measurements with their names and units. It works with \
      Wireshark 4.0 and later. For example:
        uwbctl wireshark > ~/.local/lib/wireshark/plugins/uwbuci.lua

      Keys are shown as <redacted>; a preference of the protocol UWBUCI shows them.
      """)

  func execute() throws {
    standardOutput.write(try WiresharkDissector.text())
  }
}
