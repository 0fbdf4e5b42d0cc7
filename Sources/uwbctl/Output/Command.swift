// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import ArgumentParser
import Dispatch
import Glibc
import NearbyInteraction
import UWB
import UWBLab

/// A command whose failures become a sentence and an exit status, and that signals cancel.
protocol Command: AsyncParsableCommand, Sendable {
  func execute() async throws
}

extension Command {
  func run() async throws {
    let command = self
    try await reporting { try await cancelledBySignals { try await command.execute() } }
  }
}

/// Why a command ends: the cause, what to try next, and the exit status.
struct Failure: Error {
  var status: ExitStatus
  /// nil: it has been printed already.
  var cause: String?
  var suggestion: String?

  init(_ status: ExitStatus, _ cause: String? = nil, try suggestion: String? = nil) {
    (self.status, self.cause, self.suggestion) = (status, cause, suggestion)
  }

  /// Describes an error of a library, and the command that helps. nil for errors that the argument
  /// parser prints.
  init?(_ error: any Error) {
    switch error {
    case let error as Failure:
      self = error
      return
    case let error as DriverError:
      self.init(ExitStatus(error), error.description, try: error.recoverySuggestion)
    case let error as LinkError:
      self.init(ExitStatus(error), error.description, try: error.recoverySuggestion)
    case let error as FirmwareError:
      self.init(ExitStatus(error), error.description, try: error.recoverySuggestion)
    case let error as ProfileError:
      self.init(
        ExitStatus(error), error.description,
        try: error.recoverySuggestion.map { _ in
          "uwbctl profile prints a complete one with comments."
        })
    case CaptureError.notACapture:
      self.init(
        .data, CaptureError.notACapture.description,
        try: "Record with uwbctl range --capture FILE, or give packets in hexadecimal.")
    case let error as CaptureError:
      self.init(ExitStatus(error), error.description, try: error.recoverySuggestion)
    case let error as CalibrationError:
      self.init(ExitStatus(error), error.description, try: Self.suggestion(for: error))
    case let error as AccessoryError:
      self.init(ExitStatus(error), error.description, try: error.recoverySuggestion)
    case let error as LabError:
      self.init(ExitStatus(error), error.description, try: error.recoverySuggestion)
    case let error as NIError:
      self.init(
        ExitStatus(error), error.localizedDescription,
        try: error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String)
    default: return nil
    }
    switch status {
    case .unavailable: suggestion? += " List devices with: uwbctl list"
    case .permission: suggestion? += " Install the rules with: sudo uwbctl setup --install"
    default: break
    }
  }

  private static func suggestion(for error: CalibrationError) -> String? {
    switch error {
    case .unsupported: "Tell the family of the chip, if you know it: --chip qorvo or --chip nxp."
    case .unknownName: "uwbctl calibration list shows all names."
    case .refused: "This firmware may not have it; uwbctl calibration get shows what it has."
    default: error.recoverySuggestion
    }
  }

  /// Prints the cause and what to try.
  func report() -> ExitCode {
    if let cause { standardError.write("uwbctl: \(printable(cause))\n") }
    if let suggestion { standardError.write("  try: \(printable(suggestion))\n") }
    return ExitCode(status.rawValue)
  }
}

/// Runs the body of a command; a failure becomes one sentence, the next step and an exit status.
func reporting(_ body: () async throws -> Void) async throws {
  do { try await body() } catch is CancellationError { return } catch {
    throw Failure(error)?.report() ?? error
  }
}

/// The same for a command that does not wait.
func reporting(_ body: () throws -> Void) throws {
  do { try body() } catch { throw Failure(error)?.report() ?? error }
}

/// Runs `body` in a task that SIGINT, SIGTERM and the hang-up of the terminal cancel, so that
/// everything it opened is closed in order. A second signal ends the program at once.
func cancelledBySignals(_ body: @escaping @Sendable () async throws -> Void) async throws {
  let task = Task { try await body() }
  let queue = DispatchQueue(label: "signals")
  let sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number -> (any DispatchSourceSignal)? in
    // Programs that shall outlive their terminal are started with SIGHUP ignored (nohup).
    if number == SIGHUP, isIgnored(number) { return nil }
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
    source.setEventHandler {
      if task.isCancelled { _exit(128 + number) }
      task.cancel()
    }
    source.resume()
    return source
  }
  defer { for source in sources { source.cancel() } }
  // When the reader of the output goes away, the chip must be stopped first.
  signal(SIGPIPE, SIG_IGN)
  try await task.value
}

private func isIgnored(_ number: Int32) -> Bool {
  var now = sigaction()
  guard sigaction(number, nil, &now) == 0 else { return false }
  return unsafeBitCast(now.__sigaction_handler.sa_handler, to: Int.self)
    == unsafeBitCast(SIG_IGN, to: Int.self)
}
