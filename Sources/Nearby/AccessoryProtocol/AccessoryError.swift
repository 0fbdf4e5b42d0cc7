// SPDX-License-Identifier: Apache-2.0
public import FoundationEssentials
package import UWB

/// An error of a message or an accessory.
public struct AccessoryError: LocalizedError, Sendable, Hashable {
  /// The kinds of failure. Later versions may add more, so a `switch` needs a default.
  public struct Code: Sendable, Hashable {
    fileprivate let name: String

    /// Configuration data from which no session can be made.
    public static let invalidConfiguration = Code(name: "invalidConfiguration")
    /// A message that this direction does not have, or that is damaged.
    public static let invalidMessage = Code(name: "invalidMessage")
    /// Shareable data arrived before the app had asked for configuration data.
    public static let notInitialized = Code(name: "notInitialized")
    /// The chip cannot run another session.
    public static let tooManySessions = Code(name: "tooManySessions")
    /// The chip lacks a feature that Nearby Interaction needs.
    public static let unsuitableChip = Code(name: "unsuitableChip")
    /// The device failed or refused the session.
    public static let deviceFailed = Code(name: "deviceFailed")
  }

  /// The exact failure.
  package enum Reason: Sendable, Hashable {
    case invalidConfiguration(field: String, reason: String)
    case unknownMessage(UInt8)
    case emptyMessage
    case damagedMessage(UInt8)
    case unsupportedVersion(UInt8)
    case notInitialized
    case tooManySessions(limit: Int)
    case unsuitableChip(String)
    case device(DriverError)
  }
  package let reason: Reason

  package init(_ reason: Reason) { self.reason = reason }

  /// The kind of failure.
  public var code: Code {
    switch reason {
    case .invalidConfiguration: .invalidConfiguration
    case .unknownMessage, .emptyMessage, .damagedMessage, .unsupportedVersion: .invalidMessage
    case .notInitialized: .notInitialized
    case .tooManySessions: .tooManySessions
    case .unsuitableChip: .unsuitableChip
    case .device: .deviceFailed
    }
  }

  /// The cause in one sentence.
  public var errorDescription: String? { description }

  /// The next step to try; nil where the cause suffices.
  public var recoverySuggestion: String? {
    switch reason {
    case .invalidConfiguration:
      "Check that the data is complete and begins after the message identifier."
    case .unknownMessage, .emptyMessage, .damagedMessage:
      "Check that both sides frame messages in the same way and speak the accessory protocol."
    case .unsupportedVersion: "Let the phone use the version of the accessory's answer."
    case .notInitialized: "Let the app send initialize (0x0A) first."
    case .tooManySessions: "End ranging with another app first."
    case .unsuitableChip: "Use another chip or another firmware."
    case .device(let error): error.recoverySuggestion
    }
  }
}

extension AccessoryError: CustomStringConvertible {
  /// The cause in one sentence.
  public var description: String {
    switch reason {
    case .invalidConfiguration(let field, let reason):
      "The configuration data is invalid: \(field) \(reason)."
    case .unknownMessage(let id):
      "No message has the identifier 0x\(String(id, radix: 16, uppercase: true))."
    case .emptyMessage: "The message is empty."
    case .damagedMessage(let id):
      "The message 0x\(String(id, radix: 16, uppercase: true)) is damaged."
    case .unsupportedVersion(let version):
      "The message has version \(version), which was not agreed on."
    case .notInitialized: "The app sent shareable data without asking for configuration data first."
    case .tooManySessions(let limit):
      "The chip already ranges with \(limit) apps, which is its limit."
    case .unsuitableChip(let what): "The chip cannot be an accessory: \(what)."
    case .device(let error): error.description
    }
  }
}
