// SPDX-License-Identifier: Apache-2.0
import ExampleStage
import NearbyInteraction

/// An app that ranges with one accessory: as on a phone, but for what is marked.
///
/// Everything runs on `queue`, which is also the delegate's.
final class RegionsApp: NSObject, NISessionDelegate, @unchecked Sendable {
  let queue = DispatchQueue(label: "app")
  private let session = NISession()
  private let channel: DataCommunicationChannel
  private var configuration: NINearbyAccessoryConfiguration?
  /// Beyond Apple: the regions of the WWDC21 talk.
  private var regions = NIProximityRegions([1.5, 3])
  /// Smoothed further: the phone's own view of how far it is.
  private var smoothed: Float?
  private(set) var story: [String] = []

  /// Told of what happens, for the one who plays the scene.
  var happened: (@Sendable (_ what: String) -> Void)?

  init(accessoryAt channel: (DispatchQueue) -> DataCommunicationChannel) {
    self.channel = channel(queue)
    super.init()
    session.delegate = self
    session.delegateQueue = queue
    // Beyond Apple: so that the example does not take long.
    session.timeouts.silence = .seconds(1)
    session.timeouts.preparedness = .seconds(2)
    self.channel.accessoryConnectedHandler = { [unowned self] in
      note("connected")
      self.channel.sendData(Data([MessageId.initialize.rawValue]))
    }
    self.channel.accessoryDataHandler = { [unowned self] in handle($0) }
    self.channel.accessoryDisconnectedHandler = { [unowned self] in note("disconnected") }
  }

  func start() { channel.start() }

  private func note(_ what: String) {
    print(what)
    story.append(what)
    happened?(what)
  }

  private func handle(_ message: Data) {
    switch message.first.flatMap(MessageId.init(rawValue:)) {
    case .accessoryConfigurationData:
      do {
        let configuration = try NINearbyAccessoryConfiguration(data: message.dropFirst())
        self.configuration = configuration
        session.run(configuration)
      } catch {
        note("the accessory's configuration data is invalid: \(error)")
      }
    case .accessoryUwbDidStart: note("accessory ranges")
    case .accessoryUwbDidStop: note("accessory ranges no more")
    default: break
    }
  }

  // MARK: NISessionDelegate

  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) {
    guard object.discoveryToken == configuration?.accessoryDiscoveryToken else { return }
    channel.sendData(Data([MessageId.configureAndStart.rawValue]) + shareableConfigurationData)
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let object = nearbyObjects.first, let distance = object.distance else { return }
    if smoothed == nil { note("first distance") }
    smoothed = smoothed.map { 0.7 * $0 + 0.3 * distance } ?? distance
    for change in regions.update(object) {
      note("\(change.event) \(change.radius) m")
    }
  }

  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    guard reason == .timeout else { return note("the accessory ended") }
    note("timeout")
    // The accessory is likely near: it was not far when it was last seen. Try again with the
    // configuration that is there; the session makes new shareable data for it.
    guard let smoothed, smoothed < 6, let configuration else { return }
    self.smoothed = nil
    note("retry")
    session.run(configuration)
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    switch error {
    case NIError.invalidConfiguration: note("invalidated: the configuration is invalid")
    case NIError.userDidNotAllow: note("invalidated: no access to the chip")
    default: note("invalidated: \(error)")
    }
  }
}
