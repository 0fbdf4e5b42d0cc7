// SPDX-License-Identifier: Apache-2.0

import ExampleEnvironment
import NearbyInteraction
import UWBSimulator

/// An app that ranges with one accessory. Lines marked “Beyond Apple” differ from an app on a
/// phone.
///
/// All code runs on `queue`, which the delegate uses as well.
final class RegionsApp: NSObject, NISessionDelegate, @unchecked Sendable {
  let queue = DispatchQueue(label: "app")
  private let session = NISession()
  private let channel: DataCommunicationChannel
  private var configuration: NINearbyAccessoryConfiguration?
  /// Beyond Apple: the regions of the WWDC21 talk.
  private var regions = NIProximityRegions([1.5, 3])
  /// The filtered distance in metres.
  private var smoothed: Float?
  private(set) var log: [String] = []

  /// Called with each entry of the log, for the simulated scene.
  var onEvent: (@Sendable (_ entry: String) -> Void)?

  init(accessoryAt channel: (DispatchQueue) -> DataCommunicationChannel) {
    self.channel = channel(queue)
    super.init()
    session.delegate = self
    session.delegateQueue = queue
    // Beyond Apple: keeps the example short.
    session.timeouts.inactivity = .seconds(1)
    session.timeouts.firstMeasurement = .seconds(2)
    self.channel.accessoryConnectedHandler = { [unowned self] in
      note("connected")
      self.channel.sendData(Data([MessageId.initialize.rawValue]))
    }
    self.channel.accessoryDataHandler = { [unowned self] in handle($0) }
    self.channel.accessoryDisconnectedHandler = { [unowned self] in note("disconnected") }
  }

  func start() { channel.start() }

  private func note(_ entry: String) {
    print(entry)
    log.append(entry)
    onEvent?(entry)
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
    case .accessoryUwbDidStop: note("accessory stopped ranging")
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
    // The object was near when it was last measured, so the app tries again with the same
    // configuration, for which the session creates new shareable data.
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

/// An accessory moves towards the phone and away again, through two regions. It is then out of
/// range for a while, and returns.
@main
enum Main {
  static func main() async throws {
    let environment = try ExampleEnvironment(phone: .qm33PDoA, at: Placement(at: SIMD3(0, 0, 1)))
    let walk = Placement(
      .between(SIMD3(5, 0.5, 1), SIMD3(0.8, 0.2, 1), period: 14), yaw: 180)
    let served = try await environment.serve("lamp", at: walk)

    let app = RegionsApp { DataCommunicationChannel(to: served.endpoint, queue: $0) }
    let expected = [
      "entered 3.0 m", "entered 1.5 m", "left 1.5 m", "left 3.0 m", "timeout", "retry",
      "first distance",
    ]
    app.onEvent = { entry in
      switch entry {
      case "left 3.0 m": served.chip.placement = Placement(at: SIMD3(500, 0, 1))
      // The accessory is back in range when the app tries again.
      case "retry": served.chip.placement = Placement(at: SIMD3(2, 0, 1), yaw: 180)
      case "first distance" where app.log.contains("retry"):
        let entries = app.log.filter(expected.contains)
        // The first distance arrives before the others.
        guard Array(entries.dropFirst()) == expected else { fail("unexpected events: \(app.log)") }
        succeed("two regions, a timeout and a retry, as expected")
      default: break
      }
    }
    failAfter(seconds: 60) { "\(app.queue.sync { app.log })" }
    app.start()
    try await Task.sleep(for: .seconds(120))
  }
}
