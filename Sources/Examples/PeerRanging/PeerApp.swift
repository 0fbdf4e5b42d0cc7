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

  /// Beyond Apple: names the chip, because both ends are in one process here.
  init(on device: String, queue: DispatchQueue) {
    self.queue = queue
    super.init()
    session.device = device
    session.delegate = self
    session.delegateQueue = queue
  }

  /// The token to send to the peer, over any channel.
  func token() -> Data {
    guard let token = session.discoveryToken else { fail("there is no token") }
    return token.data
  }

  /// Handles the peer's token. Apps on phones send archives, which are not to be read from strangers.
  func receive(_ data: Data) throws {
    let token = try NIDiscoveryToken(data: data)
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

/// Two machines, each with a chip, exchange tokens and range.
@main
enum Main {
  static func main() async throws {
    let environment = try ExampleEnvironment(phone: .qm33PDoA, at: Placement(at: SIMD3(0, 0, 1)))
    let other = try environment.bench.add(
      profile: .sr250, placement: Placement(at: SIMD3(3, 1, 1), yaw: 180), name: "other")
    let truth = Float(environment.phone.position.distance(to: other.position))

    let queue = DispatchQueue(label: "apps")
    let alice = PeerApp(on: environment.phone.path, queue: queue)
    let bob = PeerApp(on: other.path, queue: queue)
    // The tokens hold what the chips support, so both are asked first.
    for path in [environment.phone.path, other.path] { await NISession.prepare(path) }
    let tokens = (alice.token(), bob.token())
    print("exchanging tokens of \(tokens.0.count) bytes, which may use any network")
    try queue.sync {
      for app in [alice, bob] {
        app.onDistance = {
          guard alice.distances.count >= 5, bob.distances.count >= 5,
            let a = alice.distances.last, let b = bob.distances.last
          else { return }
          print("\(a) m here, \(b) m there, actually \(truth) m")
          guard abs(a - truth) < 0.1, abs(b - truth) < 0.1 else { fail("wrong distance") }
          succeed("two Linux machines range with each other")
        }
      }
      try alice.receive(tokens.1)
      try bob.receive(tokens.0)
    }
    failAfter(seconds: 60) { "\(queue.sync { (alice.distances, bob.distances) })" }
    try await Task.sleep(for: .seconds(120))
  }
}
