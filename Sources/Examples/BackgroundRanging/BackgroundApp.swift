// SPDX-License-Identifier: Apache-2.0

import Accessory
import Channels
import ExampleEnvironment
import NearbyInteraction
import UWBSimulator

/// An app that ranges with an accessory over Bluetooth LE, also while it is in the background; as
/// on a phone except where marked.
///
/// All code runs on `queue`, which is also the delegate's.
final class BackgroundApp: NSObject, NISessionDelegate, @unchecked Sendable {
  let queue = DispatchQueue(label: "app")
  /// The events in words.
  let entries: AsyncStream<String>
  private let entry: AsyncStream<String>.Continuation
  private let session = NISession()
  private let channel: DataCommunicationChannel
  private let identifier: UUID
  private var configuration: NINearbyAccessoryConfiguration?
  private(set) var updates = 0

  /// - Parameters:
  ///   - identifier: the accessory; on a phone, the identifier of the `CBPeripheral`.
  ///   - connect: connects to the accessory; on a phone, by a `CBCentralManager`.
  init(
    _ identifier: UUID, connect: @escaping @Sendable () async throws -> any DataChannel
  ) {
    (entries, entry) = AsyncStream.makeStream()
    self.identifier = identifier
    channel = DataCommunicationChannel(queue: queue, connect: connect)
    super.init()
    session.delegate = self
    session.delegateQueue = queue
    channel.accessoryConnectedHandler = { [unowned self] in
      note("connected")
      channel.sendData(Data([MessageId.initialize.rawValue]))
    }
    channel.accessoryDataHandler = { [unowned self] in handle($0) }
    channel.accessoryDisconnectedHandler = { [unowned self] in note("disconnected") }
  }

  func start() { channel.start() }

  /// Ends ranging, after which the accessory reports that it has stopped.
  func stop() {
    session.invalidate()
    channel.sendData(Data([MessageId.stop.rawValue]))
  }

  func disconnect() { channel.stop() }

  private func note(_ text: String) {
    print("app: \(text)")
    entry.yield(text)
  }

  private func handle(_ message: Data) {
    switch message.first.flatMap(MessageId.init(rawValue:)) {
    case .accessoryConfigurationData:
      do {
        let configuration = try NINearbyAccessoryConfiguration(
          accessoryData: message.dropFirst(), bluetoothPeerIdentifier: identifier)
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
    guard nearbyObjects.first?.distance != nil else { return }
    updates += 1
    note("distance")
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    let reason = (error as NSError).localizedFailureReason ?? "\(error)"
    switch error {
    case NIError.accessoryPeerDeviceUnavailable: note("unavailable")
    default: note("invalidated")
    }
    print("app: \(reason)")
  }
}

/// An accessory on one Bluetooth adapter and an app on another one. Without pairing the session
/// ends; with pairing it continues in the background. Needs bluetoothd and two adapters in range of
/// each other, as in Tests/VirtualBench.
@main
enum Main {
  static func main() async throws {
    let adapters = CommandLine.arguments.dropFirst()
    guard adapters.count == 2, let first = adapters.first, let last = adapters.last else {
      fail("give the accessory's adapter and the app's, such as hci0 hci1")
    }
    let environment = try ExampleEnvironment(phone: .qm33PDoA, at: Placement(at: SIMD3(0, 0, 1)))
    let served = try await environment.serve("door", at: Placement(at: SIMD3(2, 0, 1), yaw: 180))
    let accessory = served.accessory
    Task {
      do throws(ChannelError) {
        try await accessory.serve(BluetoothPeripheral(name: "Door", adapter: first))
      } catch {
        fail("\(error) \(error.recoverySuggestion ?? "")")
      }
    }
    failAfter(seconds: 120) { "" }

    let central = try await BluetoothCentral.open(adapter: last)
    for await found in try await central.accessories() where found.name == "Door" {
      // Each app has its own session. The first session ends, because the devices are not paired.
      let stranger = BackgroundApp(found.identifier) { try await central.connect(to: found) }
      stranger.start()
      loop: for await entry in stranger.entries {
        switch entry {
        case "unavailable": stranger.disconnect()
        case "disconnected": break loop
        case "distance": fail("ranged without pairing")
        default: break
        }
      }
      let app = BackgroundApp(found.identifier) {
        try await central.connect(to: found, pairing: true)
      }
      app.start()
      try await range(app, with: accessory)
      await central.close()
      succeed("ranged in the background, as expected")
    }
    fail("the accessory was not found")
  }

  private static func range(_ app: BackgroundApp, with accessory: Accessory) async throws {
    var isBack = false
    for await entry in app.entries {
      switch entry {
      case "distance" where isBack: app.queue.sync { app.stop() }
      case "distance":
        // On a phone, the user moves the app into the background.
        NISession.isInBackground = true
        let before = app.queue.sync { app.updates }
        var rounds = 0
        for await case .measured in accessory.events {
          rounds += 1
          if rounds == 20 { break }
        }
        let after = app.queue.sync { app.updates }
        guard after == before else { fail("updates in the background") }
        print("the accessory measured \(rounds) times, and the app received nothing")
        isBack = true
        NISession.isInBackground = false
      case "accessory stopped ranging": return
      case "unavailable", "invalidated", "disconnected": fail("the session ended")
      default: break
      }
    }
  }
}
