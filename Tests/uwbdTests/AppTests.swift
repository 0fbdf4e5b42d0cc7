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

/// An app that passes the messages of its session on to an accessory.
private final class App: NSObject, NISessionDelegate, Sendable {
  private let channel: SocketChannel
  private let distance: AsyncStream<Float>.Continuation
  let distances: AsyncStream<Float>

  init(_ channel: SocketChannel) {
    self.channel = channel
    (distances, distance) = AsyncStream.makeStream()
  }

  func session(
    _ session: NISession, didGenerateShareableConfigurationData data: Data,
    for object: NINearbyObject
  ) {
    Task { [channel] in
      try await channel.send(AppMessage.configureAndStart([UInt8](data)).bytes)
    }
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    for object in nearbyObjects { if let metres = object.distance { distance.yield(metres) } }
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) { distance.finish() }
}

/// Apps and accessories on chips of the service.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct AppTests {
  @Test func anAppAndAnAccessoryRangeThroughTheService() async throws {
    let bench = SimulatedBench(scene: Scene(seed: 9))
    let chips = try [
      bench.add(profile: .qm33PDoA, placement: Placement(at: SIMD3(0, 0, 1))),
      bench.add(profile: .qm33PDoA, placement: Placement(at: SIMD3(3, 0, 1), yaw: 180)),
    ]
    bench.start()
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let (path, names) = (folder.path("control"), ["app", "accessory"].map(folder.path))
    for (chip, name) in zip(chips, names) { try chip.link(at: name) }
    let service = try await Service(
      names.map { ($0, try LinkEndpoint($0)) }, Permissions(), version: "1",
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    await service.start(listeningAt: try ListeningSocket.make(at: path, mode: 0o600))

    let client = try TestClient(path)
    func areThere() throws -> Bool {
      let list = try client.call("List").parameters["chips"]?.array ?? []
      return list.count == 2 && list.allSatisfy { $0.object?["problem"] == .null }
    }
    try TestClient.wait(at: path, until: areThere)
    let device = try await UWBDevice.open(
      .service(socket: FilePath(path), chip: names[1]), options: .patient)
    let accessory = try Accessory(device)
    var ends: [Int32] = [0, 0]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    let channel = SocketChannel(FileDescriptor(rawValue: ends[0]))
    let served = SocketChannel(FileDescriptor(rawValue: ends[1]))
    let serving = Task { await accessory.serve(served) }
    try await channel.send(AppMessage.initialize.bytes)
    var messages = channel.messages.makeAsyncIterator()
    guard
      case .accessoryConfigurationData(let data)? = try await messages.next().map(
        AccessoryMessage.init)
    else {
      Issue.record("no configuration data")
      return
    }
    let app = App(channel)
    let session = NISession()
    session.delegate = app
    session.device = "uwbd:\(path)?chip=\(names[0])"
    session.run(try NINearbyAccessoryConfiguration(data: Data(data)))
    var distances = app.distances.makeAsyncIterator()
    for _ in 0..<5 { #expect(abs(try #require(await distances.next()) - 3) < 0.5) }
    #expect(chips.map(\.sessionCount) == [1, 1])
    // The app's session on the chip ends with the app's session object, and the accessory's with
    // the app's stop message.
    session.invalidate()
    try await channel.send(AppMessage.stop.bytes)
    for chip in chips { await chip.waitForSessions { $0 == 0 } }
    channel.close()
    await serving.value
    await accessory.close()
    await device.close()
    await service.stop()
    bench.stop()
  }
}
