// SPDX-License-Identifier: Apache-2.0

import UCI

/// The notation of the value of a parameter: its units, words and bytes, and its printed form. The
/// printed form can be read again.
package struct ParameterForm: Sendable {
  enum Kind: Sendable {
    /// A little-endian number, or one of the words for its values.
    case number
    /// A number whose bits have names.
    case flags([String])
    /// Bytes in the order of the wire.
    case bytes
    /// Bytes that vendors also write as a number.
    case bytesOrNumber
    /// Addresses, most significant byte first.
    case addresses
    /// Angles in Q9.7 degrees.
    case angles
  }

  package let name: String
  /// The possible lengths of the value in bytes; empty if any length is possible.
  package let lengths: [Int]
  /// The unit of a number; nil without a unit.
  package private(set) var unit: String?
  /// The possible values of a number; nil if every value that fits into the bytes is possible.
  package private(set) var range: ClosedRange<UInt64>?
  /// Words for the values of a number.
  package private(set) var values: [UInt64: String] = [:]
  /// Whether the value is a secret, which no message may contain.
  package private(set) var isSecret = false
  let kind: Kind
  /// The unit of a number of eight bytes, if a shorter number has another unit.
  private(set) var longUnit: String?
}

extension ParameterForm {
  /// Creates the form of a parameter of a session or of the chip.
  ///
  /// Where a parameter has another length and unit in another version, the form accepts both.
  package init<ID: TabulatedID>(_ parameter: Parameter<ID>) {
    let rows = Parameter<ID>.all.filter {
      $0.id == parameter.id && $0.vendors == parameter.vendors && $0.format == parameter.format
    }
    let long = rows.first { $0.lengths == [8] && $0.unit != nil }
    let short = rows.first { $0.lengths != [8] }
    let isBoth = long != nil && short != nil
    // Vendors write VENDOR_ID as bytes or as a number.
    let isVendorID = parameter.id as? AppConfigID == .vendorID
    self.init(
      name: parameter.name,
      lengths: isBoth ? Set(rows.flatMap(\.lengths)).sorted() : parameter.lengths,
      unit: isBoth ? short?.unit : parameter.unit, range: isBoth ? nil : parameter.range,
      values: parameter.format == .mask ? [:] : parameter.values, isSecret: parameter.isSecret,
      kind: isVendorID ? .bytesOrNumber : Kind(parameter), longUnit: isBoth ? long?.unit : nil)
  }

  /// Returns the form of an unknown parameter: bytes.
  static func unknown(_ name: String) -> ParameterForm {
    ParameterForm(name: name, lengths: [], kind: .bytes)
  }

  /// The accepted values of the parameter, for help and errors: a noun phrase.
  package var accepted: String {
    switch kind {
    case .number where !values.isEmpty:
      return values.filter { range?.contains($0.key) ?? true }.sorted { $0.key < $1.key }
        .map { "\($0.value) (\($0.key))" }.joined(separator: ", ")
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
    lengths.isEmpty
      ? "bytes"
      : lengths.map(String.init).joined(separator: " or ") + (lengths == [1] ? " byte" : " bytes")
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
  /// Derives the kind from the format of a row.
  init<ID>(_ parameter: Parameter<ID>) {
    switch parameter.format {
    case .number, .signed:
      let lengths = parameter.lengths
      let isNumber = !lengths.isEmpty && lengths.allSatisfy { [1, 2, 4, 8].contains($0) }
      self = isNumber ? .number : .bytes
    case .mask, .maskBigEndian:
      let highest = parameter.values.keys.max() ?? 0
      self = .flags((0...highest).map { parameter.values[$0] ?? "" })
    case .addresses: self = .addresses
    case .fixedPoint: self = .angles
    default: self = .bytes
    }
  }
}

extension ParameterForm {
  /// Returns the value as text, which `bytes(from:for:)` reads again. Secrets are not hidden here.
  ///
  /// Bytes that this parameter cannot have are printed after `hex:`.
  package func text(_ bytes: [UInt8]) -> String {
    guard lengths.isEmpty || lengths.contains(bytes.count), !bytes.isEmpty else {
      return raw(bytes)
    }
    switch kind {
    case .number: return number(bytes)
    case .flags(let names):
      guard let value = TLV(0, bytes).integer, range?.contains(value) ?? true,
        length(for: value, .fira2) == bytes.count
      else { return raw(bytes) }
      return flags(value, names) ?? "0x" + String(value, radix: 16, uppercase: true)
    case .bytes, .bytesOrNumber: return Self.hexadecimal(bytes)
    case .addresses: return addresses(bytes) ?? raw(bytes)
    case .angles: return angles(bytes) ?? raw(bytes)
    }
  }

  private func number(_ bytes: [UInt8]) -> String {
    guard let value = TLV(0, bytes).integer, range?.contains(value) ?? true else {
      return raw(bytes)
    }
    if let word = values[value] { return word }
    let unit = bytes.count == 8 && longUnit != nil ? longUnit : unit
    return switch unit {
    case nil, "0.25 m": "\(value)"
    case let unit? where Unit.named[unit.lowercased()] == nil && unit.hasSuffix("s"):
      counted(value, String(unit.dropLast()))
    case let unit?: "\(value) \(unit)"
    }
  }

  private func flags(_ value: UInt64, _ names: [String]) -> String? {
    var words: [String] = []
    for bit in 0..<64 where value >> UInt64(bit) & 1 != 0 {
      guard bit < names.count, !names[bit].isEmpty else { return nil }
      words.append(names[bit])
    }
    return words.isEmpty ? nil : words.joined(separator: "+")
  }

  /// Returns short addresses unless the parameter or the number of bytes implies extended ones.
  /// Eight bytes could be either; they are read as short addresses, which nearly all sessions have.
  private func addresses(_ bytes: [UInt8]) -> String? {
    let length = bytes.count == 8 && !lengths.isEmpty ? 8 : 2
    guard bytes.count % length == 0 else { return nil }
    return stride(from: 0, to: bytes.count, by: length).compactMap {
      MACAddress(bytes: bytes[$0..<$0 + length])?.description
    }.joined(separator: ",")
  }

  private func angles(_ bytes: [UInt8]) -> String? {
    var texts: [String] = []
    for index in stride(from: 0, to: bytes.count - 1, by: 2) {
      let value = Int16(littleEndianBytes: bytes[index...])
      let magnitude = Int(value.magnitude)
      guard magnitude <= 180 * 128 else { return nil }
      var text = (value < 0 ? "-" : "") + "\(magnitude / 128)"
      if magnitude % 128 != 0 {
        // A multiple of 1/128 has at most seven decimals.
        let rest = String(magnitude % 128 * 78_125)
        var decimals = String(repeating: "0", count: 7 - rest.count) + rest
        while decimals.last == "0" { decimals.removeLast() }
        text += "." + decimals
      }
      texts.append(text)
    }
    return texts.joined(separator: ",")
  }

  private func raw(_ bytes: [UInt8]) -> String { "hex:" + Self.hexadecimal(bytes) }

  /// Returns two digits for each byte, with colons.
  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map {
      let digits = String($0, radix: 16, uppercase: true)
      return digits.count < 2 ? "0" + digits : digits
    }.joined(separator: ":")
  }
}
