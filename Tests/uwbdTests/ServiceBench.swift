// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Foundation
import Glibc
import JSON
import Logging
import System
import SystemPackage
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport
import Varlink

@testable import UWBService
@testable import uwbd

/// The service with a simulated chip, whose peer ranges.
final class ServiceBench: Sendable {
  let chip: SimulatedBench.Chip
  let path: String
  private let bench: SimulatedBench
  private let peer: UWBDevice
  private let session: UWBSession
  private let folder: TemporaryFolder

  /// The session of an end as a profile; `changes` are additional parameters or other values.
  static func profile(
    _ role: SessionConfiguration.Role = .controller, _ changes: [String: JSON] = [:]
  ) -> JSON {
    let isController = role == .controller
    var parameters: [String: JSON] = [
      "DEVICE_TYPE": .string(isController ? "controller" : "controlee"),
      "DEVICE_ROLE": .string(isController ? "initiator" : "responder"),
      "MULTI_NODE_MODE": .string("unicast"), "NUMBER_OF_CONTROLEES": .integer(1),
      "DEVICE_MAC_ADDRESS": .string(isController ? "0x0000" : "0x0001"),
      "DST_MAC_ADDRESS": .string(isController ? "0x0001" : "0x0000"),
      "CHANNEL_NUMBER": .integer(9), "RANGING_DURATION": .string("20 ms"),
      "SLOTS_PER_RR": .integer(6), "VENDOR_ID": .string("08:07"),
      "STATIC_STS_IV": .string("01:02:03:04:05:06"),
    ]
    parameters.merge(changes) { $1 }
    return .object(["session_id": .integer(42), "parameters": .object(parameters)])
  }

  static func start(_ parameters: [String: JSON] = [:]) -> [String: JSON] {
    ["profile": profile()].merging(parameters) { $1 }
  }

  private init() async throws {
    bench = SimulatedBench(scene: Scene(seed: 3))
    chip = try bench.add(profile: .qm33, at: SIMD3(0, 0, 1))
    let other = try bench.add(profile: .qm33, at: SIMD3(3, 0, 1))
    bench.start()
    peer = try await UWBDevice.open(.serial(path: FilePath(other.path)), options: .patient)
    let profile = try SessionProfile(Array("\(Self.profile(.controlee))".utf8))
    session = try await peer.makeSession(
      SessionConfiguration(sessionID: 42, profile.parameters(for: peer.dialect)))
    try await session.start()
    folder = try TemporaryFolder()
    try chip.link(at: folder.path("chip"))
    path = folder.path("control")
  }

  private func end() async {
    await peer.close()
    bench.stop()
    folder.remove()
  }

  /// Calls a test on its own threads with a bench. The service of the bench belongs to another
  /// program, or does not run yet.
  static func lend(_ body: @Sendable (ServiceBench) async throws -> Void) async throws {
    let bench = try await ServiceBench()
    let result: Result<Void, any Error>
    do { result = .success(try await body(bench)) } catch { result = .failure(error) }
    await bench.end()
    try result.get()
  }

  /// Lends a service in this process.
  ///
  /// - Parameters:
  ///   - returns: whether the service opens the chip again after the chip was plugged in again.
  ///   - clock: the clock of time limits, which none reaches by default.
  ///   - log: receives the messages of the service.
  static func lendService(
    _ permissions: Permissions = Permissions(), chipReturns returns: Bool = false,
    clock: AlarmClock = VirtualTime().clock, log: any LogHandler = SwiftLogNoOpLogHandler(),
    _ body: @Sendable (ServiceBench, Service) async throws -> Void
  ) async throws {
    try await lend { bench in
      let chip = returns ? bench.link : bench.chip.path
      let service = try await Service(
        [(chip, try LinkEndpoint(chip))], permissions, version: "1", clock: clock,
        logger: Logger(label: "test", factory: { _ in log }))
      await service.start(listeningAt: try ListeningSocket.make(at: bench.path, mode: 0o600))
      let result: Result<Void, any Error>
      do { result = .success(try await body(bench, service)) } catch { result = .failure(error) }
      await service.stop()
      try result.get()
    }
  }

  /// The program in the folder of the tests.
  static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "uwbd").path

  /// A link to the chip. It stays valid when the chip is plugged in again.
  var link: String { folder.path("chip") }

  /// Starts the program, and waits until it listens.
  /// - Parameter name: the name of the chip; nil for its path.
  func launch(
    _ options: [String] = [], _ environment: [String: String?] = [:], chip name: String? = nil,
    standardError: Int32? = nil
  ) throws -> SpawnedProcess {
    unlink(path)
    let service = try SpawnedProcess(
      Self.program, ["--socket", path, "--mode", "0600"] + options + [name ?? chip.path],
      environment: environment, standardError: standardError)
    service.wait(forFile: path)
    return service
  }

  /// Starts the peer again, because it ends with the session of its controller.
  func restartPeer() async throws {
    if session.state != .active { try await session.start() }
  }

  func client() throws -> TestClient { try TestClient(path) }

  /// Returns when a condition is true. Tests it again at each event of the service.
  func wait(until condition: () throws -> Bool) throws {
    try TestClient.wait(at: path, until: condition)
  }

  /// The sessions of the chip in the list of the service.
  func sessions() throws -> [JSON] {
    try client().call("List").parameters["chips"]?.array?[0].object?["sessions"]?.array ?? []
  }
}

extension TestClient {
  /// Returns when a condition is true. Tests it again at each event of the service at a path.
  static func wait(at path: String, until condition: () throws -> Bool) throws {
    let watcher = try TestClient(path)
    watcher.send("Watch", more: true)
    // The first reply is not an event: no event between the first test and the watch is missed.
    while try !condition() {
      guard let reply = try watcher.receive(), reply.error == nil else {
        throw Failure(what: "the watch ended")
      }
    }
  }
}

/// A pause between two requests: without it, waiting tests would use the processor that the awaited
/// programs need.
func pauseBriefly() { usleep(2_000) }
