// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("JSON")
struct JSONValueTests {
  func fault(_ text: String) -> String? {
    do {
      _ = try JSONValue(Array(text.utf8))
      return nil
    } catch { return error.description }
  }

  @Test("values of each kind, also with escapes")
  func values() throws {
    let text = #" {"a": [1, -0.5, 2e3, true, false, null], "b\n\u00e9\ud83d\ude00\/": {}} "#
    let value = try JSONValue(Array(text.utf8))
    #expect(
      value["a"]
        == .array([.number(1), .number(-0.5), .number(2000), .bool(true), .bool(false), .null])
    )
    #expect(value["b\né😀/"] == .object([]))
    #expect(value["c"] == nil)
    #expect(try JSONValue(Array(value.description.utf8)) == value)
    #expect(try JSONValue(Array(value.text().utf8)) == value)
  }

  @Test("a byte order mark is skipped before the text only")
  func byteOrderMark() throws {
    #expect(try JSONValue(Array("\u{FEFF}{}".utf8)) == .object([]))
    #expect(fault("\u{FEFF}\u{FEFF}1") == "line 1, column 4: a value belongs here")
    #expect(fault("\u{FEFF}") == "line 1, column 4: the text ends where a value belongs")
  }

  @Test("numbers are written so that reading returns them")
  func numbers() throws {
    for number in [0, 0.1, -1.0 / 3, 1e15, 123_456_789, 1e-7, 5e300, .leastNormalMagnitude] {
      let text = JSONValue.number(number).description
      #expect(try JSONValue(Array(text.utf8)) == .number(number))
    }
    #expect(JSONValue.number(2).description == "2")
    #expect(JSONValue.number(.nan).description == "null")
    #expect(JSONValue.string("a\"\\\n\t\u{1}").description == #""a\"\\\n\t\u0001""#)
  }

  @Test("decimals are the nearest doubles, as the C library reads them", arguments: 0...28)
  func decimals(_ decimals: Int) throws {
    var random = SplitMix64(seed: UInt64(decimals))
    for _ in 0..<2000 {
      // Each number of digits, up to more than 64 bits have.
      var text = "\(random.next() >> (random.next() % 64) | 1)"
      if random.next() % 8 == 0 { text += "\(random.next() % 1000)" }
      if decimals > 0 {
        text = String(repeating: "0", count: max(0, decimals + 1 - text.count)) + text
        text.insert(".", at: text.index(text.endIndex, offsetBy: -decimals))
        if text.first != "0", random.next() % 2 == 0 { text = "-" + text }
      }
      guard text.first == "0" || text.first == "-" || decimals > 0 || text.count < 16 else {
        continue
      }
      let expected = try #require(Double(text))
      #expect(try JSONValue(Array(text.utf8)) == .number(expected), "\(text)")
    }
  }

  @Test("halves between two doubles are rounded to the even one")
  func halves() throws {
    for (text, value) in [
      ("9007199254740993.0", 0x1p53), ("9007199254740995.0", 0x1p53 + 4),
      ("900719925474099.30", 900_719_925_474_099.3), ("0.5", 0.5), ("-0.0", -0.0),
      ("0.1000000000000000055", 0.1), ("4503599627370497.5", 0x1p52 + 2),
    ] {
      let read = try JSONValue(Array(text.utf8))
      #expect(read == .number(value), "\(text)")
    }
  }

  @Test("large whole numbers keep each digit, also when they are written")
  func wholeNumbers() throws {
    for number in [UInt64(1) << 53, UInt64(1) << 53 + 1, UInt64.max] {
      let value = try JSONValue(Array("\(number)".utf8))
      #expect(value == .whole(number) && value.description == "\(number)")
    }
    #expect(try JSONValue(Array("9007199254740991".utf8)) == .number(0x1p53 - 1))
    #expect(try JSONValue(Array("18446744073709551616".utf8)) == .number(0x1p64))
    #expect(try JSONValue(Array("9007199254740993.5".utf8)) == .number(9_007_199_254_740_993.5))
    #expect(try JSONValue(Array("9007199254740993e1".utf8)) == .number(9.007199254740993e16))
    #expect(try JSONValue(Array("-9007199254740993".utf8)) == .number(-0x1p53))
  }

  @Test(
    "a text that is not JSON is refused at its place",
    arguments: [
      ("", "line 1, column 1: the text ends where a value belongs"),
      ("[1,\n 2", "line 2, column 3: a comma or ] belongs here"),
      ("{\"a\": 1,}", "line 1, column 9: a name in quotation marks belongs here"),
      ("[1] 2", "line 1, column 5: the text continues after its value"),
      ("nul", "line 1, column 1: a value belongs here"),
      ("01", "line 1, column 2: the text continues after its value"),
      ("-", "line 1, column 2: a digit belongs here"),
      ("1.", "line 1, column 3: a digit belongs here"),
      ("\"a", "line 1, column 1: the string does not end"),
      ("\"\\x\"", "line 1, column 3: this escape is unknown"),
      ("\"\\ud800\"", "line 1, column 3: half a character"),
      ("\"\\u12\"", "line 1, column 3: four hexadecimal digits belong after \\u"),
      ("\"\u{1}\"", "line 1, column 2: a control character in a string"),
    ])
  func faults(_ text: String, _ expected: String) {
    #expect(fault(text) == expected)
  }

  @Test("a name that occurs twice is refused, among few names and among many", arguments: [2, 40])
  func twice(count: Int) {
    let members = (0..<count).map { "\"n\($0)\": \($0)" }
    #expect(fault("{\(members.joined(separator: ","))}") == nil)
    for name in ["n0", "n\(count - 1)", "\\u006e1"] {
      let last = name == "\\u006e1" ? "n1" : name
      let text = "{\((members + ["\"\(name)\": 0"]).joined(separator: ","))}"
      #expect(fault(text)?.hasSuffix("\(last) occurs twice") == true)
    }
  }

  @Test("the depth is limited, and strings are UTF-8")
  func limits() {
    let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
    #expect(fault(deep) == "line 1, column 34: more than 32 levels")
    #expect(throws: JSONFault.self) { try JSONValue([0x22, 0xFF, 0x22]) }
  }
}
