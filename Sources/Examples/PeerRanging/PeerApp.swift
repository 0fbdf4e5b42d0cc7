// SPDX-License-Identifier: Apache-2.0
import ExampleStage
import NearbyInteraction

/// One end of a session between two Linux machines: as between two phones.
///
/// Everything runs on `queue`, which is also the delegate's.
final class PeerApp: NSObject, NISessionDelegate, @unchecked Sendable {
  let queue: DispatchQueue
  let session = NISession()
  private var peer: NIDiscoveryToken?
  private(set) var distances: [Float] = []

  /// Told of each distance.
  var measured: (@Sendable () -> Void)?

  /// Beyond Apple: which chip, because both ends are in one process here.
  init(on device: String, queue: DispatchQueue) {
    self.queue = queue
    super.init()
    session.device = device
    session.delegate = self
    session.delegateQueue = queue
  }

  /// What the other end needs, to be sent by whatever way.
  func archivedToken() throws -> Data {
    guard let token = session.discoveryToken else { fail("there is no token") }
    return try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
  }

  /// The other end's token has come.
  func receive(_ data: Data) throws {
    guard
      let token = try NSKeyedUnarchiver.unarchivedObject(ofClass: NIDiscoveryToken.self, from: data)
    else { fail("that is no token") }
    peer = token
    session.run(NINearbyPeerConfiguration(peerToken: token))
  }

  // MARK: NISessionDelegate

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let object = nearbyObjects.first(where: { $0.discoveryToken == peer }),
      let distance = object.distance
    else { return }
    distances.append(distance)
    measured?()
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    fail("the session ended: \(error)")
  }
}
