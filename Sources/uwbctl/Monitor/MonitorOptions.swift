// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What `monitor` and `capture` have in common.
struct MonitorOptions: ParsableArguments {
  @OptionGroup var time: TimeLimit

  @Flag(help: "First reset the chip and read its device information.")
  var reset = false

  @Flag(
    help: """
      Create a pseudo-terminal for another program, such as a vendor's script, forward packets in \
      both directions, and print its path.
      """)
  var proxy = false

  @Option(help: "With --proxy: create this symbolic link to the pseudo-terminal.")
  var link: String?

  func validate() throws {
    if link != nil, !proxy { throw ValidationError("--link needs --proxy.") }
  }

  /// The terminal for the other program, announced on standard error; nil without --proxy.
  func terminal() throws -> ProxyTerminal? {
    guard proxy else { return nil }
    let terminal = try ProxyTerminal(link: link)
    standardError.write("uwbctl: Open this in the other program: \(link ?? terminal.path)\n")
    return terminal
  }
}
