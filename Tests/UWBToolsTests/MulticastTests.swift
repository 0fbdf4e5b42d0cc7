// SPDX-License-Identifier: Apache-2.0

import DriverTestSupport
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

/// Requests of `uwbctl multicast` to a running `uwbctl range`, over real sockets.
@Suite(.ownThreads) struct MulticastTests {
  /// A folder of its own for each test.
  private static func folder() -> String { "/tmp/uwbctl-test-\(UUID().uuidString.prefix(13))" }

  /// Ranges with simulated peers during the test.
  private static func ranging(
    peers count: Int, folder: String, _ body: (RangeControl) async throws -> Void
  ) async throws {
    let peers = try SimulatedPeers(profile: .qm33, peers: count, seed: 1)
    let device = try await UWBDevice.open(SimulatedPeers.endpoint(peers.own), options: .patient)
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
    _ call: RangeCall, _ addresses: [UInt16], _ path: String
  ) async throws -> RunningRange {
    let addresses = try addresses.map {
      try #require(ShortAddress(argument: MACAddress($0).description))
    }
    return try await apart { try RunningRanges.ask(call, addresses, at: path) }
  }

  /// Sends the bytes of a program that is not part of this package.
  ///
  /// - Returns: The replies without their zero bytes. The connection may end before all replies
  ///   arrive.
  private static func octets(
    _ message: String, replies: Int, _ path: String
  ) async throws -> [String] {
    try await apart {
      let stranger = try SocketAddress.withSocket(.unix(path: path), forListening: false) {
        connect($0, $1, $2) == 0 ? nil : Errno(rawValue: errno)
      }
      defer { try? stranger.close() }
      try stranger.writeAll(message.utf8)
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while bytes.count(where: { $0 == 0 }) < replies {
        let count = try buffer.withUnsafeMutableBytes { try stranger.read(into: $0) }
        guard count > 0 else { break }
        bytes += buffer[..<count]
      }
      return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  @Test func controleesAreAddedAndRemoved() async throws {
    let folder = Self.folder()
    try await Self.ranging(peers: 2, folder: folder) { control in
      let ranges = try await Self.running(folder)
      let found = ranges.matching(device: "here", session: 77, pid: getpid())
      let path = try #require(found.first).path
      #expect(found.count == 1 && path == control.path)
      #expect(found[0].about.controlees == ["0x0001", "0x0002"])

      var reply = try await Self.ask(.add, [3, 2], path)
      #expect(reply.controlees == ["0x0001", "0x0002", "0x0003"])
      #expect(reply.outcomes.map(\.code) == [0, 8])
      reply = try await Self.ask(.remove, [1, 9], path)
      #expect(reply.controlees == ["0x0002", "0x0003"])
      #expect(reply.outcomes.map(\.code) == [0, 7])

      #expect(ranges.matching(device: "there", session: nil, pid: nil).isEmpty)
      #expect(ranges.matching(device: nil, session: 1, pid: nil).isEmpty)
    }
    #expect(RunningRanges(folder: folder).entries.isEmpty)
  }

  @Test func aSessionOfTwoStaysOneToOne() async throws {
    let folder = Self.folder()
    try await Self.ranging(peers: 1, folder: folder) { control in
      let path = control.path
      let failure = await #expect(throws: Failure.self) { try await Self.ask(.add, [2], path) }
      #expect(failure?.status == .configuration)
      #expect(failure?.cause?.contains("REJECTED") == true)
      #expect(failure?.suggestion?.contains("--one-to-many") == true)
      let running = try await Self.ask(.list, [], path)
      #expect(running.controlees == ["0x0001"])
    }
  }

  @Test func invalidRequestsChangeNothing() async throws {
    let folder = Self.folder()
    try await Self.ranging(peers: 2, folder: folder) { control in
      let path = control.path
      for (message, error) in [
        ("{\"action\":\"explode\"}\n\0", "org.swift-uwb.Range.InvalidMessage"),
        (#"{"method":"org.swift-uwb.Range.Explode"}"# + "\0", "MethodNotFound"),
        (#"{"method":"org.swift-uwb.Range.Add"}"# + "\0", "InvalidParameter"),
        (
          #"{"method":"org.swift-uwb.Range.Add","parameters":{"addresses":["0x12345"]}}"# + "\0",
          "InvalidParameter"
        ),
      ] {
        let replies = try await Self.octets(message, replies: 1, path)
        #expect(replies.count == 1 && replies[0].contains(error), "\(replies)")
      }
      let found = try await Self.running(folder).entries
      #expect(found.map(\.about.controlees) == [["0x0001", "0x0002"]])
    }
  }

  @Test func otherImplementationsOfVarlinkCanCall() async throws {
    let folder = Self.folder()
    try await Self.ranging(peers: 2, folder: folder) { control in
      let messages = [
        #"{"method":"org.varlink.service.GetInfo"}"#,
        #"{"method":"org.varlink.service.GetInterfaceDescription","#
          + #""parameters":{"interface":"org.swift-uwb.Range"}}"#,
        #"{"method":"org.swift-uwb.Range.List","parameters":{}}"#,
        #"{"method":"org.swift-uwb.Range.Remove","parameters":{"addresses":["0x0001"]}}"#,
      ]
      let replies = try await Self.octets(
        messages.map { $0 + "\0" }.joined(), replies: 4, control.path)
      try #require(replies.count == 4, "\(replies)")
      #expect(replies[0].contains(#""interfaces":["org.varlink.service","org.swift-uwb.Range"]"#))
      #expect(replies[0].contains(#""product":"uwbctl range""#))
      #expect(replies[1].contains(#"interface org.swift-uwb.Range\n"#))
      let running =
        #""device":"here","outcomes":[],"pid":\#(getpid()),"role":"controller","session":77"#
      #expect(
        replies[2] == #"{"parameters":{"running":{"controlees":["0x0001","0x0002"],\#(running)}}}"#)
      #expect(replies[3].contains(#""controlees":["0x0002"]"#))
      #expect(
        replies[3].contains(#""outcomes":[{"address":"0x0001","status":"OK","status_code":0}]"#))
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

  @Test func foldersThatOthersCanEnterAreNotAsked() throws {
    let folder = Self.folder()
    try ControlSocket.makeFolder(folder)
    let path = folder + "/range-1-1.sock"
    try ControlSocket.listen(at: path).close()
    chmod(folder, 0o777)
    // Another user could answer at this socket.
    #expect(ControlSocket.paths(in: folder).isEmpty)
    let link = Self.folder()
    chmod(folder, 0o700)
    symlink(folder, link)
    #expect(ControlSocket.paths(in: link).isEmpty)
    #expect(ControlSocket.paths(in: folder) == [path])
    unlink(link)
    unlink(path)
    rmdir(folder)
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

  /// A program that looks for running ranges removes sockets that accept no connection.
  @Test func aSocketAcceptsConnectionsWhenItAppears() throws {
    let folder = Self.folder()
    try ControlSocket.makeFolder(folder)
    let paths = (0..<200).map { "\(folder)/range-1-\($0).sock" }
    let probed = DispatchSemaphore(value: 0)
    let prober = Thread {
      defer { probed.signal() }
      // Each path appears before the path after it.
      for path in paths {
        var failure: Errno?
        repeat {
          failure = nil
          let client = try? SocketAddress.withSocket(.unix(path: path), forListening: false) {
            if connect($0, $1, $2) != 0 { failure = Errno(rawValue: errno) }
            return failure
          }
          try? client?.close()
        } while failure == .noSuchFileOrDirectory
        if failure == .connectionRefused { unlink(path) }
      }
    }
    prober.start()
    let sockets = try paths.map { try ControlSocket.listen(at: $0) }
    probed.wait()
    #expect(ControlSocket.paths(in: folder).count == paths.count)
    for socket in sockets { try socket.close() }
    for path in paths { unlink(path) }
    #expect(rmdir(folder) == 0)
  }

  @Test func tooLongPathsAreErrors() {
    let path = "/tmp/" + String(repeating: "x", count: 200)
    #expect(throws: ChannelError(.system(.fileNameTooLong, endpoint: "unix:\(path).new"))) {
      try ControlSocket.listen(at: path)
    }
  }

  @Test func addressesAreShort() {
    #expect(ShortAddress(argument: "0x0003")?.value == 3)
    #expect(ShortAddress(argument: "0011223344556677") == nil)
    #expect(ShortAddress(argument: "peer") == nil)
  }
}
