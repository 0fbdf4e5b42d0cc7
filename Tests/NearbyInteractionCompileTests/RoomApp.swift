// SPDX-License-Identifier: Apache-2.0
#if canImport(NearbyInteraction)
  import NearbyInteraction
#endif
import Observation

/// Like current apps with several peers: a model on the main actor with nonisolated delegate
/// methods, a session for each peer, tokens as data, distances with units, awaited callbacks.
@MainActor
@Observable
final class RoomModel: NSObject {
  struct Peer: Identifiable, Equatable {
    let id: String
    var token: NIDiscoveryToken?
    var distance: Measurement<UnitLength>?
    var direction: SIMD3<Float>?
    var lastSeen = Date.distantPast
  }

  enum Phase: Equatable {
    case idle, looking
    case found(Float)
    case failed(NIError.Code)
  }

  private(set) var peers: [Peer] = []
  private(set) var phase = Phase.idle
  private(set) var hint: String?
  @ObservationIgnored private var sessions: [String: NISession] = [:]
  @ObservationIgnored private var names = [NIDiscoveryToken: String]()
  @ObservationIgnored private lazy var probe: NISession = {
    let session = NISession()
    session.delegate = self
    return session
  }()
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  @ObservationIgnored var last: NISession!

  var canShowArrows: Bool {
    if #available(iOS 16.0, *) { return NISession.deviceCapabilities.supportsDirectionMeasurement }
    return NISession.isSupported
  }

  func invite(_ name: String) -> Data? {
    let session = NISession()
    session.delegate = self
    session.delegateQueue = .main
    sessions[name]?.invalidate()
    sessions[name] = session
    last = session
    peers.append(Peer(id: name))
    phase = .looking
    return session.discoveryToken?.archive()
  }

  func accept(_ data: Data, from name: String) {
    guard let token = NIDiscoveryToken.unarchive(data) else { return }
    names[token] = name
    peers.indices.filter { peers[$0].id == name }.forEach { peers[$0].token = token }
    sessions[name]?.run(NINearbyPeerConfiguration(peerToken: token))
  }

  func name(of session: NISession) -> String? { sessions.first { $0.value == session }?.key }

  func leave() {
    sessions.values.forEach { $0.invalidate() }
    sessions.removeAll()
    probe.pause()
    last = nil
  }

  fileprivate func show(_ object: NINearbyObject, in session: NISession) {
    guard let name = names[object.discoveryToken] ?? name(of: session),
      let index = peers.firstIndex(where: { $0.id == name })
    else { return }
    peers[index].distance = object.distance.map { Measurement(value: Double($0), unit: .meters) }
    peers[index].direction = object.direction
    peers[index].lastSeen = Date()
    if let distance = object.distance { phase = .found(distance) }
  }

  fileprivate func restart(_ session: NISession, after code: NIError.Code?) {
    guard let name = name(of: session) else { return }
    sessions[name] = nil
    if let code { phase = .failed(code) }
  }

  fileprivate func show(_ status: NIAlgorithmConvergenceStatus) { hint = Self.hint(for: status) }

  nonisolated static func hint(for status: NIAlgorithmConvergenceStatus) -> String? {
    switch status {
    case .converged: nil
    case .notConverged([.insufficientLighting]): "more light"
    case .notConverged([NIAlgorithmConvergenceStatus.Reason.insufficientMovement]): "move"
    case .notConverged(let reasons) where reasons.isEmpty: "wait"
    case .notConverged(let reasons):
      reasons.compactMap(\.localizedDescription).joined(separator: ", ")
    default: "unknown"
    }
  }
}

extension RoomModel: NISessionDelegate {
  nonisolated func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let nearest = nearbyObjects.min(by: { ($0.distance ?? .infinity) < ($1.distance ?? 0) })
    else { return }
    Task { @MainActor in self.show(nearest, in: session) }
  }

  nonisolated func session(
    _ niSession: NISession, didRemove objects: [NINearbyObject],
    reason why: NINearbyObject.RemovalReason
  ) {
    switch why {
    case .timeout: if let config = niSession.configuration { niSession.run(config) }
    case .peerEnded: niSession.invalidate()
    @unknown default: debugPrint("removed \(objects) for \(why)")
    }
  }

  nonisolated func sessionSuspensionEnded(_ session: NISession) {
    guard let config = session.configuration as? NINearbyPeerConfiguration else { return }
    session.run(config)
  }

  nonisolated func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {
    guard object != nil, convergence.status != .converged else { return }
    let status = convergence.status
    Task { @MainActor in show(status) }
  }

  nonisolated func session(_ session: NISession, didInvalidateWith error: Error) {
    switch error {
    case NIError.userDidNotAllow, NIError.invalidARConfiguration, NIError.incompatiblePeerDevice,
      NIError.activeSessionsLimitExceeded, NIError.activeExtendedDistanceSessionsLimitExceeded:
      return
    default: break
    }
    let code = (error as? NIError)?.code
    Task { @MainActor in self.restart(session, after: code) }
  }
}

extension NIDiscoveryToken {
  func archive() -> Data? {
    try? NSKeyedArchiver.archivedData(withRootObject: self, requiringSecureCoding: true) as Data
  }

  static func unarchive(_ data: Data) -> NIDiscoveryToken? {
    try? NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [NIDiscoveryToken.self], from: data) as? NIDiscoveryToken
  }
}

/// A delegate that makes callbacks awaitable: two handlers, kept until they are called.
final class Awaiting: NSObject, NISessionDelegate, @unchecked Sendable {
  // Sendable: used on one queue.
  private var onError: ((Error) -> Void)?
  private var updates: AsyncStream<(distance: Float?, azimuth: Float?)>.Continuation?

  func distances() -> AsyncStream<(distance: Float?, azimuth: Float?)> {
    AsyncStream { updates = $0 }
  }

  /// Returns why a session cannot run, which is how apps ask for permission.
  func failure(of session: NISession, with configuration: NIConfiguration) async -> NSError {
    session.delegate = self
    return await withCheckedContinuation { continuation in
      onError = { continuation.resume(returning: $0 as NSError) }
      session.run(configuration)
    }
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    nearbyObjects.forEach { object in
      let azimuth = object.direction.flatMap { direction -> Float? in
        let flat = simd_normalize(simd_float2(direction.x, direction.z))
        return flat.x.isFinite ? atan2(flat.x, -flat.y) : nil
      }
      updates?.yield((object.distance, object.horizontalAngle ?? azimuth))
    }
  }

  func session(_ session: NISession, didInvalidateWith error: Error) {
    updates?.finish()
    onError?(error)
    onError = nil
  }
}
