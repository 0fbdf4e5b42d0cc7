// SPDX-License-Identifier: Apache-2.0

import ExampleEnvironment
import NearbyInteraction
import UWBSimulator

/// An app that guides its user to an accessory while the user moves.
///
/// All code runs on `queue`, which is also the delegate's.
final class FinderApp: NSObject, NISessionDelegate, @unchecked Sendable {
  let queue = DispatchQueue(label: "app")
  private let session = NISession()
  private let channel: DataCommunicationChannel
  private var configuration: NINearbyAccessoryConfiguration?
  private(set) var hints: [String] = []
  private(set) var lastAngle: Float?

  /// Called with each object that has an angle.
  var onAngle: (@Sendable (NINearbyObject) -> Void)?

  init(accessoryAt channel: (DispatchQueue) -> DataCommunicationChannel) {
    self.channel = channel(queue)
    super.init()
    session.delegate = self
    session.delegateQueue = queue
    self.channel.accessoryConnectedHandler = { [unowned self] in
      self.channel.sendData(Data([MessageId.initialize.rawValue]))
    }
    self.channel.accessoryDataHandler = { [unowned self] in handle($0) }
  }

  func start() { channel.start() }

  private func handle(_ message: Data) {
    guard message.first == MessageId.accessoryConfigurationData.rawValue,
      let configuration = try? NINearbyAccessoryConfiguration(data: message.dropFirst())
    else { return }
    // `NISession.poseSource` takes the place of the camera.
    configuration.isCameraAssistanceEnabled =
      NISession.deviceCapabilities.supportsCameraAssistance
    self.configuration = configuration
    session.run(configuration)
  }

  // MARK: NISessionDelegate

  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) {
    channel.sendData(Data([MessageId.configureAndStart.rawValue]) + shareableConfigurationData)
  }

  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {
    switch convergence.status {
    case .converged: hint("found")
    case .notConverged(let reasons):
      for reason in reasons { hint(reason.localizedDescription ?? reason.rawValue) }
    default: break
    }
  }

  private func hint(_ text: String) {
    guard hints.last != text else { return }
    print(text)
    hints.append(text)
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let object = nearbyObjects.first, let angle = object.horizontalAngle else { return }
    lastAngle = angle
    onAngle?(object)
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    fail("the session ended: \(error)")
  }
}

/// A user walks in a circle with a phone that faces x, raising and lowering it. The keys lie behind
/// the user. The chip measures distances only; the movement determines the direction.
@main
enum Main {
  static func main() async throws {
    let centre = SIMD3(0, 0, 1.2)
    let environment = try ExampleEnvironment(
      phone: .qm33,
      at: Placement(.circle(centre: centre, radius: 1.2, period: 8), yaw: 0))
    let keys = try await environment.serve("keys", at: Placement(at: SIMD3(-4, 1, 0.4)))

    // The phone's pose 50 times a second, as an odometer would measure it.
    let track = PoseTrack()
    NISession.poseSource = track
    Task {
      while !Task.isCancelled {
        let position = environment.phone.position
        track.append(
          DevicePose(
            time: DispatchTime.now().uptimeNanoseconds,
            position: simd_double3(position.x, position.y, position.z),
            rotation: simd_quatd(ix: 0, iy: 0, iz: 0, r: 1)))
        try await Task.sleep(for: .milliseconds(20))
      }
    }

    let app = FinderApp { DataCommunicationChannel(to: keys.endpoint, queue: $0) }
    app.queue.sync {
      app.onAngle = { object in
        guard let angle = object.horizontalAngle else { return }
        // Positive angles are to the right; angles beyond a quarter turn are behind the user.
        let truth = environment.phone.position.direction(to: keys.chip.position, yaw: 0).azimuth
        let error = (Double(angle) * 180 / .pi - truth).remainder(dividingBy: 360)
        guard abs(error) < 10, abs(angle) > .pi / 2, !app.hints.isEmpty else { return }
        print("the keys are behind you: \(Int(angle * 180 / .pi))°, actually \(Int(truth))°")
        succeed("guided by movement, with \(app.hints.count) hints")
      }
    }
    failAfter(seconds: 60) { "\(app.queue.sync { (app.hints, app.lastAngle) })" }
    app.start()
    try await Task.sleep(for: .seconds(120))
  }
}
