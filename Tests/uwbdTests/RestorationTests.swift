// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Accessory
import AccessoryProtocol
import Channels
import Foundation
import Glibc
import JSON
import System
import Logging
import NearbyInteraction
import SystemPackage
import Testing
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport
import Varlink

@testable import UWBService
@testable import uwbd

/// An app that is killed while it ranges, and started again; each time a process of its own.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct RestorationTests {
  @Test func anAppThatWasKilledGoesOnWithItsSession() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    // The address at which apps find the accessory.
    let link = RestoredApp.folder(of: getpid())
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: folder.path(""))
    defer { unlink(link) }
    let bench = SimulatedBench(scene: Scene(seed: 9))
    let chips = try [
      bench.add(profile: .qm33, placement: Placement(at: SIMD3(0, 0, 1))),
      bench.add(profile: .qm33, placement: Placement(at: SIMD3(3, 0, 1))),
    ]
    bench.start()
    defer { bench.stop() }
    let service = try await Service(
      [(chips[0].path, try LinkEndpoint(chips[0].path))], Permissions(), version: "1",
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    await service.start(
      listeningAt: try ListeningSocket.make(at: folder.path("control"), mode: 0o600))

    let device = try await UWBDevice.open(.serial(path: FilePath(chips[1].path)), options: .patient)
    let accessory = try Accessory(device)
    let listener = try await SocketListener(ChannelEndpoint("unix:\(folder.path("accessory"))"))
    let changes = Locked<[String]>([])
    let events = accessory.events
    let noting = Task {
      for await event in events {
        switch event {
        case .started: changes.withLock { $0.append("started") }
        case .stopped(_, let reason): changes.withLock { $0.append("stopped: \(reason)") }
        case .refused(_, let error): changes.withLock { $0.append("refused: \(error)") }
        default: break
        }
      }
    }
    let serving = Task {
      // The phone has the same identity each time.
      await withDiscardingTaskGroup { group in
        for await channel in listener.channels {
          group.addTask { await accessory.serve(channel, as: "phone") }
        }
      }
    }
    let watcher = try TestClient(folder.path("control"))
    watcher.send("Monitor", more: true)

    await #expect(processExitsWith: .signal(SIGKILL)) { try await RestoredApp().begin() }
    let client = try TestClient(folder.path("control"))
    func session() throws -> [String: JSON]? {
      let chip = try client.call("List").parameters["chips"]?.array?.first?.object
      return chip?["sessions"]?.array?.first?.object
    }
    try TestClient.wait(at: folder.path("control")) {
      try session()?["state"] == .string("waiting")
    }
    #expect(chips.map(\.sessionCount) == [1, 1])
    await #expect(processExitsWith: .success) { try await RestoredApp().goOn() }
    // The app has ended its session, as the accessory does on a stop message.
    for chip in chips { await chip.waitForSessions { $0 == 0 } }
    let sequences = try watcher.measurements(6).found.compactMap {
      $0["measurement"]?.object?["sequence"]?.integer
    }
    #expect(sequences.count == 6 && zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 })

    listener.close()
    await accessory.close()
    await serving.value
    // The accessory reports an end after its chip.
    await noting.value
    #expect(changes.withLock { $0 } == ["started", "stopped: the app stopped it"])
    await device.close()
    await service.stop()
  }
}

/// The app. It stores nothing.
private final class RestoredApp: NSObject, NISessionDelegate, Sendable {
  private let folder = RestoredApp.folder(of: getppid())
  private let session = NISession()
  private let generated: AsyncStream<Data>
  private let generation: AsyncStream<Data>.Continuation
  private let distances: AsyncStream<Float>
  private let distance: AsyncStream<Float>.Continuation

  static func folder(of process: Int32) -> String { "/tmp/swift-uwb-restoration-\(process)" }

  override init() {
    (generated, generation) = AsyncStream.makeStream()
    (distances, distance) = AsyncStream.makeStream()
    setenv("XDG_RUNTIME_DIR", folder, 1)
  }

  /// Ranges until it is killed.
  func begin() async throws {
    let channel = try await connect()
    try await channel.send(AppMessage.initialize.bytes)
    var messages = channel.messages.makeAsyncIterator()
    guard
      case .accessoryConfigurationData(let bytes)? = try await messages.next().map(
        AccessoryMessage.init)
    else { exit(2) }
    _ = try await range(NINearbyAccessoryConfiguration(data: Data(bytes)), channel)
    try await measure()
    // Other programs cannot resume a session of a running program.
    guard interrupted.isEmpty else { exit(3) }
    kill(getpid(), SIGKILL)
  }

  /// Resumes ranging, and ends.
  func goOn() async throws {
    let found = interrupted
    guard found.count == 1, let data = found[0].shareableConfigurationData,
      NINearbyAccessoryConfiguration.interrupted(on: "uwbd:/other?linger=60").isEmpty
    else { exit(7) }
    let channel = try await connect()
    guard try await range(found[0], channel) == data else { exit(8) }
    try await measure()
    try await channel.send(AppMessage.stop.bytes)
    await session.close()
    guard interrupted.isEmpty else { exit(9) }
  }

  private var device: String { "uwbd:\(folder)/control?linger=60" }
  private var interrupted: [NINearbyAccessoryConfiguration] {
    NINearbyAccessoryConfiguration.interrupted(on: device)
  }

  private func connect() async throws -> SocketChannel {
    try await SocketChannel.connect(to: ChannelEndpoint("unix:\(folder)/accessory"))
  }

  /// Returns the messages that the accessory has received.
  private func range(
    _ configuration: NINearbyAccessoryConfiguration, _ channel: SocketChannel
  ) async throws -> Data {
    session.delegate = self
    session.delegateQueue = DispatchQueue(label: "app")
    session.device = device
    session.run(configuration)
    for await data in generated {
      try await channel.send(AppMessage.configureAndStart([UInt8](data)).bytes)
      return data
    }
    exit(4)
  }

  private func measure() async throws {
    var count = 0
    for await metres in distances {
      guard abs(metres - 3) < 0.5 else { exit(5) }
      count += 1
      if count == 3 { return }
    }
    exit(6)
  }

  // MARK: NISessionDelegate

  func session(
    _ session: NISession, didGenerateShareableConfigurationData data: Data,
    for object: NINearbyObject
  ) { generation.yield(data) }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    for object in nearbyObjects { if let metres = object.distance { distance.yield(metres) } }
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    generation.finish()
    distance.finish()
  }
}
