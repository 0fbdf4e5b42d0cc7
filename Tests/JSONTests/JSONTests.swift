// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

@Suite struct JSONTests {
  private func read(_ text: String) throws(JSONError) -> JSON { try JSON(Array(text.utf8)) }

  @Test(arguments: [
    (" null ", JSON.null), ("true", .bool(true)), ("-0", .integer(0)),
    ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("1.5e3", .number(1_500)),
    ("1E+2", .number(100)), ("0.0", .number(0)), ("[]", .array([])), ("{ }", .object([:])),
    (#""\u00e9\ud83d\ude00\n\/\"""#, .string("é😀\n/\"")),
    (#"{"a" : [1 , {"b":null}]}"#, .object(["a": .array([.integer(1), .object(["b": .null])])])),
  ])
  func values(_ text: String, _ value: JSON) throws {
    #expect(try read(text) == value)
    #expect(try read("\(value)") == value)
  }

  @Test(arguments: [0, 9, 10, 99, 100, 1_048_576, .max]) func digitsAreAppended(_ number: UInt64) {
    var text = JSONText(capacity: 1)
    text.append("x")
    text.appendDigits(number)
    text.append(UInt8(ascii: " "))
    text.appendDigits(number, width: 4)
    let digits = "\(number)"
    let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
    #expect(text.string == "x\(digits) \(zeros)\(digits)")
  }

  @Test(arguments: [
    ("", 0), ("nul", 0), ("[1,]", 3), ("[1 2]", 3), ("{\"a\":1,}", 7), ("{a:1}", 1), ("01", 2),
    ("+1", 0), (".5", 0), ("1.", 2), ("1e", 2), ("1e999", 5), ("\"\u{1}\"", 1), ("\"a", 2),
    (#""\x""#, 3), (#""\u12g4""#, 5), (#""\ud800""#, 7), (#""\udc00""#, 7), ("[] []", 3),
    ("{\"a\":1,\"a\":2}", 7), ("NaN", 0), ("'a'", 0), ("[1]//", 3), ("[", 1), ("{\"a\"", 4),
  ])
  func whatIsNoJSON(_ text: String, _ position: Int) {
    let error = #expect(throws: JSONError.self) { try read(text) }
    let place = JSONPlace(line: 1, column: position + 1)
    #expect(error?.place == place, "\(error.map(String.init) ?? "")")
  }

  @Test func bytesThatAreNoText() {
    #expect(throws: JSONError(JSONPlace(line: 1, column: 1), "the text is not UTF-8")) {
      try JSON([0x22, 0xFF, 0x22])
    }
  }

  @Test func nestingIsBounded() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    _ = try read(nested(JSON.deepest))
    #expect(throws: JSONError.self) { try read(nested(JSON.deepest + 1)) }
    #expect(throws: JSONError.self) { try read(String(repeating: "{\"a\":", count: 100_000)) }
  }

  @Test func whatIsWritten() {
    let value = JSON.object([
      "b": .string("\u{0}\u{1F}\"\\/é"), "a": .array([.number(.infinity), .number(0.1), .null]),
    ])
    #expect("\(value)" == #"{"a":[null,0.1,null],"b":"\u0000\u001f\"\\/é"}"#)
  }

  /// As the encoder of Foundation writes them: pretty, sorted, without escaped slashes.
  @Test func linesOfAFile() {
    let value = JSON.object([
      "list": .array([.integer(3), .number(1), .number(-0.0), .number(1e-7), .number(1e16)]),
      "none": .array([]), "inner": .object(["a/b": .bool(true), "B": .object([:])]),
    ])
    #expect(
      JSONNode(value).lines == """
        {
          "inner" : {
            "B" : {

            },
            "a/b" : true
          },
          "list" : [
            3,
            1,
            -0,
            1e-07,
            1e+16
          ],
          "none" : [

          ]
        }

        """)
  }

  @Test func everyScalarSurvivesAndNoneControlsATerminal() throws {
    var text = ""
    for value in (0...0x2FFF).map({ UInt32($0) }) + [0xFEFF, 0x1F4E1, 0xE0001, 0x10FFFF] {
      if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
    }
    let json = "\(JSON.string(text))"
    #expect(!json.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) })
    let again = try #require(try read(json).string)
    #expect(Array(again.unicodeScalars) == Array(text.unicodeScalars))
  }
}
