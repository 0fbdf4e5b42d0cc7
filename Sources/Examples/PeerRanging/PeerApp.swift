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

  /// Beyond Apple: names the chip.
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

/// Finds the other app in the network and exchanges tokens with it, as MultipeerConnectivity does on
/// phones.
///
/// - Parameter isEqual: asks a person whether the other machine shows the same code.
func meet(
  _ app: PeerApp, as name: String, in service: String, isEqual: (String) -> Bool
) async throws -> NIPeerConnection {
  let nearby = try await NINearbyPeers(service: service, name: name)
  defer { nearby.close() }
  for await event in nearby.events {
    let connection: NIPeerConnection
    switch event {
    case .found(let peer) where nearby.isToInvite(peer):
      connection = try await nearby.invite(peer, to: app.session)
    case .invited(let invitation): connection = try await invitation.accept(app.session)
    default: continue
    }
    guard isEqual(connection.code) else { fail("the codes differ") }
    let token = try await connection.confirm()
    app.queue.sync { app.receive(token) }
    return connection
  }
  fail("there is no peer")
}

/// Two processes, each with a chip, find each other, exchange tokens and range. The first one also
/// simulates the chips, and starts the second one with the name of its chip.
@main
enum Main {
  static func main() async throws {
    let arguments = CommandLine.arguments
    failAfter(seconds: 60) { "process \(getpid())" }
    if arguments.count == 3 {
      try await second(on: arguments[1], in: arguments[2])
    } else {
      try await first()
    }
  }

  private static func first() async throws {
    let environment = try ExampleEnvironment(phone: .qm33PDoA, at: Placement(at: SIMD3(0, 0, 1)))
    let other = try environment.bench.add(
      profile: .sr250, placement: Placement(at: SIMD3(3, 1, 1), yaw: 180), name: "other")
    let truth = Float(environment.phone.position.distance(to: other.position))
    let service = "example-\(getpid())"
    let process = Process()
    let (output, input) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [other.path, service]
    (process.standardOutput, process.standardInput) = (output, input)
    try process.run()

    let alice = PeerApp(on: environment.phone.path, queue: DispatchQueue(label: "app"))
    alice.onDistance = {
      guard alice.distances.count == 5, let distance = alice.distances.last else { return }
      print("\(distance) m, actually \(truth) m")
      guard abs(distance - truth) < 0.1 else { fail("wrong distance") }
      process.terminate()
      succeed("two Linux machines range with each other")
    }
    // Here a program compares the codes; in the field, two people do.
    let connection = try await meet(alice, as: "Alice", in: service) { code in
      print("Alice's code is \(code)")
      let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      print(line, terminator: "")
      let isEqual = line == "Bob's code is \(code)\n"
      try? input.fileHandleForWriting.write(contentsOf: Data((isEqual ? "y\n" : "n\n").utf8))
      return isEqual
    }
    _ = await connection.ended()
    fail("the other process has ended")
  }

  private static func second(on chip: String, in service: String) async throws {
    let bob = PeerApp(on: chip, queue: DispatchQueue(label: "app"))
    let connection = try await meet(bob, as: "Bob", in: service) { code in
      FileHandle.standardOutput.write(Data("Bob's code is \(code)\n".utf8))
      return readLine() == "y"
    }
    _ = await connection.ended()
    await bob.session.close()
  }
}
