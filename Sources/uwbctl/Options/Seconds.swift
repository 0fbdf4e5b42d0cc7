// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A time on the command line, in seconds.
struct Seconds: ExpressibleByArgument {
  var duration: Duration

  init(_ seconds: Double) { duration = .seconds(seconds) }

  init?(argument: String) {
    guard let seconds = Double(argument), 0...1e9 ~= seconds else { return nil }
    self.init(seconds)
  }

  var defaultValueDescription: String {
    let seconds = duration / .seconds(1)
    return seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
  }
}

/// `-t`: when to stop.
struct TimeLimit: ParsableArguments {
  @Option(name: [.customShort("t"), .long], help: "Stop after this many seconds.")
  var duration: Seconds?

  func validate() throws {
    if let duration, duration.duration <= .zero {
      throw ValidationError("--duration takes more than 0 seconds.")
    }
  }

  /// nil: there is no limit.
  var limit: Duration? { duration?.duration }
}
