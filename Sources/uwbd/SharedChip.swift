// SPDX-License-Identifier: Apache-2.0
import Logging
import UWB
import UWBLab

/// A chip that the service owns, for as long as it runs: opened when it is there, and again when it was
/// lost.
@ServiceActor final class SharedChip {
  /// As on the command line.
  nonisolated let name: String
  private let endpoint: LinkEndpoint
  private let options: UWBDevice.Options
  private(set) var device: UWBDevice?
  /// Why it cannot be used now; nil: it can.
  private(set) var problem: DriverError?
  var sessions: [UInt32: SharedSession] = [:]
  private var run: Task<Void, Never>?
  private let logger: Logger

  /// Pauses between attempts to open it, the last of them again and again.
  private static let pauses: [Duration] = [
    .milliseconds(500), .seconds(1), .seconds(2), .seconds(4),
  ]

  init(_ endpoint: LinkEndpoint, name: String, logger: Logger) {
    (self.endpoint, self.name) = (endpoint, name)
    var logger = logger
    logger[metadataKey: "chip"] = "\(printable(name))"
    self.logger = logger
    options = UWBDevice.Options(logger: logger, recovery: RecoveryPolicy())
  }

  /// Opens it, and keeps it open until `stop`.
  func start() {
    run = Task {
      var attempts = 0
      while !Task.isCancelled {
        do throws(DriverError) {
          let device = try await UWBDevice.open(endpoint, options: options)
          attempts = 0
          await use(device)
        } catch { noteProblem(error) }
        try? await Task.sleep(for: Self.pauses[min(attempts, Self.pauses.count - 1)])
        attempts += 1
      }
    }
  }

  /// Ends its sessions, and closes it.
  func stop() async {
    run?.cancel()
    await run?.value
  }

  /// Whether it can be used, in the interface.
  var problemText: String? {
    device == nil && problem == nil ? "It is being opened." : problem?.description
  }

  /// Returns when the thread that reads from it has done what it was asked before.
  func waitForReader() async {
    guard let device else { return }
    await Task(executorPreference: device.executor) {}.value
  }

  /// Until it is lost for good, or this task is cancelled.
  private func use(_ device: UWBDevice) async {
    self.device = device
    problem = nil
    logger.notice("open", metadata: ["family": "\(device.profile.name)"])
    for await event in device.events {
      switch event {
      case .lost(let cause), .notRecovered(let cause): noteProblem(cause)
      case .recovered:
        problem = nil
        logger.notice("back, with its sessions")
      default: break
      }
    }
    self.device = nil
    let limit = Task {
      if (try? await Task.sleep(for: .seconds(5))) != nil { await device.close(within: .zero) }
    }
    // Closing the device does not wait for sessions that others are closing.
    for session in sessions.values {
      session.end("The service closes the chip.")
      await session.waitUntilEnded()
    }
    limit.cancel()
    await device.close(within: .seconds(5))
    if let cause = device.remainingSession {
      logger.error("The chip may still have a session.", metadata: ["cause": "\(cause)"])
    }
  }

  /// Says it once.
  private func noteProblem(_ cause: DriverError) {
    if problem != cause { logger.warning("\(printable(cause.description))") }
    problem = cause
  }
}
