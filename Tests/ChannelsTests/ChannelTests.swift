// SPDX-License-Identifier: Apache-2.0

import Channels
import Glibc
import System
import SystemPackage
import Testing

/// A type of socket that child processes do not inherit.
let streamCloseOnExec = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

/// A name for a Unix socket of this process.
func temporary(_ name: String) -> String { "/tmp/uwb-test-\(getpid())-\(name).sock" }

/// Two connected sockets.
func socketPair() throws -> (SocketChannel, FileDescriptor) {
  var ends: [Int32] = [0, 0]
  try #require(socketpair(AF_UNIX, streamCloseOnExec, 0, &ends) == 0)
  return (
    SocketChannel(FileDescriptor(rawValue: ends[0])), FileDescriptor(rawValue: ends[1])
  )
}

@Suite struct FramingTests {
  @Test func streamsCanBeCutAnywhere() throws {
    let messages = [[1], [2, 3], Array(repeating: 7, count: 300), [0xFF]] as [[UInt8]]
    let stream = try messages.flatMap { try MessageFraming.frame($0) }
    #expect(stream.prefix(5) == [1, 0, 1, 2, 0])
    for size in 1...stream.count {
      var framing = MessageFraming()
      var found: [[UInt8]] = []
      for start in Swift.stride(from: 0, to: stream.count, by: size) {
        found += try framing.parse(stream[start..<min(start + size, stream.count)])
      }
      #expect(found == messages)
      #expect(!framing.isInMessage)
    }
  }

  @Test func invalidLengthsAreErrors() throws {
    for head in [[0, 0], [1, 4]] as [[UInt8]] {
      var framing = MessageFraming()
      #expect(throws: ChannelError.self) { try framing.parse(head) }
    }
    #expect(throws: ChannelError(.messageSize(bytes: 0, limit: 1_024))) {
      try MessageFraming.frame([])
    }
    #expect(throws: ChannelError(.messageSize(bytes: 1_025, limit: 1_024))) {
      try MessageFraming.frame([UInt8](repeating: 0, count: 1_025))
    }
    #expect(try MessageFraming.frame([UInt8](repeating: 0, count: 1_024)).prefix(2) == [0, 4])
  }
}

@Suite(.timeLimit(.minutes(10))) struct SocketChannelTests {
  private func talk(over endpoint: ChannelEndpoint) async throws {
    let listener = try await SocketListener(endpoint)
    let near = try await SocketChannel.connect(to: listener.endpoint)
    var arrivals = listener.channels.makeAsyncIterator()
    let far = try #require(await arrivals.next())
    var atFar = far.messages.makeAsyncIterator()
    var atNear = near.messages.makeAsyncIterator()
    for length in [1, 49, 1_024] {
      let message = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
      try await near.send(message)
      #expect(await atFar.next() == message)
      try await far.send(message)
      #expect(await atNear.next() == message)
    }
    near.close()
    #expect(await atFar.next() == nil)
    #expect(far.failure == nil)
    let error = await result { () async throws(ChannelError) in try await near.send([1]) }
    #expect(error == .closed)
    listener.close()
    #expect(await arrivals.next() == nil)
  }

  @Test func tcp() async throws { try await talk(over: .tcp(host: "127.0.0.1", port: 0)) }

  @Test func unix() async throws { try await talk(over: .unix(path: temporary("talk"))) }

  @Test func connectingWithoutAListenerFails() async {
    let error = await result { () async throws(ChannelError) in
      _ = try await SocketChannel.connect(to: .unix(path: "/tmp/uwb-test-nobody.sock"))
    }
    #expect(
      error?.reason == .system(.noSuchFileOrDirectory, endpoint: "unix:/tmp/uwb-test-nobody.sock"))
  }

  @Test func invalidFramesEndTheChannel() async throws {
    let (channel, far) = try socketPair()
    _ = try far.writeAll([0, 0, 1])
    for await message in channel.messages { Issue.record("\(message) was a message") }
    guard case .invalidFraming = channel.failure?.reason else {
      Issue.record("\(String(describing: channel.failure))")
      return
    }
    try far.close()
  }

  @Test func anEndWithinAMessageIsAnError() async throws {
    let (channel, far) = try socketPair()
    _ = try far.writeAll([5, 0, 1])
    try far.close()
    for await message in channel.messages { Issue.record("\(message) was a message") }
    #expect(channel.failure?.reason == .invalidFraming("the stream ends within a message"))
  }

  @Test func aFullInboxEndsTheChannel() async throws {
    let (channel, far) = try socketPair()
    _ = try far.writeAll((0..<65).flatMap { _ in [1, 0, 7] as [UInt8] })
    // The peer sees the end.
    var buffer: [UInt8] = [0]
    #expect(try buffer.withUnsafeMutableBytes { try far.read(into: $0) } == 0)
    #expect(channel.failure?.reason == .receiveOverflow)
    try far.close()
  }

  @Test func aPeerThatNeverReadsEndsTheChannel() async throws {
    let (channel, far) = try socketPair()
    let message = [UInt8](repeating: 1, count: 1_024)
    var error: ChannelError?
    for _ in 0..<10_000 where error == nil {
      error = await result { () async throws(ChannelError) in try await channel.send(message) }
    }
    #expect(error?.reason == .peerNotReading)
    #expect(channel.failure?.reason == .peerNotReading)
    try far.close()
  }

  /// More connections wait for their peers than there are threads for tasks; tasks run
  /// nevertheless.
  @Test func connectingBlocksNoTask() async throws {
    let path = temporary("full")
    unlink(path)
    let listening = socket(AF_UNIX, streamCloseOnExec, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listening, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    try #require(isBound && listen(listening, 0) == 0)
    defer { unlink(path) }
    // Nobody accepts: one connection can wait, all others block.
    let first = try await SocketChannel.connect(to: .unix(path: path))
    let ended = Locked(0)
    let connecting = (0..<32).map { _ in
      Task {
        // The limit is longer than this test may take.
        _ = try? await SocketChannel.connect(to: .unix(path: path), within: 120)
        ended.withLock { $0 += 1 }
      }
    }
    for _ in 0..<100 { await Task { await Task.yield() }.value }
    #expect(ended.withLock { $0 } == 0)
    // The attempts fail once the socket no longer listens.
    close(listening)
    for task in connecting { await task.value }
    first.close()
  }

  @Test func endpointsAsText() throws {
    #expect(try ChannelEndpoint("tcp:host:7000") == .tcp(host: "host", port: 7_000))
    #expect(try ChannelEndpoint("tcp:[::1]:7000") == .tcp(host: "::1", port: 7_000))
    #expect(try ChannelEndpoint("tcp:7000") == .tcp(host: "127.0.0.1", port: 7_000))
    #expect(try ChannelEndpoint("unix:/run/a b") == .unix(path: "/run/a b"))
    for text in ["", "7000", "tcp:", "tcp:host:", "tcp:host:70000", "tcp::7000", "unix:", "tcp:+1"]
    {
      #expect(throws: ChannelError.self, "\(text)") { try ChannelEndpoint(text) }
    }
    for text in ["tcp:host:7000", "tcp:[::1]:7000", "unix:/run/a"] {
      #expect(try ChannelEndpoint(text).description == text)
    }
  }
}

@Suite(.timeLimit(.minutes(10))) struct ByteStreamChannelTests {
  @Test func messagesPassThroughAPairOfStreams() async throws {
    let (toA, feedA) = AsyncStream<[UInt8]>.makeStream()
    let (toB, feedB) = AsyncStream<UInt8>.makeStream()
    let a = ByteStreamChannel(
      reading: toA, writing: { for byte in $0 { feedB.yield(byte) } }, closing: { feedB.finish() }
    )
    let b = ByteStreamChannel(
      reading: toB,
      writing: {
        feedA.yield(Array($0.prefix(1))); feedA.yield(Array($0.dropFirst()))
      },
      closing: { feedA.finish() })
    var (atA, atB) = (a.messages.makeAsyncIterator(), b.messages.makeAsyncIterator())
    try await a.send([1, 2, 3])
    #expect(await atB.next() == [1, 2, 3])
    try await b.send([4])
    #expect(await atA.next() == [4])
    a.close()
    #expect(await atB.next() == nil)
    #expect(b.failure == nil)
  }

  @Test func failedStreamsEndTheChannel() async throws {
    struct Broken: Error {}
    let chunks = AsyncThrowingStream<[UInt8], any Error> { $0.finish(throwing: Broken()) }
    let channel = ByteStreamChannel(reading: chunks, writing: { _ in throw Broken() })
    for await message in channel.messages { Issue.record("\(message) was a message") }
    #expect(channel.failure == .failed("Broken()"))
  }
}

/// Returns an error as a value: catching typed errors in tests of tasks has crashed the compiler.
func result<E: Error>(_ body: () async throws(E) -> Void) async -> E? {
  do throws(E) {
    try await body()
    return nil
  } catch {
    return error
  }
}
