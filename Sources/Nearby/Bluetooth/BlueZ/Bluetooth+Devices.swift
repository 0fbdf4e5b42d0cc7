// SPDX-License-Identifier: Apache-2.0

// MARK: adapters

extension Bluetooth {
  /// The adapters of this machine.
  package var adapters: [BluetoothAdapter] {
    objects.compactMap { BluetoothAdapter($0.key, $0.value) }.sorted { $0.name < $1.name }
  }

  /// Returns the adapters that have a name, such as `hci0`, or an address; nil for all.
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

  /// Returns an adapter for a role, and switches it on if it was off.
  ///
  /// - Parameters:
  ///   - name: the name, such as `hci0`, or the address; nil for the first adapter that has the
  ///     role.
  ///   - role: the role that the adapter must have.
  /// - Throws: `BluetoothError` if the adapter is missing, lacks the role, stays off, or is
  ///   blocked.
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
      // BlueZ before 5.66 reports rfkill as Failed.
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
  /// The devices that bluetoothd lists: connected, paired, or advertising in the last 30 seconds.
  package var devices: [BluetoothDevice] {
    objects.compactMap { BluetoothDevice($0.key, $0.value) }.sorted { $0.id.path < $1.id.path }
  }

  package func device(_ id: BluetoothDeviceID) -> BluetoothDevice? {
    objects[id.path].flatMap { BluetoothDevice(id.path, $0) }
  }

  /// Returns the adapter of a device; nil if the adapter was removed.
  package func adapter(of device: BluetoothDevice) -> BluetoothAdapter? {
    objects[device.adapterPath].flatMap { BluetoothAdapter(device.adapterPath, $0) }
  }

  /// Scans for devices that advertise one of `services`.
  ///
  /// The scan lasts until the task is cancelled or the stream is dropped. The stream yields a
  /// device when its advertisement is received and when one of its properties changes.
  ///
  /// A bonded device in range is yielded even without a matching service. bluetoothd caches the
  /// services of its last connection, which lack services that were stopped at that time.
  ///
  /// - Parameter services: the services to scan for; empty for all devices.
  package func scan(
    for services: Set<BluetoothUUID>, on adapter: BluetoothAdapter
  ) async throws(BluetoothError) -> AsyncStream<BluetoothDevice> {
    let number = next()
    let (stream, continuation) = AsyncStream<BluetoothDevice>.makeStream(
      bufferingPolicy: .bufferingNewest(1_024))
    @BluetoothActor func offer(_ device: BluetoothDevice?) {
      guard let device, device.adapterPath == adapter.path,
        services.isEmpty || !services.isDisjoint(with: device.services)
          || device.isBonded && device.isHeard
      else { return }
      continuation.yield(device)
    }
    let watch = watch { [weak self] change in
      guard let self, case .object(let path, let interface, _) = change else { return }
      if interface == "org.bluez.Device1" { offer(device(BluetoothDeviceID(path: path))) }
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
        // The call fails if the adapter was removed.
        try? await self?.updateDiscovery(adapter.path)
      }
    }
    // Yield the devices in range that bluetoothd already lists.
    for device in devices where device.isHeard { offer(device) }
    return stream
  }

  /// Removes unpaired devices whose services BlueZ would not learn again.
  ///
  /// BlueZ does not update the services of a device that has been connected or that disconnected
  /// before they were resolved. A scan for a service would never find it
  /// (github.com/bluez/bluez/issues/192).
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

  /// Starts, updates or stops discovery on an adapter according to its scans.
  private func updateDiscovery(_ adapter: String) async throws(BluetoothError) {
    let wanted = scans[adapter] ?? [:]
    guard !wanted.isEmpty, pausedDiscovery[adapter] == nil else {
      return try await discovery("StopDiscovery", adapter)
    }
    var filter: [(String, DBusValue)] = [
      ("Transport", .string("le")), ("DuplicateData", .bool(false)),
    ]
    // A scan for all devices needs a filter without UUIDs.
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
      // Discovery is already running, with the new filter, or has already stopped.
      case .refused("StartDiscovery", "InProgress", _), .refused("StopDiscovery", _, _): return
      case .refused("StartDiscovery", "NotReady", _):
        throw BluetoothError(.adapterOff(adapter.split(separator: "/").last.map(String.init) ?? ""))
      default: throw error
      }
    }
  }

  /// Connects to a device, and waits until its services are resolved.
  ///
  /// Scans on its adapter are paused meanwhile, because some controllers cannot scan and connect at
  /// once.
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
      // A link from before bluetoothd was started may still exist; it drops at the first attempt.
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
      // Resume the scans even if this task is cancelled.
      await Task { try? await updateDiscovery(device.adapterPath) }.value
    }
    try outcome.get()
  }

  /// Connects to a device without pausing scans.
  ///
  /// - Returns: false if the link dropped before the services were resolved.
  private func connectWithoutScan(
    _ id: BluetoothDeviceID, within limit: Duration
  ) async throws(BluetoothError) -> Bool {
    do throws(BluetoothError) {
      try await call(id, "Connect", within: limit)
    } catch {
      // A pending attempt would continue and block other connections, so end it.
      switch error.reason {
      case .refused(_, "AlreadyConnected", _): break
      // One cause of this error is a device that has lost its keys.
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

  /// Waits until the services of a connected device are resolved.
  ///
  /// - Returns: false if the device is not connected.
  package func isReady(
    _ id: BluetoothDeviceID, within limit: Duration = .seconds(30)
  ) async throws(BluetoothError) -> Bool {
    try await wait("Resolving the services", within: limit) { bluetooth throws(BluetoothError) in
      let device = try bluetooth.known(id)
      guard device.isConnected else { return false }
      return device.isResolved ? true : nil
    }
  }

  /// Disconnects a device, for all programs. This takes about two seconds.
  package func disconnect(_ id: BluetoothDeviceID) async throws(BluetoothError) {
    _ = try known(id)
    try await call(id, "Disconnect")
    try await wait("Disconnecting", within: .seconds(10)) { bluetooth throws(BluetoothError) in
      bluetooth.device(id)?.isConnected == true ? nil : ()
    }
  }

  /// Pairs with a connected device, and stores the keys. Does nothing if it is already paired.
  ///
  /// - Throws: `BluetoothError` with the reason `pairing` if the device, its user or `consent`
  ///   refuses.
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
    // The property changes after the reply.
    try await wait("Pairing", within: .seconds(5)) { bluetooth throws(BluetoothError) in
      try bluetooth.known(id).isPaired ? () : nil
    }
  }

  /// Sets the name of a device on this machine. BlueZ stores it with the keys.
  package func rename(_ id: BluetoothDeviceID, _ name: String) async throws(BluetoothError) {
    _ = try await connection.call(
      DBusMethod("org.bluez", id.path, "org.freedesktop.DBus.Properties", "Set"),
      [.string("org.bluez.Device1"), .string("Alias"), .variant(.string(name))])
  }

  /// The devices whose keys BlueZ has stored.
  package var bonds: [BluetoothDevice] { devices.filter(\.isBonded) }

  /// Removes a device and its keys, and disconnects it.
  ///
  /// A phone must forget this machine as well before the two can pair again.
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
