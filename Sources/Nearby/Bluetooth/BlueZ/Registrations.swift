// SPDX-License-Identifier: Apache-2.0

/// The registrations of this program, and whether bluetoothd has them.
struct Registrations {
  struct Entry {
    let registration: Bluetooth.Registration
    /// The adapter's address; nil for agents, which serve all adapters.
    let adapter: String?
    let path: String
    let register:
      @BluetoothActor (Bluetooth, BluetoothAdapter?) async throws(BluetoothError) -> Void
    let unregister: @BluetoothActor (BluetoothAdapter?) -> DBusMethod
    fileprivate(set) var isRegistered = false
  }

  /// The state of the task that renews lost registrations.
  fileprivate enum Renewal {
    case idle, running
    /// A registration was lost while the task ran.
    case repeating
  }

  fileprivate var entries: [Entry] = []
  /// The number of times that bluetoothd or an adapter was lost.
  fileprivate var losses = 0
  fileprivate var renewal = Renewal.idle

  /// Marks the registrations on an adapter as lost; nil for all adapters.
  mutating func lose(on adapter: String? = nil) {
    losses += 1
    for index in entries.indices where adapter == nil || entries[index].adapter == adapter {
      entries[index].isRegistered = false
    }
  }

  mutating func removeAll() { entries = [] }

  fileprivate func index(of registration: Bluetooth.Registration) -> Int? {
    entries.firstIndex { $0.registration == registration }
  }
}

extension Bluetooth {
  /// Registers an object now, and again after each loss.
  func register(
    _ kind: Registration.Kind, _ path: String, on adapter: BluetoothAdapter?,
    _ register:
      @escaping @BluetoothActor (Bluetooth, BluetoothAdapter?) async throws(BluetoothError) -> Void,
    unregister: @escaping @BluetoothActor (BluetoothAdapter?) -> DBusMethod
  ) async throws(BluetoothError) -> Registration {
    let registration = Registration(kind: kind, number: next())
    let losses = registrations.losses
    try await register(self, adapter)
    registrations.entries.append(
      Registrations.Entry(
        registration: registration, adapter: adapter?.address, path: path, register: register,
        unregister: unregister, isRegistered: losses == registrations.losses))
    renewLost()
    return registration
  }

  /// Ends a registration. Does nothing if it has ended.
  package func unregister(_ registration: Registration) async {
    guard let index = registrations.index(of: registration) else { return }
    let entry = registrations.entries.remove(at: index)
    if entry.isRegistered {
      // The call fails if bluetoothd has already dropped the registration.
      _ = try? await connection.call(
        entry.unregister(entry.adapter.flatMap(adapter(address:))), [.path(entry.path)])
    }
    connection.withdraw(entry.path)
  }

  /// Registers an object again, such as an advertisement after a connection.
  func renew(_ registration: Registration) async throws(BluetoothError) {
    guard let index = registrations.index(of: registration) else { return }
    let entry = registrations.entries[index]
    let adapter = entry.adapter.flatMap(adapter(address:))
    _ = try? await connection.call(entry.unregister(adapter), [.path(entry.path)])
    do throws(BluetoothError) {
      try await entry.register(self, adapter)
    } catch {
      released(entry.path)
      throw error
    }
  }

  /// Marks the registration at `path` as ended by bluetoothd, and renews it after a pause.
  func released(_ path: String) {
    for index in registrations.entries.indices where registrations.entries[index].path == path {
      registrations.entries[index].isRegistered = false
    }
    Task { @BluetoothActor [weak self, pause] in
      try await Task.sleep(for: pause)
      self?.renewLost()
    }
  }

  private func adapter(address: String) -> BluetoothAdapter? {
    adapters.first { $0.address == address }
  }

  /// Renews the registrations that are lost, one after the other.
  func renewLost() {
    guard registrations.entries.contains(where: { !$0.isRegistered }), isRunning else { return }
    guard registrations.renewal == .idle else { return registrations.renewal = .repeating }
    registrations.renewal = .running
    Task { @BluetoothActor [weak self] in
      while let self {
        await self.registerLost()
        guard self.registrations.renewal == .repeating else { break }
        self.registrations.renewal = .running
      }
      self?.registrations.renewal = .idle
    }
  }

  private func registerLost() async {
    for entry in registrations.entries where !entry.isRegistered {
      let adapter = entry.adapter.flatMap(adapter(address:))
      let losses = registrations.losses
      // The adapter or bluetoothd may return later.
      guard entry.adapter == nil || adapter != nil, isRunning else { continue }
      do throws(BluetoothError) {
        if let adapter, !adapter.isPowered { try await powerOn(adapter) }
        do throws(BluetoothError) {
          try await entry.register(self, adapter)
        } catch {
          guard case .refused(_, "AlreadyExists", _) = error.reason else { throw error }
        }
        guard let index = registrations.index(of: entry.registration) else { continue }
        // bluetoothd may have replied just before it was lost.
        guard losses == registrations.losses else {
          registrations.renewal = .repeating
          continue
        }
        registrations.entries[index].isRegistered = true
        report(.registered(entry.registration))
      } catch {
        report(.registrationFailed(entry.registration, error))
        released(entry.path)
      }
    }
  }
}
