// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB

/// When a command that ranges stops, and whether it waits for a device that was lost.
struct RunOptions: ParsableArguments {
  @Option(name: [.customShort("n"), .long], help: "Stop after this many measured ranging rounds.")
  var count: Int?
  @OptionGroup var time: TimeLimit
  @Option(
    help: """
      How many seconds to wait for a device that was unplugged or failed before giving up; 0 does \
      not wait.
      """)
  var recover = Seconds(60)

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count takes 1 or more.") }
  }

  /// nil: the loss of the device ends the command.
  var recovery: RecoveryPolicy? {
    recover.duration > .zero ? RecoveryPolicy(limit: recover.duration) : nil
  }
}
