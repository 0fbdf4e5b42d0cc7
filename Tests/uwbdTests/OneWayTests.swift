// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import ChipSharing
import JSON
import Logging
import System
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport
import Varlink

@testable import UWBService

/// A service with an anchor of uplink TDoA, and a tag that blinks.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct OneWayServiceTests {
  private static func session(
    _ role: SessionConfiguration.Role, _ address: UInt16
  ) -> SessionConfiguration {
    var session = SessionConfiguration(role: role, sessionID: 7, address: MACAddress(address))
    (session.interval, session.slotsPerRound, session.slotDuration) = (20, 6, 1_200)
    return session
  }

  @Test("Messages reach clients that want them, with whole ticks; others get none")
  func monitor() async throws {
    let bench = SimulatedBench(scene: Scene(seed: 3))
    defer { bench.stop() }
    let anchor = try bench.add(profile: .fira2, at: SIMD3(0, 0, 2))
    let other = try bench.add(profile: .fira2, at: SIMD3(3, 1, 1))
    bench.start()
    let tag = try await UWBDevice.open(.serial(path: FilePath(other.path)), options: .patient)
    let blinks = try await tag.makeSession(
      Self.session(.uplinkTag(.init(interval: 10)), 0x100))
    try await blinks.start()
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let socket = folder.path("control")
    let service = try await Service(
      [(anchor.path, try LinkEndpoint(anchor.path))], Permissions(), version: "1", clock: .system,
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    await service.start(listeningAt: try ListeningSocket.make(at: socket, mode: 0o600))
    let profile = SessionProfile(Self.session(.uplinkAnchor, 1)).text(includingSecrets: true)
    let owner = try TestClient(socket)
    let started = try owner.call("Start", ["profile_text": .string(profile)])
    #expect(started.error == nil, "\(started)")
    let client = try TestClient(socket)
    let reply = try client.call("Monitor", ["one_way": .bool(true)])
    let message = try #require(reply.parameters["one_way"]?.object, "\(reply)")
    #expect(message["kind"]?.string == "uplink" && message["peer"]?.string == "0x0100")
    #expect(message["message"]?.string == "blink" && message["rx_bits"]?.integer == 40)
    #expect((message["rx_ticks"]?.integer ?? 0) > 0 && reply.parameters["measurement"] == nil)
    let interface = try VarlinkInterface(
      try #require(
        client.call(
          "org.varlink.service.GetInterfaceDescription", ["interface": .string(Chips.interface)]
        ).parameters["description"]?.string))
    let fields = try #require(interface.method("Monitor")).output
    #expect(interface.problem(with: reply.parameters, fields) == nil, "\(reply)")

    // A client without the option waits in vain: its stream ends with the session, without
    // messages.
    let plain = try TestClient(socket)
    plain.send("Monitor", ["session_id": .integer(7)], more: true)
    for _ in 0..<5 { _ = try client.call("Monitor", ["one_way": .bool(true)]) }
    _ = try owner.call("Stop", ["session_id": .integer(7)])
    let ended = try #require(try plain.receive())
    #expect(ended.errorName == "SessionEnded", "\(ended)")
    await service.stop()
    await tag.close()
  }
}
