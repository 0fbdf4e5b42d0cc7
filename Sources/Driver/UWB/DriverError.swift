// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
public import UCI
public import UCIReference
public import UWBLink

/// The reason why the driver could not carry out a call.
///
/// `code` is the kind of the error, `description` a sentence with all known facts, and
/// `recoverySuggestion` the next step to try.
public struct DriverError: Error, Sendable, Hashable {
  /// The kind of an error. New codes may be added.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Code: Sendable, Hashable {
    /// The link failed, or ended: see `linkError`.
    case link
    /// The chip's firmware could not be loaded: see `firmwareError`.
    case firmware
    /// The chip did not answer in time.
    case noAnswer
    /// The chip asked for the same command again too often.
    case retriesExhausted
    /// The chip refused a command: see `status`.
    case refused
    /// The chip refused parameters of a session: see `refusedParameters`.
    case parametersRefused
    /// The chip's answer has a wrong layout.
    case malformedAnswer
    /// The chip reported during a command that it lost everything (DEVICE_STATUS ERROR).
    case deviceError
    /// The chip answers only with errors until it is reset. It was opened without a reset
    /// (`UWBDevice.ResetPolicy.keepState`).
    case needsReset
    /// The chip reported by itself that it lost everything, including its sessions.
    case deviceFailed
    /// The chip restarted by itself, for example after a loss of power, and lost its sessions.
    case deviceRestarted
    /// The device is being recovered; commands fail until it is back.
    case recovering
    /// A different device now answers at this address.
    case otherDevice
    /// A session did not reach the expected state.
    case stateNotReached
    /// A session left its state without a request: see `endReason`.
    case sessionEnded
    /// There is more data than the chip accepts at once.
    case dataTooLong
    /// Data did not reach the peer, or was refused.
    case dataNotSent
    /// The configuration contradicts itself.
    case invalidConfiguration
    /// Parameters prevent ranging, or the chip would refuse them: see `configurationProblems`.
    case configurationProblems
    /// The device was closed.
    case closed
  }

  /// The kind of error.
  public let code: Code
  /// The status with which the chip refused a command or parameters.
  public private(set) var status: Status?
  /// The parameters that the chip refused.
  public private(set) var refusedParameters: [RefusedParameter] = []
  /// All problems in the configuration of a session.
  public private(set) var configurationProblems: [ConfigurationProblem] = []
  /// The reason why a session changed its state.
  public private(set) var endReason: StateChangeReason?
  /// The command that was not carried out.
  package private(set) var command: String?
  /// The number of bytes that arrived instead of an answer, and that are not UCI.
  package private(set) var garbage: UInt64 = 0

  private indirect enum Cause: Sendable, Hashable {
    case link(LinkError)
    case firmware(FirmwareError)
    case service(String)
  }
  private var cause: Cause?
  /// The cause as a sentence; `description` adds the meaning of the chip's code.
  private var sentence = ""
  private var suggestion: String?
  /// The status that determines the next step, if the chip did not send one.
  private var impliedStatus: Status?

  /// The error of the link.
  public var linkError: LinkError? { if case .link(let error) = cause { error } else { nil } }

  /// The error of loading the firmware.
  public var firmwareError: FirmwareError? {
    if case .firmware(let error) = cause { error } else { nil }
  }
}

// Errors, each with its cause and the next step to try.
extension DriverError {
  package static let resetIt = "Reset the board or unplug it, then try again."
  private static let checkBoard =
    "Check that the board runs UCI firmware and that this is its UCI port (on a DWM3001CDK the "
    + "USB connector J20, not the J-Link); press its reset button and try again."

  /// Returns the error with the next step for this endpoint. A network has neither a baud rate nor
  /// connectors.
  func at(_ endpoint: LinkEndpoint) -> DriverError {
    guard case .tcp = endpoint, code == .noAnswer, garbage > 0 || suggestion == Self.checkBoard
    else { return self }
    var error = self
    error.suggestion =
      garbage > 0
      ? "Something else listens there: check the port, and the firmware of the chip at the other end."
      : "Check that the program that listens there passes all bytes on to a chip with UCI firmware, "
        + "and that it serves one connection at a time."
    return error
  }

  package static func link(_ error: LinkError) -> DriverError {
    DriverError(code: .link, cause: .link(error))
  }
  package static let cancelled = link(LinkError(.cancelled, endpoint: "the device"))
  package static func firmware(_ error: FirmwareError) -> DriverError {
    DriverError(code: .firmware, cause: .firmware(error))
  }
  package static func noAnswer(command: String, milliseconds: Int, garbage: UInt64) -> DriverError {
    let suggestion =
      if garbage > 0 {
        "Something else speaks there: another firmware (a CLI build?), another baud rate, or the "
          + "wrong port."
      } else if command.hasPrefix("SESSION_") {
        // The chip has answered other commands before.
        resetIt
      } else {
        checkBoard
      }
    return DriverError(
      code: .noAnswer, command: command, garbage: garbage,
      sentence: "The device did not answer \(command) within \(milliseconds) ms"
        + (garbage == 0
          ? "." : ", but sent \(counted(garbage, "byte that is", "bytes that are")) not UCI."),
      suggestion: suggestion)
  }
  package static func retriesExhausted(command: String, attempts: Int) -> DriverError {
    DriverError(
      code: .retriesExhausted, command: command,
      sentence:
        "The device asked for \(command) again \(counted(attempts, "time")) and never took it.",
      suggestion: resetIt)
  }
  /// - Parameter end: the end that refused the command, as one word for the sentence.
  package static func refused(
    command: String, _ status: Status, by end: String = "device"
  ) -> DriverError {
    DriverError(
      code: .refused, status: status, command: command,
      sentence: "The \(end) refused \(command): ",
      // Chips refuse a second session when it is created, and uwbd when it starts.
      suggestion: status == .sessionDuplicate && command == "SESSION_START_CMD"
        ? "A program ranges with this session id and other parameters, or has exited and lets its "
          + "session wait for it (uwbctl list). Give the same parameters to share the session, wait until it "
          + "has ended, or choose another session id."
        : nil)
  }
  /// - Parameter failed: the rounds that the chip reports as refused; empty if it reports none.
  package static func roundsRefused(
    command: String, _ status: Status, failed: [UInt8]
  ) -> DriverError {
    let names = failed.map { "\($0)" }.joined(separator: ", ")
    return DriverError(
      code: .refused, status: status, command: command,
      sentence: "The device refused \(command)"
        + (failed.isEmpty ? ": " : " for ranging round \(names): "),
      suggestion: "Compare the rounds with the most that the chip lists (DT_ANCHOR_MAX_ACTIVE_RR, "
        + "DT_TAG_MAX_ACTIVE_RR in uwbctl caps).")
  }
  /// Returns this error with the sentence of the service that refused the command.
  ///
  /// - Parameter suggestion: The next step; nil to keep the next step of this error.
  func refusedByService(_ sentence: String, _ suggestion: String?) -> DriverError {
    var error = self
    error.cause = .service(sentence)
    error.suggestion = suggestion ?? self.suggestion
    return error
  }
  /// - Parameter command: the command, if it does not set parameters of a session.
  package static func parametersRefused(
    _ status: Status, _ refused: [RefusedParameter], command: String? = nil
  ) -> DriverError {
    DriverError(
      code: .parametersRefused, status: status, refusedParameters: refused, command: command,
      sentence: "The device refused the configuration with ",
      suggestion: refused.isEmpty
        ? nil
        : (command == nil ? accepted(refused) : nil)
          ?? (refused.allSatisfy { $0.status == .readOnly }
            ? "Leave out the parameters named: they can only be read."
            : "Leave out or change the parameters named."))
  }
  package static func malformedAnswer(command: String, _ error: PayloadError) -> DriverError {
    DriverError(
      code: .malformedAnswer, command: command,
      sentence: "The answer to \(command) cannot be read. \(error)",
      suggestion: "Update the firmware of the board; record the answer in a capture and report it.")
  }
  package static func deviceError(command: String) -> DriverError {
    DriverError(
      code: .deviceError, command: command,
      sentence: "The device reported an error of its own (DEVICE_STATUS ERROR) during \(command).",
      suggestion: resetIt)
  }
  package static let needsReset = DriverError(
    code: .needsReset,
    sentence: "The device answers only with errors (DEVICE_STATUS ERROR); it must be reset.",
    suggestion: "Open it with a reset, which ends its sessions.")
  package static func deviceFailed(_ state: DeviceState) -> DriverError {
    let value = String(state.rawValue, radix: 16)
    return DriverError(
      code: .deviceFailed,
      sentence: "The device reported \(state) (0x\(value)): it lost everything.",
      suggestion: resetIt)
  }
  package static let deviceRestarted = DriverError(
    code: .deviceRestarted, sentence: "The device restarted by itself; its sessions are lost.",
    suggestion: "Check the power and the cable of the board; with UWBDevice.Options.recovery the "
      + "driver builds its sessions again.")
  package static let recovering = DriverError(
    code: .recovering, sentence: "The device was lost and is being recovered.",
    suggestion: "Try again when the device has reported that it is back.")
  package static let otherDevice = DriverError(
    code: .otherDevice, sentence: "A different device now answers at this address.",
    suggestion: "Plug the same board in again, or open this one as a new device.")
  package static func stateNotReached(
    expected: SessionState, last: SessionState?, suggestion: String = resetIt
  ) -> DriverError {
    let isUnconfigured = expected == .idle && last == .initialised
    return DriverError(
      code: .stateNotReached,
      sentence: "The session did not become \(expected); it is "
        + "\(last.map { "\($0)" } ?? "unknown").",
      suggestion: isUnconfigured ? nil : suggestion,
      impliedStatus: isUnconfigured ? .sessionNotConfigured : nil)
  }
  package static func sessionEnded(
    _ state: SessionState, _ reason: StateChangeReason
  ) -> DriverError {
    DriverError(
      code: .sessionEnded, endReason: reason, sentence: "The session became \(state): ")
  }
  package static func dataTooLong(bytes: Int, limit: Int) -> DriverError {
    DriverError(
      code: .dataTooLong,
      sentence:
        "The payload (\(counted(bytes, "byte"))) exceeds the device's limit of \(limit) bytes.",
      suggestion: "Send it in several messages.")
  }
  package static func dataNotSent(_ status: DataTransferStatus) -> DriverError {
    let value = String(status.rawValue, radix: 16)
    return DriverError(
      code: .dataNotSent, sentence: "The data was not sent: \(status) (0x\(value)).",
      suggestion: "Check that the peer ranges in the same session, then send it again.")
  }
  package static func invalidConfiguration(_ reason: String) -> DriverError {
    DriverError(code: .invalidConfiguration, sentence: "The session cannot work: \(reason).")
  }
  package static func configurationProblems(_ problems: [ConfigurationProblem]) -> DriverError {
    DriverError(
      code: .configurationProblems, configurationProblems: problems,
      sentence: "The session cannot work: " + problems.map(\.sentence).joined(separator: " "),
      suggestion: joined(problems.compactMap(\.recoverySuggestion)))
  }
  package static let closed = DriverError(
    code: .closed, sentence: "The device has been closed.")

  /// Returns the values that the refused parameters accept; nil where none of them is known.
  private static func accepted(_ refused: [RefusedParameter]) -> String? {
    let known = refused.map { AppConfigID(rawValue: $0.id) }.filter { $0.parameter != nil }
    guard !known.isEmpty else { return nil }
    return "Leave out or change the parameters named. "
      + known.map { "\($0.name) takes \($0.form().accepted)." }.joined(separator: " ")
  }

  private static func joined(_ steps: [String]) -> String? {
    steps.isEmpty ? nil : steps.joined(separator: " ")
  }
}

extension DriverError: DescribedError {
  /// The cause in one sentence, with the raw value where the chip sent one.
  public var description: String { description(in: nil) }

  /// Returns the cause for chips with this dialect: some codes have different meanings for
  /// different vendors.
  ///
  /// - Parameter dialect: `UWBDevice.dialect`; nil if unknown.
  public func description(in dialect: Dialect?) -> String {
    switch cause {
    case .link(let error): error.description
    case .firmware(let error): error.description
    case .service(let sentence): sentence
    case nil:
      sentence + words(in: dialect)
        + (refusedParameters.isEmpty
          ? ""
          : " Refused: "
            + refusedParameters.map { words($0, dialect ?? .assumed) }.joined(separator: ", ") + ".")
    }
  }

  /// Returns `NAME (0xNN). Meaning.` for the chip's code; empty if it sent none.
  private func words(in dialect: Dialect?) -> String {
    guard let code = status?.rawValue ?? endReason?.rawValue,
      let name = status?.description ?? endReason?.description
    else { return "" }
    let known = dialect.flatMap(explanation)
    let meaning = known?.meaning ?? status?.explanation ?? endReason?.explanation
    return "\(known?.name ?? name) (0x\(String(code, radix: 16, uppercase: true)))"
      + (meaning.map { ". " + $0 } ?? ".")
  }

  private func explanation(in dialect: Dialect) -> CodeExplanation? {
    (status ?? impliedStatus)?.explained(in: dialect) ?? endReason?.explained(in: dialect)
  }

  /// Returns the parameter and its status: `SLOT_DURATION (INVALID_RANGE)`.
  private func words(_ refused: RefusedParameter, _ dialect: Dialect) -> String {
    let name =
      command == nil
      ? AppConfigID(rawValue: refused.id).name
      : DeviceConfigID(TLV(refused.id, [], subID: refused.subID)).name(in: dialect)
    return "\(name) (0x\(String(refused.id, radix: 16, uppercase: true)), \(refused.status))"
  }

  /// The next step to try; nil where there is none beyond the cause itself.
  public var recoverySuggestion: String? { recoverySuggestion(in: nil) }

  /// Returns the next step for chips with this dialect.
  ///
  /// - Parameter dialect: `UWBDevice.dialect`; nil if unknown.
  public func recoverySuggestion(in dialect: Dialect?) -> String? {
    switch cause {
    case .link(let error): error.recoverySuggestion
    case .firmware(let error): error.recoverySuggestion
    case .service, nil:
      suggestion ?? Self.joined(explanation(in: dialect ?? .assumed)?.recoverySuggestions ?? [])
        ?? (status == nil ? nil : Self.resetIt)
    }
  }
}

/// Returns the result of `body` as a value, because `do` and `catch` of typed errors in tasks have
/// crashed the compiler.
package func attempt<Value: Sendable>(
  _ body: () async throws(DriverError) -> Value
) async -> Result<Value, DriverError> {
  do throws(DriverError) { return .success(try await body()) } catch { return .failure(error) }
}

extension DriverError {
  /// Whether waiting may help: the device is absent at the moment, or another program has opened
  /// it.
  package var isTransient: Bool {
    switch code {
    case .recovering, .otherDevice, .deviceRestarted, .deviceFailed, .deviceError: true
    default:
      switch linkError?.code {
      case .notFound, .busy, .deviceGone, .closedByPeer, .connectionRefused: true
      default: false
      }
    }
  }
}
