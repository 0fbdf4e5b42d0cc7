// SPDX-License-Identifier: Apache-2.0

// MARK: adapters

extension Bluetooth {
  /// The adapters of this machine.
  package var adapters: [BluetoothAdapter] {
    objects.compactMap { BluetoothAdapter($0.key, $0.value) }.sorted { $0.name < $1.name }
  }

  /// The adapters of a name, as `hci0`, or an address; nil: all.
  ///
  /// - Throws: `BluetoothError` with the reason `noAdapter` if there is none.
  package func adapters(named name: String?) throws(BluetoothError) -> [BluetoothAdapter] {
    let known = adapters
    let named = known.filter { adapter in
      name.map { $0 == adapter.name || $0.uppercased() == adapter.address } ?? true
    }
    guard !named.isEmpty else {
      throw BluetoothError(.noAdapter(name: name, known: known.map(\.name)))
    }
    return named
  }

  /// An adapter that can be used, switched on if it was off.
  ///
  /// - Parameters:
  ///   - name: its name, as `hci0`, or its address; nil: the first one that has the role.
  ///   - role: what it is to be used for.
  /// - Throws: `BluetoothError` that tells apart a missing adapter, one without the role, one that is
  ///   off, and one that is blocked.
  package func adapter(
    _ name: String? = nil, for role: BluetoothAdapter.Role
  ) async throws(BluetoothError) -> BluetoothAdapter {
    let named = try adapters(named: name)
    let able = named.filter {
      $0.roles.contains(role) && (role == .central || $0.advertisements != nil)
    }
    guard let adapter = able.first(where: \.isPowered) ?? able.first else {
      throw BluetoothError(.noRole(adapter: named[0].name, role))
    }
    if !adapter.isPowered { try await powerOn(adapter) }
    return adapter
  }

  package func powerOn(_ adapter: BluetoothAdapter) async throws(BluetoothError) {
    do throws(BluetoothError) {
      _ = try await connection.call(
        DBusMethod("org.bluez", adapter.path, "org.freedesktop.DBus.Properties", "Set"),
        [.string("org.bluez.Adapter1"), .string("Powered"), .variant(.bool(true))])
    } catch {
      guard case .refused(_, let name, _) = error.reason else { throw error }
      // Before 5.66 rfkill is told as Failed.
      let isBlocked = name == "Blocked" || isBlocked(adapter)
      throw BluetoothError(
        isBlocked ? .adapterBlocked(adapter.name) : .adapterOff(adapter.name))
    }
  }

  private func isBlocked(_ adapter: BluetoothAdapter) -> Bool {
    objects[adapter.path]?["org.bluez.Adapter1"]?["PowerState"]?.string == "off-blocked"
  }
}

// MARK: devices

extension Bluetooth {
  /// The devices that bluetoothd knows: heard in the last 30 seconds, connected, or paired.
  package var devices: [BluetoothDevice] {
    objects.compactMap { BluetoothDevice($0.key, $0.value) }.sorted { $0.id.path < $1.id.path }
  }

  package func device(_ id: BluetoothDeviceID) -> BluetoothDevice? {
    objects[id.path].flatMap { BluetoothDevice(id.path, $0) }
  }

  /// The adapter that knows a device; nil if it is gone.
  package func adapter(of device: BluetoothDevice) -> BluetoothAdapter? {
    objects[device.adapterPath].flatMap { BluetoothAdapter(device.adapterPath, $0) }
  }

  /// Looks for devices that advertise one of these services, until the task is cancelled or the
  /// stream is dropped. A device is told when it is heard, and again when one of its values changes; a
  /// paired one also if bluetoothd does not know that it offers the service. It keeps the services of the
  /// last connection, without those of a program that ended meanwhile.
  ///
  /// - Parameter services: empty: all devices.
  package func scan(
    for services: Set<BluetoothUUID>, on adapter: BluetoothAdapter
  ) async throws(BluetoothError) -> AsyncStream<BluetoothDevice> {
    let number = next()
    let (stream, continuation) = AsyncStream<BluetoothDevice>.makeStream(
      bufferingPolicy: .bufferingNewest(1_024))
    @BluetoothActor func tell(_ device: BluetoothDevice?) {
      guard let device, device.adapterPath == adapter.path,
        services.isEmpty || !services.isDisjoint(with: device.services)
          || device.isBonded && device.isHeard
      else { return }
      continuation.yield(device)
    }
    let watch = watch { [weak self] change in
      guard let self, case .object(let path, let interface, _) = change else { return }
      if interface == "org.bluez.Device1" { tell(device(BluetoothDeviceID(path: path))) }
      if path == adapter.path, objects[path]?["org.bluez.Adapter1"] == nil {
        continuation.finish()
      }
    }
    if !services.isEmpty { await forgetBroken(without: services, on: adapter.path) }
    scans[adapter.path, default: [:]][number] = services
    do throws(BluetoothError) {
      try await updateDiscovery(adapter.path)
    } catch {
      unwatch(watch)
      scans[adapter.path]?[number] = nil
      Task { try? await updateDiscovery(adapter.path) }
      throw error
    }
    continuation.onTermination = { [weak self] _ in
      Task { @BluetoothActor [weak self] in
        self?.unwatch(watch)
        guard self?.scans[adapter.path]?.removeValue(forKey: number) != nil else { return }
        // It fails if the adapter is gone.
        try? await self?.updateDiscovery(adapter.path)
      }
    }
    // Those that were heard before.
    for device in devices where device.isHeard { tell(device) }
    return stream
  }

  /// BlueZ does not learn again what a device advertises that was connected, or whose connection ended
  /// before its services were known (github.com/bluez/bluez/issues/192): no scan for a service would find
  /// it.
  private func forgetBroken(without services: Set<BluetoothUUID>, on adapter: String) async {
    for device in devices where device.adapterPath == adapter {
      let properties = objects[device.id.path]?["org.bluez.Device1"]
      guard services.isDisjoint(with: device.services), !device.isHeard, !device.isConnected,
        !device.isPaired,
        properties?["Trusted"]?.bool != true, properties?["Blocked"]?.bool != true
      else { continue }
      try? await removeBond(device.id)
    }
  }

  /// Starts or ends discovery, by the scans that want it.
  private func updateDiscovery(_ adapter: String) async throws(BluetoothError) {
    let wanted = scans[adapter] ?? [:]
    guard !wanted.isEmpty, pausedDiscovery[adapter] == nil else {
      return try await discovery("StopDiscovery", adapter)
    }
    var filter: [(String, DBusValue)] = [
      ("Transport", .string("le")), ("DuplicateData", .bool(false)),
    ]
    // One that wants all devices gets them.
    if wanted.values.allSatisfy({ !$0.isEmpty }) {
      let uuids = Set(wanted.values.joined()).map(\.description).sorted()
      filter.append(("UUIDs", .strings(uuids)))
    }
    try await discovery("SetDiscoveryFilter", adapter, [.properties(filter)])
    try await discovery("StartDiscovery", adapter)
  }

  private func discovery(
    _ member: String, _ adapter: String, _ arguments: [DBusValue] = []
  ) async throws(BluetoothError) {
    do throws(BluetoothError) {
      _ = try await connection.call(
        DBusMethod("org.bluez", adapter, "org.bluez.Adapter1", member), arguments)
    } catch {
      switch error.reason {
      // It goes on already, with the new filter; or it had ended.
      case .refused("StartDiscovery", "InProgress", _), .refused("StopDiscovery", _, _): return
      case .refused("StartDiscovery", "NotReady", _):
        throw BluetoothError(.adapterOff(adapter.split(separator: "/").last.map(String.init) ?? ""))
      default: throw error
      }
    }
  }

  /// Connects to a device, and learns its services. Scans on its adapter pause meanwhile, because not
  /// every controller can do both.
  ///
  /// - Throws: `BluetoothError`.
  package func connect(
    _ id: BluetoothDeviceID, within limit: Duration = .seconds(30)
  ) async throws(BluetoothError) {
    let device = try known(id)
    let isScanning = scans[device.adapterPath]?.isEmpty == false
    if isScanning {
      pausedDiscovery[device.adapterPath, default: 0] += 1
      try? await updateDiscovery(device.adapterPath)
    }
    let outcome: Result<Void, BluetoothError>
    do throws(BluetoothError) {
      // A link may be left over from before bluetoothd was started, and ends then.
      var attempts = 3
      while try await !connectWithoutScan(id, within: limit) {
        attempts -= 1
        if attempts == 0 { throw BluetoothError(.linkDropped(id.description)) }
      }
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    if isScanning {
      let left = (pausedDiscovery[device.adapterPath] ?? 1) - 1
      pausedDiscovery[device.adapterPath] = left > 0 ? left : nil
      // Also in a cancelled task.
      await Task { try? await updateDiscovery(device.adapterPath) }.value
    }
    try outcome.get()
  }

  /// - Returns: false if the link was gone before the services were known.
  private func connectWithoutScan(
    _ id: BluetoothDeviceID, within limit: Duration
  ) async throws(BluetoothError) -> Bool {
    do throws(BluetoothError) {
      try await call(id, "Connect", within: limit)
    } catch {
      // An attempt would go on, and keep others from connecting.
      switch error.reason {
      case .refused(_, "AlreadyConnected", _): break
      // What comes of keys that the device has no more, among others.
      case .refused(_, "Failed", "le-connection-abort-by-local") where device(id)?.isPaired == true:
        throw BluetoothError(.linkDropped(id.description))
      default:
        if [.cancelled, .timeout("Connect", limit)].contains(error.reason) {
          try? await call(id, "Disconnect")
        }
        throw error
      }
    }
    return try await isReady(id, within: limit)
  }

  /// Waits until the services of a device that is connected are known.
  ///
  /// - Returns: false if it is not connected.
  package func isReady(
    _ id: BluetoothDeviceID, within limit: Duration = .seconds(30)
  ) async throws(BluetoothError) -> Bool {
    try await wait("Learning the services", within: limit) { bluetooth throws(BluetoothError) in
      let device = try bluetooth.known(id)
      guard device.isConnected else { return false }
      return device.isResolved ? true : nil
    }
  }

  /// Ends the connection, for all programs. Takes some two seconds.
  package func disconnect(_ id: BluetoothDeviceID) async throws(BluetoothError) {
    _ = try known(id)
    try await call(id, "Disconnect")
    try await wait("Disconnecting", within: .seconds(10)) { bluetooth throws(BluetoothError) in
      bluetooth.device(id)?.isConnected == true ? nil : ()
    }
  }

  /// Pairs with a connected device, and keeps the keys. Does nothing if it is paired.
  ///
  /// - Throws: `BluetoothError` with the reason `pairing` when the device, its user or this side's
  ///   consent refused.
  package func pair(
    _ id: BluetoothDeviceID, within limit: Duration = .seconds(60)
  ) async throws(BluetoothError) {
    _ = try known(id)
    do throws(BluetoothError) {
      try await call(id, "Pair", within: limit)
    } catch {
      switch error.reason {
      case .refused(_, "AlreadyExists", _): break
      case .refused(_, let name, let text):
        throw BluetoothError(.pairing(text.isEmpty ? name : "\(name) (\(text))"))
      default: throw error
      }
    }
    // The property follows the answer.
    try await wait("Pairing", within: .seconds(5)) { bluetooth throws(BluetoothError) in
      try bluetooth.known(id).isPaired ? () : nil
    }
  }

  /// Gives a device a name on this machine, which stays with its keys.
  package func rename(_ id: BluetoothDeviceID, _ name: String) async throws(BluetoothError) {
    _ = try await connection.call(
      DBusMethod("org.bluez", id.path, "org.freedesktop.DBus.Properties", "Set"),
      [.string("org.bluez.Device1"), .string("Alias"), .variant(.string(name))])
  }

  /// The devices with which keys are kept.
  package var bonds: [BluetoothDevice] { devices.filter(\.isBonded) }

  /// Forgets a device and its keys, and disconnects it. A phone must forget this machine as well
  /// before they can pair again.
  package func removeBond(_ id: BluetoothDeviceID) async throws(BluetoothError) {
    let device = try known(id)
    _ = try await connection.call(
      DBusMethod("org.bluez", device.adapterPath, "org.bluez.Adapter1", "RemoveDevice"),
      [.path(id.path)])
  }

  private func known(_ id: BluetoothDeviceID) throws(BluetoothError) -> BluetoothDevice {
    guard let device = device(id) else { throw BluetoothError(.noDevice(id.description)) }
    return device
  }

  private func call(
    _ id: BluetoothDeviceID, _ member: String, within limit: Duration = .seconds(25)
  ) async throws(BluetoothError) {
    _ = try await connection.call(
      DBusMethod("org.bluez", id.path, "org.bluez.Device1", member), within: limit)
  }
}
