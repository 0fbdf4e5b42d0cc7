// SPDX-License-Identifier: Apache-2.0

/// How the octets of a calibration value are read. Numbers are little-endian.
public indirect enum CalibrationForm: Sendable, Hashable {
  /// An unsigned number of so many octets.
  case unsigned(Int)
  /// A number in two's complement of so many octets.
  case signed(Int)
  /// An unsigned number with so many bits of fraction.
  case unsignedFixed(Int, fraction: Int)
  /// A number in two's complement with so many bits of fraction.
  case signedFixed(Int, fraction: Int)
  /// One octet with words for its values.
  case words([String])
  /// So many values, one after another.
  case list(CalibrationForm, count: Int)
  /// A count, and as many values.
  case counted(CalibrationForm)
  /// A count, and as many of these: the number of an antenna or pair, and so many values.
  case numbered(CalibrationForm, values: Int)
  /// Octets whose meaning is their own.
  case octets

  /// One octet, no or yes.
  static let flag = words(["no", "yes"])

  /// Octets of one value; nil where that is not fixed.
  private var width: Int? {
    switch self {
    case .unsigned(let width), .signed(let width): width
    case .unsignedFixed(let width, _), .signedFixed(let width, _): width
    case .words: 1
    default: nil
    }
  }

  // MARK: printing

  /// The value as people write it; nil where the octets do not have this form.
  func text(_ octets: [UInt8]) -> String? {
    if let width, octets.count != width { return nil }
    switch self {
    case .unsigned: return "\(Self.number(octets))"
    case .signed: return "\(Self.signedNumber(octets))"
    case .unsignedFixed(_, let fraction):
      return Self.decimal(Double(Self.number(octets)) / Double(1 << fraction))
    case .signedFixed(_, let fraction):
      return Self.decimal(Double(Self.signedNumber(octets)) / Double(1 << fraction))
    case .words(let words):
      return octets[0] < words.count ? words[Int(octets[0])] : "\(octets[0])"
    case .list(let form, let count):
      guard let width = form.width, octets.count == width * count else { return nil }
      return form.texts(octets, width).joined(separator: ", ")
    case .counted(let form):
      guard let width = form.width, let count = octets.first,
        octets.count == 1 + Int(count) * width
      else { return nil }
      return form.texts(Array(octets.dropFirst()), width).joined(separator: ", ")
    case .numbered(let form, let values):
      guard let width = form.width, let count = octets.first,
        octets.count == 1 + Int(count) * (1 + values * width)
      else { return nil }
      let step = 1 + values * width
      return (0..<Int(count)).map { index in
        let start = 1 + index * step
        let rest = Array(octets[start + 1..<start + step])
        return "\(octets[start]): " + form.texts(rest, width).joined(separator: " ")
      }.joined(separator: ", ")
    case .octets: return nil
    }
  }

  private func texts(_ octets: [UInt8], _ width: Int) -> [String] {
    stride(from: 0, to: octets.count, by: width).map {
      text(Array(octets[$0..<$0 + width])) ?? "?"
    }
  }

  /// `hex:0102`, which every value takes.
  static func raw(_ octets: [UInt8]) -> String {
    "hex:"
      + octets.map { octet in
        let digits = String(octet, radix: 16)
        return digits.count < 2 ? "0" + digits : digits
      }.joined()
  }

  private static func number(_ octets: [UInt8]) -> UInt64 {
    octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func signedNumber(_ octets: [UInt8]) -> Int64 {
    let shift = 64 - 8 * octets.count
    return Int64(bitPattern: number(octets) << UInt64(shift)) >> Int64(shift)
  }

  /// As many digits as it takes, at most six behind the point, where the fraction ends or does not
  /// matter any more.
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

  /// The octets of `hex:` and digits; nil for anything else.
  static func rawOctets(_ text: String) -> [UInt8]? {
    guard text.hasPrefix("hex:") else { return nil }
    let digits = text.dropFirst(4).filter { !" :.-_".contains($0) }
    guard digits.count.isMultiple(of: 2), digits.allSatisfy(\.isHexDigit) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(digits.dropFirst($0).prefix(2), radix: 16)
    }
  }

  /// The octets of a value as people write it; nil where it cannot be read.
  func octets(from text: String) -> [UInt8]? {
    switch self {
    case .unsigned(let width):
      guard let value = Self.unsigned(text), width == 8 || value >> UInt64(8 * width) == 0 else {
        return nil
      }
      return Array(value.littleEndianOctets.prefix(width))
    case .signed(let width):
      guard let value = Int64(text.trimmed), Self.fits(value, width) else { return nil }
      return Array(value.littleEndianOctets.prefix(width))
    case .unsignedFixed(let width, let fraction):
      guard let value = Self.scaled(text, fraction), value >= 0,
        value >> Int64(8 * width) == 0
      else { return nil }
      return Array(UInt64(value).littleEndianOctets.prefix(width))
    case .signedFixed(let width, let fraction):
      guard let value = Self.scaled(text, fraction), Self.fits(value, width) else { return nil }
      return Array(value.littleEndianOctets.prefix(width))
    case .words(let words):
      if let index = words.firstIndex(of: text.lowercased()) { return [UInt8(index)] }
      return Self.unsigned(text).flatMap { UInt8(exactly: $0) }.map { [$0] }
    case .list(let form, let count):
      let parts = Self.parts(text, ",")
      return parts.count == count ? form.octets(ofAll: parts) : nil
    case .counted(let form):
      let parts = Self.parts(text, ",")
      guard let octets = form.octets(ofAll: parts), parts.count < 256 else { return nil }
      return [UInt8(parts.count)] + octets
    case .numbered(let form, let values):
      let parts = Self.parts(text, ",")
      guard parts.count < 256 else { return nil }
      var octets = [UInt8(parts.count)]
      for part in parts {
        let pair = Self.parts(part, ":")
        guard pair.count == 2, let number = UInt8(pair[0]) else { return nil }
        let numbers = Self.parts(pair[1], " ")
        guard numbers.count == values, let rest = form.octets(ofAll: numbers) else { return nil }
        octets += [number] + rest
      }
      return octets
    case .octets: return nil
    }
  }

  private func octets(ofAll parts: [String]) -> [UInt8]? {
    var octets: [UInt8] = []
    for part in parts {
      guard let some = self.octets(from: part) else { return nil }
      octets += some
    }
    return octets
  }

  private static func parts(_ text: String, _ separator: Character) -> [String] {
    text.split(separator: separator).map { String($0).trimmed }.filter { !$0.isEmpty }
  }

  private static func unsigned(_ text: String) -> UInt64? {
    let lower = text.trimmed.lowercased()
    return lower.hasPrefix("0x") ? UInt64(lower.dropFirst(2), radix: 16) : UInt64(lower)
  }

  /// The nearest number with so many bits of fraction.
  private static func scaled(_ text: String, _ fraction: Int) -> Int64? {
    guard let value = Double(text.trimmed), value.isFinite, abs(value) < 1e9 else { return nil }
    return Int64((value * Double(1 << fraction)).rounded())
  }

  private static func fits(_ value: Int64, _ width: Int) -> Bool {
    width == 8 || value >= -(1 << (8 * width - 1)) && value < 1 << (8 * width - 1)
  }

  /// What a value takes, for help and errors: a noun phrase.
  public var accepted: String {
    switch self {
    case .unsigned(let width): "a number of \(width * 8) bits"
    case .signed(let width): "a signed number of \(width * 8) bits"
    case .unsignedFixed, .signedFixed: "a number with a fraction"
    case .words(let words): words.joined(separator: ", ") + ", or a number"
    case .list(let form, let count): "\(count) times \(form.accepted), separated by commas"
    case .counted(let form): "\(form.accepted), or several separated by commas"
    case .numbered(let form, 1): "ANTENNA:VALUE separated by commas, each \(form.accepted)"
    case .numbered(let form, let count):
      "ANTENNA:VALUE VALUE separated by commas, \(count) values each, \(form.accepted)"
    case .octets: "hex: and octets in hexadecimal"
    }
  }
}
