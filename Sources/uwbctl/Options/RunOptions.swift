// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB

/// How long a command that ranges goes on, and what it does about a device that goes away.
struct RunOptions: ParsableArguments {
  @Option(name: [.customShort("n"), .long], help: "End after so many measured ranging rounds.")
  var count: Int?
  @Option(name: [.customShort("t"), .long], help: "End after so many seconds.")
  var duration: Double?
  @Option(
    help: "Wait so many seconds for a device that was unplugged or failed, then go on; 0: end.")
  var recover = 60.0

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count takes 1 or more.") }
    if let duration, !(duration > 0 && duration < 1e9) {
      throw ValidationError("--duration takes more than 0 seconds.")
    }
    guard recover >= 0 && recover < 1e9 else {
      throw ValidationError("--recover takes 0 seconds or more.")
    }
  }

  /// nil: a device that goes away is the end.
  var recovery: Recovery? { recover > 0 ? Recovery(limit: .seconds(recover)) : nil }
}
