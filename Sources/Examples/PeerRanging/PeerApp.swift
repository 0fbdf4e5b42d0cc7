// SPDX-License-Identifier: Apache-2.0
import ExampleEnvironment
import NearbyInteraction

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
  func archivedToken() throws -> Data {
    guard let token = session.discoveryToken else { fail("there is no token") }
    return try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
  }

  /// Handles the peer's token.
  func receive(_ data: Data) throws {
    guard
      let token = try NSKeyedUnarchiver.unarchivedObject(ofClass: NIDiscoveryToken.self, from: data)
    else { fail("the data is not a token") }
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
