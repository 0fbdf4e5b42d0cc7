// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import ArgumentParser
import Bluetooth
import Dispatch
import FoundationEssentials
import Glibc
import Peers
import SystemPackage
import UWB
import UWBLab
import UWBLink

/// A command that reports failures as a sentence and an exit status.
protocol ReportingCommand: AsyncParsableCommand {
  func execute() async throws
}

extension ReportingCommand {
  func run() async throws {
    try await withTaskExecutorPreference(Ending.threads) {
      try await reporting { try await execute() }
    }
  }
}

/// A command that signals cancel, so that it ends in order.
protocol Command: ReportingCommand, Sendable {}

extension Command {
  func run() async throws {
    let command = self
    try await reporting { try await Ending.cancelling { try await command.execute() } }
  }
}

/// The cause of a command's end, the next step, and the exit status.
struct Failure: Error {
  var status: ExitStatus
  /// The cause; nil if it has been printed.
  var cause: String?
  var suggestion: String?

  init(_ status: ExitStatus, _ cause: String? = nil, try suggestion: String? = nil) {
    (self.status, self.cause, self.suggestion) = (status, cause, suggestion)
  }

  /// Creates a failure from an error of a library, with a helpful command. Nil for errors that the
  /// argument parser prints.
  init?(_ error: any Error) {
    if let failure = error as? Failure {
      self = failure
      return
    }
    guard let status = ExitStatus(of: error) else { return nil }
    self.init(
      status, (error as? any LocalizedError)?.errorDescription ?? "\(error)",
      try: Self.suggestion(for: error))
    // The suggestion is about boards.
    guard !(error is BluetoothError), (error as? AccessoryError)?.code != .bluetooth else { return }
    switch status {
    case .unavailable: suggestion? += " List devices with: uwbctl list"
    case .permission: suggestion? += " Install the rules with: sudo uwbctl setup --install"
    default: break
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
  func report() -> ExitCode {
    if let cause {
      note(cause, try: suggestion)
    } else if let suggestion {
      standardError.write(advice(suggestion))
    }
    return ExitCode(status.rawValue)
  }
}

/// Checks the value of an option.
func require(_ isValid: Bool, _ message: @autoclosure () -> String) throws {
  if !isValid { throw ValidationError(message()) }
}

/// Runs the body of a command, and reports a failure as a sentence, the next step and an exit
/// status.
func reporting(_ body: () async throws -> Void) async throws {
  do { try await body() } catch is CancellationError { return } catch {
    throw Failure(error)?.report() ?? error
  }
}

/// The exit statuses, as in sysexits.h where that defines one.
///
/// A documentation page lists them; a status never changes its meaning.
enum ExitStatus: Int32, CaseIterable {
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
  /// A calibration ended before it had a result; no value was written.
  case unfinished = 84
  /// The chip or the peer ended the session.
  case sessionEnded = 85
  /// The users of the two machines did not both confirm the code.
  case notConfirmed = 86

  /// Returns the status for an error; nil for errors of other libraries.
  init?(of error: any Error) {
    switch error {
    case let error as DriverError: self.init(error)
    case let error as LinkError: self.init(error)
    case let error as FirmwareError: self.init(error)
    case let error as ProfileError: self.init(error)
    case let error as CaptureError: self.init(error)
    case let error as CalibrationError: self.init(error)
    case let error as AccessoryError: self.init(error)
    case let error as BluetoothError: self.init(error)
    case let error as LabError: self.init(error)
    case let error as NIPeerError: self.init(error)
    default: return nil
    }
  }

  init(_ error: LinkError) {
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

  init(_ error: LabError) {
    switch error.code {
    case .unreadable: self = .noInput
    case .notCreated: self = .cannotCreate
    case .notWritten: self = .system
    case .noAnswer, .usage: self = .usage
    default: self = .data
    }
  }

  init(_ error: CalibrationError) {
    switch error {
    case .unsupported, .wrongLength, .refused: self = .configuration
    case .unknownName, .unreadable: self = .usage
    case .notKept: self = .deviceFailure
    case .device(let error): self.init(error)
    }
  }

  init(_ error: CaptureError) {
    switch error {
    case .empty, .notACapture, .olderFormat: self = .data
    case .unreadable, .tooLong: self = .noInput
    case .notCreated: self = .cannotCreate
    case .notWritten: self = .system
    }
  }

  init(_ error: ProfileError) {
    switch error {
    case .unreadable, .tooLong: self = .noInput
    default: self = .data
    }
  }

  init(_ error: AccessoryError) {
    switch error.reason {
    case .device(let error): self.init(error)
    case .invalidConfiguration, .unknownMessage, .emptyMessage, .damagedMessage:
      self = .protocolError
    case .notInitialized, .tooManySessions, .unsuitableChip, .notPaired: self = .configuration
    case .invalidEndpoint, .messageSize: self = .usage
    case .unresolvedHost: self = .noHost
    case .system(.addressInUse, _), .system(.fileExists, _): self = .busy
    case .system(.permissionDenied, _): self = .permission
    case .system(.connectionRefused, _), .system(.noSuchFileOrDirectory, _): self = .unavailable
    case .system(.timedOut, _): self = .silent
    case .system: self = .system
    case .closed, .closedHere, .peerNotReading, .receiveOverflow, .stream: self = .deviceGone
    case .invalidFraming, .otherConfiguration: self = .protocolError
    case .bluetooth(let error): self.init(error)
    }
  }

  init(_ error: BluetoothError) {
    switch error.reason {
    case .noLibrary, .noBus, .noDaemon, .noAdapter, .adapterOff, .adapterBlocked, .noDevice:
      self = .unavailable
    case .noPermission: self = .permission
    case .noRole, .unsupported, .advertisement: self = .configuration
    case .busLost, .notConnected, .linkDropped: self = .deviceGone
    case .timeout: self = .silent
    default: self = .system
    }
  }

  init(_ error: NIPeerError) {
    switch error.code {
    case .noNetwork, .noCryptography: self = .system
    case .unreachable: self = .noPeer
    case .invalidName: self = .usage
    case .silent: self = .silent
    case .vanished, .closed: self = .deviceGone
    case .refused: self = .notConfirmed
    case .incompatible: self = .configuration
    default: self = .protocolError
    }
  }

  init(_ error: FirmwareError) {
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

  init(_ error: DriverError) {
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
    // The error does not concern a session.
    case .refused where error.command?.hasPrefix("CORE_") ?? false: self = .deviceFailure
    case .refused, .parametersRefused, .sessionEnded, .invalidConfiguration, .dataTooLong,
      .configurationProblems:
      self = .configuration
    }
  }
}
