// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UCIReference

/// Properties of all values that are read from a device.
enum Properties {
  /// No field holds control characters of a terminal, and all fields together stay within a bound.
  static func check(_ fields: [Field], from size: Int) {
    var bytes = 0
    for field in fields { measure(field, &bytes) }
    if bytes > 4_096 + 512 * size { fail("\(size) bytes are described by \(bytes)") }
  }

  private static func measure(_ field: Field, _ bytes: inout Int) {
    printable(field.name)
    bytes += field.name.utf8.count
    measure(field.value, &bytes)
  }

  private static func measure(_ value: FieldValue, _ bytes: inout Int) {
    switch value {
    case .text(let text):
      printable(text)
      bytes += text.utf8.count
    case .code(_, let name, let explanation):
      printable(name)
      if let explanation { printable(explanation) }
      bytes += name.utf8.count + (explanation?.utf8.count ?? 0)
    case .bytes(let list), .secret(let list): bytes += list.count
    case .list(let values): for value in values { measure(value, &bytes) }
    case .object(let fields): for field in fields { measure(field, &bytes) }
    case .null, .bool, .integer, .unsigned, .decimal: bytes += 8
    }
  }

  /// Neither C0 nor C1 controls nor DEL.
  static func printable(_ text: String) {
    for scalar in text.unicodeScalars
    where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) {
      fail("a text holds the control character \(scalar.value)")
    }
  }
}

extension Dialect {
  /// Every dialect has a number.
  init(number: UInt8) {
    let vendors: [Vendor] = [.unknown, .qorvo, .nxp, .android]
    self.init(
      generation: Generation(rawValue: number % 3 + 1)!, vendor: vendors[Int(number / 3) % 4],
      dataLengthInByte3: number / 12 % 2 == 1)
  }
  static let count: UInt8 = 24
}
