// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import JSON
import System
import SystemPackage
import Testing
import UWBTestSupport
import Varlink

@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ServerTests {
  private static let echo = VarlinkCall("org.example.test.Echo", ["text": .string("ä")])

  @Test func aClientReceivesTheReplyAndTheErrors() async throws {
    try await ServerBench.lend { bench in
      let (descriptor, reply) = try VarlinkClient.call(Self.echo, at: bench.path)
      #expect(reply == VarlinkReply(["text": .string("ä")]))
      try descriptor.close()
      for (method, error) in [
        ("org.example.test.Fly", "MethodNotFound"), ("org.example.test.Echo", "InvalidParameter"),
        ("org.example.Echo", "InterfaceNotFound"),
        ("org.example.test.Mirror", "MethodNotImplemented"),
      ] {
        let (descriptor, reply) = try VarlinkClient.call(VarlinkCall(method), at: bench.path)
        #expect(reply.error == "org.varlink.service.\(error)")
        try descriptor.close()
      }
      await bench.waitForEnds(5)
    }
  }

  @Test func failuresOfClientsHaveTheirCauses() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    func failure(_ path: String) -> VarlinkClient.Failure? {
      #expect(throws: VarlinkClient.Failure.self) {
        try VarlinkClient.call(Self.echo, at: path, patience: 1)
      }
    }
    #expect(failure(folder.path("none")) == .unreachable(.noSuchFileOrDirectory))
    #expect(
      failure(folder.path(String(repeating: "x", count: 200))) == .unreachable(.fileNameTooLong))
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let path = folder.path("socket")
    #expect(withUnixAddress(path) { bind(socket, $0, $1) } == 0)
    #expect(failure(path) == .unreachable(.connectionRefused))
    #expect(listen(socket, 1) == 0)
    // A program that accepts nothing.
    #expect(failure(path) == .silent(.wouldBlock))
    close(socket)
  }

  /// The bench's socket has room for eight connections. A connection that is accepted only after
  /// the job of the service would time out.
  @Test func connectionsAreAcceptedWhileTheServiceIsBusy() async throws {
    try await ServerBench.lend { bench in
      try await bench.connectInAJob(64)
      await bench.waitForEnds(64)
    }
  }

  /// The number of new descriptors is far below the number of servers, although other tests open
  /// some.
  @Test func aServerThatIsNotStartedKeepsNoDescriptor() throws {
    var last: Int32 = 0
    for _ in 0..<2_000 {
      _ = try VarlinkServer(try VarlinkService(product: "bench", version: "1", interfaces: []))
    }
    last = dup(STDOUT_FILENO)
    close(last)
    #expect(last >= 0 && last < 1_500)
  }

  @Test func aReplyThatTricklesIsLate() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = folder.path("socket")
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    #expect(withUnixAddress(path) { bind(socket, $0, $1) } == 0 && listen(socket, 1) == 0)
    DispatchQueue.global().async {
      let client = accept(socket, nil, nil)
      var byte: UInt8 = 0x20
      var waiting: Int32 = 0
      // One byte a millisecond, until the client gives up.
      while send(client, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 {
        while ioctl(client, UInt(TIOCOUTQ), &waiting) == 0, waiting > 0 { usleep(1_000) }
      }
      close(client)
    }
    #expect(throws: VarlinkClient.Failure.silent(.wouldBlock)) {
      try VarlinkClient.call(Self.echo, at: path, patience: 1)
    }
  }

  @Test func callsMayComeInPiecesAndTogether() async throws {
    try await ServerBench.lend { bench in
      let client = try bench.client()
      for byte in Self.echo.bytes { client.send([byte]) }
      #expect(try client.receive()?.error == nil)
      client.send((0..<50).flatMap { _ in Self.echo.bytes })
      for _ in 0..<50 { #expect(try client.receive()?.parameters["text"] == .string("ä")) }
      // Replies come for all calls, although the client sends no more.
      client.send(Self.echo.bytes + Self.echo.bytes)
      client.endSending()
      for _ in 0..<2 { #expect(try client.receive()?.error == nil) }
      #expect(try client.receive() == nil)
    }
  }

  @Test func bytesThatAreNoCallEndOnlyTheirConnection() async throws {
    try await ServerBench.lend { bench in
      let other = try bench.client()
      for input in [[0], Array("[]\0".utf8), [UInt8](repeating: 0x20, count: 70_000)] {
        let client = try bench.client()
        client.send(input)
        #expect(try client.receive()?.error == "org.example.test.InvalidMessage")
        #expect(try client.receive() == nil)
      }
      other.send(Self.echo.bytes)
      #expect(try other.receive()?.error == nil)
    }
  }

  @Test func callsWaitForTheOnesBefore() async throws {
    try await ServerBench.lend { bench in
      let client = try bench.client()
      client.send("Wait")
      client.send(Self.echo.bytes)
      await bench.waitForCall()
      await bench.answerWaiting()
      #expect(try client.receive() == VarlinkReply())
      #expect(try client.receive()?.parameters["text"] == .string("ä"))
    }
  }

  @Test func aStreamSendsOneReplyOrAll() async throws {
    try await ServerBench.lend { bench in
      let client = try bench.client()
      client.send("Count", ["to": .integer(3)])
      client.send("Count", ["to": .integer(3)], more: true)
      var replies = try (0..<4).map { _ in try client.receive() }
      #expect(replies.map { $0?.parameters["number"]?.integer } == [1, 1, 2, 3])
      #expect(replies.map { $0?.continues } == [false, true, true, false])
      // More than the socket holds: the server waits until the client reads.
      client.send("Count", ["to": .integer(20_000)], more: true)
      client.send(Self.echo.bytes)
      replies = try (0..<20_001).map { _ in try client.receive() }
      #expect(replies[19_999]?.parameters["number"] == .integer(20_000))
      #expect(replies[20_000]?.parameters["text"] == .string("ä"))
    }
  }

  @Test func aConnectionLeavesVarlink() async throws {
    try await ServerBench.lend { bench in
      let client = try bench.client()
      client.send("Mirror", upgrade: true)
      var bytes: [UInt8] = []
      let beginning = VarlinkReply().bytes + Array("begin".utf8)
      while bytes.count < beginning.count { bytes += client.read() }
      #expect(bytes == beginning)
      client.send([1, 0, 2])
      #expect(client.read() == [1, 0, 2])
      client.endSending()
      #expect(client.read() == [])
      #expect(await bench.mirrors[0].hasEnded)
      // Bytes before the reply could belong to either protocol.
      let hasty = try bench.client()
      let call = VarlinkCall("org.example.test.Mirror", upgrade: true).bytes
      hasty.send(call + [1])
      #expect(hasty.read() == [])
    }
  }

  @Test func aServerThatStopsAnswersTheCallsItHas() async throws {
    try await ServerBench.lend { bench in
      let (idle, busy) = (try bench.client(), try bench.client())
      idle.send(Self.echo.bytes)
      #expect(try idle.receive()?.error == nil)
      busy.send("Wait")
      await bench.waitForCall()
      await bench.finish()
      #expect(try idle.receive() == nil)
      await bench.answerWaiting()
      #expect(try busy.receive() == VarlinkReply())
      #expect(try busy.receive() == nil)
      #expect(await bench.closed == 2)
    }
  }
}
