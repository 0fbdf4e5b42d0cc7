// SPDX-License-Identifier: Apache-2.0

import Channels
import CommandSupport
import Foundation
import Glibc
import SystemPackage
import Testing
import UWBTestSupport
import UCI
import UWB
import UWBSimulator
import UWBTools

/// Requests of `multicast` to a `range`, over real sockets.
@Suite(.ownThreads) struct MulticastTests {
  /// A folder of its own for each test.
  private static func folder() -> String { "/tmp/uwbctl-test-\(UUID().uuidString.prefix(13))" }

  /// Ranges with simulated peers during the test.
  private static func ranging(
    peers count: Int, folder: String, _ body: (RangeControl) async throws -> Void
  ) async throws {
    let peers = try SimulatedPeers(profile: .qm33, peers: count, seed: 1)
    let device = try await UWBDevice.open(SimulatedPeers.endpoint(peers.own))
    let session = try await device.makeSession(
      SessionConfiguration(
        role: .controller, sessionID: 77, address: MACAddress(0),
        peers: (1...count).map { MACAddress(UInt16($0)) }))
    try await session.start()
    let control = try RangeControl(session, device: "here", folder: folder)
    try await body(control)
    control.stop()
    await device.close()
    rmdir(folder)
  }

  /// Runs blocking calls on a thread of its own: the answer comes from a task, whose thread the
  /// call would otherwise block.
  private static func apart<R: Sendable>(
    _ body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result(catching: body)) }.start()
    }
  }

  private static func running(_ folder: String) async throws -> RunningRanges {
    try await apart { RunningRanges(folder: folder) }
  }

  private static func ask(
    _ action: ControlRequest.Action, _ addresses: [UInt16], _ path: String
  ) async throws -> ControlReply {
    try await apart { try RunningRanges.ask(.init(action: action, addresses: addresses), at: path) }
  }

  @Test func controleesAreAddedAndRemoved() async throws {
    let folder = Self.folder()
    try await Self.ranging(peers: 2, folder: folder) { control in
      let ranges = try await Self.running(folder)
      let found = ranges.matching(device: "here", session: 77, pid: getpid())
      let path = try #require(found.first).path
      #expect(found.count == 1 && path == control.path)
      #expect(found[0].about.controlees == [1, 2])

      var reply = try await Self.ask(.add, [3, 2], path)
      #expect(reply.controlees == [1, 2, 3])
      #expect(reply.outcomes.map(\.code) == [0, 8])
      reply = try await Self.ask(.remove, [1, 9], path)
      #expect(reply.controlees == [2, 3])
      #expect(reply.outcomes.map(\.code) == [0, 7])
      #expect(reply.error == nil)

      #expect(ranges.matching(device: "there", session: nil, pid: nil).isEmpty)
      #expect(ranges.matching(device: nil, session: 1, pid: nil).isEmpty)
    }
    #expect(RunningRanges(folder: folder).entries.isEmpty)
  }

  @Test func aSessionOfTwoStaysOneToOne() async throws {
    let folder = Self.folder()
    try await Self.ranging(peers: 1, folder: folder) { control in
      let reply = try await Self.ask(.add, [2], control.path)
      #expect(reply.error?.contains("REJECTED") == true)
      #expect(reply.suggestion?.contains("--one-to-many") == true)
      #expect(reply.controlees == [1])
    }
  }

  @Test func invalidRequestsAreIgnored() async throws {
    let folder = Self.folder()
    try await Self.ranging(peers: 2, folder: folder) { control in
      let path = control.path
      let answer = try await Self.apart {
        let stranger = try ControlSocket.connect(to: path)
        defer { try? stranger.close() }
        try stranger.writeAll("{\"action\":\"explode\"}\n".utf8)
        var byte: [UInt8] = [0]
        return try byte.withUnsafeMutableBytes { try stranger.read(into: $0) }
      }
      #expect(answer == 0)
      #expect(try await Self.running(folder).entries.count == 1)
    }
  }

  @Test func onlyItsOwnerCanEnterTheFolder() async throws {
    let folder = Self.folder()
    try await Self.ranging(peers: 2, folder: folder) { control in
      var status = stat()
      #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
      #expect(stat(control.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
    let open = Self.folder()
    mkdir(open, 0o700)
    chmod(open, 0o777)
    #expect(throws: Errno.permissionDenied) { try ControlSocket.makeFolder(open) }
    rmdir(open)
    symlink("/tmp", open)
    #expect(throws: Errno.permissionDenied) { try ControlSocket.makeFolder(open) }
    unlink(open)
  }

  @Test func socketsOfKilledProgramsAreRemoved() throws {
    let folder = Self.folder()
    try ControlSocket.makeFolder(folder)
    let path = folder + "/range-1-1.sock"
    try ControlSocket.listen(at: path).close()
    #expect(ControlSocket.paths(in: folder) == [path])
    #expect(RunningRanges(folder: folder).entries.isEmpty)
    #expect(ControlSocket.paths(in: folder).isEmpty)
    rmdir(folder)
  }

  @Test func tooLongPathsAreErrors() {
    let path = "/tmp/" + String(repeating: "x", count: 200)
    #expect(throws: ChannelError(.system(.fileNameTooLong, endpoint: "unix:" + path))) {
      try ControlSocket.listen(at: path)
    }
  }

  @Test func addressesAreShort() {
    #expect(ShortAddress(argument: "0x0003")?.value == 3)
    #expect(ShortAddress(argument: "0011223344556677") == nil)
    #expect(ShortAddress(argument: "peer") == nil)
  }
}
