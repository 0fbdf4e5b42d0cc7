// SPDX-License-Identifier: Apache-2.0

import ExampleEnvironment
import NearbyInteraction
import UWBSimulator

/// One end of a session between two Linux machines, as between two phones.
///
/// All code runs on `queue`, which is also the delegate's.
final class PeerApp: NSObject, NISessionDelegate, @unchecked Sendable {
  let queue: DispatchQueue
  let session = NISession()
  private var peer: NIDiscoveryToken?
  private(set) var distances: [Float] = []

  /// Called after each distance.
  var onDistance: (@Sendable () -> Void)?

  /// Beyond Apple: the chip is passed by name.
  init(on device: String, queue: DispatchQueue) {
    self.queue = queue
    super.init()
    session.device = device
    session.delegate = self
    session.delegateQueue = queue
  }

  /// Handles the peer's token.
  func receive(_ token: NIDiscoveryToken) {
    peer = token
    session.run(NINearbyPeerConfiguration(peerToken: token))
  }

  // MARK: NISessionDelegate

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let object = nearbyObjects.first(where: { $0.discoveryToken == peer }),
      let distance = object.distance
    else { return }
    distances.append(distance)
    onDistance?()
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    fail("the session ended: \(error)")
  }
}

/// Finds the other app and exchanges tokens with it, as MultipeerConnectivity does on phones.
///
/// - Parameter isEqual: asks a person whether both machines show this code.
func meet(
  _ app: PeerApp, _ nearby: NINearbyPeers, isEqual: (String) -> Bool
) async throws -> NIPeerConnection {
  for await event in nearby.events {
    let connection: NIPeerConnection
    switch event {
    case .found(let peer) where nearby.isToInvite(peer):
      connection = try await nearby.invite(peer, to: app.session)
    case .invited(let invitation): connection = try await invitation.accept(app.session)
    default: continue
    }
    nearby.close()
    guard isEqual(connection.code) else { fail("the codes differ") }
    let token = try await connection.confirm()
    app.queue.sync { app.receive(token) }
    return connection
  }
  fail("there is no peer")
}

/// Two processes, each with a chip, find each other, exchange tokens and range. The first one also
/// simulates the chips, and starts the second one with the name of its chip. They meet in the
/// network, or over Bluetooth LE with one adapter each as arguments: hci0 hci1. The adapters have
/// to be in range of each other.
@main
enum Main {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    failAfter(seconds: 120) { "process \(getpid())" }
    switch arguments.count {
    case 0: try await first()
    case 2: try await first(adapter: arguments[0], other: arguments[1])
    default:
      try await second(
        on: arguments[1], in: arguments[2], arguments.count == 4 ? arguments[3] : nil)
    }
  }

  private static func transport(_ adapter: String?) -> NINearbyPeers.Transport {
    adapter.map { .bluetooth(adapter: $0) } ?? .network
  }

  private static func first(adapter: String? = nil, other otherAdapter: String? = nil) async throws
  {
    let environment = try ExampleEnvironment(phone: .qm33PDoA, at: Placement(at: SIMD3(0, 0, 1)))
    let other = try environment.bench.add(
      profile: .sr250, placement: Placement(at: SIMD3(3, 1, 1), yaw: 180), name: "other")
    let truth = Float(environment.phone.position.distance(to: other.position))
    let service = "example-\(getpid())"
    let process = Process()
    let (output, input) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["second", other.path, service] + (otherAdapter.map { [$0] } ?? [])
    (process.standardOutput, process.standardInput) = (output, input)
    try process.run()

    let alice = PeerApp(on: environment.phone.path, queue: DispatchQueue(label: "app"))
    let (ranged, done) = AsyncStream<Void>.makeStream()
    alice.onDistance = {
      guard alice.distances.count == 5, let distance = alice.distances.last else { return }
      print("\(distance) m, actually \(truth) m")
      guard abs(distance - truth) < 0.1 else { fail("wrong distance") }
      done.finish()
    }
    let nearby = try await NINearbyPeers(
      service: service, name: "Alice", over: transport(adapter))
    // In this example, the program compares the codes; in an app, both users do.
    let connection = try await meet(alice, nearby) { code in
      print("Alice's code is \(code)")
      let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      print(line, terminator: "")
      let isEqual = line == "Bob's code is \(code)\n"
      try? input.fileHandleForWriting.write(contentsOf: Data((isEqual ? "y\n" : "n\n").utf8))
      return isEqual
    }
    let watch = Task {
      if await connection.ended() != nil { fail("the other process has ended") }
    }
    for await _ in ranged {}
    watch.cancel()
    _ = await watch.value
    connection.close()
    await nearby.end()
    process.waitUntilExit()
    succeed("two Linux machines range with each other")
  }

  private static func second(on chip: String, in service: String, _ adapter: String?) async throws {
    let bob = PeerApp(on: chip, queue: DispatchQueue(label: "app"))
    let nearby = try await NINearbyPeers(service: service, name: "Bob", over: transport(adapter))
    let connection = try await meet(bob, nearby) { code in
      FileHandle.standardOutput.write(Data("Bob's code is \(code)\n".utf8))
      return readLine() == "y"
    }
    _ = await connection.ended()
    await nearby.end()
    await bob.session.close()
  }
}
