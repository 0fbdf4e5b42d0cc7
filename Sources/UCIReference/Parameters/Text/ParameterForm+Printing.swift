// SPDX-License-Identifier: Apache-2.0

import UCI

extension ParameterForm {
  /// The value as text, which `bytes(from:for:)` reads again. Secrets are not hidden here.
  ///
  /// Bytes that this parameter cannot have are printed as `hex:` and the bytes.
  package func text(_ bytes: [UInt8]) -> String {
    guard lengths.isEmpty || lengths.contains(bytes.count), !bytes.isEmpty else {
      return raw(bytes)
    }
    switch kind {
    case .number: return number(bytes)
    case .flags(let names):
      guard let value = TLV(0, bytes).integer, range?.contains(value) ?? true else {
        return raw(bytes)
      }
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

  /// Short addresses unless the parameter or the number of bytes says otherwise. A list of eight
  /// bytes could be either; it is read as short ones, which is what sessions nearly always have.
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
      let value = Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)
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

  private func raw(_ bytes: [UInt8]) -> String { "hex:" + Self.hexadecimal(bytes) }

  /// Two digits each, with colons.
  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map {
      let digits = String($0, radix: 16, uppercase: true)
      return digits.count < 2 ? "0" + digits : digits
    }.joined(separator: ":")
  }
}
