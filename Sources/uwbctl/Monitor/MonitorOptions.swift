// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// How a link is listened to: what `monitor` and `capture` have in common.
struct MonitorOptions: ParsableArguments {
  @Option(name: [.customShort("t"), .long], help: "End after so many seconds.")
  var duration: Double?

  @Flag(help: "Reset the chip and ask who it is first; otherwise nothing is sent.")
  var reset = false

  @Flag(
    help: ArgumentHelp(
      "Make a pseudo-terminal for another program (a vendor's script, say) and pass on what goes "
        + "either way. Prints its path."))
  var proxy = false

  @Option(help: "With --proxy: make a symbolic link to the pseudo-terminal.")
  var link: String?

  func validate() throws {
    if let duration, !(duration > 0 && duration < 1e6) {
      throw ValidationError("--duration takes more than 0 seconds.")
    }
    if link != nil, !proxy { throw ValidationError("--link goes with --proxy.") }
  }

  var milliseconds: Int? { duration.map { Int($0 * 1_000) } }

  /// The terminal for the other program, announced on standard error; nil without --proxy.
  func terminal() throws -> ProxyTerminal? {
    guard proxy else { return nil }
    let terminal = try ProxyTerminal(link: link)
    standardError.write("uwbctl: open this in the other program: \(link ?? terminal.path)\n")
    return terminal
  }
}
