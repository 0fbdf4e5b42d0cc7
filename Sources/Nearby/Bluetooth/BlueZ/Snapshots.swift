// SPDX-License-Identifier: Apache-2.0

/// A snapshot of a Bluetooth adapter.
package struct BluetoothAdapter: Sendable, Hashable {
  package enum Role: String, Sendable, Hashable { case central, peripheral }

  let path: String
  /// The name, such as `hci0`. It may change when an adapter is plugged in again; the address does
  /// not.
  package let name: String
  package let address: String
  package let isPowered: Bool
  package let roles: Set<Role>
  /// The number of advertisements that can be registered; nil if the adapter cannot advertise.
  package let advertisements: Int?
  /// The number of advertisements that are registered, by all programs.
  package let activeAdvertisements: Int
  private let modalias: String?
  /// The version of BlueZ, such as 5 and 66; nil if main.conf sets another device ID.
  package var version: (major: Int, minor: Int)? {
    // usb:v1D6Bp0246d0542 is the Linux Foundation's BlueZ 5.66.
    guard let text = modalias?.lowercased(), text.hasPrefix("usb:v1d6bp0246d"),
      text.utf8.count == 19, let number = Int(text.suffix(4), radix: 16)
    else { return nil }
    return (number >> 8, number & 0xFF)
  }

  init?(_ path: String, _ interfaces: [String: [String: DBusValue]]) {
    guard let properties = interfaces["org.bluez.Adapter1"],
      let address = properties["Address"]?.string
    else { return nil }
    self.path = path
    name = path.split(separator: "/").last.map(String.init) ?? path
    self.address = address
    isPowered = properties["Powered"]?.bool ?? false
    modalias = properties["Modalias"]?.string
    let manager = interfaces["org.bluez.LEAdvertisingManager1"]
    let active = manager?["ActiveInstances"]?.integer ?? 0
    activeAdvertisements = active
    // BlueZ counts free instances and instances in use.
    advertisements = manager.map { ($0["SupportedInstances"]?.integer ?? 1) + active }
    // BlueZ reports roles since 5.55.
    let roles = properties["Roles"]?.strings
    self.roles =
      roles.map { Set($0.compactMap(Role.init(rawValue:))) }
      ?? (manager == nil ? [.central] : [.central, .peripheral])
  }
}

/// The identity of a device on this machine: the path of bluetoothd's object.
///
/// It does not change when a phone with a private address pairs, nor over its later connections.
package struct BluetoothDeviceID: Sendable, Hashable, CustomStringConvertible {
  let path: String

  /// Creates an identity.
  ///
  /// - Parameter path: the path of bluetoothd's object.
  package init(path: String) { self.path = path }

  /// The last part of the path. It may contain an earlier address.
  package var description: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The address in the path, `AA:BB:…`: the first address that BlueZ saw.
  package var address: String {
    let name = description
    return (name.hasPrefix("dev_") ? String(name.dropFirst(4)) : name).replacing("_", with: ":")
  }
}

/// A snapshot of another Bluetooth device.
package struct BluetoothDevice: Sendable, Hashable, Identifiable {
  package let id: BluetoothDeviceID
  let adapterPath: String
  /// The address; the identity address once the device has been paired.
  package let address: String
  /// Whether the address is random rather than public.
  package let isRandom: Bool
  /// The alias on this machine, or else the advertised name; nil if there is neither.
  package let name: String?
  package let services: Set<BluetoothUUID>
  /// Whether its advertisements are received now.
  package let isHeard: Bool
  /// The strength of the last advertisement in dBm; nil if out of range or unknown.
  package let rssi: Int?
  package let serviceData: [BluetoothUUID: [UInt8]]
  package let isConnected: Bool
  package let isPaired: Bool
  /// Whether both sides have stored the keys.
  package let isBonded: Bool
  /// Whether it is connected and its services are resolved.
  package let isResolved: Bool

  init?(_ path: String, _ interfaces: [String: [String: DBusValue]]) {
    guard let properties = interfaces["org.bluez.Device1"],
      let adapter = properties["Adapter"]?.path, let address = properties["Address"]?.string
    else { return nil }
    id = BluetoothDeviceID(path: path)
    adapterPath = adapter
    self.address = address
    isRandom = properties["AddressType"]?.string == "random"
    // BlueZ sets the alias to the address if there is no name.
    let alias = properties["Alias"]?.string
    name = alias == address.replacing(":", with: "-") ? nil : alias ?? properties["Name"]?.string
    services = Set((properties["UUIDs"]?.strings ?? []).compactMap { BluetoothUUID($0) })
    let rssi = properties["RSSI"]?.integer
    isHeard = rssi != nil
    // Controllers report 127 if the strength is unknown.
    self.rssi = rssi == 127 ? nil : rssi
    serviceData = (properties["ServiceData"]?.entries ?? []).reduce(into: [:]) { data, entry in
      guard let uuid = entry.key.string.flatMap({ BluetoothUUID($0) }) else { return }
      data[uuid] = entry.value.content.bytes
    }
    isConnected = properties["Connected"]?.bool ?? false
    isPaired = properties["Paired"]?.bool ?? false
    // BlueZ reports the property since 5.65.
    isBonded = properties["Bonded"]?.bool ?? isPaired
    isResolved = properties["ServicesResolved"]?.bool ?? false
  }

  package func isKnown(to adapter: BluetoothAdapter) -> Bool { adapterPath == adapter.path }

  /// Returns whether `text` is the device's name or address.
  package func isCalled(_ text: String) -> Bool { text == name || text.uppercased() == address }
}

/// A characteristic of a connected device.
package struct RemoteCharacteristic: Sendable, Hashable {
  let path: String
  package let device: BluetoothDeviceID
  package let service: BluetoothUUID
  package let uuid: BluetoothUUID
  /// The flags of BlueZ: `read`, `write`, `notify`, and so on.
  package let flags: Set<String>
  /// The largest message in bytes, MTU − 3; nil if BlueZ does not report the MTU (before 5.62).
  package let messageLimit: Int?

  init?(_ path: String, _ objects: BlueZObjects) {
    guard let properties = objects[path]?["org.bluez.GattCharacteristic1"],
      let uuid = properties["UUID"]?.string.flatMap({ BluetoothUUID($0) }),
      let servicePath = properties["Service"]?.path,
      let service = objects[servicePath]?["org.bluez.GattService1"],
      let serviceUUID = service["UUID"]?.string.flatMap({ BluetoothUUID($0) }),
      let device = service["Device"]?.path
    else { return nil }
    self.path = path
    self.device = BluetoothDeviceID(path: device)
    self.service = serviceUUID
    self.uuid = uuid
    flags = Set(properties["Flags"]?.strings ?? [])
    messageLimit = properties["MTU"]?.integer.map { max(0, $0 - 3) }
  }
}
