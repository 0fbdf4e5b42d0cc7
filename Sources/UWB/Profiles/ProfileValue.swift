// SPDX-License-Identifier: Apache-2.0

/// A value of JSON as far as profiles have it, before its meaning is understood.
enum ProfileValue: Equatable {
  /// As it is written.
  case number(String)
  case bool(Bool)
  case text(String)
  case list([ProfileValue])
  case object([Member])
  case null

  /// A named value and the line its name stands in.
  struct Member: Equatable {
    var name: String
    var line: Int
    var value: ProfileValue
  }

  /// A whole number, also as a text.
  var number: UInt64? {
    switch self {
    case .number(let text), .text(let text):
      text.lowercased().hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
    default: nil
    }
  }

  /// As a parameter is written; nil for what no parameter has.
  var text: String? {
    switch self {
    case .number(let text), .text(let text): return text
    case .bool(let value): return value ? "on" : "off"
    case .list(let values):
      let texts = values.compactMap(\.text)
      return texts.count == values.count ? texts.joined(separator: ",") : nil
    case .object, .null: return nil
    }
  }
}
