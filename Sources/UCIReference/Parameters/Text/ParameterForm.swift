// SPDX-License-Identifier: Apache-2.0

import UCI

/// How the value of a parameter is written by people: which units, words and bytes it takes, and
/// how it is printed. What is printed can be read again.
package struct ParameterForm: Sendable {
  /// What a value is.
  enum Kind: Sendable {
    /// A little-endian number, or one of the words for its values.
    case number
    /// A number whose bits have names.
    case flags([String])
    /// Bytes in the order of the wire.
    case bytes
    /// Bytes that vendors write as a number too.
    case bytesOrNumber
    /// Addresses, most significant byte first.
    case addresses
    /// Angles in Q9.7 degrees.
    case angles
  }

  /// The name of the parameter.
  package let name: String
  /// Bytes a value may have; empty: any number.
  package let lengths: [Int]
  /// Unit of a number; nil where it has none.
  package let unit: String?
  /// Values a number may have; nil: whatever fits into the bytes.
  package let range: ClosedRange<UInt64>?
  /// Words for the values of a number.
  package let values: [UInt64: String]
  /// The value must not be in any message.
  package let isSecret: Bool
  let kind: Kind
  /// What a number of eight bytes is counted in, where the shorter one has another unit.
  let longUnit: String?

  init(
    name: String, lengths: [Int], unit: String? = nil, range: ClosedRange<UInt64>? = nil,
    values: [UInt64: String] = [:], isSecret: Bool = false, kind: Kind? = nil,
    longUnit: String? = nil
  ) {
    self.name = name
    self.lengths = lengths
    self.unit = unit
    self.range = range
    self.values = values
    self.isSecret = isSecret
    let isNumber = !lengths.isEmpty && lengths.allSatisfy { [1, 2, 4, 8].contains($0) }
    self.kind = kind ?? (isNumber ? .number : .bytes)
    self.longUnit = longUnit
  }

  /// The form of a parameter of a session.
  ///
  /// Where a parameter has another length and unit in another version, the form takes both.
  package init(_ parameter: AppConfigParameter) {
    let rows = AppConfigParameter.all.filter {
      $0.id == parameter.id && $0.vendors == parameter.vendors && $0.format == parameter.format
    }
    let long = rows.first { $0.lengths == [8] && $0.unit != nil }
    let short = rows.first { $0.lengths != [8] }
    let isBoth = long != nil && short != nil
    self.init(
      name: parameter.name,
      lengths: isBoth ? Set(rows.flatMap(\.lengths)).sorted() : parameter.lengths,
      unit: isBoth ? short?.unit : parameter.unit, range: isBoth ? nil : parameter.range,
      values: parameter.format == .mask ? [:] : parameter.values, isSecret: parameter.id.isSecret,
      kind: Self.special[parameter.id] ?? Kind(parameter), longUnit: isBoth ? long?.unit : nil)
  }

  /// The form of a parameter of which nothing is known: bytes.
  static func unknown(_ name: String) -> ParameterForm { ParameterForm(name: name, lengths: []) }

  // Parameters that vendors write in a way of their own.
  private static let special: [AppConfigID: Kind] = [.vendorID: .bytesOrNumber]

  /// What the parameter takes, for help and errors: a noun phrase.
  package var accepted: String {
    switch kind {
    case .number where !values.isEmpty:
      return values.sorted { $0.key < $1.key }.map { "\($0.value) (\($0.key))" }
        .joined(separator: ", ")
    case .number: return "a number\(unitText)\(rangeText)"
    case .flags(let names):
      return "a number\(rangeText), or of these joined with +: "
        + names.filter { !$0.isEmpty }.joined(separator: ", ")
    case .bytes: return "\(byteCount) in the order of the wire, in hexadecimal: 01:02"
    case .bytesOrNumber:
      return "\(byteCount) in the order of the wire (08:07), or the number 0x0708"
    case .addresses:
      return lengths.isEmpty
        ? "addresses separated by commas: 0x0001,0x0002"
        : "an address, most significant byte first: 0x0001, 00:01, or eight bytes"
    case .angles:
      return "\((lengths.first ?? 8) / 2) angles in degrees separated by commas: -60,60,-30,30"
    }
  }

  private var byteCount: String {
    lengths.isEmpty ? "bytes" : lengths.map(String.init).joined(separator: " or ") + " bytes"
  }
  private var unitText: String {
    switch unit {
    case nil: ""
    case "RSTU": " of RSTU or a time (2400, 2ms)"
    case "ms": " of ms or a time (200, 200ms, 0.2s)"
    case "0.25 m": " of 0.25 m or a length (4, 1m)"
    case let unit?: " of \(unit)"
    }
  }
  private var rangeText: String { range.map { ", \($0.lowerBound)…\($0.upperBound)" } ?? "" }
}

extension ParameterForm.Kind {
  /// What the values of a row are; nil where their number of bytes says it.
  init?(_ parameter: AppConfigParameter) {
    switch parameter.format {
    case .number, .signed: return nil
    case .mask, .maskBigEndian:
      let highest = parameter.values.keys.max() ?? 0
      self = .flags((0...highest).map { parameter.values[$0] ?? "" })
    case .addresses: self = .addresses
    case .fixedPoint: self = .angles
    default: self = .bytes
    }
  }
}
