// SPDX-License-Identifier: Apache-2.0

/// Why bytes could not be read as the message they claim to be.
public enum PayloadError: Error, Hashable, Sendable {
  /// The payload ends before this field does.
  case tooShort(field: String, needed: Int, available: Int)
  /// The field has a value with which the rest cannot be found.
  case invalid(field: String, reason: String)
}

extension PayloadError: CustomStringConvertible {
  /// One sentence.
  public var description: String {
    switch self {
    case .tooShort(let field, let needed, let available):
      "The payload ends inside \(field): bytes needed \(needed), bytes there \(available)."
    case .invalid(let field, let reason): "\(field) cannot be read: \(reason)."
    }
  }
}
