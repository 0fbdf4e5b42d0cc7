// SPDX-License-Identifier: Apache-2.0
import Testing
import UWBTestSupport

@testable import Formats

@Suite(.ownThreads) struct TextTests {
  @Test(arguments: [
    ("plain – text ü 距离", "plain – text ü 距离"),
    ("\u{1B}[31mred", #"\u{1b}[31mred"#),
    ("a\r\nb\tc\u{7F}", #"a\u{d}\u{a}b\u{9}c\u{7f}"#),
    ("\u{9B}31m", #"\u{9b}31m"#),
    ("\u{202E}\u{2066}\u{200B}\u{2028}\u{FEFF}", #"\u{202e}\u{2066}\u{200b}\u{2028}\u{feff}"#),
    ("\u{E000}\u{10FFFF}", #"\u{e000}\u{10ffff}"#),
  ])
  func controlCharactersAreEscaped(_ text: String, _ expected: String) {
    #expect(printable(text) == expected)
  }

  @Test func objectsKeepTheirOrderAndTheirTypes() {
    let line: JSONLine = [
      "text": "a\"b", "none": nil, "number": 7, "fraction": Fixed(1.25, 1), "flag": true,
      "list": ["x", "y"], "numbers": [1, 2],
    ]
    #expect(
      line.json
        == #"{"text":"a\"b","none":null,"number":7,"fraction":1.3,"flag":true,"list":["x","y"],"#
        + #""numbers":[1,2]}"#)
  }

  @Test func columnsAreAsWideAsTheirWidestCell() {
    var table = TextTable(indent: "  ")
    table.add("a", "first", "long last cell")
    table.add("bcd", "x", "y")
    table.add("e")
    #expect(table.text == "  a    first  long last cell\n  bcd  x      y\n  e\n")
  }
}
