// SPDX-License-Identifier: Apache-2.0
public import UCI
public import UCIReference
public import UWBLink

/// Why the driver could not do what it was asked.
public enum DriverError: Error, Sendable, Hashable {
  /// The link failed, or ended.
  case link(LinkError)
  /// The chip's firmware could not be loaded.
  case firmware(FirmwareError)
  /// The chip did not answer in time. `garbage` bytes that are no UCI arrived meanwhile.
  case noAnswer(command: String, milliseconds: Int, garbage: UInt64)
  /// The chip asked for the same command again too often.
  case retriesExhausted(command: String, attempts: Int)
  /// The chip refused a command.
  case refused(command: String, Status)
  /// The chip refused parameters of a session.
  case parametersRefused(Status, [RefusedParameter])
  /// The chip's answer does not have the layout it should have.
  case malformedAnswer(command: String, PayloadError)
  /// The chip reported that it lost everything (DEVICE_STATUS ERROR).
  case deviceError(command: String)
  /// The chip reported by itself that it lost everything; its sessions are gone.
  case deviceFailed(DeviceState)
  /// The chip started anew by itself: a loss of power, a watchdog, a button. Its sessions are gone.
  case deviceRestarted
  /// The device is being recovered; only its recovery may send now.
  case recovering
  /// Where the device was, another one answers now.
  case otherDevice
  /// A session did not get into the state it should have got into.
  case stateNotReached(expected: SessionState, last: SessionState?)
  /// A session left its state by itself.
  case sessionEnded(SessionState, StateChangeReason)
  /// More data than the chip takes at once; both in bytes.
  case dataTooLong(bytes: Int, limit: Int)
  /// Data did not reach the peer, or was refused.
  case dataNotSent(DataTransferStatus)
  /// The configuration contradicts itself.
  case invalidConfiguration(String)
  /// Parameters of a session that prevent ranging or that the chip would refuse: all of them.
  case configurationProblems([ConfigurationProblem])
  /// The device was closed.
  case closed
}

extension DriverError: CustomStringConvertible {
  /// The cause in one sentence, with the raw value where the chip gave one.
  public var description: String { description(in: nil) }

  /// The same for chips that speak like this: vendors mean different things by some codes.
  ///
  /// - Parameter dialect: `UWBDevice.dialect`; nil where it is not known.
  public func description(in dialect: Dialect?) -> String {
    switch self {
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
    case .deviceRestarted: "The device started anew by itself; its sessions are gone."
    case .recovering: "The device was lost and is being recovered."
    case .otherDevice: "Where the device was, another one answers now."
    case .stateNotReached(let expected, let last):
      "The session did not become \(expected); it is \(last.map { "\($0)" } ?? "unknown")."
    case .sessionEnded(let state, let reason):
      "The session became \(state): \(Self.words(reason, dialect))"
    case .dataTooLong(let bytes, let limit):
      "\(bytes) bytes of data are too many: the device takes \(limit) at once."
    case .dataNotSent(let status):
      "The data was not sent: \(status) (0x\(String(status.rawValue, radix: 16)))."
    case .invalidConfiguration(let why): "The session cannot work: \(why)."
    case .configurationProblems(let problems):
      "The session cannot work: " + problems.map(\.sentence).joined(separator: " ")
    case .closed: "The device has been closed."
    }
  }

  /// `NAME (0xNN). Meaning.`
  private static func words(_ status: Status, _ dialect: Dialect?) -> String {
    let known = dialect.flatMap { status.explained(in: $0) }
    return words(
      status.rawValue, known?.name ?? status.description, known?.meaning ?? status.explanation)
  }

  private static func words(_ reason: StateChangeReason, _ dialect: Dialect?) -> String {
    let known = dialect.flatMap { reason.explained(in: $0) }
    return words(
      reason.rawValue, known?.name ?? reason.description, known?.meaning ?? reason.explanation)
  }

  private static func words(_ code: UInt8, _ name: String, _ meaning: String?) -> String {
    "\(name) (0x\(String(code, radix: 16, uppercase: true)))" + (meaning.map { ". " + $0 } ?? ".")
  }

  /// `SLOT_DURATION (INVALID_RANGE)`
  private static func words(_ refused: RefusedParameter) -> String {
    "\(AppConfigID(rawValue: refused.id).name) (0x\(String(refused.id, radix: 16, uppercase: true)), "
      + "\(refused.status))"
  }

  /// What to try next; nil where there is nothing better than the cause itself.
  public var suggestion: String? { suggestion(in: nil) }

  /// The same for chips that speak like this.
  ///
  /// - Parameter dialect: `UWBDevice.dialect`; nil where it is not known.
  public func suggestion(in dialect: Dialect?) -> String? {
    switch self {
    case .link(let error): error.suggestion
    case .firmware(let error): error.suggestion
    case .noAnswer(_, _, 0):
      "Check that the board runs UCI firmware and that this is its UCI port (on a DWM3001CDK the "
        + "USB connector J20, not the J-Link); press its reset button and try again."
    case .noAnswer:
      "Something else speaks there: another firmware (a CLI build?), another baud rate, or the "
        + "wrong port."
    case .configurationProblems(let problems): Self.steps(problems)
    case .retriesExhausted, .deviceError, .deviceFailed:
      "Reset the board or unplug it, then try again."
    case .deviceRestarted:
      "Check the power and the cable of the board; with UWBDevice.Options.recovery the driver builds "
        + "its sessions again."
    case .recovering: "Try again when the device has reported that it is back."
    case .dataTooLong: "Send it in several messages."
    case .dataNotSent: "Check that the peer ranges in the same session, then send it again."
    case .otherDevice: "Plug the same board in again, or open this one as a new device."
    case .refused(_, let status): Self.joined(status.explained(in: dialect ?? .assumed))
    case .parametersRefused(_, let refused) where !refused.isEmpty:
      Self.accepted(refused) ?? "Leave out or change the parameters named."
    case .parametersRefused(let status, _):
      Self.joined(status.explained(in: dialect ?? .assumed))
    case .sessionEnded(_, let reason): Self.joined(reason.explained(in: dialect ?? .assumed))
    case .stateNotReached(.idle, .initialised?):
      Self.joined(Status.sessionNotConfigured.explained(in: dialect ?? .assumed))
    default: nil
    }
  }

  private static func steps(_ problems: [ConfigurationProblem]) -> String? {
    let steps = problems.compactMap(\.nextStep)
    return steps.isEmpty ? nil : steps.joined(separator: " ")
  }

  private static func joined(_ explanation: CodeExplanation?) -> String? {
    guard let steps = explanation?.toTry, !steps.isEmpty else { return nil }
    return steps.joined(separator: " ")
  }

  /// What the refused parameters take in general; nil where nothing is known of any of them.
  private static func accepted(_ refused: [RefusedParameter]) -> String? {
    let known = refused.map { AppConfigID(rawValue: $0.id) }.filter { $0.parameter != nil }
    guard !known.isEmpty else { return nil }
    return "Leave out or change the parameters named. "
      + known.map { "\($0.name) takes \($0.form.accepted)." }.joined(separator: " ")
  }
}
