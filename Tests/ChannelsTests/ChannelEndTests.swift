// SPDX-License-Identifier: Apache-2.0

import Channels
import Foundation
import Glibc
import SystemPackage
import Testing

/// The ends of channels and listeners, and leaked resources.
@Suite(.timeLimit(.minutes(10))) struct ChannelEndTests {
  private func ends(_ channel: SocketChannel) async {
    for await message in channel.messages { Issue.record("\(message) was a message") }
  }

  /// The connection of a killed program with unread data is reset, which is an ordinary end.
  @Test func resetConnectionsHaveEnded() async throws {
    let (channel, far) = try socketPair()
    try await channel.send([1, 2, 3])
    try far.close()
    await ends(channel)
    #expect(channel.failure == nil)
  }

  @Test func sendingToAClosedPeerThrows() async throws {
    let (channel, far) = try socketPair()
    // Works even if another process has inherited the descriptor.
    #expect(shutdown(far.rawValue, Int32(SHUT_RDWR)) == 0)
    var error: ChannelError?
    for _ in 0..<1_000 where error == nil {
      error = await result { () async throws(ChannelError) in try await channel.send([1]) }
    }
    #expect(error == .closed && channel.failure == nil)
    try far.close()
  }

  @Test func theFirstCauseIsKept() async throws {
    let (channel, far) = try socketPair()
    _ = try far.writeAll([0, 0, 1])
    await ends(channel)
    channel.close()
    guard case .invalidFraming = channel.failure?.reason else {
      Issue.record("\(String(describing: channel.failure))")
      return
    }
    try far.close()
  }

  @Test func closedStreamsSendNothing() async throws {
    let (chunks, feed) = AsyncStream<[UInt8]>.makeStream()
    let written = AsyncStream<[UInt8]>.makeStream()
    let channel = ByteStreamChannel(
      reading: chunks, writing: { written.continuation.yield($0) },
      closing: { written.continuation.finish() })
    try await channel.send([7])
    feed.yield([2, 0, 1])
    feed.finish()
    for await message in channel.messages { Issue.record("\(message) was a message") }
    #expect(channel.failure?.reason == .invalidFraming("the stream ends within a message"))
    let error = await result { () async throws(ChannelError) in try await channel.send([8]) }
    #expect(error == .closed)
    // The end of reading ends writing.
    var frames: [[UInt8]] = []
    for await frame in written.stream { frames.append(frame) }
    #expect(frames == [[1, 0, 7]])
  }

  // MARK: listeners

  @Test func closingAListenerTwiceKeepsTheNextSocket() async throws {
    let path = temporary("twice")
    let first = try await SocketListener(.unix(path: path))
    first.close()
    let second = try await SocketListener(.unix(path: path))
    first.close()
    var status = stat()
    #expect(lstat(path, &status) == 0)
    second.close()
    #expect(lstat(path, &status) != 0)
  }

  /// Connections closed by the server stay in TIME_WAIT for a minute. In a process of its own,
  /// because a child process of another test could keep the port.
  @Test func portsCanBeReusedAtOnce() async {
    await #expect(processExitsWith: .success) {
      let first = try await SocketListener(.tcp(host: "127.0.0.1", port: 0))
      guard case .tcp(_, let port) = first.endpoint else { return }
      #expect(port != 0)
      let near = try await SocketChannel.connect(to: first.endpoint)
      var arrivals = first.channels.makeAsyncIterator()
      let far = try #require(await arrivals.next())
      far.close()
      for await _ in near.messages {}
      near.close()
      first.close()
      #expect(await arrivals.next() == nil)
      let second = try await SocketListener(first.endpoint)
      #expect(second.endpoint == first.endpoint)
      second.close()
    }
  }

  @Test func pathsHaveAtMost107Bytes() async {
    for (count, expected) in [(107, Errno.noSuchFileOrDirectory), (108, .fileNameTooLong)] {
      let path = "/tmp/" + String(repeating: "x", count: count - 5)
      let error = await result { () async throws(ChannelError) in
        _ = try await SocketChannel.connect(to: .unix(path: path))
      }
      #expect(error?.reason == .system(expected, endpoint: "unix:\(path)"))
    }
  }

  @Test func endpointsWithNULAreInvalid() {
    for text in ["unix:/run/a\0b", "tcp:ho\0st:7000"] {
      #expect(throws: ChannelError.self) { try ChannelEndpoint(text) }
    }
  }

  @Test func connectionsThatFailLeaveNoDescriptors() async {
    await #expect(processExitsWith: .success) {
      func count() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      }
      func fail() async -> ChannelError? {
        await result { () async throws(ChannelError) in
          _ = try await SocketChannel.connect(to: .unix(path: "/tmp/uwb-test-nobody.sock"))
        }
      }
      _ = await fail()
      let before = try count()
      for _ in 0..<50 { _ = await fail() }
      // The process may open a few others meanwhile.
      #expect(try count() < before + 25)
    }
  }

  /// Child processes do not inherit sockets. In a process of its own, without the sockets of other
  /// tests.
  @Test func socketsAreNotInherited() async {
    await #expect(processExitsWith: .success) {
      func sockets() throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
          let path = "/proc/self/fd/\(name)"
          let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
          return target?.hasPrefix("socket:") == true ? Int32(name) : nil
        }
      }
      let before = Set(try sockets())
      let listener = try await SocketListener(.tcp(host: "127.0.0.1", port: 0))
      let near = try await SocketChannel.connect(to: listener.endpoint)
      var arrivals = listener.channels.makeAsyncIterator()
      let far = await arrivals.next()
      let ours = try sockets().filter { !before.contains($0) }
      #expect(ours.count == 3)
      for number in ours { #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0) }
      near.close()
      far?.close()
      listener.close()
    }
  }
}
