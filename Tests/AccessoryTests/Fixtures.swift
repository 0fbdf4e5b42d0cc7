// SPDX-License-Identifier: Apache-2.0

import DriverTestSupport
import Accessory
import AccessoryProtocol
import Channels
import Glibc
import System
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator

/// The chips of one scene: the accessory's chip at the origin, the phones' chips 3, 4, … metres in
/// front of it.
struct ChipFixture {
  let bench: SimulatedBench
  let device: UWBDevice
  let phones: [UWBDevice]

  /// - Parameter recovery: whether the accessory's driver waits for a chip that was unplugged.
  init(
    _ profile: ChipProfile = .qm33PDoA, phones: [ChipProfile] = [.qm33PDoA],
    recovery: RecoveryPolicy? = nil
  ) async throws {
    bench = SimulatedBench(scene: Scene(seed: 11))
    let chip = try bench.add(profile: profile.initialised, at: SIMD3(0, 0, 0))
    let others = try phones.enumerated().map { [bench] index, profile in
      try bench.add(
        profile: profile, placement: Placement(at: SIMD3(3 + Double(index), 0, 0), yaw: 180))
    }
    bench.start()
    // The path stays the same when the chip is replugged. It cannot be named after the terminal's
    // number, which another test's chip may have while this one is unplugged.
    let path = "/tmp/uwb-test-\(UInt64.random(in: 0 ... .max))"
    try chip.link(at: path)
    device = try await UWBDevice.open(
      .serial(path: FilePath(path)), options: recovery.map { .init(recovery: $0) } ?? .patient)
    var devices: [UWBDevice] = []
    for other in others {
      devices.append(
        try await UWBDevice.open(.serial(path: FilePath(other.path)), options: .patient))
    }
    self.phones = devices
  }

  func end() async {
    for device in [device] + phones { await device.close() }
    bench.stop()
  }

  /// The number of sessions on the accessory's chip, as the chip reports it.
  func sessions() async throws -> UInt8? {
    try await device.send(GetSessionCount()).count
  }
}

extension Accessory.Options {
  /// The time-out is so long that no session ends for lack of measurements, even on an emulated or
  /// busy machine.
  static var patient: Self {
    var options = Self()
    options.inactivityTimeout = nil
    return options
  }
}

/// An accessory, and the first app that it serves.
struct AccessoryFixture {
  let chips: ChipFixture
  let accessory: Accessory
  /// The accessory's events from the beginning.
  let events: AsyncStream<Accessory.Event>
  var phone: TestApp

  /// - Parameters:
  /// - phones: The chips of apps; without any, the app only sends messages.
  /// - isAsked: Whether the app has already requested the configuration data.
  /// - clock: The clock of idle channels.
  init(
    _ profile: ChipProfile = .qm33PDoA, phones: [ChipProfile] = [],
    options: Accessory.Options = .patient, recovery: RecoveryPolicy? = nil, as name: String? = nil,
    isAsked: Bool = true, clock: AlarmClock = .system
  ) async throws {
    chips = try await ChipFixture(profile, phones: phones, recovery: recovery)
    accessory = try Accessory(chips.device, options: options, clock: clock)
    // An accessory keeps only the newest 256 events, and continues to measure while a test waits
    // for an event.
    let (all, continuation) = AsyncStream<Accessory.Event>.makeStream()
    let newest = accessory.events
    Task {
      for await event in newest { continuation.yield(event) }
      continuation.finish()
    }
    events = all
    phone = try TestApp(of: accessory, as: name)
    if isAsked { try await phone.initialize() }
  }

  /// Ranges on the phone's chip with `data`, which the accessory does not have yet.
  func rangeAlone(
    _ data: ShareableConfigurationData
  ) async throws -> (session: UWBSession, stream: RangingStream<RangingMeasurement>) {
    let session = try await phone.session(data, on: chips.phones[0])
    let stream = session.measurements()
    try await session.start()
    return (session, stream)
  }

  /// Ranges until the phone has distances.
  mutating func range() async throws -> (data: ShareableConfigurationData, session: UWBSession) {
    let data = try phone.shareable()
    let (session, stream) = try await rangeAlone(data)
    #expect(try await phone.configure(data) == .accessoryUwbDidStart)
    #expect(abs(try await meanDistance(stream) - 3) < 0.1)
    return (data, session)
  }

  /// Returns the next refusal of a message.
  func refusal() async -> AccessoryError? {
    await events.first { event in
      guard case .refused(_, let error) = event else { return nil }
      return error
    }
  }

  /// Returns the next reason for an end of ranging.
  func stop() async -> Accessory.StopReason? {
    await events.first { event in
      guard case .stopped(_, let reason) = event else { return nil }
      return reason
    }
  }

  func end() async {
    await accessory.close()
    await chips.end()
  }
}

/// An app on a phone, in single steps.
struct TestApp {
  let channel: SocketChannel
  var incoming: AsyncStream<[UInt8]>.Iterator
  var accessory: AccessoryConfigurationData?

  /// Connects by a socket to an accessory.
  init(of accessory: Accessory, as name: String? = nil) throws {
    var ends: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    let served = SocketChannel(FileDescriptor(rawValue: ends[1]))
    Task { await accessory.serve(served, as: name) }
    self.init(SocketChannel(FileDescriptor(rawValue: ends[0])))
  }

  init(_ channel: SocketChannel) {
    self.channel = channel
    incoming = channel.messages.makeAsyncIterator()
  }

  mutating func next() async throws -> AccessoryMessage? {
    guard let bytes = await incoming.next() else { return nil }
    return try AccessoryMessage(bytes)
  }

  mutating func initialize() async throws {
    try await channel.send(AppMessage.initialize.bytes)
    guard case .accessoryConfigurationData(let data) = try await next() else {
      Issue.record("no configuration data")
      return
    }
    accessory = try AccessoryConfigurationData(data)
  }

  /// Shareable data for the accessory, with a short interval.
  func shareable() throws -> ShareableConfigurationData {
    var data = ShareableConfigurationData.answering(try #require(accessory))
    data.interval = 20
    data.slotDuration = 2_400
    return data
  }

  /// The phone's end of the session.
  func session(
    _ data: ShareableConfigurationData, on device: UWBDevice
  ) async throws -> UWBSession {
    try await device.makeSession(
      try data.session(of: .app, with: try #require(accessory).uwb))
  }

  /// Sends the data and waits for the answer.
  mutating func configure(_ data: ShareableConfigurationData) async throws -> AccessoryMessage? {
    try await channel.send(AppMessage.configureAndStart(data.bytes).bytes)
    return try await next()
  }

  mutating func stop() async throws -> AccessoryMessage? {
    try await channel.send(AppMessage.stop.bytes)
    return try await next()
  }
}

extension AsyncStream {
  /// Returns the first non-nil result of `body` for an element.
  func first<Value>(_ body: (Element) -> Value?) async -> Value? {
    for await element in self {
      if let value = body(element) { return value }
    }
    return nil
  }
}

/// Returns the mean of the next measured distances, in metres.
func meanDistance(
  _ stream: RangingStream<RangingMeasurement>, of count: Int = 10
) async throws -> Double {
  var sum = 0.0
  var found = 0
  for try await measurement in stream {
    guard let centimetres = measurement.result.distanceCentimetres else { continue }
    sum += Double(centimetres) / 100
    found += 1
    if found == count { break }
  }
  return sum / Double(max(1, found))
}
