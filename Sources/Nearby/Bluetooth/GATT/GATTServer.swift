// SPDX-License-Identifier: Apache-2.0

/// A service that this machine offers.
package struct GATTService: Sendable {
  package let uuid: BluetoothUUID
  package let characteristics: [GATTCharacteristic]

  package init(_ uuid: BluetoothUUID, _ characteristics: [GATTCharacteristic]) {
    self.uuid = uuid
    self.characteristics = characteristics
  }
}

/// A characteristic that this machine offers. Two objects with one UUID are different
/// characteristics.
package final class GATTCharacteristic: Sendable, Hashable {
  /// An operation that devices may perform.
  package enum Access: String, Sendable {
    case read, write, notify, indicate
    case writeWithoutResponse = "write-without-response"
    /// An operation over an encrypted connection. Pairing without a comparison suffices.
    case encryptedRead = "encrypt-read"
    case encryptedWrite = "encrypt-write"
  }

  /// A function that returns the value for a device, or refuses to.
  package typealias Read = @Sendable (BluetoothDeviceID) -> Result<[UInt8], ATTError>

  package let uuid: BluetoothUUID
  package let access: [Access]
  fileprivate let read: Read

  /// Creates a characteristic.
  ///
  /// - Parameter read: called on the thread of `BluetoothActor`; it must not block.
  package init(
    _ uuid: BluetoothUUID, _ access: [Access],
    read: @escaping Read = { _ in .failure(.notPermitted) }
  ) {
    self.uuid = uuid
    self.access = access
    self.read = read
  }

  /// Whether devices may write. bluetoothd does not check characteristics without reads and writes.
  var acceptsWrites: Bool {
    !Set(access).isDisjoint(with: [.write, .writeWithoutResponse, .encryptedWrite])
  }

  package static func == (a: GATTCharacteristic, b: GATTCharacteristic) -> Bool { a === b }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// An error that a device receives if its read or write is refused.
package enum ATTError: Error, Sendable, Hashable {
  case notPermitted, invalidOffset, invalidLength, notAuthorized
  /// An error code of the application, 0x80 to 0x9F.
  case application(UInt8)

  var name: String {
    switch self {
    case .notPermitted: "org.bluez.Error.NotPermitted"
    case .invalidOffset: "org.bluez.Error.InvalidOffset"
    case .invalidLength: "org.bluez.Error.InvalidValueLength"
    case .notAuthorized: "org.bluez.Error.NotAuthorized"
    case .application: "org.bluez.Error.Failed"
    }
  }

  var text: String {
    if case .application(let code) = self { "0x" + String(code, radix: 16) } else { "" }
  }
}

/// The services that this machine offers in one application. Their handles follow their order.
@BluetoothActor package final class GATTServer {
  package enum Event: Sendable, Hashable {
    /// A device has written a value.
    case written(GATTCharacteristic, BluetoothDeviceID, [UInt8])
    /// A device has subscribed.
    ///
    /// BlueZ before 5.69 reports only the first device. BlueZ before 5.76 sends each notification
    /// to every subscribed device.
    case subscribed(GATTCharacteristic, BluetoothDeviceID, messageLimit: Int)
    /// A device has unsubscribed, or bluetoothd was lost.
    case unsubscribed(GATTCharacteristic, BluetoothDeviceID)
  }

  package nonisolated let services: [GATTService]
  /// A handler of events, which returns an error to refuse a write.
  ///
  /// It and `Bluetooth.handle` are called in the order of the messages on the bus. BlueZ confirms
  /// writes to a characteristic with `writeWithoutResponse` before this program receives them, so
  /// that the device never receives the error: disconnect a device whose write was refused.
  package var handle: @BluetoothActor (Event) -> ATTError? = { _ in nil }

  private struct Subscription {
    let number: Int
    let socket: PacketSocket
    let messageLimit: Int
  }
  private struct Phone {
    var subscriptions: [GATTCharacteristic: Subscription] = [:]
    /// The largest notification in bytes, from the MTU of the last write.
    var limit: Int?
  }
  private var phones: [BluetoothDeviceID: Phone] = [:]
  private var lastNumber = 0
  /// Whether BlueZ has one socket for all devices, as before 5.69.
  fileprivate var sharesSockets = true
  /// A function that reports a changed value to bluetoothd, which notifies every subscribed device.
  fileprivate var notifyAll: @BluetoothActor (_ path: String, [UInt8]) -> Void = { _, _ in }

  package nonisolated init(_ services: [GATTService]) { self.services = services }

  isolated deinit {
    for phone in phones.values {
      for subscription in phone.subscriptions.values { subscription.socket.close() }
    }
  }

  /// Notifies a device of a value.
  ///
  /// - Throws: `BluetoothError` with the reason `messageSize` if the value does not fit; nothing
  ///   is sent.
  package func notify(
    _ value: [UInt8], _ characteristic: GATTCharacteristic, to device: BluetoothDeviceID
  ) throws(BluetoothError) {
    guard let subscription = subscription(characteristic, device) else {
      throw BluetoothError(.notSubscribed)
    }
    let limit = limit(device, subscription)
    guard value.count <= limit else {
      throw BluetoothError(.messageSize(bytes: value.count, limit: limit))
    }
    try subscription.socket.send(value)
  }

  /// Notifies a device that has no socket, through a notification to all subscribed devices.
  ///
  /// Sends nothing if another device has subscribed, which would receive the value as well. The
  /// value is lost if `device` has not subscribed.
  ///
  /// BlueZ (5.82) keeps the subscription of a bonded device that disconnects, but not its socket.
  /// It does not request another socket when the device subscribes again. BlueZ 5.78 to 5.83 closes
  /// the wrong socket when one of several devices without a bond disconnects (bluez/bluez#1452).
  ///
  /// - Returns: false if another device has subscribed.
  /// - Throws: as `notify(_:_:to:)`.
  package func notifyWithoutSocket(
    _ value: [UInt8], _ characteristic: GATTCharacteristic, to device: BluetoothDeviceID
  ) throws(BluetoothError) -> Bool {
    let isAlone = phones.allSatisfy { $0 == device || $1.subscriptions[characteristic] == nil }
    guard isAlone else { return false }
    let limit = phones[device]?.limit ?? Self.messageLimit([:])
    guard value.count <= limit else {
      throw BluetoothError(.messageSize(bytes: value.count, limit: limit))
    }
    for (number, service) in services.enumerated() {
      guard let index = service.characteristics.firstIndex(of: characteristic) else { continue }
      notifyAll(Self.path(service: number) + Self.path(characteristic: index), value)
    }
    return true
  }

  /// Returns whether a device has its own socket, whose notifications reach only this device.
  package func hasSocket(_ device: BluetoothDeviceID) -> Bool {
    phones[device]?.subscriptions.isEmpty == false
  }

  /// Closes the sockets of a device that has disconnected, before bluetoothd closes its ends.
  package func disconnected(_ device: BluetoothDeviceID) {
    guard !sharesSockets, let phone = phones.removeValue(forKey: device) else { return }
    for subscription in phone.subscriptions.values { subscription.socket.close() }
  }

  /// Returns the largest notification to a device.
  ///
  /// The MTU of a connection can grow after the subscription. A shared socket has the MTU of the
  /// device that subscribed first.
  private func limit(_ device: BluetoothDeviceID, _ subscription: Subscription) -> Int {
    let written = phones[device]?.limit
    return sharesSockets
      ? written ?? subscription.messageLimit : max(written ?? 0, subscription.messageLimit)
  }

  private func subscription(
    _ characteristic: GATTCharacteristic, _ device: BluetoothDeviceID
  ) -> Subscription? {
    let own = phones[device]?.subscriptions[characteristic]
    guard own == nil, sharesSockets else { return own }
    let known = phones.values.compactMap { $0.subscriptions[characteristic] }
    return known.count == 1 ? known[0] : nil
  }

  // MARK: bluetoothd's calls

  /// Returns the objects below a path, in the order of their handles.
  fileprivate func objects(below root: String) -> [(path: String, interfaces: [DBusInterface])] {
    var objects: [(path: String, interfaces: [DBusInterface])] = [(root, [])]
    for (number, service) in services.enumerated() {
      let servicePath = root + Self.path(service: number)
      objects.append(
        (
          servicePath,
          [
            DBusInterface(
              "org.bluez.GattService1",
              properties: {
                [("UUID", .string(service.uuid.description)), ("Primary", .bool(true))]
              })
          ]
        ))
      for (number, characteristic) in service.characteristics.enumerated() {
        objects.append(
          (
            servicePath + Self.path(characteristic: number),
            [
              DBusInterface(
                "org.bluez.GattCharacteristic1",
                properties: { Self.properties(characteristic, servicePath) },
                call: { [weak self] in self?.answer($0, characteristic) })
            ]
          ))
      }
    }
    return objects
  }

  private static func path(service: Int) -> String { "/service\(service)" }
  private static func path(characteristic: Int) -> String { "/characteristic\(characteristic)" }

  private static func properties(
    _ characteristic: GATTCharacteristic, _ service: String
  ) -> [(String, DBusValue)] {
    var properties: [(String, DBusValue)] = [
      ("UUID", .string(characteristic.uuid.description)), ("Service", .path(service)),
      ("Flags", .strings(characteristic.access.map(\.rawValue))),
    ]
    if characteristic.access.contains(where: { $0 == .notify || $0 == .indicate }) {
      // Enables AcquireNotify, which has one socket for each device since BlueZ 5.69.
      properties.append(("NotifyAcquired", .bool(false)))
    }
    return properties
  }

  private func answer(_ call: DBusCall, _ characteristic: GATTCharacteristic) {
    let body = call.message.body
    let options = body.last?.properties ?? [:]
    let offset = options["offset"]?.integer ?? 0
    guard let device = options["device"]?.path.map({ BluetoothDeviceID(path: $0) }) else {
      // BlueZ 5.66 calls StopNotify and Confirm without options.
      switch call.message.member {
      case "StartNotify", "StopNotify", "Confirm": return call.reply()
      default: return call.fail("org.bluez.Error.InvalidArguments", "The device is missing.")
      }
    }
    func refuse(_ error: ATTError) { call.fail(error.name, error.text) }
    switch call.message.member {
    case "ReadValue":
      switch characteristic.read(device) {
      case .success(let value):
        guard (0...value.count).contains(offset) else { return refuse(.invalidOffset) }
        call.reply([.bytes(Array(value[offset...]))])
      case .failure(let error): refuse(error)
      }
    case "WriteValue":
      guard characteristic.acceptsWrites else { return refuse(.notPermitted) }
      guard let value = body.first?.bytes else { return refuse(.invalidLength) }
      // bluetoothd asks before a long write. Its later parts are refused, because they have an
      // offset. No message here needs them.
      guard options["prepare-authorize"]?.bool != true else { return call.reply() }
      guard offset == 0 else { return refuse(.invalidOffset) }
      if options["mtu"] != nil {
        if phones.count >= 64 { phones = phones.filter { !$0.value.subscriptions.isEmpty } }
        phones[device, default: Phone()].limit = Self.messageLimit(options)
      }
      if let error = handle(.written(characteristic, device, value)) { return refuse(error) }
      call.reply()
    case "AcquireNotify":
      do throws(BluetoothError) {
        let (ours, theirs) = try PacketSocket.pair()
        let limit = Self.messageLimit(options)
        subscribe(characteristic, device, ours, limit)
        call.reply([.descriptor(theirs), .uint16(UInt16(limit + 3))])
      } catch {
        call.fail("org.bluez.Error.Failed", error.description)
      }
    default: call.failAsUnknown()
    }
  }

  /// Returns the largest notification for the MTU in the options, or for the minimum of 23.
  private static func messageLimit(_ options: [String: DBusValue]) -> Int {
    min(max(options["mtu"]?.integer ?? 23, 23), 517) - 3
  }

  private func subscribe(
    _ characteristic: GATTCharacteristic, _ device: BluetoothDeviceID,
    _ descriptor: OwnedDescriptor, _ limit: Int
  ) {
    lastNumber += 1
    let number = lastNumber
    // bluetoothd writes to the socket to confirm an indication.
    let socket = PacketSocket(descriptor) { _ in
    } ended: { [weak self] in
      // A later subscription of the device may have replaced this one.
      guard let self, phones[device]?.subscriptions[characteristic]?.number == number else {
        return
      }
      phones[device]?.subscriptions[characteristic] = nil
      _ = handle(.unsubscribed(characteristic, device))
    }
    phones[device]?.subscriptions[characteristic]?.socket.close()
    phones[device, default: Phone()].subscriptions[characteristic] = Subscription(
      number: number, socket: socket, messageLimit: limit)
    _ = handle(.subscribed(characteristic, device, messageLimit: limit))
  }

  /// Closes the sockets of all subscriptions, and reports their ends.
  fileprivate func endSubscriptions() {
    let ended = phones
    for device in ended.keys { phones[device]?.subscriptions = [:] }
    for (device, phone) in ended {
      for (characteristic, subscription) in phone.subscriptions {
        subscription.socket.close()
        _ = handle(.unsubscribed(characteristic, device))
      }
    }
  }
}

extension Bluetooth {
  /// Registers services, which are offered until `unregister`.
  ///
  /// - Throws: `BluetoothError`.
  package func publish(
    _ server: GATTServer, on adapter: BluetoothAdapter
  ) async throws(BluetoothError) -> Registration {
    let root = "/bluetooth/services\(next())"
    server.sharesSockets = adapter.version.map { $0 < (5, 69) } ?? true
    for (path, interfaces) in server.objects(below: root) {
      connection.export(path, interfaces)
    }
    server.notifyAll = { [weak connection] path, value in
      connection?.emit(
        root + path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
        [
          .string("org.bluez.GattCharacteristic1"), .properties([("Value", .bytes(value))]),
          .strings([]),
        ])
    }
    do throws(BluetoothError) {
      return try await register(.services, root, on: adapter) {
        bluetooth, adapter throws(BluetoothError) in
        guard let adapter else { return }
        server.endSubscriptions()
        do throws(BluetoothError) {
          _ = try await bluetooth.connection.call(
            Self.manager("RegisterApplication", adapter.path), [.path(root), .properties([])])
        } catch {
          guard case .unsupported = error.reason else { throw error }
          throw BluetoothError(.noRole(adapter: adapter.name, .peripheral))
        }
      } unregister: {
        server.endSubscriptions()
        return Self.manager("UnregisterApplication", $0?.path ?? "/")
      }
    } catch {
      connection.withdraw(root)
      throw error
    }
  }

  private nonisolated static func manager(_ member: String, _ adapter: String) -> DBusMethod {
    DBusMethod("org.bluez", adapter, "org.bluez.GattManager1", member)
  }
}
