// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Bluetooth

/// The copy of bluetoothd's objects, without a bus.
@Suite struct ObjectMirrorTests {
  private static let adapter = "/org/bluez/hci0"
  private static let phone = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_01"

  /// The interfaces of an adapter, or of a device on it.
  private static func interfaces(_ path: String, isConnected: Bool = false) -> DBusValue {
    let (name, properties): (String, DBusValue) =
      path == adapter
      ? ("org.bluez.Adapter1", .properties([("Address", .string("00:AA:01:00:00:42"))]))
      : (
        "org.bluez.Device1",
        .properties([
          ("Adapter", .path(adapter)), ("Address", .string("AA:BB:CC:DD:EE:01")),
          ("Connected", .bool(isConnected)), ("RSSI", .int16(-60)),
        ])
      )
    return .dictionary([DBusValue.Entry(.string(name), properties)], of: "sa{sv}")
  }

  private static func reply(_ paths: [String]) -> [DBusValue] {
    [
      .dictionary(
        paths.map { DBusValue.Entry(.path($0), interfaces($0)) }, of: "oa{sa{sv}}")
    ]
  }

  private static func signal(_ path: String, _ member: String, _ body: [DBusValue]) -> DBusMessage {
    let owner = member == "PropertiesChanged" ? "Properties" : "ObjectManager"
    return DBusMessage(
      kind: .signal, sender: ":1.7", path: path, interface: "org.freedesktop.DBus.\(owner)",
      member: member, body: body)
  }

  private static func words(_ effects: [ObjectMirror.Effect]) -> [String] {
    effects.map { effect in
      switch effect {
      case .event(.adapterAdded(let adapter)): "+\(adapter.name)"
      case .event(.adapterRemoved(let adapter)): "-\(adapter.name)"
      case .event(.deviceChanged(let device)):
        "\(device.address) \(device.isConnected) \(device.rssi ?? 0)"
      case .event(.deviceRemoved(let device)): "-\(device.address)"
      case .event: "another event"
      case .change(.object(let path, let interface, let properties)):
        "\(path.suffix(2)) \(interface.suffix(8)) \(properties.keys.sorted())"
      case .change(.all): "all"
      }
    }
  }

  /// Whatever the order of the reply, an adapter is reported before its devices.
  @Test func aReplyReportsAdaptersFirst() throws {
    var mirror = ObjectMirror()
    let effects = try mirror.replace(by: Self.reply([Self.phone, Self.adapter]))
    #expect(Self.words(effects) == ["+hci0", "AA:BB:CC:DD:EE:01 false -60", "all"])
  }

  @Test func anotherReplyReportsOnlyTheDifference() throws {
    var mirror = ObjectMirror()
    _ = try mirror.replace(by: Self.reply([Self.adapter, Self.phone]))
    let effects = try mirror.replace(by: Self.reply([Self.adapter]))
    #expect(Self.words(effects) == ["-AA:BB:CC:DD:EE:01", "01 .Device1 []", "all"])
    #expect(mirror.objects.keys.sorted() == [Self.adapter])
  }

  @Test func propertiesChangeAndBecomeInvalid() throws {
    var mirror = ObjectMirror()
    _ = try mirror.replace(by: Self.reply([Self.adapter, Self.phone]))
    let effects = mirror.apply(
      Self.signal(
        Self.phone, "PropertiesChanged",
        [
          .string("org.bluez.Device1"), .properties([("Connected", .bool(true))]),
          .strings(["RSSI"]),
        ]))
    #expect(
      Self.words(effects) == ["AA:BB:CC:DD:EE:01 true 0", "01 .Device1 [\"Connected\"]"])
  }

  @Test func unknownObjectsAndOtherSignalsAreIgnored() {
    var mirror = ObjectMirror()
    let body: [DBusValue] = [
      .string("org.bluez.Device1"), .properties([("Connected", .bool(true))]), .strings([]),
    ]
    #expect(mirror.apply(Self.signal(Self.phone, "PropertiesChanged", body)).isEmpty)
    #expect(mirror.apply(Self.signal(Self.phone, "Another", body)).isEmpty)
    #expect(mirror.objects.isEmpty)
  }

  @Test func addedAndRemovedInterfacesAreReported() {
    var mirror = ObjectMirror()
    let added = mirror.apply(
      Self.signal("/", "InterfacesAdded", [.path(Self.adapter), Self.interfaces(Self.adapter)]))
    #expect(Self.words(added) == ["+hci0", "i0 Adapter1 []"])
    let removed = mirror.apply(
      Self.signal(
        "/", "InterfacesRemoved", [.path(Self.adapter), .strings(["org.bluez.Adapter1"])]))
    #expect(Self.words(removed) == ["-hci0", "i0 Adapter1 []"])
    #expect(Self.words(mirror.removeAll()).isEmpty && mirror.objects.isEmpty)
  }
}
