// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Accessory
import AccessoryProtocol
import Channels
import Foundation
import System
import SystemPackage
import Testing
import UCI
import UCIReference
import UWB
import UWBLink
import UWBSimulator

@testable import NearbyInteraction

/// Simulated chips on pseudo-terminals: one for the app's side, the others for accessories.
struct ChipFixture {
  let bench: SimulatedBench
  let app: SimulatedBench.Chip
  let others: [SimulatedBench.Chip]
  /// Links to the chips, which stay valid when a chip is replugged. Terminals' numbers are reused,
  /// and the registry identifies a device by its path.
  let path: String
  let otherPaths: [String]

  /// - Parameters:
  ///   - positions: The positions of the other chips. The app's chip is at the origin and faces x.
  init(
    _ profile: ChipProfile = .qm33PDoA, app place: Placement = Placement(at: SIMD3(0, 0, 1)),
    others positions: [SIMD3<Double>] = [SIMD3(3, 0, 1)], scene: Scene = Scene(seed: 11)
  ) throws {
    bench = SimulatedBench(scene: scene)
    let profile = profile.initialised
    app = try bench.add(profile: profile, placement: place)
    let bench = bench
    others = try positions.map {
      try bench.add(profile: profile, placement: Placement(at: $0, yaw: 180))
    }
    let path = "\(NSTemporaryDirectory())/ni-\(UUID().uuidString)"
    self.path = path
    otherPaths = others.indices.map { "\(path)-\($0)" }
    try app.link(at: path)
    for (chip, path) in zip(others, otherPaths) { try chip.link(at: path) }
    bench.start()
  }

  /// Returns the number of sessions on the app's chip while the app does not use it. The query does
  /// not reset the chip.
  func sessionsLeft() async throws -> UInt8? {
    var options = UWBDevice.Options.patient
    options.resetPolicy = .keepState
    let device = try await UWBDevice.open(.serial(path: FilePath(path)), options: options)
    let count = try await device.send(GetSessionCount()).count
    await device.close()
    return count
  }
}

/// A type of socket that child processes do not inherit.
let streamCloseOnExec = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

/// An accessory with a data channel to an app, which may lose, repeat or truncate shareable data.
final class TestAccessory: Sendable {
  /// How shareable data is delivered.
  enum Delivery: Sendable {
    case whole
    case lost
    case twice
    /// The data without its last bytes.
    case truncated
  }

  let accessory: Accessory
  private let device: UWBDevice
  private let channel: SocketChannel
  /// The accessory's data of each `initialize`.
  private let offers: AsyncStream<[UInt8]>
  private let delivery = Locked(Delivery.whole)

  /// - Parameters:
  ///   - interval: the ranging interval in milliseconds.
  init(
    _ chip: SimulatedBench.Chip, role: SessionConfiguration.Role = .controller,
    rate: AccessoryConfigurationData.UpdateRate = .userInteractive, interval: UInt16 = 20
  ) async throws {
    device = try await UWBDevice.open(.serial(path: FilePath(chip.path)), options: .patient)
    var options = Accessory.Options()
    options.role = role
    options.updateRate = rate
    // An accessory can request an interval only from version 2.0 on.
    options.version = .v20
    options.request = .init(slotsPerRound: 6, slotDuration: 2_400, interval: interval)
    accessory = try Accessory(device, options: options)
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, streamCloseOnExec, 0, &ends) == 0)
    let served = SocketChannel(FileDescriptor(rawValue: ends[1]))
    channel = SocketChannel(FileDescriptor(rawValue: ends[0]))
    let (offers, offer) = AsyncStream<[UInt8]>.makeStream()
    self.offers = offers
    Task { [accessory] in await accessory.serve(served) }
    Task { [messages = channel.messages] in
      for await message in messages {
        if case .accessoryConfigurationData(let data)? = try? AccessoryMessage(message) {
          offer.yield(data)
        }
      }
      offer.finish()
    }
  }

  /// The number of sessions that the accessory's chip reports.
  var sessions: UInt8? { get async throws { try await device.send(GetSessionCount()).count } }

  /// Asks the accessory for its data, as an app does at the start.
  /// - Parameter identifier: The accessory's identifier over Bluetooth LE.
  func configuration(_ identifier: UUID? = nil) async throws -> NINearbyAccessoryConfiguration {
    try await channel.send(AppMessage.initialize.bytes)
    let data = Data(try #require(await offers.first { _ in true }))
    guard let identifier else { return try NINearbyAccessoryConfiguration(data: data) }
    return try NINearbyAccessoryConfiguration(
      accessoryData: data, bluetoothPeerIdentifier: identifier)
  }

  func deliver(_ how: Delivery) { delivery.withLock { $0 = how } }

  /// Delivers shareable data in the current way.
  func take(_ data: Data) async throws {
    let bytes = [UInt8](data)
    let sent: [[UInt8]] =
      switch delivery.withLock({ $0 }) {
      case .whole: [bytes]
      case .lost: []
      case .twice: [bytes, bytes]
      case .truncated: [bytes.dropLast(5)]
      }
    for bytes in sent {
      try await channel.send(AppMessage.configureAndStart(bytes).bytes)
    }
  }

  /// Sends the app's stop, and waits until the accessory has stopped.
  func stop() async throws {
    let events = accessory.events
    try await channel.send(AppMessage.stop.bytes)
    for await case .stopped in events { break }
  }

  func close() async {
    await accessory.close()
    channel.close()
    await device.close()
  }
}

extension Recorder {
  /// Delivers all shareable data to an accessory, as a data channel does.
  func connect(to accessory: TestAccessory) {
    onEach { _, call in
      guard case .shareable(let data) = call else { return }
      Task { try await accessory.take(data) }
    }
  }
}

/// An app's session and an accessory, each with a chip, connected but not run yet.
struct SessionFixture {
  let chips: ChipFixture
  let accessory: TestAccessory
  let recorder = Recorder()
  let session: NISession

  init(
    _ chips: ChipFixture? = nil, role: SessionConfiguration.Role = .controller,
    interval: UInt16 = 20,
    core: SessionCore = SessionCore()
  ) async throws {
    self.chips = try chips ?? ChipFixture()
    accessory = try await TestAccessory(self.chips.others[0], role: role, interval: interval)
    recorder.connect(to: accessory)
    session = recorder.session(on: self.chips.path, core: core)
  }

  /// Runs the session with the accessory's current configuration data.
  @discardableResult
  func run(_ identifier: UUID? = nil) async throws -> NINearbyAccessoryConfiguration {
    let configuration = try await accessory.configuration(identifier)
    session.run(configuration)
    return configuration
  }

  /// The sessions on the app's chip, which this process has open.
  var sessions: UInt8? {
    get async throws {
      let key = DeviceRegistry.Key(.serial(path: FilePath(chips.path)))
      let device = try await DeviceRegistry.shared.acquire(key).get()
      defer { DeviceRegistry.shared.release(key) }
      return try await device.send(GetSessionCount()).count
    }
  }

  func end() async {
    await session.close()
    await accessory.close()
    chips.bench.stop()
  }
}

extension SessionCore {
  /// Handles rounds like a chip with these capabilities.
  func reports(
    of run: Int, _ capabilities: Capabilities = Capabilities([])
  ) -> RoundCallback {
    let estimator = InlineEstimator()
    let handle = estimates(of: run, AngleUse(capabilities))
    return { round in estimator.add(round, handle) }
  }
}
