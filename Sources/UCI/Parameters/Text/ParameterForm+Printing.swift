// SPDX-License-Identifier: Apache-2.0

extension ParameterForm {
  /// A value as people write it; `octets(from:for:)` reads it again. Secrets are not hidden here.
  ///
  /// Octets that this parameter cannot have are printed as `hex:` and the octets.
  public func text(_ octets: [UInt8]) -> String {
    guard lengths.isEmpty || lengths.contains(octets.count), !octets.isEmpty else {
      return raw(octets)
    }
    switch kind {
    case .number: return number(octets)
    case .flags(let names):
      guard let value = TLV(0, octets).integer, range?.contains(value) ?? true else {
        return raw(octets)
      }
      return flags(value, names) ?? "0x" + String(value, radix: 16, uppercase: true)
    case .octets, .octetsOrNumber: return Self.hexadecimal(octets)
    case .addresses: return addresses(octets) ?? raw(octets)
    case .angles: return angles(octets) ?? raw(octets)
    }
  }

  private func number(_ octets: [UInt8]) -> String {
    guard let value = TLV(0, octets).integer, range?.contains(value) ?? true else {
      return raw(octets)
    }
    if let word = values[value] { return word }
    let unit = octets.count == 8 && longUnit != nil ? longUnit : unit
    return switch unit {
    case nil, "0.25 m": "\(value)"
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

  /// Short addresses unless the parameter or the number of octets says otherwise. A list of eight
  /// octets could be either; it is taken for short ones, which is what sessions nearly always have.
  private func addresses(_ octets: [UInt8]) -> String? {
    let length = octets.count == 8 && !lengths.isEmpty ? 8 : 2
    guard octets.count % length == 0 else { return nil }
    return stride(from: 0, to: octets.count, by: length).compactMap {
      MACAddress(octets: octets[$0..<$0 + length])?.description
    }.joined(separator: ",")
  }

  private func angles(_ octets: [UInt8]) -> String? {
    var texts: [String] = []
    for index in stride(from: 0, to: octets.count - 1, by: 2) {
      let value = Int16(bitPattern: UInt16(octets[index]) | UInt16(octets[index + 1]) << 8)
      let magnitude = Int(value.magnitude)
      guard magnitude <= 180 * 128 else { return nil }
      var text = (value < 0 ? "-" : "") + "\(magnitude / 128)"
      if magnitude % 128 != 0 {
        // 128ths have at most seven decimals.
        let rest = String(magnitude % 128 * 78_125)
        var decimals = String(repeating: "0", count: 7 - rest.count) + rest
        while decimals.last == "0" { decimals.removeLast() }
        text += "." + decimals
      }
      texts.append(text)
    }
    return texts.joined(separator: ",")
  }

  private func raw(_ octets: [UInt8]) -> String { "hex:" + Self.hexadecimal(octets) }

  /// Two digits each, with colons.
  static func hexadecimal(_ octets: [UInt8]) -> String {
    octets.map {
      let digits = String($0, radix: 16, uppercase: true)
      return digits.count < 2 ? "0" + digits : digits
    }.joined(separator: ":")
  }
}
