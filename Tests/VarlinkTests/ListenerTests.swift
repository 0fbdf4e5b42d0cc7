// SPDX-License-Identifier: Apache-2.0
import JSON
import System
import Testing
import UWBTestSupport

@testable import Varlink

@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ListenerTests {
  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  /// The name of the error that `body` throws.
  private func error(_ body: () async throws -> Void) async -> String? {
    do { try await body() } catch { return (error as? VarlinkError)?.name }
    return nil
  }

  @Test func aProgramCallsAService() async throws {
    try await ListenerBench.lend { bench in
      let client = try await VarlinkClient.connect(to: bench.path)
      let reply = try await client.call("org.example.test.Echo", Array(#"{"text":"ä"}"#.utf8))
      #expect(Self.text(reply) == #"{"text":"ä"}"#)
      let info = try await client.call("org.varlink.service.GetInfo")
      #expect(Self.text(info).contains(#""product":"bench""#))
      for (method, name) in [
        ("org.example.test.Fly", "org.varlink.service.MethodNotFound"),
        ("org.example.test.Echo", "org.varlink.service.InvalidParameter"),
        ("org.example.test.Fail", "org.example.test.Failed"),
      ] {
        #expect(await error { _ = try await client.call(method) } == name)
      }
    }
  }

  @Test func errorsAreSentences() {
    let text = #"{"reason":"It fails.","advice":"Call another method."}"#
    let error = VarlinkError("org.example.test.Failed", Array(text.utf8))
    #expect(error.description == "It fails. Call another method.")
    #expect("\(VarlinkError("org.example.test.Failed"))".contains("org.example.test.Failed"))
  }

  @Test func aStreamWaitsForItsReader() async throws {
    try await ListenerBench.lend { bench in
      let client = try await VarlinkClient.connect(to: bench.path)
      var (number, most) = (0, 0)
      let parameters = Array(#"{"to":2000}"#.utf8)
      for try await reply in client.replies(to: "org.example.test.Count", parameters) {
        number += 1
        #expect(Self.text(reply).hasPrefix(#"{"number":\#(number),"#))
        most = max(most, bench.sent.withLock { $0 } - number)
      }
      #expect(number == 2_000)
      // As many as the buffers of both ends hold.
      #expect(most < 1_000)
      // The connection accepts the next call.
      #expect(await error { _ = try await client.call("org.example.test.Fail") } != nil)
    }
  }

  @Test func aCallWithoutMoreGetsTheFirstReply() async throws {
    try await ListenerBench.lend { bench in
      let client = try await VarlinkClient.connect(to: bench.path)
      let reply = try await client.call("org.example.test.Count", Array(#"{"to":9}"#.utf8))
      #expect(Self.text(reply).hasPrefix(#"{"number":1,"#))
      await bench.ended.wait()
      let echo = try await client.call("org.example.test.Echo", Array(#"{"text":"b"}"#.utf8))
      #expect(Self.text(echo) == #"{"text":"b"}"#)
    }
  }

  @Test func theEndOfAProgramCancelsItsCall() async throws {
    try await ListenerBench.lend { bench in
      let client = try await VarlinkClient.connect(to: bench.path)
      let call = Task { try await client.call("org.example.test.Wait") }
      await bench.began.wait()
      #expect(
        await error { _ = try await client.call("org.example.test.Fail") } == "Connection.Busy")
      call.cancel()
      #expect(await error { _ = try await call.value } == "Connection.Ended")
      await bench.ended.wait()
      #expect(await error { _ = try await client.call("org.example.test.Wait") } != nil)
    }
  }

  @Test func aStreamThatIsNotReadToItsEndClosesTheConnection() async throws {
    try await ListenerBench.lend { bench in
      let client = try await VarlinkClient.connect(to: bench.path)
      let parameters = Array(#"{"to":100000}"#.utf8)
      for try await _ in client.replies(to: "org.example.test.Count", parameters) { break }
      await bench.ended.wait()
      #expect(
        await error { _ = try await client.call("org.example.test.Fail") } == "Connection.Ended")
    }
  }

  @Test func aSlowReaderDelaysNoOther() async throws {
    try await ListenerBench.lend { bench in
      let slow = try RawClient(bench.path)
      slow.send("Count", ["to": .integer(1_000_000)], more: true)
      _ = try slow.receive()
      let client = try await VarlinkClient.connect(to: bench.path)
      var number = 0
      let parameters = Array(#"{"to":1000}"#.utf8)
      for try await _ in client.replies(to: "org.example.test.Count", parameters) { number += 1 }
      #expect(number == 1_000)
      // The rest of the stream is still there.
      #expect(try slow.receive()?.parameters["number"] == .integer(2))
    }
  }

  @Test func otherBytesEndOnlyTheirConnection() async throws {
    try await ListenerBench.lend { bench in
      let client = try await VarlinkClient.connect(to: bench.path)
      let other = try RawClient(bench.path)
      other.send(Array("hello\0".utf8))
      #expect(try other.receive()?.error == "org.example.test.InvalidMessage")
      #expect(try other.receive() == nil)
      let echo = try await client.call("org.example.test.Echo", Array(#"{"text":"c"}"#.utf8))
      #expect(Self.text(echo) == #"{"text":"c"}"#)
    }
  }

  @Test func aOnewayCallHasNoReply() async throws {
    try await ListenerBench.lend { bench in
      let client = try RawClient(bench.path)
      let oneway = VarlinkCall("org.example.test.Echo", ["text": .string("a")], oneway: true)
      client.send(oneway.bytes)
      client.send("Echo", ["text": .string("b")])
      client.endSending()
      #expect(try client.receive()?.parameters["text"] == .string("b"))
      #expect(try client.receive() == nil)
    }
  }

  @Test func anEndedServiceIsAnError() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = folder.path("socket")
    #expect(
      await error { _ = try await VarlinkClient.connect(to: path) } == "Connection.Unreachable")
    var client: VarlinkClient?
    try await ListenerBench.lend { bench in
      let connected = try await VarlinkClient.connect(to: bench.path)
      let other = await error {
        _ = try VarlinkListener(
          product: "other", version: "1", interface: "interface a.b", at: bench.path
        ) { _ throws(VarlinkError) in [] }
      }
      #expect(other == "Connection.Unreachable")
      client = connected
    }
    #expect(
      await error { _ = try await client?.call("org.example.test.Wait") } == "Connection.Ended")
    let invalid = await error {
      _ = try VarlinkListener(product: "x", version: "1", interface: "?", at: path) {
        _ throws(VarlinkError) in []
      }
    }
    #expect(invalid == "Interface.Invalid")
  }

  @Test(arguments: [
    #"{}"#, #"{"parameters":{}}"#, #"{"parameters":null,"continues":false}"#,
    #"{"parameters":{"a":[1,{"b":"}\"]"}],"c":"\\"},"continues":true}"#,
    #" { "error" : "a.B" , "parameters" : { "x" : 1 } } "#,
    #"{"other":[[]],"parameters":{"ä":""}}"#,
  ])
  func partsAreTheOnesOfTheParsedReply(_ text: String) throws {
    let (parts, reply) = (try ReplyParts(Array(text.utf8)), try VarlinkReply(Array(text.utf8)))
    let again = try VarlinkReply(
      Array(#"{"parameters":"#.utf8) + parts.parameters + [UInt8(ascii: "}")])
    #expect(again.parameters == reply.parameters)
    #expect(parts.continues == reply.continues && parts.error == reply.error)
    for length in 0..<text.utf8.count {
      let part = Array(text.utf8.prefix(length))
      let isWhole = (try? VarlinkReply(part)) != nil
      #expect(!isWhole || (try? ReplyParts(part)) != nil)
    }
  }

  @Test func changedMessagesHaveTheirPartsOrAnError() {
    let text = #"{"error":"a.B","parameters":{"a":[1,{"b":"}\"]"}]},"continues":true}"#
    var (parts, errors) = (0, 0)
    for index in 0..<text.utf8.count {
      for character in #"{}[]":,\a1 "#.utf8 {
        var bytes = Array(text.utf8)
        bytes[index] = character
        guard let split = try? ReplyParts(bytes) else {
          errors += 1
          continue
        }
        parts += 1
        #expect(split.parameters.first == UInt8(ascii: "{"))
        #expect(split.parameters.last == UInt8(ascii: "}"))
      }
    }
    #expect(errors > 100 && parts > 100)
  }

  @Test(arguments: ["", "[]", "x", #"{"parameters":1}"#, #"{"error":1}"#, #"{"a""b"}"#, "{"])
  func otherMessagesAreErrors(_ text: String) {
    #expect(throws: VarlinkMessageError.self) { try ReplyParts(Array(text.utf8)) }
  }
}
