// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference
import UCITestSupport

/// Data of a device never reaches a terminal as control characters.
@Suite struct TerminalTests {
  private func texts(_ value: FieldValue) -> [String] {
    switch value {
    case .text(let text): [text]
    case .code(_, let name, let explanation): [name, explanation ?? ""]
    case .list(let values): values.flatMap(texts)
    case .object(let fields): fields.flatMap { [$0.name] + texts($0.value) }
    default: []
    }
  }

  /// The fuzzer found that keys, names and codes of a device were printed unchanged.
  @Test(arguments: [
    // A calibration key `ESC [ 2 J`, its status and value.
    ("4e2b000c 00 0100 04 1b5b324a 00 02 0100", Dialect.Vendor.qorvo),
    // A country code of two ESC.
    ("2c010002 1b1b", .android),
  ])
  func controlCharactersAreWrittenInDigits(_ packet: String, _ vendor: Dialect.Vendor) throws {
    let dialect = Dialect(vendor: vendor)
    let message = try Message(packet: bytes(packet), dialect: dialect)
    let texts = texts(.object(message.fields(dialect: dialect)))
    #expect(texts.contains { $0.contains("\\x") }, "\(message)")
    for scalar in texts.joined().unicodeScalars {
      #expect(scalar.value >= 0x20 && !(0x7F..<0xA0).contains(scalar.value))
    }
  }
}
