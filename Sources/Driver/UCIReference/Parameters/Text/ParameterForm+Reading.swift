// SPDX-License-Identifier: Apache-2.0

package import UCI

extension ParameterForm {
  /// Returns the bytes on the wire of a value that a user wrote.
  ///
  /// Besides the parameter's own form, `hex:` with any bytes is accepted unchanged.
  ///
  /// - Parameter generation: determines the length of parameters that have more than one length.
  /// - Throws: `ParameterTextError`.
  package func bytes(
    from text: String, for generation: Dialect.Generation = .fira2
  ) throws(ParameterTextError) -> [UInt8] {
    let text = trimmed(text)
    if text.lowercased().hasPrefix("hex:") {
      guard let bytes = Self.bytes(text.dropFirst(4)), bytes.count <= 255 else {
        throw unreadable(text)
      }
      return bytes
    }
    switch kind {
    case .number: return try number(text, generation)
    case .flags(let names):
      if let flags = flags(text, names) { return try encoded(flags, text, generation) }
      return try number(text, generation)
    case .bytesOrNumber where text.lowercased().hasPrefix("0x"):
      return try number(text, generation)
    case .bytes, .bytesOrNumber:
      guard let bytes = Self.bytes(text[...]), fits(bytes.count) else { throw unreadable(text) }
      return bytes
    case .addresses: return try addresses(text)
    case .angles: return try angles(text)
    }
  }

  private func number(
    _ text: String, _ generation: Dialect.Generation
  ) throws(ParameterTextError) -> [UInt8] {
    if let value = value(named: text) { return try encoded(value, text, generation) }
    guard let quantity = Quantity(text) else { throw unreadable(text) }
    let own = longUnit != nil && length(for: .max, generation) == 8 ? longUnit : unit
    var value: UInt64?
    if quantity.unit.isEmpty || quantity.unit == own?.lowercased()
      || own.map({ Unit.named[$0] == nil && quantity.unit + "s" == $0 }) == true
    {
      value = quantity.whole(from: 1, to: 1)
    } else {
      guard let own, let wanted = Unit.named[own.lowercased()],
        let given = Unit.named[quantity.unit], given.dimension == wanted.dimension
      else { throw unreadable(text) }
      value = quantity.whole(from: given.size, to: wanted.size)
    }
    guard let value else {
      throw .notWhole(parameter: name, value: shown(text), unit: own ?? "units")
    }
    return try encoded(value, text, generation)
  }

  /// Returns the value of this word, or of the only word that begins with this text.
  private func value(named text: String) -> UInt64? {
    let wanted = plain(text)
    guard !wanted.isEmpty, !wanted.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    if let exact = values.first(where: { plain($0.value) == wanted }) { return exact.key }
    if values == [0: "off", 1: "on"] {
      switch text.lowercased() {
      case "no", "false", "disabled": return 0
      case "yes", "true", "enabled": return 1
      default: return nil
      }
    }
    // A number with a unit is never the beginning of a word.
    let beginnings = values.filter { plain($0.value).starts(with: wanted) }
    return beginnings.count == 1 ? beginnings.first?.key : nil
  }

  private func flags(_ text: String, _ names: [String]) -> UInt64? {
    var value: UInt64 = 0
    for part in text.split(whereSeparator: { "+|,".contains($0) }) {
      let wanted = plain(String(part))
      guard let bit = names.firstIndex(where: { !$0.isEmpty && plain($0) == wanted }) else {
        return nil
      }
      value |= 1 << UInt64(bit)
    }
    return value == 0 ? nil : value
  }

  private func addresses(_ text: String) throws(ParameterTextError) -> [UInt8] {
    var bytes: [UInt8] = []
    var lengthOfOne: Int?
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let address = MACAddress(trimmed(part)),
        lengthOfOne == nil || lengthOfOne == address.bytes.count
      else { throw unreadable(text) }
      lengthOfOne = address.bytes.count
      bytes += address.bytes
    }
    guard fits(bytes.count), bytes.count <= 255 else { throw unreadable(text) }
    return bytes
  }

  private func angles(_ text: String) throws(ParameterTextError) -> [UInt8] {
    var bytes: [UInt8] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let part = trimmed(part)
      let isNegative = part.hasPrefix("-")
      guard let quantity = Quantity(isNegative ? String(part.dropFirst()) : part),
        quantity.unit.isEmpty || Unit.named[quantity.unit]?.dimension == .angle
      else { throw unreadable(text) }
      var scaled = Double(quantity.digits) * 128
      for _ in 0..<quantity.decimals { scaled /= 10 }
      let value = (isNegative ? -scaled : scaled).rounded()
      guard abs(value) <= 180 * 128 else {
        throw .outOfRange(parameter: name, value: shown(text), accepted: accepted)
      }
      bytes += Int16(value).littleEndianBytes
    }
    guard fits(bytes.count) else { throw unreadable(text) }
    return bytes
  }

  /// Checks the range and writes a number in as many bytes as the parameter has.
  private func encoded(
    _ value: UInt64, _ text: String, _ generation: Dialect.Generation
  ) throws(ParameterTextError) -> [UInt8] {
    guard range?.contains(value) ?? true, let length = length(for: value, generation) else {
      throw .outOfRange(parameter: name, value: shown(text), accepted: accepted)
    }
    return (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
  }

  /// Returns the number of bytes for a number; nil when the number is too large.
  func length(for value: UInt64, _ generation: Dialect.Generation) -> Int? {
    // UWB_INITIATION_TIME has 4 bytes in FiRa 1.x, and 8 bytes since 2.0.
    if longUnit != nil { return generation >= .fira2 ? 8 : value >> 32 == 0 ? 4 : nil }
    return lengths.first { $0 >= 8 || value >> (8 * UInt64($0)) == 0 }
  }

  private func fits(_ count: Int) -> Bool { lengths.isEmpty || lengths.contains(count) }

  private func unreadable(_ text: String) -> ParameterTextError {
    .unreadable(parameter: name, value: shown(text), accepted: accepted)
  }

  /// Returns the part of a value that an error may show.
  private func shown(_ text: String) -> String {
    isSecret ? "this value (hidden)" : text.isEmpty ? "nothing" : "'\(text)'"
  }

  /// Reads bytes in hexadecimal, with or without colons, blanks, dots or hyphens between them.
  static func bytes(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
      let digit: UInt8
      switch character {
      case 0x30...0x39: digit = character - 0x30
      case 0x41...0x46: digit = character - 0x37
      case 0x61...0x66: digit = character - 0x57
      case UInt8(ascii: ":"), UInt8(ascii: " "), UInt8(ascii: "."), UInt8(ascii: "-"):
        if high != nil { return nil }
        continue
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return high == nil && !bytes.isEmpty ? bytes : nil
  }
}

/// Returns the text without the blanks around it.
func trimmed(_ text: some StringProtocol) -> String {
  let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
  var rest = text.drop(while: blank)
  while let last = rest.last, blank(last) { rest.removeLast() }
  return String(rest)
}
