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

  @Test func tablesAppendTheTextOfTheirObjects() {
    let table = JSONTable<Double>("test", each: "test") {
      $0.key("text", "") { "a\"b\u{9B}\($0 > 0)" }
      $0.key("none", "") { _ in nil as Int? }
      $0.key("optional?", "") { $0 > 0 ? 1 : nil }
      $0.key("number", "") { Int64($0 / 2) }
      $0.key("most", "") { _ in UInt64.max }
      $0.key("least", "") { _ in Int64.min }
      $0.key("rounded", "") { Fixed($0, 0) }
      $0.key("fraction", "") { Fixed($0 / 3, 4) }
      $0.key("tiny", "") { Fixed(-$0 / 1e9, 3) }
      $0.key("infinite", "") { Fixed($0 / 0, 3) }
      $0.key("huge", "") { Fixed($0 * 1e20, 2) }
      $0.key("flag", "") { $0 > 0 }
      $0.key("list", "") { [$0 > 0] }
    }
    for value in [0.0, 1, -1, 12.3456, -1_234.5, 9.9999999] {
      let text = table.line(value)
      #expect(text == table.object(value).json + "\n")
      #expect(text.contains(#""list":[\#(value > 0)]}"#))
    }
  }

  @Test func columnsAreAsWideAsTheirWidestCell() {
    var table = TextTable(indent: "  ")
    table.add("a", "first", "long last cell")
    table.add("bcd", "x", "y")
    table.add("e")
    #expect(table.text == "  a    first  long last cell\n  bcd  x      y\n  e\n")
  }
}

/// Numbers and widths as printed.
@Suite struct NumberTests {
  @Test(
    arguments: [
      (0.0, 2, "0.00"), (-0.0, 2, "0.00"), (0.005, 2, "0.01"), (-0.004, 2, "0.00"),
      (-0.006, 2, "-0.01"), (1.25, 1, "1.3"), (0.999, 2, "1.00"), (9.5, 0, "10"), (-7, 0, "-7"),
      (123_456.789, 3, "123456.789"), (1e-9, 6, "0.000000"), (.nan, 1, "null"),
      (.infinity, 1, "null"), (-.infinity, 0, "null"), (1e18, 0, "1e+18"), (1e17, 1, "1e+17"),
      (9e17, 0, "900000000000000000"), (-1e300, 3, "-1e+300"),
    ] as [(Double, Int, String)])
  func numbersHaveTheirDigits(_ value: Double, _ digits: Int, _ text: String) {
    #expect(fixed(value, digits) == text)
  }

  @Test(arguments: [
    ("", 0), ("abc", 3), ("±0.5", 4), ("é", 1), ("e\u{301}", 1), ("距离", 4), ("한국", 4),
    ("ア", 2), ("😀", 2), ("a\u{200B}b", 2), ("ＡＢ", 4), ("🇩🇪", 2),
  ]) func widthsAreColumnsOfATerminal(_ text: String, _ columns: Int) {
    #expect(text.columns == columns)
    #expect(text.left(6).columns == 6 && text.right(6).columns == 6)
    #expect(text.left(6).hasPrefix(text) && text.right(6).hasSuffix(text))
    #expect(text.left(0) == text)
  }

  @Test func bytesAreTwoDigitsEach() {
    #expect(hexDigits([0, 0x0F, 0xA0, 0xFF]) == "000fa0ff")
    #expect(hexDigits([1, 2], separator: ":") == "01:02")
    #expect(hexDigits([]) == "")
  }

  private struct Cause: Error, CustomStringConvertible { var description: String }

  @Test func errorsNameTheFileAndTheCause() {
    let (gone, full) = (Cause(description: "gone"), Cause(description: "full"))
    #expect(FormatError.badFile("-", "no JSON").description == "Standard input: no JSON.")
    #expect(FormatError.badFile("a.json", "no JSON.").description == "a.json: no JSON.")
    let unreadable = FormatError.unreadable("a", gone, suggestion: "b")
    #expect(unreadable.description == "Cannot read a: gone.")
    #expect(unreadable.recoverySuggestion == "b" && unreadable.code == .unreadable)
    #expect(FormatError.notWritten(full).description == "Cannot write the output: full.")
    #expect(FormatError.notCreated("a", full).errorDescription == "Cannot write a: full.")
  }
}
