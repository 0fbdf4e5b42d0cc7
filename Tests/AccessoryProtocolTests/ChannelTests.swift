// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Glibc
import SystemPackage
import Testing

/// A type of socket that no process that is started meanwhile keeps open.
let streamWithoutHeirs = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

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
    #expect(throws: DataChannelError.unfit(octets: 0, limit: 1_024)) {
      try MessageFraming.frame([])
    }
    #expect(throws: DataChannelError.unfit(octets: 1_025, limit: 1_024)) {
      try MessageFraming.frame([UInt8](repeating: 0, count: 1_025))
    }
    #expect(try MessageFraming.frame([UInt8](repeating: 0, count: 1_024)).prefix(2) == [0, 4])
  }
}

@Suite struct SocketChannelTests {
  private func temporary(_ name: String) -> String { "/tmp/uwb-test-\(getpid())-\(name).sock" }

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

  @Test func aUnixSocketIsItsOwnersAndOneProgramsOnly() async throws {
    let path = temporary("owner")
    let listener = try SocketListener(.unix(path: path))
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(throws: DataChannelError.system(.addressInUse, endpoint: "unix:\(path)")) {
      try SocketListener(.unix(path: path))
    }
    listener.close()
    #expect(lstat(path, &status) != 0)
    // A socket that was left behind is no obstacle; another file is.
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    #expect(bound == 0)
    close(number)
    try SocketListener(.unix(path: path)).close()
    close(open(path, O_CREAT | O_WRONLY, 0o600))
    defer { unlink(path) }
    #expect(throws: DataChannelError.system(.fileExists, endpoint: "unix:\(path)")) {
      try SocketListener(.unix(path: path))
    }
  }

  @Test func nobodyListens() async {
    let error = await result { () async throws(DataChannelError) in
      _ = try await SocketChannel.connect(to: .unix(path: "/tmp/uwb-test-nobody.sock"))
    }
    #expect(
      error == .system(.noSuchFileOrDirectory, endpoint: "unix:/tmp/uwb-test-nobody.sock"))
  }

  /// A program that is busy, or stopped, has not left its socket behind.
  @Test func theSocketOfAProgramThatDoesNotGetToItIsNotTaken() async throws {
    let path = temporary("busy")
    unlink(path)
    let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listening, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    try #require(isBound && listen(listening, 0) == 0)
    // One connection may wait; for the next one there is no room.
    let waiting = try await SocketChannel.connect(to: .unix(path: path))
    #expect(throws: DataChannelError.system(.addressInUse, endpoint: "unix:\(path)")) {
      try SocketListener(.unix(path: path))
    }
    #expect(access(path, F_OK) == 0)
    waiting.close()
    close(listening)
    unlink(path)
  }

  /// In a process of its own, because what counts is the time that all its threads compute.
  @Test func aListenerWithoutDescriptorsLeftWaits() async {
    await #expect(processExitsWith: .success) {
      let listener = try SocketListener(.tcp(host: "127.0.0.1", port: 0))
      let channel = try await SocketChannel.connect(to: listener.endpoint)
      var taken = listener.channels.makeAsyncIterator()
      let first = await taken.next()
      func computing() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
      }
      // The next connection is made with the last descriptor.
      let last = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var limit = rlimit(rlim_cur: UInt(last) + 1, rlim_max: UInt(last) + 1)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      guard case .tcp(_, let port) = listener.endpoint else { return }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(last, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      #expect(isConnected)
      let before = computing()
      // A timer of the runtime's would need a descriptor.
      usleep(500_000)
      #expect(computing() - before < 0.1)
      // There is room again: nobody was lost.
      channel.close()
      first?.close()
      #expect(await taken.next() != nil)
      close(last)
      listener.close()
    }
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
      reading: toA, writing: { for octet in $0 { feedB.yield(octet) } }, closing: { feedB.finish() }
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
