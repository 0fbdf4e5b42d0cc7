// SPDX-License-Identifier: Apache-2.0
import AccessoryProtocol
import Foundation
import Locking
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator

@testable import NearbyInteraction

/// Simulated chips on pseudo-terminals: one for the app's side, the others for accessories.
struct Stage {
  let bench: SimulatedBench
  let app: SimulatedBench.Chip
  let others: [SimulatedBench.Chip]
  /// A link to the app's chip that follows it when it is plugged in again.
  let path: String

  /// - Parameters:
  ///   - places: of the other chips; the app's is at the origin and looks along x.
  init(
    _ profile: ChipProfile = .qm33PDoA, app place: Placement = Placement(at: SIMD3(0, 0, 1)),
    others places: [SIMD3<Double>] = [SIMD3<Double>(3, 0, 1)], scene: Scene = Scene(seed: 11)
  ) throws {
    bench = SimulatedBench(scene: scene)
    app = try bench.add(profile: profile, placement: place)
    let bench = bench
    others = try places.map {
      try bench.add(profile: profile, placement: Placement(at: $0, yaw: 180))
    }
    path = "\(NSTemporaryDirectory())/ni-\(UUID().uuidString)"
    try app.link(at: path)
    bench.start()
  }

  /// Sessions on the app's chip when nobody has it open; it is not reset for that.
  func sessionsLeft() async throws -> UInt8? {
    var options = UWBDevice.Options()
    options.opening = .asFound
    let device = try await UWBDevice.open(.serial(path: FilePath(path)), options: options)
    let count = try await device.send(GetSessionCount()).count
    await device.close()
    return count
  }
}

/// A type of socket that no process that is started meanwhile keeps open.
let streamWithoutHeirs = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

/// An accessory that an app has a data channel to, and what the channel does to shareable data.
final class TestAccessory: Sendable {
  /// What becomes of shareable data on its way.
  enum Delivery: Sendable {
    case whole
    case lost
    case twice
    /// Without its last bytes.
    case truncated
  }

  let accessory: Accessory
  private let device: UWBDevice
  private let channel: SocketChannel
  /// The accessory's data of each `initialize`.
  private let offers: AsyncStream<[UInt8]>
  private let delivery = Locked(Delivery.whole)

  /// - Parameters:
  ///   - interval: of ranging, in milliseconds.
  init(
    _ chip: SimulatedBench.Chip, role: SessionConfiguration.Role = .controller,
    rate: AccessoryConfigurationData.UpdateRate = .userInteractive, interval: UInt16 = 20
  ) async throws {
    device = try await UWBDevice.open(.serial(path: FilePath(chip.path)))
    var options = Accessory.Options()
    options.role = role
    options.updateRate = rate
    // Version 2.0 lets an accessory say how it wants to be ranged with.
    options.version = .v20
    options.request = .init(slotsPerRound: 6, slotDuration: 2_400, interval: interval)
    accessory = try Accessory(device, options: options)
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, streamWithoutHeirs, 0, &ends) == 0)
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

  /// Sessions on the accessory's chip, as it counts them.
  var sessions: UInt8? { get async throws { try await device.send(GetSessionCount()).count } }

  /// Asks the accessory anew, as an app does that begins.
  func configuration() async throws -> NINearbyAccessoryConfiguration {
    try await channel.send(AppMessage.initialize.bytes)
    let data = await offers.first { _ in true }
    return try NINearbyAccessoryConfiguration(data: Data(try #require(data)))
  }

  func deliver(_ how: Delivery) { delivery.withLock { $0 = how } }

  /// Hands shareable data over, or what the channel makes of it.
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

  /// The app says stop, and waits until the accessory has.
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
  /// Hands each shareable data to an accessory, as a data channel would.
  func connect(to accessory: TestAccessory) {
    onEach { _, call in
      guard case .shareable(let data) = call else { return }
      Task { try await accessory.take(data) }
    }
  }
}

/// An app's session and an accessory, each with a chip, connected, and not run yet.
struct Encounter {
  let stage: Stage
  let accessory: TestAccessory
  let recorder = Recorder()
  let session: NISession

  init(
    _ stage: Stage? = nil, role: SessionConfiguration.Role = .controller, interval: UInt16 = 20,
    core: SessionCore = SessionCore()
  ) async throws {
    self.stage = try stage ?? Stage()
    accessory = try await TestAccessory(self.stage.others[0], role: role, interval: interval)
    recorder.connect(to: accessory)
    session = recorder.session(on: self.stage.path, core: core)
  }

  /// Runs the session with what the accessory says of itself now.
  @discardableResult
  func run() async throws -> NINearbyAccessoryConfiguration {
    let configuration = try await accessory.configuration()
    session.run(configuration)
    return configuration
  }

  /// Sessions on the app's chip, which this process has open.
  var sessions: UInt8? {
    get async throws {
      let place = DeviceRegistry.Place(.serial(path: FilePath(stage.path)))
      let device = try await DeviceRegistry.shared.acquire(place).get()
      defer { DeviceRegistry.shared.release(place) }
      return try await device.send(GetSessionCount()).count
    }
  }

  func end() async {
    await session.close()
    await accessory.close()
    stage.bench.stop()
  }
}

/// Does what waits for a chip away from the threads of Swift's tasks, which other tests need.
func waiting<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
{
  try await withCheckedThrowingContinuation { continuation in
    Thread { continuation.resume(with: Result(catching: body)) }.start()
  }
}
