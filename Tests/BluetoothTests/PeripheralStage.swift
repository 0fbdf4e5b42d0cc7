// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Accessory
import AccessoryProtocol
import Channels
import Bluetooth
import Foundation
import SystemPackage
import Testing
import UWB
import UWBSimulator

/// An accessory on a simulated chip, and phones that reach it over a bus. A stand-in on this bus
/// acts as bluetoothd.
@BluetoothActor final class Stage {
  let bench = SimulatedBench(scene: Scene(seed: 11))
  let chips: [UWBDevice]
  let accessory: Accessory
  let bus: PrivateBus
  private(set) var blueZ: FakeBlueZ
  let version: UInt16
  /// The events of the peripheral.
  let reports: AsyncStream<BluetoothPeripheral.Event>
  private let report: AsyncStream<BluetoothPeripheral.Event>.Continuation
  private var serving: Task<Void, any Error>?
  private var adapter = "hci0"
  private(set) var program = ""
  private var agent = ""
  /// The paths of the characteristics, by UUID.
  private(set) var paths: [String: String] = [:]

  static let uart = ("6e400002-b5a3-f393-e0a9-e50e24dcca9e", "6e400003-b5a3-f393-e0a9-e50e24dcca9e")
  static let qnis = ("2e93998a-6a61-11ed-a1eb-0242ac120002", "2e939af2-6a61-11ed-a1eb-0242ac120002")
  static let android = (
    "2e20eb71-02f9-40c8-b9f4-41d25140d007", "3b06f3b3-74ae-4707-9cf3-b00f38917946"
  )
  static let data = "95e8d9d5-d8ef-4721-9a4e-807375f53328"
  private static let characteristic = "org.bluez.GattCharacteristic1"

  init(
    version: UInt16 = 0x0552, options: Accessory.Options = .init(),
    pairing: BluetoothPeripheral.Pairing = .allowed
  ) async throws {
    self.version = version
    let own = try bench.add(profile: .qm33PDoA, placement: Placement(at: SIMD3(0, 0, 0)))
    let phone = try bench.add(
      profile: .qm33PDoA, placement: Placement(at: SIMD3(3, 0, 0), yaw: 180))
    bench.start()
    chips = [
      try await UWBDevice.open(.serial(path: FilePath(own.path)), options: .patient),
      try await UWBDevice.open(.serial(path: FilePath(phone.path)), options: .patient),
    ]
    accessory = try Accessory(chips[0], options: options)
    bus = try await PrivateBus()
    (reports, report) = AsyncStream.makeStream()
    blueZ = try await FakeBlueZ(bus)
    blueZ.adapter(version: version)
    var peripheral = BluetoothPeripheral(name: "Door", pairing: pairing)
    peripheral.bus = bus.address
    serving = Task { [accessory, report] in
      try await accessory.serve(peripheral) { report.yield($0) }
    }
    agent = try #require(await blueZ.called("RegisterAgent").body.first?.path)
    try await learn()
  }

  /// Reads the registrations of the accessory.
  private func learn() async throws {
    program = await blueZ.called("RegisterApplication").sender
    let objects = try #require(blueZ.applications.last)
    paths = Dictionary(objects.map { ($0.uuid, $0.path) }, uniquingKeysWith: { a, _ in a })
    for _ in 0..<3 { _ = await blueZ.called("RegisterAdvertisement") }
  }

  /// Kills bluetoothd and starts it again.
  /// - Parameter registered: whether this waits until the accessory has registered everything.
  func restartBlueZ(registered: Bool = true) async throws {
    blueZ.end()
    blueZ = try await FakeBlueZ(bus)
    blueZ.adapter(version: version)
    guard registered else { return _ = await blueZ.called("RegisterApplication") }
    agent = try #require(await blueZ.called("RegisterAgent").body.first?.path)
    try await learn()
  }

  /// Removes the adapter with its phones, and adds it with another number.
  func replugAdapter() async throws {
    blueZ.removeAll(below: "/org/bluez/\(adapter)")
    adapter = adapter == "hci0" ? "hci1" : "hci0"
    blueZ.adapter(adapter, version: version)
    try await learn()
  }

  func end() async {
    serving?.cancel()
    _ = await serving?.result
    report.finish()
    await accessory.close()
    for chip in chips { await chip.close() }
    bench.stop()
    blueZ.end()
  }

  // MARK: phones

  func connect(_ phone: String) {
    if !blueZ.knows(path(phone)) { blueZ.device(phone, on: adapter) }
    blueZ.change(path(phone), "org.bluez.Device1", "Connected", .bool(true))
  }

  func leave(_ phone: String) {
    blueZ.change(path(phone), "org.bluez.Device1", "Connected", .bool(false))
  }

  /// bluetoothd removes a phone, which may still be connected.
  func forget(_ phone: String) { blueZ.remove(path(phone)) }

  private func path(_ phone: String) -> String { "/org/bluez/\(adapter)/dev_\(phone)" }

  private func options(_ phone: String, mtu: UInt16 = 185) -> DBusValue {
    .properties([
      ("device", .path(path(phone))), ("mtu", .uint16(mtu)),
      ("link", .string("LE")),
    ])
  }

  func ask(
    _ uuid: String, _ member: String, _ arguments: [DBusValue]
  ) async throws -> [DBusValue] {
    try await blueZ.ask(
      program, try #require(paths[uuid]), Self.characteristic, member, arguments)
  }

  /// Subscribes, and returns the socket from which notifications are read.
  func subscribe(
    _ phone: String, _ uuid: String = uart.1, mtu: UInt16 = 185
  ) async throws -> OwnedDescriptor {
    let answer = try await ask(uuid, "AcquireNotify", [options(phone, mtu: mtu)])
    guard case .descriptor(let socket)? = answer.first else { throw BluetoothError(.notSubscribed) }
    return socket
  }

  func write(
    _ message: [UInt8], _ phone: String, _ uuid: String = uart.0, mtu: UInt16 = 185
  ) async throws {
    _ = try await ask(uuid, "WriteValue", [.bytes(message), options(phone, mtu: mtu)])
  }

  /// Returns the messages that the accessory sends to every subscribed phone, and not through the
  /// socket of one phone.
  func values() async throws -> AsyncStream<[UInt8]> {
    let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
    let output = try #require(paths[Self.uart.1])
    blueZ.connection.received = { message in
      guard message.path == output, message.member == "PropertiesChanged", message.body.count == 3,
        let value = message.body[1].properties?["Value"]?.bytes
      else { return }
      continuation.yield(value)
    }
    try await blueZ.connection.match("type='signal',sender='\(program)'")
    return stream
  }

  /// Asks the accessory whether a phone may pair.
  func authorize(_ phone: String) async throws {
    _ = try await blueZ.ask(
      program, agent, "org.bluez.Agent1", "RequestAuthorization", [.path(path(phone))])
  }

  static func configuration(_ bytes: [UInt8]) throws -> AccessoryConfigurationData {
    guard case .accessoryConfigurationData(let data) = try AccessoryMessage(bytes) else {
      throw AccessoryError(.emptyMessage)
    }
    return try AccessoryConfigurationData(data)
  }

  func read(_ phone: String) async throws -> [UInt8]? {
    try await ask(Self.data, "ReadValue", [options(phone)]).first?.bytes
  }
}

extension OwnedDescriptor {
  /// The next notification, on a thread of its own; nil at the end.
  func next() async -> [UInt8]? {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in
        var wanted = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        _ = poll(&wanted, 1, 50_000)
        var buffer = [UInt8](repeating: 0, count: 600)
        let count = recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        continuation.resume(returning: count > 0 ? Array(buffer[..<count]) : nil)
      }
    }
  }
}
