// SPDX-License-Identifier: Apache-2.0
import JSON
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

  /// The documented keys of a list are the keys of its objects.
  @Test func listsHaveTheKeysOfTheirObjects() {
    let table = JSONTable<[Int]>("test", each: "test") {
      $0.list("items", "", of: { $0 }) {
        $0.key("value", "") { $0 }
        $0.key("half?", "") { $0 % 2 == 0 ? $0 / 2 : nil }
      }
      $0.key("none", "") { _ in nil as Bool? }
    }
    #expect(table.line([]) == #"{"items":[],"none":null}"# + "\n")
    #expect(
      table.object([1, 2]).json == #"{"items":[{"value":1},{"value":2,"half":1}],"none":null}"#)
    var text = JSONText()
    table.append([3], to: &text, hasNulls: false)
    #expect(text.string == #"{"items":[{"value":3}]}"#)
    let entry = table.entry.also("other")
    #expect(entry.command == "other" && entry.each == "test")
    #expect(entry.keys.map(\.path) == ["items", "items[].value", "items[].half", "none"])
    #expect(entry.keys.map(\.isOptional) == [false, false, true, false])
  }

  @Test func cellsOfTablesHaveNoQuotes() {
    let values: [(any JSONValue, String)] = [
      ("a\"b", "a\"b"), (7, "7"), (UInt64.max, "18446744073709551615"), (true, "true"),
      (["x", "y"], #"["x","y"]"#), (["a": nil] as JSONLine, #"{"a":null}"#),
    ]
    for (value, text) in values { #expect(value.plain == text) }
    #expect(Fixed(nil, 2) == nil && Fixed(-0.001, 2)?.plain == "0.00")
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

  /// The borders of wide blocks, from EastAsianWidth.txt of Unicode 14.
  @Test(
    arguments: [
      (0x2FF, 1), (0x1100, 2), (0x115F, 2), (0x1160, 1), (0x231A, 2), (0x231C, 1), (0x2328, 1),
      (0x2329, 2), (0x232B, 1), (0x23E9, 2), (0x23ED, 1), (0x2614, 2), (0x2616, 1), (0x26A1, 2),
      (0x26A2, 1), (0x2705, 2), (0x2706, 1), (0x274C, 2), (0x274D, 1), (0x2764, 1), (0x2B50, 2),
      (0x2B51, 1), (0x2E80, 2), (0x303E, 2), (0x303F, 1), (0x3041, 2), (0x3247, 2), (0x3248, 1),
      (0x324F, 1), (0x3250, 2), (0x4DBF, 2), (0x4DC0, 1), (0x4DFF, 1), (0x4E00, 2), (0xA4C6, 2),
      (0xA4D0, 1), (0xA960, 2), (0xA97C, 2), (0xABFF, 1), (0xAC00, 2), (0xD7A3, 2), (0xD7B0, 1),
      (0xF900, 2), (0xFAD9, 2), (0xFB00, 1), (0xFE10, 2), (0xFE19, 2), (0xFE30, 2), (0xFE6B, 2),
      (0xFE70, 1), (0xFF01, 2), (0xFF60, 2), (0xFF61, 1), (0xFFE0, 2), (0xFFE6, 2), (0xFFE8, 1),
      (0x16FE0, 2), (0x17000, 2), (0x18D08, 2), (0x1B000, 2), (0x1B2FB, 2), (0x1F004, 2),
      (0x1F005, 1), (0x1F0CF, 2), (0x1F191, 2), (0x1F200, 2), (0x1F265, 2), (0x1F300, 2),
      (0x1F320, 2), (0x1F321, 1), (0x1F37D, 1), (0x1F3FB, 2), (0x1F43F, 1), (0x1F441, 1),
      (0x1F4FC, 2), (0x1F4FD, 1), (0x1F5FF, 2), (0x1F64F, 2), (0x1F680, 2), (0x1F6E0, 1),
      (0x1F7E0, 2), (0x1F90B, 1), (0x1F90C, 2), (0x1F9FF, 2), (0x1FA70, 2), (0x20000, 2),
      (0x2FFFD, 2), (0x30000, 2),
    ])
  func wideCharactersAreThoseOfUnicode(_ number: UInt32, _ columns: Int) throws {
    let character = Character(try #require(Unicode.Scalar(number)))
    #expect(character.columns == columns, "U+\(String(number, radix: 16))")
  }

  @Test(arguments: [
    ("❤", 1), ("❤\u{FE0F}", 2), ("🌡\u{FE0F}", 2), ("✅", 2), ("👩\u{200D}🚀", 2), ("👍🏽", 2),
    ("\u{AD}", 1), ("\u{301}", 0), ("\u{20DD}", 0), ("\u{2060}", 0),
  ]) func sequencesAreOneCharacter(_ text: String, _ columns: Int) {
    #expect(text.count == 1 && text.columns == columns)
  }

  @Test func bytesAreTwoDigitsEach() {
    #expect(hexDigits([0, 0x0F, 0xA0, 0xFF]) == "000fa0ff")
    #expect(hexDigits([1, 2], separator: ":") == "01:02")
    #expect(hexDigits([]) == "")
  }

  /// A deviation has two digits, also where it is rounded up to the next power of ten.
  @Test(arguments: [
    (2.5949, 0.0312, "2.595 ± 0.031"), (2.5949, 0.0994, "2.595 ± 0.099"),
    (2.5949, 0.0996, "2.59 ± 0.10"), (2.5949, 0.994, "2.59 ± 0.99"), (2.5949, 0.996, "2.6 ± 1.0"),
    (-0.0004, 0.01, "0.000 ± 0.010"), (1e9, 12.34, "1000000000.0 ± 12.3"),
    (.nan, .infinity, "null ± null"),
  ]) func deviationsHaveTwoDigits(_ value: Double, _ deviation: Double, _ text: String) {
    #expect(fixed(value, deviation: deviation) == text)
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
    #expect(FormatError.notCreated("-", full).code == .notWritten)
  }
}
