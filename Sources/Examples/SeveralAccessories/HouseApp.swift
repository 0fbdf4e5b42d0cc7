// SPDX-License-Identifier: Apache-2.0
import ExampleEnvironment
import NearbyInteraction

/// An app that ranges with several accessories, each with its own session and identified by its token.
///
/// All code runs on `queue`, which is also the delegate's.
final class HouseApp: NSObject, NISessionDelegate, @unchecked Sendable {
  let queue = DispatchQueue(label: "app")
  /// Delegate methods have a session and a token, but no name.
  private var names: [NIDiscoveryToken: String] = [:]
  private var sessions: [String: NISession] = [:]
  private var channels: [String: DataCommunicationChannel] = [:]
  private(set) var distances: [String: [Float]] = [:]

  /// Called after each distance.
  var onDistance: (@Sendable () -> Void)?

  func connect(to name: String, _ channel: DataCommunicationChannel) {
    queue.async { [self] in
      let session = NISession()
      session.delegate = self
      session.delegateQueue = queue
      sessions[name] = session
      channels[name] = channel
      channel.accessoryConnectedHandler = {
        channel.sendData(Data([MessageId.initialize.rawValue]))
      }
      channel.accessoryDataHandler = { [unowned self] in handle($0, of: name) }
      channel.start()
    }
  }

  private func handle(_ message: Data, of name: String) {
    guard message.first == MessageId.accessoryConfigurationData.rawValue,
      let configuration = try? NINearbyAccessoryConfiguration(data: message.dropFirst())
    else { return }
    names[configuration.accessoryDiscoveryToken] = name
    sessions[name]?.run(configuration)
  }

  // MARK: NISessionDelegate

  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) {
    guard let name = names[object.discoveryToken] else { return }
    channels[name]?.sendData(
      Data([MessageId.configureAndStart.rawValue]) + shareableConfigurationData)
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    for object in nearbyObjects {
      guard let name = names[object.discoveryToken], let distance = object.distance else {
        continue
      }
      distances[name, default: []].append(distance)
    }
    onDistance?()
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    let name = sessions.first { $0.value == session }?.key ?? "?"
    fail("the session with the \(name) ended: \(error)")
  }
}
