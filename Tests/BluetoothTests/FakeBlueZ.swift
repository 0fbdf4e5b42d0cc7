// SPDX-License-Identifier: Apache-2.0
import Bluetooth
import Glibc
import Testing

/// A stand-in for bluetoothd on a bus of a test: objects with properties, and the answers that
/// tests choose. The virtual bench uses the real one.
@BluetoothActor final class FakeBlueZ {
  let connection: DBusConnection
  /// The objects that the stand-in retains, so that tests need not retain them.
  var kept: [AnyObject] = []
  private let bus: PrivateBus
  private var objects: [String: [String: [(String, DBusValue)]]] = [:]
  /// The calls; a test waits for a call by its member, or by member and path.
  private(set) var calls: [DBusMessage] = []
  private var waiting: [(String, CheckedContinuation<DBusMessage, Never>)] = []
  /// The replies that replace the usual ones.
  var answers: [String: @BluetoothActor (DBusCall) -> Void] = [:]
  /// The error with which adapters refuse to be switched on.
  var refusesPower: String?
  /// The objects that each application listed, in its order.
  private(set) var applications: [[(path: String, uuid: String)]] = []
  private(set) var advertisements: [[String: DBusValue]] = []

  init(_ bus: PrivateBus) async throws {
    self.bus = bus
    connection = try DBusConnection(to: bus.address)
    try connection.open()
    connection.export("/")
    put("/org/bluez", "org.bluez.AgentManager1", [])
    _ = try await connection.call(.bus("RequestName"), [.string("org.bluez"), .uint32(0)])
  }

  /// Leaves the bus, as bluetoothd does when it is killed.
  func end() { connection.close() }

  // MARK: objects

  func put(_ path: String, _ interface: String, _ properties: [(String, DBusValue)]) {
    objects[path, default: [:]][interface] = properties
    connection.export(
      path,
      objects[path]!.keys.sorted().map { name in
        DBusInterface(
          name, properties: { [unowned self] in objects[path]?[name] ?? [] },
          set: { [unowned self] in
            if refusesPower == nil { change(path, name, $0, $1) }
            return refusesPower
          },
          call: { [unowned self] in take($0) })
      })
  }

  /// Adds an adapter and reports it on the bus.
  func adapter(
    _ name: String = "hci0", address: String = "00:AA:01:00:00:42", powered: Bool = true,
    roles: [String] = ["central", "peripheral"], advertises: Bool = true, version: UInt16? = nil
  ) {
    let path = "/org/bluez/\(name)"
    var properties: [(String, DBusValue)] = [
      ("Address", .string(address)), ("Powered", .bool(powered)), ("Roles", .strings(roles)),
    ]
    if let version {
      let number = String(0x10000 + Int(version), radix: 16, uppercase: true).dropFirst()
      properties.append(("Modalias", .string("usb:v1D6Bp0246d" + number)))
    }
    put(path, "org.bluez.Adapter1", properties)
    put(path, "org.bluez.GattManager1", [])
    if advertises {
      put(path, "org.bluez.LEAdvertisingManager1", [("SupportedInstances", .byte(5))])
    }
    tell(path)
  }

  func device(_ name: String, _ more: [(String, DBusValue)] = [], on adapter: String = "hci0") {
    let path = "/org/bluez/\(adapter)/dev_\(name)"
    put(
      path, "org.bluez.Device1",
      [
        ("Adapter", .path("/org/bluez/\(adapter)")),
        ("Address", .string(name.replacing("_", with: ":"))), ("AddressType", .string("random")),
        ("Connected", .bool(false)), ("Paired", .bool(false)), ("Bonded", .bool(false)),
        ("ServicesResolved", .bool(false)),
      ] + more)
    tell(path)
  }

  static let uart = (
    service: "6e400001-b5a3-f393-e0a9-e50e24dcca9e",
    input: "6e400002-b5a3-f393-e0a9-e50e24dcca9e",
    output: "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
  )
  static let qnis = (
    service: "2e938fd0-6a61-11ed-a1eb-0242ac120002",
    input: "2e93998a-6a61-11ed-a1eb-0242ac120002",
    output: "2e939af2-6a61-11ed-a1eb-0242ac120002"
  )
  static let android = (
    service: "1226a228-277c-49ed-b6eb-2eb2dab4e9c7",
    input: "2e20eb71-02f9-40c8-b9f4-41d25140d007",
    output: "3b06f3b3-74ae-4707-9cf3-b00f38917946"
  )

  /// Adds an accessory named Door that is received, with its data channel.
  /// - Parameter flags: the flags of the characteristic that the app writes.
  func accessory(
    _ name: String, _ channel: (service: String, input: String, output: String) = FakeBlueZ.uart,
    flags: [String] = ["write"]
  ) {
    device(
      name,
      [("Name", .string("Door")), ("UUIDs", .strings([channel.service])), ("RSSI", .int16(-50))])
    let device = "/org/bluez/hci0/dev_\(name)"
    let service = device + "/service0001"
    put(
      service, "org.bluez.GattService1",
      [("UUID", .string(channel.service)), ("Device", .path(device))])
    tell(service)
    for (number, (uuid, flags)) in [(channel.input, flags), (channel.output, ["notify"])]
      .enumerated()
    {
      let path = "\(service)/char000\(number)"
      put(
        path, "org.bluez.GattCharacteristic1",
        [
          ("UUID", .string(uuid)), ("Service", .path(service)), ("Flags", .strings(flags)),
          ("MTU", .uint16(185)),
        ])
      tell(path)
    }
  }

  /// Replaces the usual reply to a call by a socket.
  ///
  /// - Returns: its other end.
  func acquirable(_ member: String) throws -> OwnedDescriptor {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
    let theirs = OwnedDescriptor(ends[0])
    answers[member] = { $0.reply([.descriptor(theirs), .uint16(185)]) }
    return OwnedDescriptor(ends[1])
  }

  func tell(_ path: String) {
    let interfaces = objects[path]!.sorted { $0.key < $1.key }.map {
      DBusValue.Entry(.string($0.key), .properties($0.value))
    }
    connection.emit(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
      [.path(path), .dictionary(interfaces, of: "sa{sv}")])
  }

  func property(_ path: String, _ interface: String, _ name: String) -> DBusValue? {
    objects[path]?[interface]?.first { $0.0 == name }?.1
  }

  func knows(_ path: String) -> Bool { objects[path] != nil }

  func remove(_ path: String) {
    let interfaces = objects.removeValue(forKey: path)?.keys.sorted() ?? []
    connection.withdraw(path)
    connection.emit(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
      [.path(path), .strings(interfaces)])
  }

  func removeAll(below root: String) {
    for path in objects.keys where path == root || path.hasPrefix(root + "/") { remove(path) }
  }

  func change(_ path: String, _ interface: String, _ name: String, _ value: DBusValue) {
    objects[path]?[interface]?.removeAll { $0.0 == name }
    objects[path]?[interface]?.append((name, value))
    connection.emit(
      path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
      [.string(interface), .properties([(name, value)]), .strings([])])
  }

  // MARK: calls

  /// Waits for a call of this name that no earlier wait has consumed.
  func called(_ member: String) async -> DBusMessage {
    if let index = calls.firstIndex(where: { $0.member == member }) {
      return calls.remove(at: index)
    }
    return await withCheckedContinuation { waiting.append((member, $0)) }
  }

  /// Discards calls that no wait has consumed.
  func forgetCalls() { calls = [] }

  private func note(_ message: DBusMessage) {
    if let index = waiting.firstIndex(where: { $0.0 == message.member }) {
      waiting.remove(at: index).1.resume(returning: message)
    } else {
      calls.append(message)
    }
  }

  private func take(_ call: DBusCall) {
    let message = call.message
    if let answer = answers[message.member] {
      answer(call)
      return note(message)
    }
    let device = message.path
    func set(_ name: String, _ value: DBusValue) {
      change(device, "org.bluez.Device1", name, value)
    }
    switch message.member {
    case "RegisterApplication":
      // Calls the program back before it replies, as the real bluetoothd does.
      let root = message.body[0].path!
      connection.call(
        DBusMethod(
          message.sender, root, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
      ) { [unowned self] in
        guard case .success(let values) = $0 else {
          return call.fail("org.bluez.Error.Failed", "no objects")
        }
        applications.append(
          values[0].entries!.map { entry in
            let properties = entry.value.entries!.first!.value.properties!
            return (entry.key.path!, properties["UUID"]!.string!)
          })
        call.reply()
        note(message)
      }
      return
    case "RegisterAdvertisement":
      connection.call(
        DBusMethod(
          message.sender, message.body[0].path!, "org.freedesktop.DBus.Properties", "GetAll"),
        [.string("org.bluez.LEAdvertisement1")]
      ) { [unowned self] in
        guard case .success(let values) = $0, let advertised = values[0].properties,
          advertised["ServiceUUIDs"] != nil
        else { return call.fail("org.bluez.Error.Failed", "no advertisement") }
        advertisements.append(advertised)
        call.reply()
        note(message)
      }
      return
    case "Connect":
      set("Connected", .bool(true))
      call.reply()
      set("ServicesResolved", .bool(true))
    case "Disconnect":
      call.reply()
      set("ServicesResolved", .bool(false))
      set("Connected", .bool(false))
    case "Pair":
      call.reply()
      set("Paired", .bool(true))
      set("Bonded", .bool(true))
    case "RemoveDevice":
      call.reply()
      remove(message.body[0].path!)
    default: call.reply()
    }
    note(message)
  }

  /// Calls an object of the program, as bluetoothd does.
  func ask(
    _ program: String, _ path: String, _ interface: String, _ member: String,
    _ arguments: [DBusValue]
  ) async throws(BluetoothError) -> [DBusValue] {
    try await connection.call(DBusMethod(program, path, interface, member), arguments)
  }
}
