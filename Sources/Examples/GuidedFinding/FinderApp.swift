// SPDX-License-Identifier: Apache-2.0
import ExampleEnvironment
import NearbyInteraction

/// An app that guides its user to an accessory by movement.
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
