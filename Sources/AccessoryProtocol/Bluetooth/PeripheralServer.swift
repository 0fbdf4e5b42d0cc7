// SPDX-License-Identifier: Apache-2.0
internal import Bluetooth
internal import Locking

/// An accessory's services on one adapter, and the phones that use them.
@BluetoothActor final class PeripheralServer {
  private let accessory: Accessory
  private let report: @Sendable (BluetoothPeripheral.Event) -> Void
  private let bluetooth: Bluetooth
  private let adapter: BluetoothAdapter
  private let services: PeripheralServices
  /// Configuration data by phone, as its app was sent it.
  private let offered: Locked<[BluetoothDeviceID: [UInt8]]>
  private var channels: [BluetoothDeviceID: BluetoothChannel] = [:]
  private var connected: Set<BluetoothDeviceID> = []
  /// The address with which each phone has subscribed, or at least connected.
  private var addresses: [BluetoothDeviceID: String] = [:]
  private let arrivals: AsyncStream<BluetoothChannel>
  private let arrival: AsyncStream<BluetoothChannel>.Continuation
  private var advertisements: [Bluetooth.Registration] = []
  private var readvertising: Task<Void, Never>?
  private var mustReadvertise = false
  private var isLost = false

  /// BlueZ before 5.76 sends a notification to every phone that has subscribed.
  private let servesSeveral: Bool

  /// Phones whose data is kept.
  private nonisolated static let capacity = 64

  /// Begins to be found.
  init(
    _ peripheral: BluetoothPeripheral, _ accessory: Accessory,
    _ report: @escaping @Sendable (BluetoothPeripheral.Event) -> Void
  ) async throws(BluetoothError) {
    guard 1...29 ~= peripheral.name.utf8.count else {
      throw BluetoothError(.advertisement("the name has not 1 to 29 bytes"))
    }
    (self.accessory, self.report) = (accessory, report)
    let offered = Locked<[BluetoothDeviceID: [UInt8]]>([:])
    self.offered = offered
    services = PeripheralServices { [weak accessory] device in
      if let data = offered.withLock({ $0[device] }) { return .success(data) }
      // Its app has not asked yet.
      guard let data = try? accessory?.configurationData() else {
        return .failure(.application(0x80))
      }
      return .success(data.bytes)
    }
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
    let pairing = peripheral.pairing
    _ = try await bluetooth.allowPairing { [weak bluetooth] request in
      switch pairing {
      case .allowed: return true
      case .refused: return false
      case .asked(let consent):
        return await consent(await bluetooth?.device(request.device)?.address ?? "")
      }
    }
    _ = try await bluetooth.publish(services.server, on: adapter)
    // An advertisement holds one UUID of this length.
    for channel in PeripheralServices.channels.prefix(max(1, adapter.advertisements ?? 1)) {
      advertisements.append(
        try await bluetooth.advertise(
          Advertisement(services: [channel.uuid], name: peripheral.name), on: adapter))
    }
  }

  /// Serves phones until the task is cancelled.
  func run() async {
    report(.advertising(adapter: adapter.name))
    if !servesSeveral { report(.servesOnePhone) }
    let accessory = accessory
    await withDiscardingTaskGroup { group in
      // Those of phones that have left already would take the place of the next one.
      for await channel in arrivals where channel.isOpen {
        group.addTask { await accessory.serve(channel, as: channel.name) }
      }
      group.cancelAll()
    }
    readvertising?.cancel()
    // The links of phones that have no channel any more end with their app's patience.
    bluetooth.close()
  }

  // MARK: phones

  private func take(_ event: GATTServer.Event) -> Bool {
    switch event {
    case .written(let input, let device, let message):
      guard !isDeaf(device) else {
        disconnect(device)
        return false
      }
      guard let output = services.outputs[input], let channel = channel(of: device, output) else {
        return false
      }
      return channel.take(message, answering: output)
    case .subscribed(let output, let device, _):
      addresses[device] = bluetooth.device(device)?.address
      channels[device]?.subscribed(output)
    case .unsubscribed: break
    }
    return true
  }

  /// Whether a phone would not hear an answer. BlueZ 5.66 keeps subscriptions by address, and a phone has
  /// another one once it has paired. It subscribes again when it connects again.
  private func isDeaf(_ device: BluetoothDeviceID) -> Bool {
    guard !servesSeveral, let address = addresses[device] else { return false }
    return bluetooth.device(device)?.address != address
  }

  /// Whether another phone that comes is served.
  private var hasRoom: Bool { servesSeveral || !channels.values.contains(where: \.isOpen) }

  /// The channel of a phone, which begins with its first message; nil: it is not served.
  private func channel(
    of device: BluetoothDeviceID, _ output: GATTCharacteristic
  ) -> BluetoothChannel? {
    if let channel = channels[device], channel.isOpen { return channel }
    // Who is not connected would never leave.
    guard bluetooth.device(device)?.isConnected == true else { return nil }
    guard hasRoom else {
      report(.refused(phone: device.address))
      disconnect(device)
      return nil
    }
    let channel = BluetoothChannel(device, services.server, output) { [weak self] data in
      self?.keep(data, for: device)
    } disconnect: { [weak self] in
      self?.disconnect(device)
    }
    channels[device] = channel
    arrival.yield(channel)
    return channel
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
    let bluetooth = bluetooth
    Task { try? await bluetooth.disconnect(device) }
  }

  // MARK: bluetoothd

  private func take(_ event: Bluetooth.Event) {
    switch event {
    case .deviceChanged(let device):
      guard bluetooth.adapter(of: device)?.address == adapter.address else { return }
      if device.isConnected {
        if addresses[device.id] == nil { addresses[device.id] = device.address }
        // Advertising ends with a connection.
        if connected.insert(device.id).inserted, servesSeveral { readvertise() }
      } else {
        left(device.id)
      }
    case .deviceRemoved(let device): left(device.id)
    case .adapterRemoved(let gone) where gone.address == adapter.address && !isLost:
      isLost = true
      report(.lost)
    case .registered(let registration) where registration == advertisements.last:
      isLost = false
      // Its number may be another one.
      let now = bluetooth.adapters.first { $0.address == adapter.address }
      report(.advertising(adapter: (now ?? adapter).name))
    case .registrationFailed(_, let error):
      report(.failed(AccessoryError(.bluetooth(error))))
    default: break
    }
  }

  private func left(_ device: BluetoothDeviceID) {
    // bluetoothd also tells of those that were only heard.
    guard connected.remove(device) != nil else { return }
    addresses[device] = nil
    channels.removeValue(forKey: device)?.end()
    // Phones that were refused find it when the one that is served has left.
    if hasRoom { readvertise() }
  }

  /// Advertises anew, at first more often.
  private func readvertise() {
    mustReadvertise = true
    guard readvertising == nil else { return }
    readvertising = Task { [weak self] in
      while let self, self.mustReadvertise, !Task.isCancelled {
        self.mustReadvertise = false
        for advertisement in self.advertisements {
          // It is tried again by itself.
          try? await self.bluetooth.readvertise(advertisement)
        }
      }
      self?.readvertising = nil
    }
  }
}
