// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import UCI
public import UCIReference
public import UWBLink

/// Why the driver could not do what it was asked.
///
/// `code` says what happened; `description` says it in a sentence with all that is known, and
/// `recoverySuggestion` what to try next.
public struct DriverError: Error, Sendable, Hashable {
  /// What happened. New codes may be added.
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
    /// The chip's answer does not have the layout it should have.
    case malformedAnswer
    /// The chip reported during a command that it lost everything (DEVICE_STATUS ERROR).
    case deviceError
    /// The chip reported by itself that it lost everything; its sessions are gone.
    case deviceFailed
    /// The chip restarted by itself, after a loss of power for example; its sessions are gone.
    case deviceRestarted
    /// The device is being recovered; commands fail until it is back.
    case recovering
    /// A different device now answers at this address.
    case otherDevice
    /// A session did not get into the state it should have got into.
    case stateNotReached
    /// A session left its state by itself: see `endReason`.
    case sessionEnded
    /// There is more data than the chip takes at once.
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

  /// What happened, with its details. Within the package only, so that cases can be added.
  package enum Kind: Sendable, Hashable {
    case link(LinkError)
    case firmware(FirmwareError)
    case noAnswer(command: String, milliseconds: Int, garbage: UInt64)
    case retriesExhausted(command: String, attempts: Int)
    case refused(command: String, Status)
    case parametersRefused(Status, [RefusedParameter])
    case malformedAnswer(command: String, PayloadError)
    case deviceError(command: String)
    case deviceFailed(DeviceState)
    case deviceRestarted
    case recovering
    case otherDevice
    case stateNotReached(expected: SessionState, last: SessionState?)
    case sessionEnded(SessionState, StateChangeReason)
    case dataTooLong(bytes: Int, limit: Int)
    case dataNotSent(DataTransferStatus)
    case invalidConfiguration(String)
    case configurationProblems([ConfigurationProblem])
    case closed
  }

  package let kind: Kind

  /// What happened.
  public var code: Code {
    switch kind {
    case .link: .link
    case .firmware: .firmware
    case .noAnswer: .noAnswer
    case .retriesExhausted: .retriesExhausted
    case .refused: .refused
    case .parametersRefused: .parametersRefused
    case .malformedAnswer: .malformedAnswer
    case .deviceError: .deviceError
    case .deviceFailed: .deviceFailed
    case .deviceRestarted: .deviceRestarted
    case .recovering: .recovering
    case .otherDevice: .otherDevice
    case .stateNotReached: .stateNotReached
    case .sessionEnded: .sessionEnded
    case .dataTooLong: .dataTooLong
    case .dataNotSent: .dataNotSent
    case .invalidConfiguration: .invalidConfiguration
    case .configurationProblems: .configurationProblems
    case .closed: .closed
    }
  }

  /// Why the link failed.
  public var linkError: LinkError? {
    if case .link(let error) = kind { error } else { nil }
  }

  /// Why the firmware could not be loaded.
  public var firmwareError: FirmwareError? {
    if case .firmware(let error) = kind { error } else { nil }
  }

  /// The status with which the chip refused a command or parameters.
  public var status: Status? {
    switch kind {
    case .refused(_, let status), .parametersRefused(let status, _): status
    default: nil
    }
  }

  /// The parameters that the chip refused.
  public var refusedParameters: [RefusedParameter] {
    if case .parametersRefused(_, let refused) = kind { refused } else { [] }
  }

  /// What is wrong with the configuration of a session: all of it.
  public var configurationProblems: [ConfigurationProblem] {
    if case .configurationProblems(let problems) = kind { problems } else { [] }
  }

  /// Why a session left its state.
  public var endReason: StateChangeReason? {
    if case .sessionEnded(_, let reason) = kind { reason } else { nil }
  }
}

// What the driver, the shell and the tests write for errors.
extension DriverError {
  private init(_ kind: Kind) { self.kind = kind }

  package static func link(_ error: LinkError) -> DriverError {
    DriverError(.link(error))
  }
  package static func firmware(_ error: FirmwareError) -> DriverError {
    DriverError(.firmware(error))
  }
  package static func noAnswer(command: String, milliseconds: Int, garbage: UInt64) -> DriverError {
    DriverError(.noAnswer(command: command, milliseconds: milliseconds, garbage: garbage))
  }
  package static func retriesExhausted(command: String, attempts: Int) -> DriverError {
    DriverError(.retriesExhausted(command: command, attempts: attempts))
  }
  package static func refused(command: String, _ status: Status) -> DriverError {
    DriverError(.refused(command: command, status))
  }
  package static func parametersRefused(
    _ status: Status, _ refused: [RefusedParameter]
  ) -> DriverError {
    DriverError(.parametersRefused(status, refused))
  }
  package static func malformedAnswer(command: String, _ error: PayloadError) -> DriverError {
    DriverError(.malformedAnswer(command: command, error))
  }
  package static func deviceError(command: String) -> DriverError {
    DriverError(.deviceError(command: command))
  }
  package static func deviceFailed(_ state: DeviceState) -> DriverError {
    DriverError(.deviceFailed(state))
  }
  package static let deviceRestarted = DriverError(.deviceRestarted)
  package static let recovering = DriverError(.recovering)
  package static let otherDevice = DriverError(.otherDevice)
  package static func stateNotReached(expected: SessionState, last: SessionState?) -> DriverError {
    DriverError(.stateNotReached(expected: expected, last: last))
  }
  package static func sessionEnded(
    _ state: SessionState, _ reason: StateChangeReason
  ) -> DriverError {
    DriverError(.sessionEnded(state, reason))
  }
  package static func dataTooLong(bytes: Int, limit: Int) -> DriverError {
    DriverError(.dataTooLong(bytes: bytes, limit: limit))
  }
  package static func dataNotSent(_ status: DataTransferStatus) -> DriverError {
    DriverError(.dataNotSent(status))
  }
  package static func invalidConfiguration(_ reason: String) -> DriverError {
    DriverError(.invalidConfiguration(reason))
  }
  package static func configurationProblems(_ problems: [ConfigurationProblem]) -> DriverError {
    DriverError(.configurationProblems(problems))
  }
  package static let closed = DriverError(.closed)
}

extension DriverError: DescribedError {
  /// The cause in one sentence, with the raw value where the chip gave one.
  public var description: String { description(in: nil) }

  /// The same for chips that speak like this: vendors mean different things by some codes.
  ///
  /// - Parameter dialect: `UWBDevice.dialect`; nil where it is not known.
  public func description(in dialect: Dialect?) -> String {
    switch kind {
    case .link(let error): error.description
    case .firmware(let error): error.description
    case .noAnswer(let command, let milliseconds, 0):
      "The device did not answer \(command) within \(milliseconds) ms."
    case .noAnswer(let command, let milliseconds, let garbage):
      "The device did not answer \(command) within \(milliseconds) ms, but sent \(garbage) bytes "
        + "that are not UCI."
    case .retriesExhausted(let command, let attempts):
      "The device asked for \(command) again \(attempts) times and never took it."
    case .refused(let command, let status):
      "The device refused \(command): \(Self.words(status, dialect))"
    case .parametersRefused(let status, let refused):
      "The device refused the configuration with \(Self.words(status, dialect))"
        + (refused.isEmpty
          ? "" : " Refused: " + refused.map(Self.words).joined(separator: ", ") + ".")
    case .malformedAnswer(let command, let error):
      "The answer to \(command) cannot be read. \(error)"
    case .deviceError(let command):
      "The device reported an error of its own (DEVICE_STATUS ERROR) during \(command)."
    case .deviceFailed(let state):
      "The device reported \(state) (0x\(String(state.rawValue, radix: 16))): it lost everything."
    case .deviceRestarted: "The device restarted by itself; its sessions are gone."
    case .recovering: "The device was lost and is being recovered."
    case .otherDevice: "A different device now answers at this address."
    case .stateNotReached(let expected, let last):
      "The session did not become \(expected); it is \(last.map { "\($0)" } ?? "unknown")."
    case .sessionEnded(let state, let reason):
      "The session became \(state): \(Self.words(reason, dialect))"
    case .dataTooLong(let bytes, let limit):
      "The payload (\(bytes) bytes) exceeds the device's limit of \(limit) bytes."
    case .dataNotSent(let status):
      "The data was not sent: \(status) (0x\(String(status.rawValue, radix: 16)))."
    case .invalidConfiguration(let why): "The session cannot work: \(why)."
    case .configurationProblems(let problems):
      "The session cannot work: " + problems.map(\.sentence).joined(separator: " ")
    case .closed: "The device has been closed."
    }
  }

  private static func words(_ status: Status, _ dialect: Dialect?) -> String {
    words(
      status.rawValue, dialect.flatMap { status.explained(in: $0) }, status.description,
      status.explanation)
  }

  private static func words(_ reason: StateChangeReason, _ dialect: Dialect?) -> String {
    words(
      reason.rawValue, dialect.flatMap { reason.explained(in: $0) }, reason.description,
      reason.explanation)
  }

  /// `NAME (0xNN). Meaning.`
  private static func words(
    _ code: UInt8, _ known: CodeExplanation?, _ name: String, _ meaning: String?
  ) -> String {
    "\(known?.name ?? name) (0x\(String(code, radix: 16, uppercase: true)))"
      + ((known?.meaning ?? meaning).map { ". " + $0 } ?? ".")
  }

  /// `SLOT_DURATION (INVALID_RANGE)`
  private static func words(_ refused: RefusedParameter) -> String {
    "\(AppConfigID(rawValue: refused.id).name) (0x\(String(refused.id, radix: 16, uppercase: true)), "
      + "\(refused.status))"
  }

  /// What to try next; nil where there is nothing better than the cause itself.
  public var recoverySuggestion: String? { recoverySuggestion(in: nil) }

  /// The same for chips that speak like this.
  ///
  /// - Parameter dialect: `UWBDevice.dialect`; nil where it is not known.
  public func recoverySuggestion(in dialect: Dialect?) -> String? {
    func explained(_ explanation: (Dialect) -> CodeExplanation?) -> String? {
      Self.joined(explanation(dialect ?? .assumed)?.recoverySuggestions ?? [])
    }
    return switch kind {
    case .link(let error): error.recoverySuggestion
    case .firmware(let error): error.recoverySuggestion
    case .noAnswer(_, _, 0):
      "Check that the board runs UCI firmware and that this is its UCI port (on a DWM3001CDK the "
        + "USB connector J20, not the J-Link); press its reset button and try again."
    case .noAnswer:
      "Something else speaks there: another firmware (a CLI build?), another baud rate, or the "
        + "wrong port."
    case .configurationProblems(let problems):
      Self.joined(problems.compactMap(\.recoverySuggestion))
    case .retriesExhausted, .deviceError, .deviceFailed:
      "Reset the board or unplug it, then try again."
    case .deviceRestarted:
      "Check the power and the cable of the board; with UWBDevice.Options.recovery the driver builds "
        + "its sessions again."
    case .recovering: "Try again when the device has reported that it is back."
    case .dataTooLong: "Send it in several messages."
    case .dataNotSent: "Check that the peer ranges in the same session, then send it again."
    case .otherDevice: "Plug the same board in again, or open this one as a new device."
    case .refused(_, let status): explained(status.explained)
    case .parametersRefused(_, let refused) where !refused.isEmpty:
      Self.accepted(refused) ?? "Leave out or change the parameters named."
    case .parametersRefused(let status, _): explained(status.explained)
    case .sessionEnded(_, let reason): explained(reason.explained)
    case .stateNotReached(.idle, .initialised?): explained(Status.sessionNotConfigured.explained)
    default: nil
    }
  }

  private static func joined(_ steps: [String]) -> String? {
    steps.isEmpty ? nil : steps.joined(separator: " ")
  }

  /// What the refused parameters take in general; nil where nothing is known of any of them.
  private static func accepted(_ refused: [RefusedParameter]) -> String? {
    let known = refused.map { AppConfigID(rawValue: $0.id) }.filter { $0.parameter != nil }
    guard !known.isEmpty else { return nil }
    return "Leave out or change the parameters named. "
      + known.map { "\($0.name) takes \($0.form().accepted)." }.joined(separator: " ")
  }
}
