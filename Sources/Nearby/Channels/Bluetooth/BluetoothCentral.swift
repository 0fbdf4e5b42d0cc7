// SPDX-License-Identifier: Apache-2.0
internal import Bluetooth
public import FoundationEssentials
internal import System

/// An accessory that was found over Bluetooth LE.
public struct BluetoothAccessory: Sendable, Hashable {
  /// The name; nil if none has been received yet.
  public let name: String?
  /// The address. Some accessories change it unless they are paired.
  public let address: String
  /// The strength of the last advertisement in dBm; nil if out of range or unknown.
  public let signalStrength: Int?
  /// Whether this machine and the accessory have stored keys.
  public let isPaired: Bool
  /// The identity of the accessory, comparable to Core Bluetooth's identifier.
  ///
  /// It does not change while the two are paired, even if the address would change otherwise. It
  /// contains the addresses of the accessory and of this machine's adapter.
  public let identifier: UUID

  /// Whether advertisements of the accessory are received now.
  package let isHeard: Bool
  /// The services that the accessory is known to have.
  let services: Set<BluetoothUUID>
  let device: BluetoothDeviceID
}

/// A central that finds accessories over Bluetooth LE and connects to them, as an app does.
///
/// ```swift
/// let central = try await BluetoothCentral.open()
/// for await found in try await central.accessories() where found.name == "Door" {
///   let channel = try await central.connect(to: found)
///   try await channel.send(AppMessage.initialize.bytes)
///   …
/// }
/// await central.close()
/// ```
///
/// Accessories offer the Nordic UART Service or Qorvo's QNIS. bluetoothd and libsystemd are needed
/// at run time.
public final class BluetoothCentral: Sendable {
  private let bluetooth: Bluetooth
  private let adapter: BluetoothAdapter
  /// The services to look for.
  private let services: [BluetoothService]
  /// The connections that were made here, and pending disconnections, which take two seconds.
  private let links = Locked<[BluetoothDeviceID: Link]>([:])
  private enum Link { case connected, leaving(Task<Void, Never>) }

  private init(
    _ bluetooth: Bluetooth, _ adapter: BluetoothAdapter, _ service: BluetoothService?
  ) {
    (self.bluetooth, self.adapter) = (bluetooth, adapter)
    services = service.map { [$0] } ?? PeripheralServices.channels
  }

  /// Opens an adapter, and switches it on if it was off.
  ///
  /// - Parameter adapter: the name, such as `hci0`, or the address; nil for the first adapter
  ///   that can connect to accessories.
  /// - Throws: `ChannelError` with the code `.bluetooth`.
  public static func open(adapter: String? = nil) async throws(ChannelError) -> BluetoothCentral {
    try await open(adapter: adapter, bus: nil)
  }

  /// Opens an adapter on a bus, and switches it on if it was off.
  ///
  /// - Parameters:
  ///   - bus: the D-Bus address of the bus; nil for the system bus.
  ///   - service: the service to look for; nil for the services of accessories.
  package static func open(
    adapter: String? = nil, bus: String?, service: BluetoothService? = nil
  ) async throws(ChannelError) -> BluetoothCentral {
    do throws(BluetoothError) {
      let bluetooth = try await Bluetooth.open(bus: bus)
      do throws(BluetoothError) {
        return BluetoothCentral(
          bluetooth, try await bluetooth.adapter(adapter, for: .central), service)
      } catch {
        await bluetooth.close()
        throw error
      }
    } catch {
      throw ChannelError(.bluetooth(error))
    }
  }

  /// Scans for accessories until the task is cancelled or the stream is dropped.
  ///
  /// The stream yields an accessory when its advertisement is received and when one of its values
  /// changes. It also yields paired or connected accessories that are not received, because they
  /// need not advertise.
  ///
  /// - Throws: `ChannelError` with the code `.bluetooth`.
  public func accessories() async throws(ChannelError) -> AsyncStream<BluetoothAccessory> {
    do throws(BluetoothError) { return try await scan() } catch {
      throw ChannelError(.bluetooth(error))
    }
  }

  @BluetoothActor private func scan() async throws(BluetoothError)
    -> AsyncStream<BluetoothAccessory>
  {
    let services = PeripheralServices.advertised.union(self.services.map(\.uuid))
    let found = try await bluetooth.scan(for: services, on: adapter)
    let (stream, continuation) = AsyncStream<BluetoothAccessory>.makeStream()
    for device in bluetooth.devices
    where !device.isHeard && (device.isBonded || device.isConnected)
      && !services.isDisjoint(with: device.services)
      && bluetooth.adapter(of: device)?.address == adapter.address
    {
      continuation.yield(BluetoothAccessory(device, on: adapter))
    }
    let forwarding = Task { [adapter] in
      for await device in found {
        continuation.yield(BluetoothAccessory(device, on: adapter))
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in forwarding.cancel() }
    return stream
  }

  /// Returns whether an accessory is known to have a service that this object looks for. An
  /// adapter with few advertisements omits some services.
  package func isSuitable(_ accessory: BluetoothAccessory) -> Bool {
    !accessory.services.isDisjoint(
      with: services.count == 1 ? [services[0].uuid] : PeripheralServices.advertised)
  }

  /// The address of this machine's adapter.
  package var ownAddress: String { adapter.address }

  /// A device that advertises data of the service, or a device that bluetoothd has removed.
  package enum Sighting: Sendable {
    case heard(BluetoothAccessory, data: [UInt8])
    case gone(BluetoothAccessory)
  }

  /// Scans for devices that advertise data of the service.
  ///
  /// The scan ends when the task is cancelled, the stream is dropped, or bluetoothd or the adapter
  /// is lost. The stream yields a device when its advertisement is received and when one of its
  /// values changes. It also reports a device about 30 seconds after its last advertisement.
  ///
  /// The scan is for all devices, not only for devices with the service. After a first connection,
  /// bluetoothd updates only the data of a device, not its services.
  ///
  /// - Throws: `ChannelError` with the code `.bluetooth`.
  @BluetoothActor package func sightings() async throws(ChannelError) -> AsyncStream<Sighting> {
    let found: AsyncStream<BluetoothDevice>
    // The adapter's number may have changed.
    let current = bluetooth.adapters.first { $0.address == adapter.address } ?? adapter
    let (stream, continuation) = AsyncStream<Sighting>.makeStream()
    bluetooth.handle = { [adapter] event in
      guard case .deviceRemoved(let device) = event, device.isKnown(to: current) else { return }
      continuation.yield(.gone(BluetoothAccessory(device, on: adapter)))
    }
    do throws(BluetoothError) {
      if !current.isPowered { try await bluetooth.powerOn(current) }
      found = try await bluetooth.scan(for: [], on: current)
    } catch {
      throw ChannelError(.bluetooth(error))
    }
    let forwarding = Task { @BluetoothActor [adapter, bluetooth, service = services[0].uuid] in
      for await device in found where device.isHeard && bluetooth.device(device.id) != nil {
        guard let data = device.serviceData[service] else { continue }
        continuation.yield(.heard(BluetoothAccessory(device, on: adapter), data: data))
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in forwarding.cancel() }
    return stream
  }

  /// Connects to an accessory.
  ///
  /// - Parameters:
  ///   - accessory: an accessory that this object has found.
  ///   - pairing: whether to pair as well, without a comparison, unless the two are paired already.
  /// - Returns: a channel in which each write and each notification is a message.
  /// - Throws: `ChannelError` with the code `.bluetooth`.
  public func connect(
    to accessory: BluetoothAccessory, pairing: Bool = false
  ) async throws(ChannelError) -> any DataChannel {
    let device = accessory.device
    // The disconnection has to end first: until then, bluetoothd reports the device as connected,
    // and ends that connection a little later.
    if case .leaving(let task)? = links.withLock({ $0[device] }) { await task.value }
    links.withLock { $0[device] = .connected }
    do throws(BluetoothError) {
      try await bluetooth.connect(device)
      if pairing { try await pair(with: device) }
      // A connected accessory may report the name of its machine instead of the advertised name.
      if pairing, !accessory.isPaired, let name = accessory.name {
        try? await bluetooth.rename(device, name)
      }
      return try await channel(to: device)
    } catch {
      await disconnect(device)
      throw ChannelError(.bluetooth(error))
    }
  }

  @BluetoothActor private func pair(with device: BluetoothDeviceID) async throws(BluetoothError) {
    // bluetoothd pairs only with an agent. An accessory on this machine keeps its own agent.
    let agent = try await bluetooth.allowPairing(isForAll: false) { $0.device == device }
    let outcome: Result<Void, BluetoothError>
    do throws(BluetoothError) {
      outcome = .success(try await bluetooth.pair(device))
    } catch {
      outcome = .failure(error)
    }
    await bluetooth.unregister(agent)
    try outcome.get()
  }

  @BluetoothActor private func channel(
    to device: BluetoothDeviceID
  ) async throws(BluetoothError) -> CentralChannel {
    let known = bluetooth.characteristics(of: device)
    for service in services {
      guard
        let input = known.first(where: { $0.service == service.uuid && $0.uuid == service.input }),
        let output = known.first(where: { $0.service == service.uuid && $0.uuid == service.output })
      else { continue }
      return CentralChannel(
        bluetooth, input, try await bluetooth.notifications(of: output)
      ) { [weak self] in await self?.disconnect(device) }
    }
    throw BluetoothError(.noCharacteristic(services[0].input))
  }

  private func disconnect(_ device: BluetoothDeviceID) async {
    let leaving: Task<Void, Never>? = links.withLock { links in
      switch links[device] {
      case nil: return nil
      case .leaving(let task)?: return task
      case .connected?:
        let task = Task { [bluetooth, links = self.links] in
          // bluetoothd keeps a connection after the program has exited. The call fails if there is
          // none.
          try? await bluetooth.disconnect(device)
          links.withLock { $0[device] = nil }
        }
        links[device] = .leaving(task)
        return task
      }
    }
    await leaving?.value
  }

  /// Ends every stream, and the connections that were made here. This takes two seconds.
  public func close() async {
    await bluetooth.endNotifications()
    for device in links.withLock({ Array($0.keys) }) { await disconnect(device) }
    await bluetooth.close()
  }
}

extension BluetoothAccessory {
  init(_ device: BluetoothDevice, on adapter: BluetoothAdapter) {
    self.init(
      name: device.name, address: device.address, signalStrength: device.rssi,
      isPaired: device.isBonded, identifier: Self.identifier(device, on: adapter),
      isHeard: device.isHeard, services: device.services, device: device.id)
  }

  /// Returns a UUID of version 8. It has the adapter's address, to which keys belong, not its
  /// number.
  static func identifier(_ device: BluetoothDevice, on adapter: BluetoothAdapter) -> UUID {
    func bytes(_ address: String) -> [UInt8] {
      let bytes = address.split(separator: ":").compactMap { UInt8($0, radix: 16) }
      return bytes.count == 6 ? bytes : [UInt8](repeating: 0, count: 6)
    }
    let (a, d) = (bytes(adapter.address), bytes(device.address))
    let kind: UInt8 = device.isRandom ? 1 : 0
    return UUID(
      uuid: (
        a[0], a[1], a[2], a[3], a[4], a[5], 0x80, kind, 0x80, 0, d[0], d[1], d[2], d[3], d[4], d[5]
      ))
  }
}

// Support of sessions in the background.
extension BluetoothCentral {
  /// Checks that an accessory is paired, connected, and offers configuration data.
  ///
  /// Any program may have connected it.
  ///
  /// - Parameters:
  ///   - isExpected: returns whether the app received the same data from this accessory before.
  ///   - bus: the D-Bus address of the bus; nil for the system bus.
  /// - Throws: `ChannelError` with the code `.bluetooth`.
  package static func confirm(
    _ identifier: UUID, bus: String? = nil, offers isExpected: @Sendable ([UInt8]) -> Bool
  ) async throws(ChannelError) {
    let bluetooth: Bluetooth
    do throws(BluetoothError) { bluetooth = try await Bluetooth.open(bus: bus) } catch {
      throw ChannelError(.bluetooth(error))
    }
    let outcome: Result<Void, ChannelError>
    do throws(ChannelError) {
      outcome = .success(try await confirm(identifier, bluetooth, offers: isExpected))
    } catch {
      outcome = .failure(error)
    }
    await bluetooth.close()
    try outcome.get()
  }

  @BluetoothActor private static func confirm(
    _ identifier: UUID, _ bluetooth: Bluetooth, offers isExpected: @Sendable ([UInt8]) -> Bool
  ) async throws(ChannelError) {
    let device = bluetooth.devices.first { device in
      bluetooth.adapter(of: device).map {
        BluetoothAccessory.identifier(device, on: $0) == identifier
      } ?? false
    }
    guard let device, device.isBonded else {
      throw ChannelError(.notPaired(device?.address ?? identifier.uuidString))
    }
    do throws(BluetoothError) {
      guard try await bluetooth.isReady(device.id) else {
        throw BluetoothError(.notConnected(device.address))
      }
      for characteristic in bluetooth.characteristics(of: device.id)
      where characteristic.service == PeripheralServices.nearbyInteraction {
        // The first read after pairing can fail in BlueZ.
        var value = try? await bluetooth.read(characteristic)
        if value == nil { value = try? await bluetooth.read(characteristic) }
        if let value, isExpected(value) { return }
      }
    } catch {
      throw ChannelError(.bluetooth(error))
    }
    throw ChannelError(.otherConfiguration(device.address))
  }
}

/// The app's end of a connection over Bluetooth LE.
private final class CentralChannel: DataChannel {
  let messages: AsyncStream<[UInt8]>
  /// nil, because a lost connection looks like a connection that the accessory has ended.
  let failure: ChannelError? = nil

  private let bluetooth: Bluetooth
  private let input: RemoteCharacteristic
  private let notifications: GATTNotifications
  private let disconnect: @Sendable () async -> Void

  init(
    _ bluetooth: Bluetooth, _ input: RemoteCharacteristic, _ notifications: GATTNotifications,
    disconnect: @escaping @Sendable () async -> Void
  ) {
    (self.bluetooth, self.input, self.notifications) = (bluetooth, input, notifications)
    self.disconnect = disconnect
    messages = notifications.values
  }

  func send(_ message: [UInt8]) async throws(ChannelError) {
    do throws(BluetoothError) {
      if input.flags.contains("write") {
        try await bluetooth.write(message, to: input)
      } else {
        try await bluetooth.writeWithoutResponse(message, to: input)
      }
    } catch {
      if case .notConnected = error.reason { throw .closed }
      throw ChannelError(.bluetooth(error))
    }
  }

  func close() {
    Task { @BluetoothActor [notifications, disconnect] in
      notifications.cancel()
      await disconnect()
    }
  }
}
