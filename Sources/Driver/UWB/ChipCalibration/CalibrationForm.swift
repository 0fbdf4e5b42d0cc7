// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// The form of the bytes of a calibration value. Numbers are little-endian.
package indirect enum CalibrationForm: Sendable, Hashable {
  /// A number with this many bytes, `fraction` of whose bits are after the point. Signed numbers
  /// are in two's complement.
  case number(Int, isSigned: Bool, fraction: Int)
  /// One byte, with a word for each of its values.
  case words([String])
  /// A fixed number of values, one after another.
  case list(CalibrationForm, count: Int)
  /// A count in one byte, then this many values.
  case counted(CalibrationForm)
  /// A count, then this many entries. An entry has the number of an antenna or pair, and its
  /// values.
  case numbered(CalibrationForm, values: Int)
  /// Bytes without a known structure.
  case bytes

  static func unsigned(_ width: Int, fraction: Int = 0) -> Self {
    .number(width, isSigned: false, fraction: fraction)
  }
  static func signed(_ width: Int, fraction: Int = 0) -> Self {
    .number(width, isSigned: true, fraction: fraction)
  }
  /// One byte: no or yes.
  static let flag = words(["no", "yes"])

  /// The number of bytes; nil where it is not fixed.
  private var width: Int? {
    switch self {
    case .number(let width, _, _): width
    case .words: 1
    default: nil
    }
  }

  // MARK: printing

  /// Returns the value as users write it; nil where the bytes do not have this form.
  func text(_ bytes: [UInt8]) -> String? {
    if let width, bytes.count != width { return nil }
    switch self {
    case .number(_, false, 0): return "\(Self.number(bytes))"
    case .number(_, true, 0): return "\(Self.signedNumber(bytes))"
    case .number(_, let isSigned, let fraction):
      let number = isSigned ? Double(Self.signedNumber(bytes)) : Double(Self.number(bytes))
      return Self.decimal(number / Double(1 << fraction))
    case .words(let words):
      return bytes[0] < words.count ? words[Int(bytes[0])] : "\(bytes[0])"
    case .list(let form, let count):
      guard let width = form.width, bytes.count == width * count else { return nil }
      return form.texts(bytes, width).joined(separator: ", ")
    case .counted(let form):
      guard let width = form.width, let count = bytes.first,
        bytes.count == 1 + Int(count) * width
      else { return nil }
      return form.texts(Array(bytes.dropFirst()), width).joined(separator: ", ")
    case .numbered(let form, let values):
      guard let width = form.width, let count = bytes.first,
        bytes.count == 1 + Int(count) * (1 + values * width)
      else { return nil }
      let step = 1 + values * width
      return (0..<Int(count)).map { index in
        let start = 1 + index * step
        let rest = Array(bytes[start + 1..<start + step])
        return "\(bytes[start]): " + form.texts(rest, width).joined(separator: " ")
      }.joined(separator: ", ")
    case .bytes: return nil
    }
  }

  private func texts(_ bytes: [UInt8], _ width: Int) -> [String] {
    stride(from: 0, to: bytes.count, by: width).map {
      text(Array(bytes[$0..<$0 + width])) ?? "?"
    }
  }

  /// Returns bytes as text, for example `hex:0102`. Every value accepts such text.
  static func raw(_ bytes: [UInt8]) -> String {
    "hex:"
      + bytes.map { byte in
        let digits = String(byte, radix: 16)
        return digits.count < 2 ? "0" + digits : digits
      }.joined()
  }

  private static func number(_ bytes: [UInt8]) -> UInt64 {
    UInt64(littleEndianBytes: bytes)
  }

  private static func signedNumber(_ bytes: [UInt8]) -> Int64 {
    let shift = 64 - 8 * bytes.count
    return Int64(bitPattern: number(bytes) << UInt64(shift)) >> Int64(shift)
  }

  /// Returns a decimal number with as few digits as necessary, at most six after the point.
  private static func decimal(_ value: Double) -> String {
    let millionths = Int64((value * 1e6).rounded())
    var digits = String(abs(millionths) % 1_000_000)
    digits = String(repeating: "0", count: 6 - digits.count) + digits
    while digits.last == "0" { digits.removeLast() }
    let sign = millionths < 0 ? "-" : ""
    let whole = "\(sign)\(abs(millionths) / 1_000_000)"
    return digits.isEmpty ? whole : "\(whole).\(digits)"
  }

  // MARK: reading

  /// Returns the bytes of a text such as `hex:0102`; nil for other text.
  static func rawBytes(_ text: String) -> [UInt8]? {
    guard text.hasPrefix("hex:") else { return nil }
    let digits = text.dropFirst(4).filter { !" :.-_".contains($0) }
    guard digits.count.isMultiple(of: 2), digits.allSatisfy(\.isHexDigit) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(digits.dropFirst($0).prefix(2), radix: 16)
    }
  }

  /// Returns the bytes of a value as users write it; nil where it cannot be read.
  func bytes(from text: String) -> [UInt8]? {
    switch self {
    case .number(let width, false, 0):
      guard let value = Self.unsigned(text), width == 8 || value >> UInt64(8 * width) == 0 else {
        return nil
      }
      return Array(value.littleEndianBytes.prefix(width))
    case .number(let width, let isSigned, let fraction):
      let number = fraction == 0 ? Int64(text.trimmed) : Self.scaled(text, fraction)
      let bits = Int64(8 * width - (isSigned ? 1 : 0))
      guard let number, isSigned || number >= 0,
        bits >= 63 || (number < 0 ? ~number : number) >> bits == 0
      else { return nil }
      return Array(number.littleEndianBytes.prefix(width))
    case .words(let words):
      if let index = words.firstIndex(of: text.lowercased()) { return [UInt8(index)] }
      return Self.unsigned(text).flatMap { UInt8(exactly: $0) }.map { [$0] }
    case .list(let form, let count):
      let parts = Self.parts(text, ",")
      return parts.count == count ? form.bytes(ofAll: parts) : nil
    case .counted(let form):
      let parts = Self.parts(text, ",")
      guard let bytes = form.bytes(ofAll: parts), parts.count < 256 else { return nil }
      return [UInt8(parts.count)] + bytes
    case .numbered(let form, let values):
      let parts = Self.parts(text, ",")
      guard parts.count < 256 else { return nil }
      var bytes = [UInt8(parts.count)]
      for part in parts {
        let pair = Self.parts(part, ":")
        guard pair.count == 2, let number = UInt8(pair[0]) else { return nil }
        let numbers = Self.parts(pair[1], " ")
        guard numbers.count == values, let rest = form.bytes(ofAll: numbers) else { return nil }
        bytes += [number] + rest
      }
      return bytes
    case .bytes: return nil
    }
  }

  private func bytes(ofAll parts: [String]) -> [UInt8]? {
    var bytes: [UInt8] = []
    for part in parts {
      guard let some = self.bytes(from: part) else { return nil }
      bytes += some
    }
    return bytes
  }

  private static func parts(_ text: String, _ separator: Character) -> [String] {
    text.split(separator: separator).map { String($0).trimmed }.filter { !$0.isEmpty }
  }

  private static func unsigned(_ text: String) -> UInt64? {
    let lower = text.trimmed.lowercased()
    return lower.hasPrefix("0x") ? UInt64(hexDigits: lower.dropFirst(2)) : UInt64(lower)
  }

  /// Returns the number, rounded to the given number of fraction bits.
  private static func scaled(_ text: String, _ fraction: Int) -> Int64? {
    guard let value = Double(text.trimmed), value.isFinite, abs(value) < 1e9 else { return nil }
    return Int64((value * Double(1 << fraction)).rounded())
  }

  /// The accepted values as a noun phrase, for help and errors.
  package var accepted: String {
    switch self {
    case .number(let width, let isSigned, 0):
      "a \(isSigned ? "signed " : "")number of \(width * 8) bits"
    case .number: "a number with a fraction"
    case .words(let words): words.joined(separator: ", ") + ", or a number"
    case .list(let form, let count): "\(count) times \(form.accepted), separated by commas"
    case .counted(let form): "\(form.accepted), or several separated by commas"
    case .numbered(let form, 1): "ANTENNA:VALUE separated by commas, each \(form.accepted)"
    case .numbered(let form, let count):
      "ANTENNA:VALUE VALUE separated by commas, \(count) values each, \(form.accepted)"
    case .bytes: "hex: and bytes in hexadecimal"
    }
  }
}
