// SPDX-License-Identifier: Apache-2.0
public import UCI
public import UWBLink

/// Why the driver could not do what it was asked.
public enum DriverError: Error, Sendable, Hashable {
  /// The link failed, or ended.
  case link(LinkError)
  /// The chip did not answer in time. `garbage` octets that are no UCI arrived meanwhile.
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
  /// A session did not get into the state it should have got into.
  case stateNotReached(expected: SessionState, last: SessionState?)
  /// A session left its state by itself.
  case sessionEnded(SessionState, StateChangeReason)
  /// The configuration contradicts itself.
  case invalidConfiguration(String)
  /// The device was closed.
  case closed
}

extension DriverError: CustomStringConvertible {
  /// The cause in one sentence, with the raw value where the chip gave one.
  public var description: String {
    switch self {
    case .link(let error): error.description
    case .noAnswer(let command, let milliseconds, 0):
      "The device did not answer \(command) within \(milliseconds) ms."
    case .noAnswer(let command, let milliseconds, let garbage):
      "The device did not answer \(command) within \(milliseconds) ms, but sent \(garbage) octets "
        + "that are not UCI."
    case .retriesExhausted(let command, let attempts):
      "The device asked for \(command) again \(attempts) times and never took it."
    case .refused(let command, let status):
      "The device refused \(command): \(Self.words(status))"
    case .parametersRefused(let status, let refused):
      "The device refused the configuration with \(Self.words(status))"
        + (refused.isEmpty
          ? ""
          : " Refused: "
            + refused.map {
              "parameter 0x\(String($0.id, radix: 16, uppercase: true)) (\($0.status))"
            }.joined(separator: ", ") + ".")
    case .malformedAnswer(let command, let error):
      "The answer to \(command) cannot be read. \(error)"
    case .deviceError(let command):
      "The device reported an error of its own (DEVICE_STATUS ERROR) during \(command)."
    case .stateNotReached(let expected, let last):
      "The session did not become \(expected); it is \(last.map { "\($0)" } ?? "unknown")."
    case .sessionEnded(let state, let reason):
      "The session became \(state): \(reason) (0x\(String(reason.rawValue, radix: 16)))"
        + (reason.explanation.map { ". " + $0 } ?? ".")
    case .invalidConfiguration(let why): "The session cannot work: \(why)."
    case .closed: "The device has been closed."
    }
  }

  private static func words(_ status: Status) -> String {
    let raw = String(status.rawValue, radix: 16, uppercase: true)
    return "\(status) (0x\(raw))" + (status.explanation.map { ". " + $0 } ?? ".")
  }

  /// What to try next; nil where there is nothing better than the cause itself.
  public var suggestion: String? {
    switch self {
    case .link(let error): error.suggestion
    case .noAnswer(_, _, 0):
      "Check that the board runs UCI firmware and that this is its UCI port (on a DWM3001CDK the "
        + "USB connector J20, not the J-Link); press its reset button and try again."
    case .noAnswer:
      "Something else speaks there: another firmware (a CLI build?), another baud rate, or the "
        + "wrong port."
    case .retriesExhausted, .deviceError: "Reset the board or unplug it, then try again."
    case .refused(_, .maxSessionsExceeded): "Deinitialise other sessions, or reset the board."
    case .refused(_, .sessionNotConfigured):
      "Give the session the parameters it lacks; firmwares ask for more than the mandatory list."
    case .parametersRefused: "Leave out or change the parameters named."
    case .sessionEnded(_, .invalidRangingDuration), .sessionEnded(_, .insufficientSlots):
      "Lengthen the interval, or use shorter slots or fewer of them."
    default: nil
    }
  }
}
