// SPDX-License-Identifier: Apache-2.0

import UCI

/// Values in the notation of Lua 5.1 to 5.4.
enum Lua {
  static func string(_ text: String) -> String {
    var escaped = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { escaped += "\\" }
      escaped.unicodeScalars.append(scalar)
    }
    return escaped + "\""
  }

  static func list(_ items: [String]) -> String { "{\(items.joined(separator: ","))}" }

  static func map(_ items: [(key: some BinaryInteger, value: String)]) -> String {
    list(items.sorted { $0.key < $1.key }.map { "[\($0.key)]=\($0.value)" })
  }

  static func form(_ form: FieldForm) -> String {
    switch form {
    case .plain: return "false"
    case .hidden: return "\"hidden\""
    case .names(let names, let others):
      let all = names.enumerated().map { (UInt8($0.offset), string($0.element)) }
      return "{names=\(map(all + others.map { ($0.key, string($0.value)) }))}"
    case .bit(let bit, let names): return "{bit=\(bit),names=\(list(names.map(string)))}"
    case .scaled(let divisor): return "{scale=\(divisor)}"
    case .flag: return "\"flag\""
    case .shortAddress: return "\"short\""
    case .anyAddress: return "\"any\""
    case .nxpCalibration:
      let names = (UInt8.min...UInt8.max).map { ($0, NXPCalibrationID(rawValue: $0).name) }
      return "{names=\(map(known(names)))\(prefix(names))}"
    case .text: return "\"text\""
    case .secret: return "\"secret\""
    }
  }

  static func space(_ space: ParameterSpace) -> String {
    switch space {
    case .app, .asked: "\"app\""
    case .nxpApp: "\"nxpApp\""
    case .device: "\"device\""
    case .test: "\"test\""
    case .radar: "\"radar\""
    case .capabilities: "\"capabilities\""
    case .results(let names): map(names.map { ($0.key, string($0.value)) })
    }
  }

  /// Returns the names of a code, and the explanations if there are any; nil for a code without
  /// names.
  static func names<T: WireCode>(of code: T.Type) -> String? {
    var (names, words): ([(UInt8, String)], [(key: UInt8, value: String)]) = ([], [])
    for byte in UInt8.min...UInt8.max {
      let value = T(rawValue: T.RawValue(truncatingIfNeeded: byte))
      if case .code(_, let name, let explanation) = (value as? any ListedValue)?.fieldValue {
        names.append((byte, name))
        if let explanation { words.append((byte, string(explanation))) }
      } else if let named = value as? any CustomStringConvertible {
        names.append((byte, named.description))
      } else {
        return nil
      }
    }
    return "{names=\(map(known(names)))\(prefix(names)),words=\(map(words))}"
  }

  private static func known(_ names: [(UInt8, String)]) -> [(key: UInt8, value: String)] {
    names.filter { !$0.1.hasSuffix(hex($0.0)) }.map { ($0.0, string($0.1)) }
  }

  /// Returns the text before the number in the names of unknown codes.
  private static func prefix(_ names: [(UInt8, String)]) -> String {
    let unknown = names.first { $0.1.hasSuffix(hex($0.0)) }
    return ",prefix=" + string(String(unknown?.1.dropLast(4) ?? ""))
  }
}
