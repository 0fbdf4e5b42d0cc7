// SPDX-License-Identifier: Apache-2.0

/// The objects of bluetoothd, as they are known from its signals: interfaces with their properties by
/// path.
typealias BlueZObjects = [String: [String: [String: DBusValue]]]

/// A Bluetooth adapter, as it was when this value was made.
package struct BluetoothAdapter: Sendable, Hashable {
  package enum Role: String, Sendable, Hashable { case central, peripheral }

  let path: String
  /// `hci0`. It may change when an adapter is unplugged and plugged in again; the address does not.
  package let name: String
  package let address: String
  package let isPowered: Bool
  package let roles: Set<Role>
  /// How many advertisements can be registered; nil if it cannot advertise.
  package let advertisements: Int?
  /// How many advertisements are registered, by all programs.
  package let activeAdvertisements: Int
  private let modalias: String?
  /// The version of BlueZ, such as 5 and 66; nil where main.conf names another device.
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
    // Those in use, and those that are free.
    advertisements = manager.map { ($0["SupportedInstances"]?.integer ?? 1) + active }
    // BlueZ has them since 5.55.
    let roles = properties["Roles"]?.strings
    self.roles =
      roles.map { Set($0.compactMap(Role.init(rawValue:))) }
      ?? (manager == nil ? [.central] : [.central, .peripheral])
  }
}

/// Identifies a device on this machine: an object of bluetoothd. It stays the same when a phone with
/// a private address pairs, and over its later connections.
package struct BluetoothDeviceID: Sendable, Hashable, CustomStringConvertible {
  let path: String

  /// - Parameter path: of bluetoothd's object.
  package init(path: String) { self.path = path }

  /// The last part of the path. The address in it may be an earlier one.
  package var description: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The address in the path, `AA:BB:…`: the first one by which the device was known.
  package var address: String {
    let name = description
    return (name.hasPrefix("dev_") ? String(name.dropFirst(4)) : name).replacing("_", with: ":")
  }
}

/// Another Bluetooth device, as it was when this value was made.
package struct BluetoothDevice: Sendable, Hashable, Identifiable {
  package let id: BluetoothDeviceID
  let adapterPath: String
  /// The identity address, once the device has been paired.
  package let address: String
  /// Whether the address is random rather than public.
  package let isRandom: Bool
  /// What it is called on this machine, otherwise the name that it tells; nil if it was not heard.
  package let name: String?
  package let services: Set<BluetoothUUID>
  /// Whether its advertisements are heard now.
  package let isHeard: Bool
  /// The strength of the last advertisement, in dBm; nil if it is not heard now, or not known.
  package let rssi: Int?
  package let serviceData: [BluetoothUUID: [UInt8]]
  package let isConnected: Bool
  package let isPaired: Bool
  /// Whether both sides keep the keys.
  package let isBonded: Bool
  /// Whether its services are known, as long as it is connected.
  package let isResolved: Bool

  init?(_ path: String, _ interfaces: [String: [String: DBusValue]]) {
    guard let properties = interfaces["org.bluez.Device1"],
      let adapter = properties["Adapter"]?.path, let address = properties["Address"]?.string
    else { return nil }
    id = BluetoothDeviceID(path: path)
    adapterPath = adapter
    self.address = address
    isRandom = properties["AddressType"]?.string == "random"
    // BlueZ has the address there for want of a name.
    let alias = properties["Alias"]?.string
    name = alias == address.replacing(":", with: "-") ? nil : alias ?? properties["Name"]?.string
    services = Set((properties["UUIDs"]?.strings ?? []).compactMap { BluetoothUUID($0) })
    let rssi = properties["RSSI"]?.integer
    isHeard = rssi != nil
    // Controllers say 127 where they do not know.
    self.rssi = rssi == 127 ? nil : rssi
    serviceData = (properties["ServiceData"]?.entries ?? []).reduce(into: [:]) { data, entry in
      guard let uuid = entry.key.string.flatMap({ BluetoothUUID($0) }) else { return }
      data[uuid] = entry.value.content.bytes
    }
    isConnected = properties["Connected"]?.bool ?? false
    isPaired = properties["Paired"]?.bool ?? false
    // BlueZ has it since 5.65.
    isBonded = properties["Bonded"]?.bool ?? isPaired
    isResolved = properties["ServicesResolved"]?.bool ?? false
  }

  package func isKnown(to adapter: BluetoothAdapter) -> Bool { adapterPath == adapter.path }

  /// Whether a text is its name or its address.
  package func isCalled(_ text: String) -> Bool { text == name || text.uppercased() == address }
}

/// A characteristic of a connected device.
package struct RemoteCharacteristic: Sendable, Hashable {
  let path: String
  package let device: BluetoothDeviceID
  package let service: BluetoothUUID
  package let uuid: BluetoothUUID
  /// What BlueZ calls flags: `read`, `write`, `notify`, and so on.
  package let flags: Set<String>
  /// The bytes that one message can have; nil if BlueZ does not say it (before 5.62).
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
