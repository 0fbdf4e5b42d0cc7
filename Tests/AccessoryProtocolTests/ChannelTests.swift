// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Glibc
import SystemPackage
import Testing

/// A type of socket that no process that is started meanwhile keeps open.
let streamWithoutHeirs = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

/// A name for a Unix socket of this process.
func temporary(_ name: String) -> String { "/tmp/uwb-test-\(getpid())-\(name).sock" }

/// Two connected sockets.
func socketPair() throws -> (SocketChannel, FileDescriptor) {
  var ends: [Int32] = [0, 0]
  try #require(socketpair(AF_UNIX, streamWithoutHeirs, 0, &ends) == 0)
  return (
    SocketChannel(FileDescriptor(rawValue: ends[0])), FileDescriptor(rawValue: ends[1])
  )
}

@Suite struct FramingTests {
  @Test func everyCutGivesTheSameMessages() throws {
    let messages = [[1], [2, 3], Array(repeating: 7, count: 300), [0xFF]] as [[UInt8]]
    let stream = try messages.flatMap { try MessageFraming.frame($0) }
    #expect(stream.prefix(5) == [1, 0, 1, 2, 0])
    for size in 1...stream.count {
      var framing = MessageFraming()
      var found: [[UInt8]] = []
      for start in Swift.stride(from: 0, to: stream.count, by: size) {
        found += try framing.take(stream[start..<min(start + size, stream.count)])
      }
      #expect(found == messages)
      #expect(!framing.isInMessage)
    }
  }

  @Test func impossibleLengths() throws {
    for head in [[0, 0], [1, 4]] as [[UInt8]] {
      var framing = MessageFraming()
      #expect(throws: DataChannelError.self) { try framing.take(head) }
    }
    #expect(throws: DataChannelError.unfit(bytes: 0, limit: 1_024)) {
      try MessageFraming.frame([])
    }
    #expect(throws: DataChannelError.unfit(bytes: 1_025, limit: 1_024)) {
      try MessageFraming.frame([UInt8](repeating: 0, count: 1_025))
    }
    #expect(try MessageFraming.frame([UInt8](repeating: 0, count: 1_024)).prefix(2) == [0, 4])
  }
}

@Suite struct SocketChannelTests {
  private func talk(over endpoint: ChannelEndpoint) async throws {
    let listener = try SocketListener(endpoint)
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
    let error = await result { () async throws(DataChannelError) in try await near.send([1]) }
    #expect(error == .closed)
    listener.close()
    #expect(await arrivals.next() == nil)
  }

  @Test func tcp() async throws { try await talk(over: .tcp(host: "127.0.0.1", port: 0)) }

  @Test func unix() async throws { try await talk(over: .unix(path: temporary("talk"))) }

  @Test func nobodyListens() async {
    let error = await result { () async throws(DataChannelError) in
      _ = try await SocketChannel.connect(to: .unix(path: "/tmp/uwb-test-nobody.sock"))
    }
    #expect(
      error == .system(.noSuchFileOrDirectory, endpoint: "unix:/tmp/uwb-test-nobody.sock"))
  }

  @Test func whatIsNoFrameEndsTheChannel() async throws {
    let (channel, far) = try socketPair()
    _ = try far.writeAll([0, 0, 1])
    for await message in channel.messages { Issue.record("\(message) was a message") }
    guard case .notFramed = channel.failure else {
      Issue.record("\(String(describing: channel.failure))")
      return
    }
    try far.close()
  }

  @Test func anEndWithinAMessageIsNoticed() async throws {
    let (channel, far) = try socketPair()
    _ = try far.writeAll([5, 0, 1])
    try far.close()
    for await message in channel.messages { Issue.record("\(message) was a message") }
    #expect(channel.failure == .notFramed("the stream ends within a message"))
  }

  @Test func moreThanIsTakenEndsTheChannel() async throws {
    let (channel, far) = try socketPair()
    _ = try far.writeAll((0..<65).flatMap { _ in [1, 0, 7] as [UInt8] })
    // The other side sees the end, whatever this side does.
    var buffer: [UInt8] = [0]
    #expect(try buffer.withUnsafeMutableBytes { try far.read(into: $0) } == 0)
    #expect(channel.failure == .flooded)
    try far.close()
  }

  @Test func whoReadsNothingIsGivenUp() async throws {
    let (channel, far) = try socketPair()
    let message = [UInt8](repeating: 1, count: 1_024)
    var error: DataChannelError?
    for _ in 0..<10_000 where error == nil {
      error = await result { () async throws(DataChannelError) in try await channel.send(message) }
    }
    #expect(error == .notTaken)
    #expect(channel.failure == .notTaken)
    try far.close()
  }

  @Test func endpointsAsText() throws {
    #expect(try ChannelEndpoint("tcp:host:7000") == .tcp(host: "host", port: 7_000))
    #expect(try ChannelEndpoint("tcp:[::1]:7000") == .tcp(host: "::1", port: 7_000))
    #expect(try ChannelEndpoint("tcp:7000") == .tcp(host: "127.0.0.1", port: 7_000))
    #expect(try ChannelEndpoint("unix:/run/a b") == .unix(path: "/run/a b"))
    for text in ["", "7000", "tcp:", "tcp:host:", "tcp:host:70000", "tcp::7000", "unix:", "tcp:+1"]
    {
      #expect(throws: DataChannelError.self, "\(text)") { try ChannelEndpoint(text) }
    }
    for text in ["tcp:host:7000", "tcp:[::1]:7000", "unix:/run/a"] {
      #expect(try ChannelEndpoint(text).description == text)
    }
  }
}

@Suite struct ByteStreamChannelTests {
  @Test func aPairOfStreams() async throws {
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

  @Test func aStreamThatFails() async throws {
    struct Broken: Error {}
    let chunks = AsyncThrowingStream<[UInt8], any Error> { $0.finish(throwing: Broken()) }
    let channel = ByteStreamChannel(reading: chunks, writing: { _ in throw Broken() })
    for await message in channel.messages { Issue.record("\(message) was a message") }
    #expect(channel.failure == .stream("Broken()"))
  }
}

/// As a value: catching typed errors in tests of tasks has crashed the compiler.
func result<E: Error>(_ body: () async throws(E) -> Void) async -> E? {
  do throws(E) {
    try await body()
    return nil
  } catch {
    return error
  }
}
