// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import Testing
import UWBTestSupport
import Varlink

@Suite(.timeLimit(.minutes(1))) struct ListeningSocketTests {
  private func failure(_ path: String, option: String? = nil) throws -> SocketFailure {
    try #require(throws: SocketFailure.self) {
      try ListeningSocket.make(at: path, mode: 0o600, option: option)
    }
  }

  @Test func aPathHasOneService() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = folder.path("socket")
    let socket = try ListeningSocket.make(at: path, mode: 0o640)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    #expect(try failure(path).cause == "Another program listens at \(path).")
    // A child process that another test starts may keep the socket open until its program begins,
    // which `shutdown` does not wait for.
    shutdown(socket, Int32(SHUT_RDWR))
    close(socket)
    // The socket of a program that has ended is replaced.
    close(try ListeningSocket.make(at: path, mode: 0o600))
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func errorsNameTheNextStep() throws {
    let file = try failure("/proc/self/exe", option: "--socket")
    #expect(file.cause == "The file at /proc/self/exe is not a socket.")
    #expect(file.suggestion == "Name another path with --socket.")
    let missing = try failure("/proc/none/socket")
    #expect(missing.suggestion == "Create the folder, or name a socket in another folder.")
    let long = try failure("/tmp/" + String(repeating: "x", count: 200))
    #expect(long.cause.hasPrefix("Cannot listen at /tmp/xxx"))
  }
}
