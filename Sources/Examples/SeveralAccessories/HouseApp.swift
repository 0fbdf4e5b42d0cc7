// SPDX-License-Identifier: Apache-2.0

import Accessory
import Channels
import ExampleEnvironment
import NearbyInteraction
import UWBSimulator

/// An app that ranges with several accessories, each with its own session and identified by its
/// token.
///
/// All code runs on `queue`, which is also the delegate's.
final class HouseApp: NSObject, NISessionDelegate, @unchecked Sendable {
  let queue = DispatchQueue(label: "app")
  /// The names of accessories: delegate methods receive only sessions and tokens.
  private var names: [NIDiscoveryToken: String] = [:]
  private var sessions: [String: NISession] = [:]
  private var channels: [String: DataCommunicationChannel] = [:]
  private(set) var distances: [String: [Float]] = [:]
  /// The accessory whose distance is shown. Ranging with the others continues.
  var chosen: String?
  private(set) var shown = 0

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
      guard name == chosen else { continue }
      print("\(name): \(distance) m")
      shown += 1
    }
    onDistance?()
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    let name = sessions.first { $0.value == session }?.key ?? "?"
    fail("the session with the \(name) ended: \(error)")
  }
}

/// A phone ranges with three accessories at the same time, and shows the distance of the chosen
/// one. It uses sockets, or Bluetooth LE with an adapter for each accessory and one for the phone,
/// in this order: hci0 hci1 hci2 hci3. The adapters have to be in range of each other.
@main
enum Main {
  static func main() async throws {
    let environment = try ExampleEnvironment(
      phone: .qm33PDoA, at: Placement(at: SIMD3<Double>(0, 0, 1)))
    let positions = [
      ("lamp", SIMD3<Double>(2, 1, 1)), ("door", SIMD3(4, -2, 1)), ("desk", SIMD3(1, 0, 1)),
    ]
    let adapters = Array(CommandLine.arguments.dropFirst())
    guard adapters.isEmpty || adapters.count == positions.count + 1 else {
      fail("give an adapter for each accessory and the app's, such as hci0 hci1 hci2 hci3")
    }
    let app = HouseApp()
    var house: [String: ExampleEnvironment.Served] = [:]
    for (index, (name, position)) in positions.enumerated() {
      let served = try await environment.serve(name, at: Placement(at: position))
      house[name] = served
      if adapters.isEmpty {
        app.connect(to: name, DataCommunicationChannel(to: served.endpoint, queue: app.queue))
      } else {
        serve(served.accessory, name, on: adapters[index])
      }
    }
    let (finished, finish) = AsyncStream<Void>.makeStream()
    app.queue.sync { [house] in
      app.onDistance = {
        guard app.distances.count == house.count,
          app.distances.values.allSatisfy({ $0.count >= 10 })
        else { return }
        guard app.chosen == nil else {
          if app.shown == 3 { finish.finish() }
          return
        }
        for (name, distances) in app.distances.sorted(by: { $0.key < $1.key }) {
          guard let last = distances.last, let served = house[name] else { continue }
          let truth = environment.distance(to: served)
          print("\(name): \(last) m, actually \(truth) m")
          if abs(last - truth) > 0.1 { fail("wrong distance of the \(name)") }
        }
        app.chosen = "door"
      }
    }
    failAfter(seconds: 120) { "\(app.queue.sync { app.distances.mapValues(\.count) })" }
    let central =
      adapters.isEmpty ? nil : try await find(Set(house.keys), on: adapters[3], for: app)
    for await _ in finished {}
    await central?.close()
    succeed("three accessories at once, each identified by its token")
  }

  private static func serve(_ accessory: Accessory, _ name: String, on adapter: String) {
    Task {
      do throws(ChannelError) {
        try await accessory.serve(BluetoothPeripheral(name: name, adapter: adapter))
      } catch {
        fail("\(error) \(error.recoverySuggestion ?? "")")
      }
    }
  }

  /// Looks for accessories as a phone does, and connects to each accessory that it finds.
  private static func find(
    _ names: Set<String>, on adapter: String, for app: HouseApp
  ) async throws -> BluetoothCentral {
    let central = try await BluetoothCentral.open(adapter: adapter)
    var missing = names
    for await found in try await central.accessories() {
      guard let name = found.name, missing.remove(name) != nil else { continue }
      app.connect(
        to: name,
        DataCommunicationChannel(queue: app.queue) { try await central.connect(to: found) })
      if missing.isEmpty { break }
    }
    return central
  }
}
