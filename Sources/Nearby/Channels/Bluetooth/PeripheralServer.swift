// SPDX-License-Identifier: Apache-2.0
package import Bluetooth
internal import System

/// A server of GATT services on one adapter, and the phones or peers that it serves.
@BluetoothActor package final class PeripheralServer {
  private let report: @Sendable (BluetoothPeripheral.Event) -> Void
  private let bluetooth: Bluetooth
  private let adapter: BluetoothAdapter
  private let services: PeripheralServices
  private struct Phone {
    var isConnected = false
    /// Whether the phone has subscribed, now or earlier.
    var hasSubscribed = false
    /// Whether the phone was refused, which is reported once.
    var isRefused = false
    /// The address of the phone at its last subscription, or else at its connection.
    var address: String?
    var channel: BluetoothChannel?

    var isServed: Bool { channel?.isOpen == true }
  }
  private var phones: [BluetoothDeviceID: Phone] = [:]
  private let arrivals: AsyncStream<BluetoothChannel>
  private let arrival: AsyncStream<BluetoothChannel>.Continuation
  private var advertisements: [Bluetooth.Registration] = []
  private var readvertising: Task<Void, Never>?
  private var disconnecting: [Int: Task<Void, Never>] = [:]
  private var lastNumber = 0
  private var mustReadvertise = false
  private var isLost = false
  private var isClosed = false

  /// Whether phones can be served at once. BlueZ before 5.76 notifies every subscribed phone.
  private let servesSeveral: Bool

  /// The number of phones that are kept after they have disconnected.
  private nonisolated static let capacity = 64

  /// Starts advertising.
  package init(
    _ peripheral: BluetoothPeripheral, _ services: PeripheralServices,
    _ report: @escaping @Sendable (BluetoothPeripheral.Event) -> Void = { _ in }
  ) async throws(BluetoothError) {
    guard 1...29 ~= peripheral.name.utf8.count else {
      throw BluetoothError(.advertisement("the name does not have 1 to 29 bytes"))
    }
    (self.services, self.report) = (services, report)
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
    for device in bluetooth.devices where device.isConnected {
      phones[device.id] = Phone(isConnected: true)
    }
    bluetooth.handle = { [weak self] in self?.handle($0) }
    services.server.handle = { [weak self] in self?.handle($0) ?? nil }
    do throws(BluetoothError) {
      try await register(peripheral)
    } catch {
      isClosed = true
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
  package func run(_ serve: @escaping @Sendable (BluetoothChannel) async -> Void) async {
    report(.advertising(adapter: adapter.name))
    if !servesSeveral { report(.servesOnePhone) }
    await withDiscardingTaskGroup { group in
      // Skip phones that have disconnected; they would take the place of the next phone.
      for await channel in arrivals where channel.isOpen {
        group.addTask { await serve(channel) }
      }
      group.cancelAll()
    }
    isClosed = true
    readvertising?.cancel()
    // The connection to BlueZ closes. A link without a channel remains until its app gives up.
    bluetooth.close()
  }

  /// Stops advertising. The server ends when the last phone has disconnected.
  func close() async {
    isClosed = true
    for advertisement in advertisements { await bluetooth.unregister(advertisement) }
    if served().isEmpty { arrival.finish() }
  }

  /// Ends the connections and the server.
  func end() async {
    isClosed = true
    for (device, phone) in phones where phone.channel?.end() == true { disconnect(device) }
    for task in disconnecting.values { await task.value }
    arrival.finish()
  }

  // MARK: phones

  private func handle(_ event: GATTServer.Event) -> ATTError? {
    switch event {
    case .written(let input, let device, let message):
      guard !hasStaleSubscription(device) else {
        disconnect(device)
        return .application(0x80)
      }
      guard let output = services.outputs[input], let channel = channel(of: device, output) else {
        return .application(0x80)
      }
      return channel.receive(
        message, answering: output, limit: services.longestMessage(to: input))
    case .subscribed(let output, let device, _):
      if phones.count >= Self.capacity {
        phones = phones.filter { $0.value.isConnected || $0.value.isServed }
      }
      phones[device, default: Phone()].hasSubscribed = true
      phones[device]?.address = bluetooth.device(device)?.address
      phones[device]?.channel?.subscribed(output)
      // The phone would also receive notifications meant for a phone without its own socket.
      if servesSeveral, !served(beside: device).allSatisfy(services.server.hasSocket) {
        refuse(device)
      }
    case .unsubscribed(_, let device):
      // The client program has exited, but the connection would stay.
      guard services.needsListeners, phones[device]?.channel?.end() == true else { break }
      disconnect(device)
    }
    return nil
  }

  /// Returns whether a phone has changed its address since it subscribed, and would miss an answer.
  ///
  /// BlueZ (5.66, 5.82) keeps subscriptions by address, which changes when a phone pairs. The phone
  /// subscribes again when it connects again.
  private func hasStaleSubscription(_ device: BluetoothDeviceID) -> Bool {
    guard let address = phones[device]?.address else { return false }
    return bluetooth.device(device)?.address != address
  }

  /// Returns the phones that are served, without `device`.
  private func served(beside device: BluetoothDeviceID? = nil) -> [BluetoothDeviceID] {
    phones.filter { $0.key != device && $0.value.isServed }.map(\.key)
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
    let known = phones[device].flatMap { $0.isServed ? $0.channel : nil }
    if let known, services.server.hasSocket(device) || served(beside: device).isEmpty {
      return known
    }
    // A phone whose channel has ended is about to be disconnected.
    guard phones[device]?.channel?.isOpen ?? true else { return nil }
    // A phone that is not connected would never be reported as disconnected.
    guard bluetooth.device(device)?.isConnected == true else { return nil }
    guard known == nil, hasRoom(for: device) else {
      refuse(device)
      return nil
    }
    let channel = BluetoothChannel(device, services.server, output) { [weak self] in
      self?.disconnect(device)
    }
    phones[device, default: Phone()].channel = channel
    if servesSeveral, !services.server.hasSocket(device) {
      for (other, phone) in phones
      where phone.isConnected && other != device && broadcast(for: device, reaches: other) {
        refuse(other)
      }
    }
    arrival.yield(channel)
    return channel
  }

  /// Returns whether a broadcast notification for `device` would also reach `other`.
  ///
  /// A broadcast reaches each phone that has subscribed. BlueZ keeps the subscriptions of bonded
  /// phones from earlier connections. A phone without a bond gets its own socket.
  private func broadcast(
    for device: BluetoothDeviceID, reaches other: BluetoothDeviceID
  ) -> Bool {
    guard phones[other]?.hasSubscribed == true else { return false }
    let mustBePaired = services.server.hasSocket(other) ? device : other
    return bluetooth.device(mustBePaired)?.isBonded == true
  }

  private func refuse(_ device: BluetoothDeviceID) {
    guard phones[device]?.isRefused != true else { return }
    phones[device, default: Phone()].isRefused = true
    report(.refused(phone: device.address))
    disconnect(device)
  }

  private func disconnect(_ device: BluetoothDeviceID) {
    lastNumber += 1
    let number = lastNumber
    disconnecting[number] = Task { [weak self, bluetooth] in
      do throws(BluetoothError) { try await bluetooth.disconnect(device) } catch {
        self?.phones[device]?.isRefused = false
        if let channel = self?.phones[device]?.channel, !channel.isOpen {
          self?.phones[device]?.channel = nil
        }
      }
      self?.disconnecting[number] = nil
    }
  }

  // MARK: bluetoothd

  private func handle(_ event: Bluetooth.Event) {
    switch event {
    case .deviceChanged(let device):
      guard bluetooth.adapter(of: device)?.address == adapter.address else { return }
      if device.isConnected {
        var phone = phones[device.id] ?? Phone()
        phone.address = phone.address ?? device.address
        let isNew = !phone.isConnected
        phone.isConnected = true
        phones[device.id] = phone
        guard isNew, servesSeveral else { break }
        let alone = served(beside: device.id).filter { !services.server.hasSocket($0) }
        if alone.contains(where: { broadcast(for: $0, reaches: device.id) }) {
          refuse(device.id)
        } else {
          // A connection ends the advertisement.
          readvertise()
        }
      } else {
        disconnected(device.id)
      }
    case .deviceRemoved(let device): disconnected(device.id)
    case .adapterRemoved(let gone) where gone.address == adapter.address && !isLost && !isClosed:
      isLost = true
      report(.lost)
    case .registered(let registration) where registration == advertisements.last:
      isLost = false
      // The adapter's number may have changed.
      let now = bluetooth.adapters.first { $0.address == adapter.address }
      report(.advertising(adapter: (now ?? adapter).name))
    case .registrationFailed(_, let error):
      report(.failed(ChannelError(.bluetooth(error))))
    default: break
    }
  }

  private func disconnected(_ device: BluetoothDeviceID) {
    phones[device]?.isRefused = false
    // bluetoothd also reports devices that were never connected.
    guard let phone = phones[device], phone.isConnected else { return }
    phones[device] = phone.hasSubscribed ? Phone(hasSubscribed: true) : nil
    services.server.disconnected(device)
    phone.channel?.end()
    for phone in phones.values { phone.channel?.othersDisconnected() }
    if isClosed, served().isEmpty { arrival.finish() }
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
  /// - Throws: `ChannelError` with the code `.bluetooth`.
  package init(
    _ peripheral: BluetoothPeripheral, _ service: BluetoothService, data: [UInt8]
  ) async throws(ChannelError) {
    let (channels, arrival) = AsyncStream<any DataChannel>.makeStream()
    self.channels = channels
    do throws(BluetoothError) {
      server = try await PeripheralServer(
        peripheral, PeripheralServices(service, data: data))
    } catch {
      throw ChannelError(.bluetooth(error))
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
