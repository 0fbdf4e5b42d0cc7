// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// Texts in the strict and in the lenient mode.
@Suite struct ModeTests {
  /// Returns the text of the value, or the error.
  private func read(_ text: String, _ mode: JSONNode.Mode) -> String {
    do throws(JSONError) { return "\(JSON(try JSONNode(Array(text.utf8), mode)))" } catch {
      return "\(error)"
    }
  }

  /// RFC 8259: both modes accept these.
  @Test(arguments: [
    ("[[]   ]", "[[]]"), ("[\"\"]", "[\"\"]"), ("[null, 1, \"1\", {}]", "[null,1,\"1\",{}]"),
    ("[1\n]", "[1]"), (" [1]", "[1]"), ("[2] ", "[2]"), ("\t[\r\n2 ]\n", "[2]"),
    ("[123e65]", "[1.23e+67]"), ("[0e+1]", "[0.0]"), ("[0E1]", "[0.0]"), ("[ 4]", "[4]"),
    ("[-0]", "[0]"), ("[-123]", "[-123]"), ("[1e-2]", "[0.01]"), ("[123.456789]", "[123.456789]"),
    (#"{"a":"b","c":"d"}"#, #"{"a":"b","c":"d"}"#), (#"{"":0}"#, #"{"":0}"#),
    (#"{"min": -1.0e+28, "max": 1.0e+28 }"#, #"{"max":1e+28,"min":-1e+28}"#),
    (#"["\u0060\u012a\u12AB"]"#, "[\"`Īካ\"]"), (#"["\ud801\udc37"]"#, "[\"𐐷\"]"),
    (#"["\"\\\/\b\f\n\r\t"]"#, #"["\"\\/\u0008\u000c\n\r\t"]"#), (#"["\\u0000"]"#, #"["\\u0000"]"#),
    (#"["\u0000"]"#, #"["\u0000"]"#), ("[\"a/*b*/c/*d//e\"]", "[\"a/*b*/c/*d//e\"]"),
    (#""""#, #""""#), ("42", "42"), ("[\"\u{7F}\"]", #"["\u007f"]"#), ("[\"€𝄞\"]", "[\"€𝄞\"]"),
  ])
  func both(_ text: String, _ value: String) {
    #expect(read(text, .strict) == value)
    #expect(read(text, .lenient) == value)
  }

  /// Both modes refuse these.
  @Test(arguments: [
    ("", "line 1, column 1: the text ends where a value should be"),
    ("\n\n", "line 3, column 1: the text ends where a value should be"),
    ("[\n1,\n2 3]", "line 3, column 3: there is '3' where a comma or ] should be"),
    ("[,1]", "line 1, column 2: there is ',' where a value should be"),
    ("[1,,2]", "line 1, column 4: there is ',' where a value should be"),
    ("[1", "line 1, column 3: the text ends where a comma or ] should be"),
    ("[1]]", "line 1, column 4: there is ']' where the end of the text should be"),
    ("{\"a\" 1}", "line 1, column 6: there is '1' where a colon should be"),
    ("{\"a\":}", "line 1, column 6: there is '}' where a value should be"),
    ("{\n \"a\":1,\n \"a\":2}", "line 3, column 2: a is here twice"),
    ("{\"a\":\"\n\"}", "line 1, column 7: this text has no end"),
    // It may be a key of a session.
    ("[C0FFEE00]", "line 1, column 2: a value in hexadecimal digits lacks its quotation marks"),
    ("[tru]", "line 1, column 2: 'tru' lacks its quotation marks"),
    ("[Infinity]", "line 1, column 2: 'Infinity' lacks its quotation marks"),
    (#"["\q"]"#, "line 1, column 5: the escape sequence is unknown"),
    (#"["\u00A"]"#, "line 1, column 8: an escape sequence needs 4 hexadecimal digits"),
    (#"["\uD800\u0041"]"#, "line 1, column 15: half of a surrogate pair is missing"),
    (#"["\"#, "line 1, column 4: this text has no end"),
    ("[\u{2028}]", "line 1, column 2: there is something else where a value should be"),
    ("[\u{0}]", "line 1, column 2: there is something else where a value should be"),
    ("*", "line 1, column 1: there is '*' where a value should be"),
  ])
  func neither(_ text: String, _ error: String) {
    #expect(read(text, .strict) == error)
    #expect(read(text, .lenient) == error)
  }

  /// Files by users, with the position at which the strict mode rejects them.
  @Test(arguments: [
    ("// a\n[1, /* b\n */ 2]", "[1,2]", 1, 1), ("[1]\n//", "[1]", 2, 1), ("[1] /**/", "[1]", 1, 5),
    ("[1,\n 2,\n]", "[1,2]", 3, 1), ("{\"a\": 1,}", #"{"a":1}"#, 1, 9),
    ("{a: 1}", #"{"a":1}"#, 1, 2), ("{$a_1.b-c: 1}", #"{"$a_1.b-c":1}"#, 1, 2),
    ("{'a': 'b\"c'}", #"{"a":"b\"c"}"#, 1, 2), ("['\\'']", #"["'"]"#, 1, 2),
    ("\u{FEFF}[1]", "[1]", 1, 1), ("[\u{B}1\u{C}]", "[1]", 1, 2),
    ("[0x2A, -0x10]", "[42.0,-16.0]", 1, 3), ("[+1, .5, 5.]", "[1,0.5,5.0]", 1, 2),
    ("[007]", "[7]", 1, 5), ("[2ms]", #"["2ms"]"#, 1, 3), ("[1e+]", #"["1e+"]"#, 1, 5),
    ("[\"\t\"]", #"["\t"]"#, 1, 3), (#"["\x41\v\0"]"#, #"["A\u000b\u0000"]"#, 1, 5),
    ("[\"a\\\nb\"]", #"["ab"]"#, 2, 1),
  ])
  func lenientOnly(_ text: String, _ value: String, _ line: Int, _ column: Int) {
    #expect(read(text, .lenient) == value)
    let error = #expect(throws: JSONError.self) { try JSONNode(Array(text.utf8), .strict) }
    #expect(error?.place == JSONPlace(line: line, column: column))
  }

  @Test(arguments: [
    ("[1] /* \n", "line 1, column 5: this comment has no end"),
    ("/", "line 1, column 1: there is '/' where a value should be"),
    ("[1]/*/", "line 1, column 4: this comment has no end"),
    ("{: 1}", "line 1, column 2: there is ':' where a name or } should be"),
    ("['a\"]", "line 1, column 6: this text has no end"),
    (#"["\x4"]"#, "line 1, column 6: an escape sequence needs 2 hexadecimal digits"),
    ("{a: 1, 'a': 2}", "line 1, column 8: a is here twice"),
  ])
  func lenientErrors(_ text: String, _ error: String) { #expect(read(text, .lenient) == error) }

  @Test func bytesOfAnotherEncodingAreAllowedInComments() throws {
    let latin = Array("// gr".utf8) + [0xFC, 0xDF] + Array("e\n".utf8)
    #expect(JSON(try JSONNode(latin + Array("[1]".utf8), .lenient)) == .array([.integer(1)]))
    let error = #expect(throws: JSONError.self) {
      try JSONNode(latin + [0x27, 0xFC, 0x27], .lenient)
    }
    #expect(error?.description == "line 2, column 1: the text is not UTF-8")
  }

  @Test func placesAndOrderAreKept() throws {
    let node = try JSONNode(Array("{\n b: 0x0B,\n a:\n  [2ms, 'x'],\n}".utf8), .lenient)
    let members = try #require(node.object)
    #expect(members.map(\.name) == ["b", "a"])
    #expect(members.map(\.value.place?.line) == [2, 3])
    #expect(members[0].value.number == 11)
    let list = try #require(members[1].value.array)
    #expect(list[0].number == nil && list[1].string == "x" && list[1].place?.line == 4)
    #expect(JSONNode(JSON.object(["a": .null])).object?.first?.value.isNull == true)
    #expect(JSONNode(.integer(1)).error("odd").description == "odd")
  }
}

/// Damaged texts, the same ones in each run.
@Suite struct DamagedTextTests {
  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  @Test(arguments: [
    #"{"a":[1,-2.5e3,"\u00e9\n"],"b":{"c":null,"d":[true,false]}}"#,
    "// x\n{a: 0x2A, 'b': [2ms, .5,], /* c */ \"d\": '\\x41\\\n',}",
  ])
  func textsAreReadAlikeOrRefusedAtAPlace(_ text: String) {
    var generator = Generator(state: 7)
    for _ in 0..<2_000 {
      var bytes = Array(text.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[index] = .random(in: 0...255, using: &generator)
        case 1: bytes.insert(bytes[.random(in: 0..<bytes.count, using: &generator)], at: index)
        default: bytes.remove(at: index)
        }
      }
      check(bytes)
    }
  }

  private func check(_ bytes: [UInt8]) {
    let values = [JSONNode.Mode.strict, .lenient].map { mode -> JSON? in
      do throws(JSONError) { return JSON(try JSONNode(bytes, mode)) } catch {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let place = error.place ?? JSONPlace(line: 0, column: 0)
        #expect(1...lines.count ~= place.line, "\(error)")
        #expect(1...lines[max(1, place.line) - 1].count + 1 ~= place.column, "\(error): \(bytes)")
        return nil
      }
    }
    #expect(values[0] == nil || values[0] == values[1])
  }
}
