// SPDX-License-Identifier: Apache-2.0
internal import Bluetooth
internal import System

/// A server of GATT services on one adapter, and the phones or peers that it serves.
@BluetoothActor final class PeripheralServer {
  private let report: @Sendable (BluetoothPeripheral.Event) -> Void
  private let bluetooth: Bluetooth
  private let adapter: BluetoothAdapter
  private let services: PeripheralServices
  /// The configuration data that was sent to the app of each phone.
  private let offered: Locked<[BluetoothDeviceID: [UInt8]]>
  private var channels: [BluetoothDeviceID: BluetoothChannel] = [:]
  private var connected: Set<BluetoothDeviceID> = []
  /// Phones that have subscribed, now or earlier.
  private var subscribers: Set<BluetoothDeviceID> = []
  /// Connected phones that were refused and already reported.
  private var refused: Set<BluetoothDeviceID> = []
  /// The address of each phone at its last subscription, or else at its connection.
  private var addresses: [BluetoothDeviceID: String] = [:]
  private let arrivals: AsyncStream<BluetoothChannel>
  private let arrival: AsyncStream<BluetoothChannel>.Continuation
  private var advertisements: [Bluetooth.Registration] = []
  private var readvertising: Task<Void, Never>?
  private var leaving: [Int: Task<Void, Never>] = [:]
  private var lastNumber = 0
  private var mustReadvertise = false
  private var isLost = false
  private var isClosed = false

  /// Whether phones can be served at once. BlueZ before 5.76 notifies every subscribed phone.
  private let servesSeveral: Bool

  /// The number of phones whose data is kept.
  private nonisolated static let capacity = 64

  /// Starts advertising.
  ///
  /// - Parameter offered: stores the configuration data that is sent to phones.
  init(
    _ peripheral: BluetoothPeripheral, _ services: PeripheralServices,
    _ offered: Locked<[BluetoothDeviceID: [UInt8]]> = Locked([:]),
    _ report: @escaping @Sendable (BluetoothPeripheral.Event) -> Void = { _ in }
  ) async throws(BluetoothError) {
    guard 1...29 ~= peripheral.name.utf8.count else {
      throw BluetoothError(.advertisement("the name does not have 1 to 29 bytes"))
    }
    (self.services, self.offered, self.report) = (services, offered, report)
    (arrivals, arrival) = AsyncStream.makeStream()
    let bluetooth = try await Bluetooth.open(bus: peripheral.bus)
    self.bluetooth = bluetooth
    do throws(BluetoothError) {
      adapter = try await bluetooth.adapter(peripheral.adapter, for: .peripheral)
    } catch {
      bluetooth.close()
      throw error
    }
    servesSeveral = adapter.version.map { $0 >= (5, 76) } ?? false
    connected = Set(bluetooth.devices.filter(\.isConnected).map(\.id))
    bluetooth.handle = { [weak self] in self?.take($0) }
    services.server.handle = { [weak self] in self?.take($0) ?? false }
    do throws(BluetoothError) {
      try await register(peripheral)
    } catch {
      bluetooth.close()
      throw error
    }
  }

  private func register(_ peripheral: BluetoothPeripheral) async throws(BluetoothError) {
    if !services.needsListeners {
      let pairing = peripheral.pairing
      _ = try await bluetooth.allowPairing { [weak bluetooth] request in
        switch pairing {
        case .allowed: return true
        case .refused: return false
        case .asked(let consent):
          return await consent(await bluetooth?.device(request.device)?.address ?? "")
        }
      }
    }
    _ = try await bluetooth.publish(services.server, on: adapter)
    for var advertisement in services.advertisements.prefix(max(1, adapter.advertisements ?? 1)) {
      advertisement.name = peripheral.name
      advertisements.append(try await bluetooth.advertise(advertisement, on: adapter))
    }
  }

  /// Serves phones until the task is cancelled or the server is closed.
  func run(_ serve: @escaping @Sendable (BluetoothChannel) async -> Void) async {
    report(.advertising(adapter: adapter.name))
    if !servesSeveral { report(.servesOnePhone) }
    await withDiscardingTaskGroup { group in
      // Skip phones that have disconnected; they would take the place of the next phone.
      for await channel in arrivals where channel.isOpen {
        group.addTask { await serve(channel) }
      }
      group.cancelAll()
    }
    readvertising?.cancel()
    // A link without a channel ends when its app gives up.
    bluetooth.close()
  }

  /// Stops advertising. The server ends when the last phone has disconnected.
  func close() async {
    isClosed = true
    for advertisement in advertisements { await bluetooth.unregister(advertisement) }
    if !channels.values.contains(where: \.isOpen) { arrival.finish() }
  }

  /// Ends the connections and the server.
  func end() async {
    isClosed = true
    for (device, channel) in channels where channel.end() { disconnect(device) }
    for task in leaving.values { await task.value }
    arrival.finish()
  }

  // MARK: phones

  private func take(_ event: GATTServer.Event) -> Bool {
    switch event {
    case .written(let input, let device, let message):
      guard !hasStaleSubscription(device) else {
        disconnect(device)
        return false
      }
      guard let output = services.outputs[input], let channel = channel(of: device, output) else {
        return false
      }
      return channel.take(message, answering: output)
    case .subscribed(let output, let device, _):
      if subscribers.count >= Self.capacity { subscribers.formIntersection(connected) }
      subscribers.insert(device)
      addresses[device] = bluetooth.device(device)?.address
      channels[device]?.subscribed(output)
      // It would also receive notifications meant for a phone without its own socket.
      if servesSeveral, !served(beside: device).allSatisfy(services.server.hasSocket) {
        refuse(device)
      }
    case .unsubscribed(_, let device):
      // The client program has exited, but the connection would stay.
      guard services.needsListeners, channels[device]?.end() == true else { break }
      disconnect(device)
    }
    return true
  }

  /// Returns whether a phone has changed its address since it subscribed, and would miss an answer.
  ///
  /// BlueZ (5.66, 5.82) keeps subscriptions by address, which changes when a phone pairs. The phone
  /// subscribes again when it connects again.
  private func hasStaleSubscription(_ device: BluetoothDeviceID) -> Bool {
    guard let address = addresses[device] else { return false }
    return bluetooth.device(device)?.address != address
  }

  /// Returns the phones that are served, without `device`.
  private func served(beside device: BluetoothDeviceID? = nil) -> [BluetoothDeviceID] {
    channels.filter { $0.key != device && $0.value.isOpen }.map(\.key)
  }

  /// Returns whether `device`, or if nil another phone, can be served beside the current phones.
  ///
  /// Several phones need a socket each: a notification to a phone without a socket reaches all.
  private func hasRoom(for device: BluetoothDeviceID? = nil) -> Bool {
    guard !isClosed else { return false }
    let phones = served(beside: device)
    return phones.isEmpty
      || servesSeveral
        && (phones + (device.map { [$0] } ?? [])).allSatisfy(services.server.hasSocket)
  }

  /// Returns the channel of a phone, which its first message creates; nil if the phone is refused.
  private func channel(
    of device: BluetoothDeviceID, _ output: GATTCharacteristic
  ) -> BluetoothChannel? {
    let known = channels[device].flatMap { $0.isOpen ? $0 : nil }
    if let known, services.server.hasSocket(device) || served(beside: device).isEmpty {
      return known
    }
    // A phone that is not connected would never be reported as disconnected.
    guard bluetooth.device(device)?.isConnected == true else { return nil }
    guard known == nil, hasRoom(for: device) else {
      refuse(device)
      return nil
    }
    let channel = BluetoothChannel(device, services.server, output) { [weak self] data in
      self?.keep(data, for: device)
    } disconnect: { [weak self] in
      self?.disconnect(device)
    }
    channels[device] = channel
    if servesSeveral, !services.server.hasSocket(device) {
      for other in connected where other != device && broadcast(for: device, reaches: other) {
        refuse(other)
      }
    }
    arrival.yield(channel)
    return channel
  }

  /// Returns whether a broadcast notification for `device` would also reach `other`.
  ///
  /// It reaches phones that have subscribed. BlueZ keeps the subscriptions of bonded phones from
  /// earlier connections. A phone without a bond gets its own socket.
  private func broadcast(
    for device: BluetoothDeviceID, reaches other: BluetoothDeviceID
  ) -> Bool {
    guard subscribers.contains(other) else { return false }
    let mustBePaired = services.server.hasSocket(other) ? device : other
    return bluetooth.device(mustBePaired)?.isBonded == true
  }

  private func refuse(_ device: BluetoothDeviceID) {
    guard refused.insert(device).inserted else { return }
    report(.refused(phone: device.address))
    disconnect(device)
  }

  private func keep(_ data: [UInt8], for device: BluetoothDeviceID) {
    offered.withLock { offered in
      if offered[device] == nil, offered.count >= Self.capacity {
        offered = offered.filter { channels[$0.key]?.isOpen == true }
      }
      offered[device] = data
    }
  }

  private func disconnect(_ device: BluetoothDeviceID) {
    lastNumber += 1
    let number = lastNumber
    leaving[number] = Task { [weak self, bluetooth] in
      do throws(BluetoothError) { try await bluetooth.disconnect(device) } catch {
        self?.refused.remove(device)
      }
      self?.leaving[number] = nil
    }
  }

  // MARK: bluetoothd

  private func take(_ event: Bluetooth.Event) {
    switch event {
    case .deviceChanged(let device):
      guard bluetooth.adapter(of: device)?.address == adapter.address else { return }
      if device.isConnected {
        if addresses[device.id] == nil { addresses[device.id] = device.address }
        guard connected.insert(device.id).inserted, servesSeveral else { break }
        let alone = served(beside: device.id).filter { !services.server.hasSocket($0) }
        if alone.contains(where: { broadcast(for: $0, reaches: device.id) }) {
          refuse(device.id)
        } else {
          // A connection ends the advertisement.
          readvertise()
        }
      } else {
        left(device.id)
      }
    case .deviceRemoved(let device): left(device.id)
    case .adapterRemoved(let gone) where gone.address == adapter.address && !isLost:
      isLost = true
      report(.lost)
    case .registered(let registration) where registration == advertisements.last:
      isLost = false
      // The adapter's number may have changed.
      let now = bluetooth.adapters.first { $0.address == adapter.address }
      report(.advertising(adapter: (now ?? adapter).name))
    case .registrationFailed(_, let error):
      report(.failed(AccessoryError(.bluetooth(error))))
    default: break
    }
  }

  private func left(_ device: BluetoothDeviceID) {
    refused.remove(device)
    // bluetoothd also reports devices that were never connected.
    guard connected.remove(device) != nil else { return }
    addresses[device] = nil
    services.server.left(device)
    channels.removeValue(forKey: device)?.end()
    for channel in channels.values { channel.othersLeft() }
    if isClosed, !channels.values.contains(where: \.isOpen) { arrival.finish() }
    // Refused phones find the advertisement after the served phone has disconnected.
    if hasRoom() { readvertise() }
  }

  /// Advertises again, beginning with the first interval.
  private func readvertise() {
    mustReadvertise = true
    guard readvertising == nil else { return }
    readvertising = Task { [weak self] in
      while let self, self.mustReadvertise, !Task.isCancelled {
        self.mustReadvertise = false
        for advertisement in self.advertisements {
          // `Bluetooth` retries after a failure.
          try? await self.bluetooth.readvertise(advertisement)
        }
      }
      self?.readvertising = nil
    }
  }
}

/// A listener for programs that connect over Bluetooth LE, as `SocketListener` is in networks.
package final class BluetoothListener: Sendable {
  /// The channels of programs that have sent a message, for one consumer. Ends with the listener.
  package let channels: AsyncStream<any DataChannel>
  private let server: PeripheralServer
  private let running: Task<Void, Never>

  /// Starts advertising under the peripheral's name. Clients need not pair.
  ///
  /// - Parameter data: the advertised data of the service, at most ten bytes.
  /// - Throws: `AccessoryError` with the code `.bluetooth`.
  package init(
    _ peripheral: BluetoothPeripheral, _ service: BluetoothService, data: [UInt8]
  ) async throws(AccessoryError) {
    let (channels, arrival) = AsyncStream<any DataChannel>.makeStream()
    self.channels = channels
    do throws(BluetoothError) {
      server = try await PeripheralServer(
        peripheral, PeripheralServices(service, data: data))
    } catch {
      throw AccessoryError(.bluetooth(error))
    }
    running = Task { [server] in
      await server.run { arrival.yield($0) }
      arrival.finish()
    }
  }

  /// Stops advertising. Connections stay.
  package func close() {
    Task { [server] in await server.close() }
  }

  /// Stops advertising, and ends the connections. This takes two seconds.
  package func end() async {
    await server.end()
    await running.value
  }
}
