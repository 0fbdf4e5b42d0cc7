// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Glibc
import SystemPackage
import Testing

/// Who may listen where, and what listening costs.
@Suite struct ListenerTests {
  /// A Unix socket that has its name, and does not listen.
  private func boundSocket(_ path: String) throws -> Int32 {
    let number = socket(AF_UNIX, streamWithoutHeirs, 0)
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
    close(try boundSocket(path))
    try SocketListener(.unix(path: path)).close()
    close(open(path, O_CREAT | O_WRONLY, 0o600))
    defer { unlink(path) }
    #expect(throws: DataChannelError.system(.fileExists, endpoint: "unix:\(path)")) {
      try SocketListener(.unix(path: path))
    }
  }

  /// A program that is busy, or stopped, has not left its socket behind.
  @Test func theSocketOfAProgramThatDoesNotGetToItIsNotTaken() async throws {
    let path = temporary("busy")
    unlink(path)
    let listening = try boundSocket(path)
    try #require(listen(listening, 0) == 0)
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
}
