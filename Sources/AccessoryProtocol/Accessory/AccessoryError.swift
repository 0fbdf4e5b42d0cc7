// SPDX-License-Identifier: Apache-2.0
public import UWB

/// Why an accessory could not do what an app asked for.
public enum AccessoryError: Error, Sendable, Hashable {
  /// What the app sent is of no use.
  case message(AccessoryProtocolError)
  /// Shareable data came before the app had asked for configuration data.
  case notInitialized
  /// As many apps range already as the chip takes.
  case tooManySessions(limit: Int)
  /// The chip cannot do what Nearby Interaction needs.
  case unsuitableChip(String)
  /// The chip or the way to it failed, or refused the session.
  case device(DriverError)
}

extension AccessoryError: CustomStringConvertible {
  /// One sentence with the cause.
  public var description: String {
    switch self {
    case .message(let error): error.description
    case .notInitialized: "The app sent shareable data without asking for configuration data first."
    case .tooManySessions(let limit):
      "The chip ranges with \(limit) apps already, and not with more."
    case .unsuitableChip(let what): "The chip cannot be a Nearby Interaction accessory: \(what)."
    case .device(let error): error.description
    }
  }

  /// What to try next; nil where there is nothing better than the cause itself.
  public var suggestion: String? {
    switch self {
    case .message(let error): error.suggestion
    case .notInitialized: "Let the app send initialize (0x0A) first."
    case .tooManySessions: "End ranging with another app first."
    case .unsuitableChip: "Use another chip or another firmware."
    case .device(let error): error.recoverySuggestion
    }
  }
}
