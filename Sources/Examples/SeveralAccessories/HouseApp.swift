// SPDX-License-Identifier: Apache-2.0

import ExampleEnvironment
import NearbyInteraction
import UWBSimulator

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

/// A phone ranges with three accessories at the same time.
@main
enum Main {
  static func main() async throws {
    let environment = try ExampleEnvironment(
      phone: .qm33PDoA, at: Placement(at: SIMD3<Double>(0, 0, 1)))
    let positions = [
      "lamp": SIMD3<Double>(2, 1, 1), "door": SIMD3(4, -2, 1), "desk": SIMD3(1, 0, 1),
    ]
    let app = HouseApp()
    var house: [String: ExampleEnvironment.Served] = [:]
    for (name, position) in positions {
      let served = try await environment.serve(name, at: Placement(at: position))
      house[name] = served
      app.connect(to: name, DataCommunicationChannel(to: served.endpoint, queue: app.queue))
    }
    app.queue.sync { [house] in
      app.onDistance = {
        guard app.distances.count == house.count,
          app.distances.values.allSatisfy({ $0.count >= 10 })
        else { return }
        for (name, distances) in app.distances.sorted(by: { $0.key < $1.key }) {
          guard let last = distances.last, let served = house[name] else { continue }
          let truth = environment.distance(to: served)
          print("\(name): \(last) m, actually \(truth) m")
          if abs(last - truth) > 0.1 { fail("wrong distance of the \(name)") }
        }
        succeed("three accessories at once, each identified by its token")
      }
    }
    failAfter(seconds: 60) { "\(app.queue.sync { app.distances.mapValues(\.count) })" }
    try await Task.sleep(for: .seconds(120))
  }
}
