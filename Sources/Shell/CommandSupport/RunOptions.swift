// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import System
package import UWB

/// The options for the end of ranging, and for a lost device.
package struct RunOptions: ParsableArguments {
  @Option(
    name: [.customShort("n"), .long],
    help: "Stop after this many measured ranging rounds.")
  package var count: Int?
  @Option(name: TimeLimit.name, help: TimeLimit.help) package var duration: Seconds?
  @Option(
    help: """
      How many seconds to wait for a device that was unplugged or failed; 0: end at once.
      """)
  package var recover = Seconds(60)

  package init() {}

  package func validate() throws {
    try TimeLimit.check(duration)
    if let count, count < 1 { throw ValidationError("--count takes 1 or more.") }
  }

  package var time: TimeLimit { TimeLimit(duration) }

  /// The policy for a lost device; nil ends the command.
  package var recovery: RecoveryPolicy? {
    recover.duration > .zero ? RecoveryPolicy(limit: recover.duration) : nil
  }
}

/// A duration in seconds on the command line.
package struct Seconds: ExpressibleByArgument {
  package var duration: Duration

  package init(_ seconds: Double) { duration = .seconds(seconds) }

  package init?(argument: String) {
    guard let seconds = Double(argument), 0...1e9 ~= seconds else { return nil }
    self.init(seconds)
  }

  package var defaultValueDescription: String {
    let seconds = duration / .seconds(1)
    return seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
  }
}

/// A speed relative to a recording on the command line: a factor, or `max`.
package struct Speed: ExpressibleByArgument {
  /// The factor of the speed relative to the recording; infinite for no waiting.
  package var factor = 1.0

  package init() {}

  package init?(argument: String) {
    guard let number = argument == "max" ? .infinity : Double(argument),
      number >= 0.001, number <= 1e6 || argument == "max"
    else { return nil }
    factor = number
  }

  package var defaultValueDescription: String { factor == 1 ? "1" : "\(factor)" }
}

/// The option `-t`, a time limit.
package struct TimeLimit: ParsableArguments {
  package static let name: NameSpecification = [.customShort("t"), .long]
  package static let help: ArgumentHelp = "Stop after this many seconds."

  @Option(name: Self.name, help: Self.help) package var duration: Seconds?

  package init() {}

  init(_ duration: Seconds?) { self.duration = duration }

  package func validate() throws { try Self.check(duration) }

  /// Checks the value of `-t`. Other groups declare the option themselves (see `DeviceCommand`).
  package static func check(_ duration: Seconds?) throws {
    if let duration, duration.duration <= .zero {
      throw ValidationError("--duration takes more than 0 seconds.")
    }
  }

  /// The limit; nil for none.
  package var limit: Duration? { duration?.duration }

  /// Runs `body` with the time limit.
  ///
  /// At the limit, `body` is cancelled as by a signal. A chip that does not end its sessions within
  /// two seconds is closed anyway.
  ///
  /// - Parameters:
  ///   - device: The device that `body` has opened.
  ///   - clock: The clock of the limit.
  /// - Returns: The result; nil at the time limit.
  /// - Throws: the loss of the device if the device was lost at the time limit.
  package func limiting<R: Sendable>(
    _ device: Locked<UWBDevice?>, clock: AlarmClock = .system,
    _ body: @escaping @Sendable () async throws -> R
  ) async throws -> R? {
    let task = Task(executorPreference: Ending.threads) { try await body() }
    let isOver = Locked(false)
    let outage = Locked<DriverError?>(nil)
    let timers = limit.map { limit in
      [
        clock.timer(limit) {
          isOver.withLock { $0 = true }
          let loss = device.withLock { $0 }?.outage
          outage.withLock { $0 = loss }
          task.cancel()
        },
        clock.timer(limit + .seconds(2)) {
          Task { await device.withLock { $0 }?.close(within: .zero) }
        },
      ]
    }
    defer { for timer in timers ?? [] { timer.cancel() } }
    var result: R?
    do {
      result = try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch let error where isOver.withLock({ $0 }) && Ending.isCancellation(error) {
      guard device.withLock({ $0 }) != nil else {
        throw Failure(
          .silent, "The time was over before the device had answered.",
          try: "Give it more time with -t; uwbctl doctor checks a device.")
      }
    }
    guard let loss = outage.withLock({ $0 }) else { return result }
    throw Failure(
      ExitStatus(loss), "The time was over while the device was lost. \(loss)",
      try: loss.recoverySuggestion)
  }
}

extension DeviceOptions {
  /// Opens the device for a command that ranges, until its time limit.
  ///
  /// - Parameter clock: The clock of the time limit.
  /// - Returns: The result; nil at the time limit.
  package func withDevice<R: Sendable>(
    _ capture: CaptureOptions? = nil, peers count: Int, _ end: RunOptions,
    clock: AlarmClock = .system, recording: (@Sendable (CaptureFile) -> Void)? = nil,
    _ body: @escaping @Sendable (UWBDevice, SimulatedPeers?) async throws -> R
  ) async throws -> R? {
    let opened = Locked<UWBDevice?>(nil)
    return try await end.time.limiting(opened, clock: clock) {
      try await withDevice(
        capture, peers: count, recovery: end.recovery, recording: recording
      ) { device, simulated in
        opened.withLock { $0 = device }
        return try await body(device, simulated)
      }
    }
  }
}
