// SPDX-License-Identifier: Apache-2.0

import UCI

/// Why a parameter that a person wrote cannot be taken. Values of secret parameters are never in
/// it.
public enum ParameterTextError: Error, Hashable, Sendable {
  /// No parameter has this name; those closest to it.
  case unknownName(String, nearest: [String])
  /// A name without `=` and a value.
  case noValue(String)
  /// The value is not written in a form that this parameter takes.
  case unreadable(parameter: String, value: String, accepted: String)
  /// The value is outside its range.
  case outOfRange(parameter: String, value: String, accepted: String)
  /// The value is not a whole number of the parameter's unit.
  case notWhole(parameter: String, value: String, unit: String)
}

extension ParameterTextError: CustomStringConvertible {
  /// One sentence: which parameter, and what it takes.
  public var description: String {
    switch self {
    case .unknownName(let name, []): "There is no parameter \(name)."
    case .unknownName(let name, let nearest):
      "There is no parameter \(name). Nearest: \(nearest.joined(separator: ", "))."
    case .noValue(let name): "\(name) lacks a value: write NAME=value."
    case .unreadable(let parameter, let value, let accepted):
      "\(parameter) does not take \(value); it takes \(accepted)."
    case .outOfRange(let parameter, let value, let accepted):
      "\(value) is outside the range of \(parameter); it takes \(accepted)."
    case .notWhole(let parameter, let value, let unit):
      "\(value) is not a whole number of \(unit), in which \(parameter) is counted."
    }
  }
}
