// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

@testable import Varlink

@Suite struct MessageTests {
  private static let calls = [
    VarlinkCall("org.varlink.service.GetInfo"),
    VarlinkCall("a.b.C", ["x": .integer(1), "y": .string("\u{0}")], more: true),
    VarlinkCall("a.b.D", oneway: true, upgrade: true),
  ]

  @Test func messagesAreFoundHoweverTheyAreCut() throws {
    let stream = Self.calls.flatMap(\.bytes)
    for length in 1...stream.count {
      var framing = VarlinkFraming()
      var found: [VarlinkCall] = []
      for start in stride(from: 0, to: stream.count, by: length) {
        framing.append(stream[start..<min(start + length, stream.count)])
        while let message = try framing.next() { found.append(try VarlinkCall(message)) }
      }
      #expect(found == Self.calls)
      #expect(framing.count == 0)
    }
  }

  @Test func theLengthIsBounded() throws {
    var framing = VarlinkFraming(limit: 4)
    framing.append([1, 2, 3, 4, 0, 1, 2, 3, 4, 5])
    #expect(try framing.next() == [1, 2, 3, 4])
    #expect(throws: VarlinkMessageError.tooLong(limit: 4)) { try framing.next() }
    // The buffer already contains the end.
    framing = VarlinkFraming(limit: 4)
    framing.append([1, 2, 3, 4, 5, 0])
    #expect(throws: VarlinkMessageError.tooLong(limit: 4)) { try framing.next() }
  }

  @Test(arguments: [
    #"{"method":"a.b.C"}"#, #"{"method":"a.b.C","parameters":null,"more":null}"#,
    #"{"parameters":{},"method":"a.b.C","more":false,"org.example":{"x":1}}"#,
  ])
  func missingParametersAreNone(_ text: String) throws {
    #expect(try VarlinkCall(Array(text.utf8)) == VarlinkCall("a.b.C"))
  }

  @Test(arguments: [
    ("[]", VarlinkMessageError.notAnObject), ("{}", .invalid(member: "method")),
    (#"{"method":1}"#, .invalid(member: "method")),
    (#"{"method":"a.b.C","parameters":[]}"#, .invalid(member: "parameters")),
    (#"{"method":"a.b.C","more":1}"#, .invalid(member: "more")),
    (
      "",
      .notJSON(JSONError(JSONPlace(line: 1, column: 1), "the text ends where a value should be"))
    ),
  ])
  func whatIsNoCall(_ text: String, _ error: VarlinkMessageError) {
    #expect(throws: error) { try VarlinkCall(Array(text.utf8)) }
  }

  // The forms that the libraries of Python, Rust and Go, and systemd, write and read.
  @Test func repliesAsOthersWriteThem() throws {
    #expect(try VarlinkReply(Array("{}".utf8)) == VarlinkReply())
    #expect(
      try VarlinkReply(Array(#"{"continues":true,"parameters":{"a":1.5},"error":null}"#.utf8))
        == VarlinkReply(["a": .number(1.5)], continues: true))
    let failure = VarlinkReply(
      ["method": .string("x")], error: "org.varlink.service.MethodNotFound")
    #expect(
      String(decoding: failure.bytes, as: UTF8.self)
        == #"{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"x"}}"# + "\0")
    #expect(try VarlinkReply(Array(failure.bytes.dropLast())) == failure)
    #expect(throws: VarlinkMessageError.invalid(member: "error")) {
      try VarlinkReply(Array(#"{"error":1}"#.utf8))
    }
  }
}
