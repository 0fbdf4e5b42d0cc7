// SPDX-License-Identifier: Apache-2.0
import AccessoryProtocol
import Channels
import Bluetooth
import Foundation
import Testing
import UWB

/// An app that finds accessories over Bluetooth LE.
@Suite(.bus, .timeLimit(.minutes(10))) @BluetoothActor struct BluetoothCentralTests {
  private func first(_ central: BluetoothCentral) async throws -> BluetoothAccessory? {
    for await accessory in try await central.accessories() { return accessory }
    return nil
  }

  /// Returns an app that has found an accessory, and the stand-in of BlueZ, which retains their
  /// bus.
  private func found() async throws -> (FakeBlueZ, BluetoothCentral, BluetoothAccessory) {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    blueZ.accessory("AA")
    let central = try await BluetoothCentral.open(bus: bus.address)
    return (blueZ, central, try #require(try await first(central)))
  }

  @Test func anAccessoryIsFoundPairedAndTalkedTo() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    // One device is not received, and one device is not an accessory.
    blueZ.device("BB", [("UUIDs", .strings([FakeBlueZ.uart.service]))])
    blueZ.device("CC", [("RSSI", .int16(-30)), ("Name", .string("Headset"))])
    blueZ.accessory("AA", FakeBlueZ.qnis, flags: ["write", "write-without-response"])
    let central = try await BluetoothCentral.open(bus: bus.address)
    let accessory = try #require(try await first(central))
    #expect(accessory.name == "Door" && accessory.address == "AA" && !accessory.isPaired)
    #expect(accessory.signalStrength == -50)
    let socket = try blueZ.acquirable("AcquireNotify")
    let channel = try await central.connect(to: accessory, pairing: true)
    let steps = ["Connect", "Pair", "AcquireNotify"]
    #expect(blueZ.calls.map(\.member).filter { steps.contains($0) } == steps)
    // From now on, the device has the name in its advertisements, whatever name a connection
    // reports.
    let alias = blueZ.property("/org/bluez/hci0/dev_AA", "org.bluez.Device1", "Alias")
    #expect(alias?.string == "Door")
    // bluetoothd continues to ask other programs about other devices.
    #expect(!blueZ.calls.contains { $0.member == "RequestDefaultAgent" })
    try await channel.send([0x0A])
    let call = await blueZ.called("WriteValue")
    #expect(call.path.hasSuffix("char0000") && call.body.first?.bytes == [0x0A])
    #expect(call.body.last?.properties?["type"]?.string == "request")
    let answer = [UInt8](0..<49)
    #expect(send(socket.number, answer, answer.count, 0) == answer.count)
    var messages = channel.messages.makeAsyncIterator()
    #expect(await messages.next(isolation: #isolation) == answer)
    await #expect(throws: ChannelError.self) {
      try await channel.send([UInt8](repeating: 0, count: 200))
    }
    channel.close()
    #expect(await messages.next(isolation: #isolation) == nil)
    _ = await blueZ.called("Disconnect")
    await central.close()
    blueZ.end()
  }

  /// If the program disconnects from the bus first, bluetoothd uses freed memory.
  @Test func closingEndsNotificationsFirst() async throws {
    let (blueZ, central, accessory) = try await found()
    let socket = try blueZ.acquirable("AcquireNotify")
    let channel = try await central.connect(to: accessory)
    var hasEnded = false
    blueZ.answers["Disconnect"] = { call in
      var byte: UInt8 = 0
      hasEnded = recv(socket.number, &byte, 1, Int32(MSG_DONTWAIT)) == 0
      call.reply()
      blueZ.change(call.message.path, "org.bluez.Device1", "Connected", .bool(false))
    }
    await central.close()
    #expect(hasEnded)
    var messages = channel.messages.makeAsyncIterator()
    #expect(await messages.next(isolation: #isolation) == nil)
    blueZ.end()
  }

  @Test func theEndOfTheConnectionEndsTheChannel() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    blueZ.accessory("AA", flags: ["write-without-response"])
    let central = try await BluetoothCentral.open(bus: bus.address)
    let accessory = try #require(try await first(central))
    let notifications = try blueZ.acquirable("AcquireNotify")
    let writes = try blueZ.acquirable("AcquireWrite")
    let channel = try await central.connect(to: accessory)
    try await channel.send([0x0A])
    var buffer = [UInt8](repeating: 0, count: 64)
    #expect(recv(writes.number, &buffer, buffer.count, Int32(MSG_DONTWAIT)) == 1)
    shutdown(notifications.number, Int32(SHUT_RDWR))
    for await message in channel.messages { Issue.record("\(message)") }
    #expect(channel.failure == nil)
    await central.close()
    _ = await blueZ.called("Disconnect")
    blueZ.end()
  }

  /// bluetoothd keeps the socket and the connection after the accessory's program has exited.
  @Test func theEndOfTheServiceEndsTheChannel() async throws {
    let (blueZ, central, accessory) = try await found()
    let socket = try blueZ.acquirable("AcquireNotify")
    let channel = try await central.connect(to: accessory)
    blueZ.removeAll(below: "/org/bluez/hci0/dev_AA/service0001")
    for await message in channel.messages { Issue.record("\(message)") }
    await central.close()
    _ = await blueZ.called("Disconnect")
    withExtendedLifetime(socket) {}
    blueZ.end()
  }

  /// bluetoothd takes two seconds to disconnect, and reports the device as connected until then.
  @Test func connectingAgainWaitsForTheEndOfTheConnection() async throws {
    let (blueZ, central, accessory) = try await found()
    var sockets = [try blueZ.acquirable("AcquireNotify")]
    var held: DBusCall?
    var isConnected = false
    blueZ.answers["Connect"] = { [unowned blueZ] call in
      #expect(!isConnected)
      isConnected = true
      let path = call.message.path
      blueZ.change(path, "org.bluez.Device1", "Connected", .bool(true))
      call.reply()
      blueZ.change(path, "org.bluez.Device1", "ServicesResolved", .bool(true))
    }
    blueZ.answers["Disconnect"] = { held = $0 }
    let channel = try await central.connect(to: accessory)
    channel.close()
    _ = await blueZ.called("Disconnect")
    async let again = central.connect(to: accessory)
    sockets.append(try blueZ.acquirable("AcquireNotify"))
    // This call lasts long enough for the second connection to begin too early, if it does.
    _ = try await first(central)
    isConnected = false
    let path = try #require(held?.message.path)
    blueZ.change(path, "org.bluez.Device1", "ServicesResolved", .bool(false))
    blueZ.change(path, "org.bluez.Device1", "Connected", .bool(false))
    held?.reply()
    blueZ.answers["Disconnect"] = nil
    try await again.close()
    _ = await blueZ.called("Disconnect")
    await central.close()
    withExtendedLifetime(sockets) {}
    blueZ.end()
  }

  @Test func aDeviceWithoutAChannelIsDisconnected() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    // The accessory advertises more services than it has. It is paired, and currently not received.
    let estimote = "0000fe9a-0000-1000-8000-00805f9b34fb"
    blueZ.device("AA", [("UUIDs", .strings([estimote])), ("Bonded", .bool(true))])
    let central = try await BluetoothCentral.open(bus: bus.address)
    let accessory = try #require(try await first(central))
    #expect(accessory.isPaired && accessory.signalStrength == nil)
    let error = await #expect(throws: ChannelError.self) {
      try await central.connect(to: accessory)
    }
    #expect(error?.code == .bluetooth)
    _ = await blueZ.called("Disconnect")
    await central.close()
    blueZ.end()
  }

  // MARK: sessions in the background

  private static let device = "/org/bluez/hci0/dev_C0_FF_EE_00_00_01"
  /// The identifier contains the adapter's address 00:AA:01:00:00:42 and the random address
  /// C0:FF:EE:00:00:01.
  private static let identifier = UUID(uuidString: "00AA0100-0042-8001-8000-C0FFEE000001")!
  private static let data = AccessoryConfigurationData(
    uwb: UWBConfigurationData(role: .controller, address: 7))

  /// An accessory that holds a value for each session.
  private func accessory(
    _ blueZ: FakeBlueZ, _ values: [[UInt8]], bonded: Bool = true, connected: Bool = true
  ) {
    blueZ.adapter()
    blueZ.device(
      "C0_FF_EE_00_00_01",
      [
        ("Bonded", .bool(bonded)), ("Connected", .bool(connected)),
        ("ServicesResolved", .bool(connected)),
      ])
    let service = Self.device + "/service0040"
    blueZ.put(
      service, "org.bluez.GattService1",
      [
        ("UUID", .string("48fe3e40-0817-4bb2-8633-3073689c2dba")), ("Device", .path(Self.device)),
      ])
    for number in values.indices {
      blueZ.put(
        "\(service)/char004\(number)", "org.bluez.GattCharacteristic1",
        [
          ("UUID", .string("95e8d9d5-d8ef-4721-9a4e-807375f53328")), ("Service", .path(service)),
          ("Flags", .strings(["encrypt-read"])),
        ])
    }
    blueZ.answers["ReadValue"] = { call in
      call.reply([.bytes(values[Int(String(call.message.path.last!))!])])
    }
  }

  private func confirm(_ bus: PrivateBus) async -> String? {
    do throws(ChannelError) {
      try await BluetoothCentral.confirm(Self.identifier, bus: bus.address) { [data = Self.data] in
        (try? AccessoryConfigurationData($0)) == data
      }
      return nil
    } catch {
      #expect(error.code == .bluetooth && error.recoverySuggestion != nil)
      return error.description
    }
  }

  @Test func identifiersOutliveTheAdaptersNumber() async throws {
    for name in ["hci0", "hci7"] {
      let bus = try await PrivateBus()
      let blueZ = try await FakeBlueZ(bus)
      blueZ.adapter(name)
      let heard: [(String, DBusValue)] = [
        ("UUIDs", .strings([FakeBlueZ.uart.service])), ("RSSI", .int16(-50)),
      ]
      blueZ.device("C0_FF_EE_00_00_01", heard, on: name)
      let central = try await BluetoothCentral.open(bus: bus.address)
      let found = try #require(try await first(central))
      #expect(found.identifier == Self.identifier)
      await central.close()
      blueZ.end()
    }
  }

  @Test func anAccessoryIsReadyForTheBackground() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    // The value of another phone's session comes first.
    accessory(blueZ, [[UInt8](repeating: 0, count: 48), Self.data.bytes])
    #expect(await confirm(bus) == nil)
    #expect(blueZ.calls.count { $0.member == "ReadValue" } == 2)
    blueZ.end()
  }

  /// BlueZ may refuse the first read after pairing.
  @Test func aFailedReadIsRepeated() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    accessory(blueZ, [Self.data.bytes])
    blueZ.answers["ReadValue"] = { [unowned blueZ] call in
      blueZ.answers["ReadValue"] = { $0.reply([.bytes(Self.data.bytes)]) }
      call.fail("org.bluez.Error.Failed", "Operation failed with ATT error: 0x0e")
    }
    #expect(await confirm(bus) == nil)
    blueZ.end()
  }

  @Test func whatIsMissingIsSaid() async throws {
    for (bonded, connected, words) in [
      (false, true, "not paired"), (true, false, "not connected"), (true, true, "does not hold"),
    ] {
      let bus = try await PrivateBus()
      let blueZ = try await FakeBlueZ(bus)
      accessory(
        blueZ, [[UInt8](repeating: 0, count: 50)], bonded: bonded, connected: connected)
      let error = try #require(await confirm(bus))
      #expect(error.contains(words) && error.contains("C0:FF:EE:00:00:01"), "\(error)")
      blueZ.end()
    }
    let bus = try await PrivateBus()
    #expect(await confirm(bus) == "bluetoothd is not running.")
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    #expect(await confirm(bus)?.contains(Self.identifier.uuidString) == true)
    blueZ.end()
  }
}
