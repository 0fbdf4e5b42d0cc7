// SPDX-License-Identifier: Apache-2.0

import Channels
import Dispatch
import Glibc
import System
import SystemPackage
import Testing

/// Listeners at sockets, and their behaviour without descriptors.
@Suite(.timeLimit(.minutes(10))) struct ListenerTests {
  /// A Unix socket that is bound and does not listen.
  private func boundSocket(_ path: String) throws -> Int32 {
    let number = socket(AF_UNIX, streamCloseOnExec, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    try #require(isBound)
    return number
  }

  @Test func unixSocketsBelongToOneUserAndOneProgram() async throws {
    let path = temporary("owner")
    let listener = try await SocketListener(.unix(path: path))
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    await #expect(throws: ChannelError(.system(.addressInUse, endpoint: "unix:\(path)"))) {
      try await SocketListener(.unix(path: path))
    }
    listener.close()
    #expect(lstat(path, &status) != 0)
    // An abandoned socket is replaced; another file is not.
    close(try boundSocket(path))
    try await SocketListener(.unix(path: path)).close()
    close(open(path, O_CREAT | O_WRONLY, 0o600))
    defer { unlink(path) }
    await #expect(throws: ChannelError(.system(.fileExists, endpoint: "unix:\(path)"))) {
      try await SocketListener(.unix(path: path))
    }
  }

  /// A program that waits for the file, and then connects, is never refused.
  @Test func aUnixSocketAcceptsConnectionsWhenItAppears() async throws {
    let path = temporary("appears")
    let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    for _ in 0..<20 {
      let watch = inotify_init1(Int32(IN_CLOEXEC))
      defer { close(watch) }
      try #require(inotify_add_watch(watch, folder, UInt32(IN_CREATE | IN_MOVED_TO)) >= 0)
      async let connected = withCheckedContinuation { result in
        DispatchQueue.global().async {
          result.resume(returning: Self.connectOnceThere(path, watch))
        }
      }
      let listener = try await SocketListener(.unix(path: path))
      #expect(await connected == 0)
      listener.close()
    }
  }

  /// Connects once the file appears. Returns the number of the error, or 0.
  private static func connectOnceThere(_ path: String, _ watch: Int32) -> Int32 {
    var names = [UInt8](repeating: 0, count: 4_096)
    while access(path, F_OK) != 0, read(watch, &names, names.count) > 0 {}
    let number = socket(AF_UNIX, streamCloseOnExec, 0)
    defer { close(number) }
    return withUnixAddress(path) { connect(number, $0, $1) == 0 ? 0 : errno } ?? ENAMETOOLONG
  }

  /// The address may be written in any form.
  @Test(arguments: [
    ("tcp:0.0.0.0:0", true), ("tcp:0:0", true), ("tcp:[::]:0", true),
    ("tcp:[::ffff:0.0.0.0]:0", true), ("tcp:0", false), ("tcp:127.0.0.1:0", false),
    ("tcp:localhost:0", false),
  ])
  func listenersKnowWhetherTheyAreOpenToAll(_ address: String, _ isOpen: Bool) async throws {
    let endpoint = try ChannelEndpoint(address)
    guard let listener = try? await SocketListener(endpoint) else {
      // A machine without IPv6.
      #expect(address.contains("["))
      return
    }
    #expect(listener.isOnAllInterfaces == isOpen)
    listener.close()
  }

  /// A program that is busy, or stopped, still owns its socket.
  @Test func socketsOfBusyProgramsAreNotReplaced() async throws {
    let path = temporary("busy")
    unlink(path)
    let listening = try boundSocket(path)
    try #require(listen(listening, 0) == 0)
    // One connection can wait; the next one does not fit.
    let waiting = try await SocketChannel.connect(to: .unix(path: path))
    await #expect(throws: ChannelError(.system(.addressInUse, endpoint: "unix:\(path)"))) {
      try await SocketListener(.unix(path: path))
    }
    #expect(access(path, F_OK) == 0)
    waiting.close()
    close(listening)
    unlink(path)
  }

  /// Connections that end from either side while others begin.
  @Test func manyConnectionsComeAndGo() async throws {
    let listener = try await SocketListener(.unix(path: temporary("many")))
    let taking = Task {
      for await channel in listener.channels {
        Task {
          for await message in channel.messages { try? await channel.send(message) }
          channel.close()
        }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for turn in 0..<250 {
            let channel = try await SocketChannel.connect(to: listener.endpoint)
            try await channel.send([1])
            if turn.isMultiple(of: 2) {
              var messages = channel.messages.makeAsyncIterator()
              #expect(await messages.next() == [1])
            }
            channel.close()
          }
        }
      }
      try await group.waitForAll()
    }
    listener.close()
    await taking.value
  }

  /// In a process of its own, because it limits the descriptors.
  @Test func aListenerPausesWithoutDescriptors() async {
    await #expect(processExitsWith: .success) {
      // Each pause reports itself and lasts until the test ends it.
      let (paused, goOn) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
      let listener = try await SocketListener(.tcp(host: "127.0.0.1", port: 0)) {
        paused.continuation.yield()
        goOn.wait()
      }
      let channel = try await SocketChannel.connect(to: listener.endpoint)
      var taken = listener.channels.makeAsyncIterator()
      let first = await taken.next()
      // The next connection uses the last descriptor.
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
      // The listener makes one attempt for each pause.
      var pauses = paused.stream.makeAsyncIterator()
      for _ in 0..<3 {
        #expect(await pauses.next() != nil)
        goOn.signal()
      }
      #expect(await pauses.next() != nil)
      // The waiting connection is accepted as soon as a descriptor is free.
      channel.close()
      first?.close()
      close(last)
      goOn.signal()
      let second = Task { await taken.next() != nil }
      // Descriptors are freed on the channels' own queues, so a few more pauses may follow.
      let pausing = Task { for await _ in paused.stream { goOn.signal() } }
      #expect(await second.value)
      pausing.cancel()
      listener.close()
    }
  }
}
