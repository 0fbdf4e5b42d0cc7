// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import Formats
import FoundationEssentials
package import UWB
package import UWBLink

/// A command that reports failures as a sentence and an exit status.
package protocol ReportingCommand: AsyncParsableCommand {
  func execute() async throws
}

extension ReportingCommand {
  package func run() async throws {
    try await withTaskExecutorPreference(Ending.threads) {
      try await reporting { try await execute() }
    }
  }
}

/// A command whose task is cancelled by signals, so that it ends in order.
package protocol Command: ReportingCommand, Sendable {}

extension Command {
  package func run() async throws {
    let command = self
    try await reporting { try await Ending.cancelling { try await command.execute() } }
  }
}

/// A command whose early end is a failure, because it has no effect before its result.
package protocol ResultCommand: Command {}

extension ResultCommand {
  package func run() async throws {
    let command = self
    try await reporting {
      do { try await Ending.cancelling { try await command.execute() } } catch is CancellationError
      {
        throw Failure(.unfinished, "Quit before there was a result. Nothing was written.")
      }
    }
  }
}

/// A command that runs with `run()`, or with `runLive()` if it is live.
package protocol LiveCommand: ParsableCommand {
  var isLive: Bool { get }
  func runLive() async throws
}

/// An error of a library that some programs do not use.
package protocol StatusError: Error {
  var exitStatus: ExitStatus { get }
  /// Whether to advise the commands for boards after an error.
  var concernsBoards: Bool { get }
}

extension StatusError {
  package var concernsBoards: Bool { true }
}

/// The cause of a command's end, the next step, and the exit status.
package struct Failure: Error {
  package var status: ExitStatus
  /// The cause; nil if it has been printed.
  package var cause: String?
  package var suggestion: String?

  package init(_ status: ExitStatus, _ cause: String? = nil, try suggestion: String? = nil) {
    (self.status, self.cause, self.suggestion) = (status, cause, suggestion)
  }

  /// Creates a failure from an error of a library, with a command to try next; nil for errors that
  /// the argument parser prints.
  package init?(_ error: any Error) {
    if let failure = error as? Failure {
      self = failure
      return
    }
    guard let status = ExitStatus(of: error) else { return nil }
    self.init(
      status, (error as? any LocalizedError)?.errorDescription ?? "\(error)",
      try: Self.suggestion(for: error))
    let link = error as? LinkError ?? (error as? DriverError)?.linkError
    if let link, let advice = Self.serviceAdvice(after: link) {
      suggestion = advice
      return
    }
    // The commands below concern boards.
    guard (error as? any StatusError)?.concernsBoards ?? true else { return }
    switch status {
    // The list has no devices of the network.
    case .unavailable where link?.code != .connectionRefused:
      suggestion? += " List devices with: uwbctl list"
    case .permission: suggestion? += " Install the rules with: sudo uwbctl setup --install"
    default: break
    }
  }

  /// Returns the next step after a failed opening, if a service holds the device or is named as the
  /// device. Blocks while it asks the service.
  private static func serviceAdvice(after error: LinkError) -> String? {
    guard [.busy, .permissionDenied].contains(error.code),
      let endpoint = try? LinkEndpoint(error.endpoint)
    else { return nil }
    if case .service = endpoint { return error.recoverySuggestion }
    do throws(LinkError) {
      return try endpoint.inService() == nil
        ? nil
        : "The service uwbd shares it: with --exclusive, it closes the chip until the command has "
          + "ended."
    } catch {
      return "The service uwbd may share it. \(error) \(error.recoverySuggestion ?? "")"
    }
  }

  private static func suggestion(for error: any Error) -> String? {
    switch error {
    case CalibrationError.unsupported:
      "Give the family of the chip, if you know it: --chip qorvo or --chip nxp."
    case CalibrationError.unknownName: "uwbctl calibrate list shows all names."
    case CalibrationError.refused:
      "This firmware may not have it; uwbctl calibrate get shows its values."
    case CaptureError.notACapture:
      "Record with uwbctl range --capture FILE, or give packets in hexadecimal."
    case let error as DriverError where error.code == .configurationProblems:
      (error.recoverySuggestion.map { $0 + " " } ?? "")
        + "uwbctl range --force starts the session anyway."
    case let error as ProfileError where error.recoverySuggestion != nil:
      "uwbctl profile prints a complete one with comments."
    default: (error as? any LocalizedError)?.recoverySuggestion
    }
  }

  /// Prints the cause and the next step.
  package func report() -> ExitCode {
    if let cause {
      note(cause, try: suggestion)
    } else if let suggestion {
      standardError.write(advice(suggestion))
    }
    return ExitCode(status.rawValue)
  }
}

/// Runs `body`, and puts the name of a file before errors that lack it.
///
/// - Parameter path: The file; `-` is standard input.
package func naming<Result>(file path: String, _ body: () throws -> Result) throws -> Result {
  do { return try body() } catch {
    guard let failure = Failure(error), let cause = failure.cause, !cause.hasPrefix(path + " ")
    else {
      throw error
    }
    let name = path == "-" ? "Standard input" : path
    throw Failure(failure.status, "\(name): \(cause)", try: failure.suggestion)
  }
}

/// Checks the value of an option.
package func require(_ isValid: Bool, _ message: @autoclosure () -> String) throws {
  if !isValid { throw ValidationError(message()) }
}

/// Runs the body of a command, and reports a failure as a sentence, the next step and an exit
/// status.
package func reporting(_ body: () async throws -> Void) async throws {
  do { try await body() } catch is CancellationError { return } catch {
    throw Failure(error)?.report() ?? error
  }
}

/// The exit statuses; the numbers of sysexits.h where it has one.
///
/// A documentation page lists them; a status never changes its meaning.
package enum ExitStatus: Int32, CaseIterable {
  case success = 0
  /// The arguments are invalid.
  case usage = 64
  /// Some input could not be decoded.
  case data = 65
  /// An input file cannot be read.
  case noInput = 66
  /// The host of a tcp: device cannot be resolved.
  case noHost = 68
  /// The device does not exist, or the connection was refused.
  case unavailable = 69
  /// Another system call failed.
  case system = 71
  /// An output file cannot be created.
  case cannotCreate = 73
  /// The device disappeared, or closed the connection.
  case deviceGone = 74
  /// Another program has the device open.
  case busy = 75
  /// The device answers with data that is not UCI.
  case protocolError = 76
  /// This user may not open the device.
  case permission = 77
  /// The session is impossible, or the chip rejects it.
  case configuration = 78
  /// The device, or the accessory, does not answer.
  case silent = 80
  /// The device reported a failure, or never accepted a command.
  case deviceFailure = 81
  /// Ranging worked, but no peer was measured.
  case noPeer = 82
  /// The two compared ends cannot range with each other.
  case cannotRange = 83
  /// A calibration ended before its result; no value was written.
  case unfinished = 84
  /// The chip or the peer ended the session.
  case sessionEnded = 85
  /// The users of the two machines did not both confirm the code.
  case notConfirmed = 86

  /// Returns the status for an error; nil for errors of other libraries.
  package init?(of error: any Error) {
    switch error {
    case let error as DriverError: self.init(error)
    case let error as LinkError: self.init(error)
    case let error as FirmwareError: self.init(error)
    case let error as ProfileError: self.init(error)
    case let error as CaptureError: self.init(error)
    case let error as CalibrationError: self.init(error)
    case let error as FormatError: self.init(error)
    case let error as any StatusError: self = error.exitStatus
    default: return nil
    }
  }

  package init(_ error: LinkError) {
    switch error.code {
    case .notFound, .connectionRefused, .lineNotFound: self = .unavailable
    case .permissionDenied: self = .permission
    case .busy, .lineBusy: self = .busy
    case .notASerialDevice, .otherKindOfDevice, .invalidEndpoint, .ambiguous: self = .usage
    case .unresolvedHost: self = .noHost
    case .timeout, .chipSilent: self = .silent
    case .closedByPeer, .deviceGone: self = .deviceGone
    default: self = .system
    }
  }

  package init(_ error: FormatError) {
    switch error.code {
    case .unreadable: self = .noInput
    case .notCreated: self = .cannotCreate
    case .notWritten: self = .system
    case .badFile: self = .data
    }
  }

  package init(_ error: CalibrationError) {
    switch error {
    case .unsupported, .wrongLength, .refused: self = .configuration
    case .unknownName, .unreadable: self = .usage
    case .notKept: self = .deviceFailure
    case .device(let error): self.init(error)
    }
  }

  package init(_ error: CaptureError) {
    switch error {
    case .empty, .notACapture, .olderFormat: self = .data
    case .unreadable, .tooLong, .lineTooLong: self = .noInput
    case .notCreated: self = .cannotCreate
    case .notWritten: self = .system
    }
  }

  package init(_ error: ProfileError) {
    switch error {
    case .unreadable, .tooLong: self = .noInput
    default: self = .data
    }
  }

  package init(_ error: FirmwareError) {
    switch error {
    case .unreadable: self = .noInput
    case .notAnImage: self = .data
    case .notNeeded: self = .usage
    case .link(let error): self.init(error)
    case .noAnswer: self = .silent
    case .wrongAnswer: self = .protocolError
    case .refused, .cancelled, .halfWritten: self = .deviceFailure
    case .givenUp(_, let last): self.init(last)
    }
  }

  package init(_ error: DriverError) {
    if let cause = error.linkError {
      self.init(cause)
      return
    }
    if let cause = error.firmwareError {
      self.init(cause)
      return
    }
    switch error.code {
    case .noAnswer where error.garbage == 0: self = .silent
    case .noAnswer, .malformedAnswer: self = .protocolError
    case .link, .firmware, .retriesExhausted, .deviceError, .needsReset, .stateNotReached, .closed,
      .deviceFailed, .deviceRestarted, .recovering, .otherDevice, .dataNotSent:
      self = .deviceFailure
    // Commands of the group CORE do not concern a session.
    case .refused where error.command?.hasPrefix("CORE_") ?? false: self = .deviceFailure
    case .refused, .parametersRefused, .sessionEnded, .invalidConfiguration, .dataTooLong,
      .configurationProblems:
      self = .configuration
    }
  }
}
