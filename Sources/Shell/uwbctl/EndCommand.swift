// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import UWBTools

struct EndCommand: ReportingCommand {
  static let configuration = CommandConfiguration(
    commandName: "end",
    abstract: "End a session of uwbd for all its programs.",
    discussion: """
      uwbctl list shows the sessions of the chips that uwbd shares, and the programs that hold them. \
      Everybody who may start sessions may also end the sessions of others: with uwbd --group, root and \
      the members of the group.
      """)

  @Argument(help: "The session id.") var session: UInt32
  @Option(help: "The name of the chip in uwbctl list, if several have such a session.")
  var chip: String?

  func execute() throws { try SharedPort.endSession(session, on: chip) }
}
