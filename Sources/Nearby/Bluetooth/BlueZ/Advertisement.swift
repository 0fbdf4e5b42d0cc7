// SPDX-License-Identifier: Apache-2.0

/// The contents and intervals of a Bluetooth LE advertisement.
package struct Advertisement: Sendable, Hashable {
  /// The service UUIDs. An advertisement has room for one UUID of 128 bits.
  package var services: [BluetoothUUID]
  /// The name in the scan response; nil for none.
  package var name: String?
  /// The service data by UUID. One UUID of 128 bits with ten bytes fits if `services` is empty.
  package var serviceData: [BluetoothUUID: [UInt8]] = [:]
  /// The advertising intervals in milliseconds: in the first 30 seconds, and afterwards. nil
  /// selects the kernel's default of 1.28 s.
  ///
  /// BlueZ 5.56 with Linux 5.11 applies them; earlier versions ignore them.
  package var intervals: (first: UInt32, then: UInt32)? {
    get { firstInterval.flatMap { first in thenInterval.map { (first, $0) } } }
    set { (firstInterval, thenInterval) = (newValue?.first, newValue?.then) }
  }
  private var firstInterval: UInt32? = 20
  /// The interval after 30 seconds; BlueZ rounds 153 down to 152.5 ms. Apple's Accessory Design
  /// Guidelines name both intervals.
  private var thenInterval: UInt32? = 153

  package init(services: [BluetoothUUID] = [], name: String? = nil) {
    self.services = services
    self.name = name
  }

  func properties(interval: UInt32?) -> [(String, DBusValue)] {
    var properties: [(String, DBusValue)] = [
      ("Type", .string("peripheral")),
      ("ServiceUUIDs", .strings(services.map(\.description))),
      ("Discoverable", .bool(true)),
    ]
    if serviceData.isEmpty { properties.append(("Includes", .strings(["tx-power"]))) }
    if let name { properties.append(("LocalName", .string(name))) }
    if !serviceData.isEmpty {
      let entries = serviceData.sorted { $0.key.description < $1.key.description }
      properties.append(
        ("ServiceData", .properties(entries.map { ($0.key.description, .bytes($0.value)) })))
    }
    if let interval {
      properties += [("MinInterval", .uint32(interval)), ("MaxInterval", .uint32(interval))]
    }
    return properties
  }
}

extension Bluetooth {
  /// Registers an advertisement, which lasts until `unregister`.
  ///
  /// Many controllers stop advertising when a central connects; see `readvertise`.
  ///
  /// - Throws: `BluetoothError`.
  package func advertise(
    _ advertisement: Advertisement, on adapter: BluetoothAdapter
  ) async throws(BluetoothError) -> Registration {
    let path = "/bluetooth/advertisement\(next())"
    let interval = Interval(advertisement.intervals?.first)
    connection.export(
      path,
      [
        DBusInterface(
          "org.bluez.LEAdvertisement1",
          properties: { advertisement.properties(interval: interval.value) },
          call: { [weak self] call in
            guard call.message.member == "Release" else { return call.failAsUnknown() }
            call.reply()
            self?.released(path)
          })
      ])
    do throws(BluetoothError) {
      return try await register(.advertisement, path, on: adapter) {
        bluetooth, adapter throws(BluetoothError) in
        guard let adapter else { return }
        interval.set(advertisement.intervals?.first)
        try await bluetooth.callAdvertising("RegisterAdvertisement", adapter, path)
        guard let slower = advertisement.intervals?.then else { return }
        interval.set(slower, after: .seconds(30)) { [weak bluetooth] in
          // bluetoothd applies the properties in this signal.
          bluetooth?.connection.emit(
            path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
            [
              .string("org.bluez.LEAdvertisement1"),
              .properties(["MinInterval": .uint32(slower), "MaxInterval": .uint32(slower)]),
              .strings([]),
            ])
        }
      } unregister: {
        Self.advertising("UnregisterAdvertisement", $0?.path ?? "/")
      }
    } catch {
      connection.withdraw(path)
      throw error
    }
  }

  /// Registers an advertisement again, beginning with its first interval.
  ///
  /// Call this after the advertisement has ended, or after a connection if more devices may
  /// connect.
  package func readvertise(_ registration: Registration) async throws(BluetoothError) {
    try await renew(registration)
  }

  @BluetoothActor private final class Interval {
    private(set) var value: UInt32?
    private var change: Task<Void, any Error>?

    nonisolated init(_ value: UInt32?) { self.value = value }

    deinit { change?.cancel() }

    func set(_ value: UInt32?) {
      change?.cancel()
      self.value = value
    }

    func set(
      _ value: UInt32, after time: Duration, changed: @escaping @BluetoothActor () -> Void
    ) {
      change = Task { @BluetoothActor [weak self] in
        try await Task.sleep(for: time)
        self?.value = value
        changed()
      }
    }
  }

  private nonisolated static func advertising(_ member: String, _ adapter: String) -> DBusMethod {
    DBusMethod("org.bluez", adapter, "org.bluez.LEAdvertisingManager1", member)
  }

  private func callAdvertising(
    _ member: String, _ adapter: BluetoothAdapter, _ path: String
  ) async throws(BluetoothError) {
    do throws(BluetoothError) {
      _ = try await connection.call(
        Self.advertising(member, adapter.path), [.path(path), .properties([])])
    } catch {
      switch error.reason {
      case .refused(_, "InvalidLength", _):
        throw BluetoothError(.advertisement("it is longer than 31 bytes"))
      case .refused(_, "NotPermitted", let text):
        // All advertising instances are in use.
        throw BluetoothError(.advertisement(text.isEmpty ? "too many are registered" : text))
      case .unsupported: throw BluetoothError(.noRole(adapter: adapter.name, .peripheral))
      default: throw error
      }
    }
  }
}
