// SPDX-License-Identifier: Apache-2.0

/// What is advertised, and how often.
package struct Advertisement: Sendable, Hashable {
  /// The services. One of 128 bits fits into an advertisement.
  package var services: [BluetoothUUID]
  /// The name in the scan response; nil: none.
  package var name: String?
  /// 128 bits and ten bytes fit, without services.
  package var serviceData: [BluetoothUUID: [UInt8]] = [:]
  /// How often it is sent, in milliseconds, for the first 30 seconds and afterwards; nil: as often as
  /// the kernel likes, which is 1.28 s. BlueZ sets it where the kernel (5.11) and BlueZ (5.56) can, and
  /// ignores it elsewhere.
  package var intervals: (first: UInt32, then: UInt32)? {
    get { firstInterval.flatMap { first in thenInterval.map { (first, $0) } } }
    set { (firstInterval, thenInterval) = (newValue?.first, newValue?.then) }
  }
  private var firstInterval: UInt32? = 20
  /// BlueZ rounds 153 down to 152.5 ms. Apple's Accessory Design Guidelines name both intervals.
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
  /// Advertises until `unregister`. A central's connection ends the advertisement on many machines;
  /// see `readvertise`.
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
          // bluetoothd takes over what has changed.
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

  /// Advertises again, as often as at first: after a connection, if another device may come, and when
  /// it has ended.
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
        // All places are taken.
        throw BluetoothError(.advertisement(text.isEmpty ? "there are too many" : text))
      case .unsupported: throw BluetoothError(.noRole(adapter: adapter.name, .peripheral))
      default: throw error
      }
    }
  }
}
