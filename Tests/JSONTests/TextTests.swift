// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

@Suite("JSON text in memory of its own") struct TextTests {
  @Test("Each piece has its place, however small the memory was", arguments: [0, 1, 512])
  func pieces(_ capacity: Int) {
    var text = JSONText(capacity: capacity)
    text.append("x")
    text.appendKey("key")
    text.appendDigits(.max)
    text.appendKey("optional?")
    text.appendJSON("é\"\u{1B}")
    text.append(contentsOf: ", \"and more than fifteen bytes\"".utf8)
    text.append(contentsOf: Array("xyz".utf8).dropFirst())
    text.append(contentsOf: [] as [UInt8])
    text.append(contentsOf: [UInt8(ascii: "1"), UInt8(ascii: "2")].lazy.map { $0 + 1 })
    text.replace(at: 0, by: UInt8(ascii: "{"))
    text.append(UInt8(ascii: "}"))
    let whole =
      #"{,"key":18446744073709551615,"optional":"é\"\u001b", "and more than fifteen bytes"yz23}"#
    #expect(text.string == whole)
    #expect(text.bytes == Array(whole.utf8) && text.count == whole.utf8.count)
  }

  @Test("A long text moves to larger memory", arguments: [1, 7, 1_000])
  func growth(_ length: Int) {
    var text = JSONText(capacity: 0)
    #expect(text.bytes.isEmpty && text.string == "")
    let piece = String(repeating: "a", count: length)
    for number in 1...100 {
      text.appendJSON(piece)
      #expect(text.count == number * (length + 2))
    }
    #expect(text.string == String(repeating: "\"\(piece)\"", count: 100))
  }

  @Test("Optional keys end with a question mark")
  func optionalKeys() {
    let (key, optional, none): (StaticString, StaticString, StaticString) = ("a", "a?", "")
    #expect(!key.isOptionalKey && optional.isOptionalKey && !none.isOptionalKey)
  }
}
