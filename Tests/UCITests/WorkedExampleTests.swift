// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCITestSupport

/// A command of a vendor: blinks a light. CONTRIBUTING.md shows this file.
struct Blink: UCICommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0x0E), 0x20)
  /// The number of flashes.
  var count: UInt8 = 1
  /// The duration of a flash in milliseconds.
  var duration: UInt16 = 100

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("count", &count)
    try coder.field("duration", &duration)
  }
}

@Suite struct WorkedExampleTests {
  @Test("Numbers have the lowest byte first, and their bytes lead to the same value")
  func bytesOfABlink() throws {
    let blink = Blink(count: 3, duration: 500)
    #expect(blink.encoded() == bytes("03 f401"))
    let payload = bytes("03 f401")
    var reader = PayloadReader(payload.span.bytes)
    #expect(try Blink(from: &reader, dialect: .assumed) == blink)
  }

  @Test("A missing byte is an error")
  func shortPayload() {
    let payload = bytes("03 f4")
    #expect(throws: PayloadError.self) {
      var reader = PayloadReader(payload.span.bytes)
      _ = try Blink(from: &reader, dialect: .assumed)
    }
  }
}
