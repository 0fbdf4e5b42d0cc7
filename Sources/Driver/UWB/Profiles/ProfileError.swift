// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
import UCI
public import UCIReference
public import UWBLink

/// The reason why a file is not a session profile. It never contains values of secret parameters.
/// The line is nil for a profile that was not read from text. Switch over it with a `default`:
/// cases may be added.
public enum ProfileError: Error, Hashable, Sendable {
  /// The system cannot read the file.
  case unreadable(path: String, reason: String)
  /// The file is larger than any profile.
  case tooLong(path: String, limit: Int)
  /// The file is not JSON. The values are the line and the error in it.
  case notJSON(line: Int, String)
  /// A field is unknown; `nearest` has the closest known names.
  case unknownField(String, nearest: [String], line: Int?)
  /// A field is missing.
  case missing(String)
  /// The value of a field is of another kind than the accepted ones.
  case wrongValue(field: String, accepted: String, line: Int?)
  /// A parameter has an invalid value.
  case parameter(ParameterTextError, line: Int?)
}

extension ProfileError: DescribedError {
  /// The cause in one sentence, with the line where it is known.
  public var description: String {
    func place(_ line: Int?) -> String { line.map { "Line \($0): " } ?? "" }
    switch self {
    case .unreadable(let path, let reason): return "\(path) cannot be read: \(reason)."
    case .tooLong(let path, let limit): return "\(path) is larger than \(limit) bytes."
    case .notJSON(let line, let reason): return "Line \(line) is not JSON: \(reason)."
    case .unknownField(let name, let nearest, let line):
      return place(line) + "A profile has no field \(name)."
        + (nearest.isEmpty ? "" : " Nearest: \(nearest.joined(separator: ", ")).")
    case .missing(let name): return "The profile lacks \(name)."
    case .wrongValue(let field, let accepted, let line):
      return place(line) + "\(field) takes \(accepted)."
    case .parameter(let error, let line): return place(line) + error.description
    }
  }

  /// The next step to try.
  public var recoverySuggestion: String? {
    switch self {
    case .unreadable: nil
    default: "Begin from a complete profile with comments."
    }
  }
}
