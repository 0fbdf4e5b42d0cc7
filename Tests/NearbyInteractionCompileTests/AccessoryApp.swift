// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction

/// Like typical accessory apps: a controller that is the delegate, messages with an identifier in
/// the first byte, tokens mapped to names, retries after timeouts.
class AccessoryController: NSObject {
  enum MessageId: UInt8 {
    case accessoryConfigurationData = 0x1
    case accessoryUwbDidStart = 0x2
    case accessoryUwbDidStop = 0x3
    case initialize = 0xA
    case configureAndStart = 0xB
    case stop = 0xC
  }

  var niSession = NISession()
  var configuration: NINearbyAccessoryConfiguration?
  var accessoryMap = [NIDiscoveryToken: String]()
  var sent: [Data] = []
  var log: [String] = []
  var distance: Float?
  var accessoryConnected = true

  override init() {
    super.init()
    niSession.delegate = self
  }

  func handle(data: Data, from name: String) {
    guard let messageId = data.first.flatMap({ MessageId(rawValue: $0) }) else { return }
    switch messageId {
    case .accessoryConfigurationData: setupAccessory(data.advanced(by: 1), name: name)
    case .accessoryUwbDidStart: log.append("started")
    case .accessoryUwbDidStop: log.append("stopped")
    case .configureAndStart, .initialize, .stop: log.append("not for me")
    }
  }

  func setupAccessory(_ configData: Data, name: String) {
    do {
      configuration = try NINearbyAccessoryConfiguration(data: configData)
    } catch {
      log.append("failed: \(error)")
      return
    }
    cacheToken(configuration!.accessoryDiscoveryToken, accessoryName: name)
    niSession.run(configuration!)
  }

  func cacheToken(_ token: NIDiscoveryToken, accessoryName: String) {
    accessoryMap[token] = accessoryName
  }

  func send(_ id: MessageId, _ payload: Data = Data()) {
    sent.append(Data([id.rawValue]) + payload)
  }

  func shouldRetry(_ object: NINearbyObject) -> Bool {
    accessoryConnected && accessoryMap[object.discoveryToken] != nil
  }
}

extension AccessoryController: NISessionDelegate {
  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) {
    guard object.discoveryToken == configuration?.accessoryDiscoveryToken else { return }
    send(.configureAndStart, shareableConfigurationData)
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let accessory = nearbyObjects.first else { return }
    guard let distance = accessory.distance, let name = accessoryMap[accessory.discoveryToken]
    else { return }
    self.distance = distance
    log.append(String(format: "%@ %0.1f meters away", name, distance))
  }

  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    guard reason == .timeout else { return }
    guard let accessory = nearbyObjects.first else { return }
    accessoryMap.removeValue(forKey: accessory.discoveryToken)
    if shouldRetry(accessory) {
      send(.stop)
      send(.initialize)
    } else if let configuration = session.configuration {
      session.run(configuration)
    }
  }

  func sessionWasSuspended(_ session: NISession) { send(.stop) }

  func sessionSuspensionEnded(_ session: NISession) { send(.initialize) }

  func session(_ session: NISession, didInvalidateWith error: Error) {
    switch error {
    case NIError.invalidConfiguration: log.append("invalid configuration")
    case NIError.userDidNotAllow: log.append("access denied")
    default:
      log.append("another session")
      niSession = NISession()
      niSession.delegate = self
    }
  }
}

/// A delegate with a single method.
final class OnlyUpdates: NSObject, NISessionDelegate {
  var count = 0
  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) { count += 1 }
}

/// A delegate with none.
final class Nothing: NSObject, NISessionDelegate {}
