// SPDX-License-Identifier: Apache-2.0

/// Why what the other side sent, or what it is to be sent, is of no use.
public enum AccessoryProtocolError: Error, Sendable, Hashable {
  /// Configuration data that no session can be made from: which field is wrong, and why.
  case invalidConfiguration(field: String, reason: String)
  /// A message with an identifier that means nothing in this direction.
  case unknownMessage(UInt8)
  /// A message without even an identifier.
  case emptyMessage
}

extension AccessoryProtocolError: CustomStringConvertible {
  /// One sentence with the cause.
  public var description: String {
    switch self {
    case .invalidConfiguration(let field, let reason):
      "The configuration data is invalid: \(field) \(reason)."
    case .unknownMessage(let id):
      "There is no message with the identifier 0x\(String(id, radix: 16, uppercase: true))."
    case .emptyMessage: "The message is empty."
    }
  }

  /// What to try next.
  public var suggestion: String {
    switch self {
    case .invalidConfiguration:
      "Check that the data is passed on whole and without the message identifier before it."
    case .unknownMessage, .emptyMessage:
      "Check that both sides frame their messages alike and speak the accessory protocol."
    }
  }
}
