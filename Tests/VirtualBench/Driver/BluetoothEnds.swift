// SPDX-License-Identifier: Apache-2.0

import Bluetooth
import Glibc

/// `bluetooth accessory ADAPTER [refuse]`: serves a data channel and an encrypted value until it is
/// killed, and prints what happens. `bluetooth app ADAPTER STEP…`: the other side, which exits with
/// 1 and prints the reason if a step fails.
@BluetoothActor enum BluetoothEnds {
  private static let service: BluetoothUUID = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"
  private static let rx: BluetoothUUID = "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
  private static let tx: BluetoothUUID = "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"
  private static let encrypted: BluetoothUUID = "95E8D9D5-D8EF-4721-9A4E-807375F53328"
  private nonisolated static let secret: [UInt8] = [0x51, 0x6F, 0x72, 0x76, 0x6F, 0x00]
  /// The longest messages of the accessory protocol.
  private static let question = [0x0B] + [UInt8](1...35)
  private static let answer = [0x01] + [UInt8](1...48)

  static func run(_ arguments: [String]) async {
    guard arguments.count >= 2 else { fail("bluetooth accessory|app ADAPTER …") }
    do throws(BluetoothError) {
      let bluetooth = try await Bluetooth.open()
      switch arguments[0] {
      case "accessory":
        try await accessory(bluetooth, arguments[1], consents: !arguments.contains("refuse"))
      case "app":
        let adapter = try await bluetooth.adapter(arguments[1], for: .central)
        for step in arguments.dropFirst(2) {
          let start = monotonic()
          // The clock of the machine skips idle time.
          let limit = Task {
            try await Task.sleep(for: .seconds(100))
            fail("\(step) goes on for 100 seconds; these are known: \(bluetooth.devices)")
          }
          try await self.step(step, bluetooth, adapter)
          limit.cancel()
          say("\(step): \((monotonic() - start) / 1_000_000) ms")
        }
      default: fail("bluetooth accessory|app ADAPTER …")
      }
      bluetooth.close()
    } catch {
      fail("\(error) try: \(error.recoverySuggestion ?? "-")")
    }
  }

  // MARK: the accessory

  private static func accessory(
    _ bluetooth: Bluetooth, _ name: String, consents: Bool
  ) async throws(BluetoothError) {
    let adapter = try await bluetooth.adapter(name, for: .peripheral)
    let input = GATTCharacteristic(rx, [.write, .writeWithoutResponse])
    let output = GATTCharacteristic(tx, [.notify])
    let value = GATTCharacteristic(encrypted, [.encryptedRead]) { _ in .success(secret) }
    let server = GATTServer([
      GATTService(service, [input, output]),
      GATTService("48FE3E40-0817-4BB2-8633-3073689C2DBA", [value]),
    ])
    server.handle = { [unowned server] in
      take($0, server, output) ? nil : .application(0x80)
    }
    let events = bluetooth.events()
    _ = try await bluetooth.publish(server, on: adapter)
    let advertisement = try await bluetooth.advertise(
      Advertisement(services: [service], name: "bench"), on: adapter)
    _ = try await bluetooth.allowPairing { _ in consents }
    say("serves on \(adapter.name), process \(getpid())")
    for await event in events {
      switch event {
      case .daemonLost: say("lost bluetoothd")
      case .daemonReturned: say("bluetoothd is back")
      case .adapterRemoved(let gone) where gone.address == adapter.address:
        say("lost the adapter")
      case .registered(let registration): say("registered \(registration) again")
      case .registrationFailed(let registration, let error): say("\(registration): \(error)")
      case .deviceChanged(let device) where !device.isConnected: connected.remove(device.id)
      case .deviceChanged(let device) where own(device, adapter, bluetooth):
        guard connected.insert(device.id).inserted else { continue }
        say("connected \(device.id)")
        do throws(BluetoothError) {
          try await bluetooth.readvertise(advertisement)
        } catch {
          say("does not advertise again: \(error)")
        }
      default: break
      }
    }
  }

  private static func take(
    _ event: GATTServer.Event, _ server: GATTServer, _ output: GATTCharacteristic
  ) -> Bool {
    switch event {
    case .subscribed(_, let device, let limit): say("subscribed \(device), up to \(limit) bytes")
    case .unsubscribed(_, let device): say("unsubscribed \(device)")
    case .written(_, let device, let bytes):
      do throws(BluetoothError) {
        try server.notify(bytes == question ? answer : bytes, output, to: device)
      } catch {
        say("\(error)")
      }
    }
    return true
  }

  private static var connected: Set<BluetoothDeviceID> = []

  // MARK: the app

  private static func step(
    _ step: String, _ bluetooth: Bluetooth, _ adapter: BluetoothAdapter
  ) async throws(BluetoothError) {
    switch step {
    case "find": _ = try await find(bluetooth, adapter)
    case "connect": try await bluetooth.connect(try await find(bluetooth, adapter).id)
    case "talk": try await talk(bluetooth, try device(bluetooth, adapter))
    case "short", "long":
      let device = try device(bluetooth, adapter)
      let notifications = try await bluetooth.notifications(
        of: bluetooth.characteristic(tx, of: device.id))
      try await bluetooth.write(
        step == "short" ? question : answer, to: bluetooth.characteristic(rx, of: device.id))
      notifications.cancel()
    case "read":
      let device = try device(bluetooth, adapter)
      let value = try await bluetooth.read(bluetooth.characteristic(encrypted, of: device.id))
      guard value == secret else { fail("the encrypted value is \(value)") }
    case "pair": try await bluetooth.pair(device(bluetooth, adapter).id)
    case "agent": _ = try await bluetooth.allowPairing { _ in true }
    case "bonded":
      guard try device(bluetooth, adapter).isBonded else { fail("there is no bond") }
    case "disconnect": try await bluetooth.disconnect(device(bluetooth, adapter).id)
    // No adapter advertises or is connected.
    case "idle":
      for device in bluetooth.devices where device.isConnected {
        fail("\(device.address) is connected")
      }
      for adapter in bluetooth.adapters where adapter.activeAdvertisements != 0 {
        fail("\(adapter.name) advertises")
      }
    // Removes the bonds of all paired devices of this adapter.
    case "forget":
      for device in bluetooth.devices where device.isPaired && own(device, adapter, bluetooth) {
        try await bluetooth.removeBond(device.id)
      }
    default: fail("there is no step \(step)")
    }
  }

  private static func own(
    _ device: BluetoothDevice, _ adapter: BluetoothAdapter, _ bluetooth: Bluetooth
  ) -> Bool {
    bluetooth.adapter(of: device)?.address == adapter.address
  }

  private static func find(
    _ bluetooth: Bluetooth, _ adapter: BluetoothAdapter
  ) async throws(BluetoothError) -> BluetoothDevice {
    for await device in try await bluetooth.scan(for: [service], on: adapter)
    where device.isHeard {
      return device
    }
    throw BluetoothError(.noAdapter(name: adapter.name, known: []))
  }

  private static func device(
    _ bluetooth: Bluetooth, _ adapter: BluetoothAdapter
  ) throws(BluetoothError) -> BluetoothDevice {
    guard
      let device = bluetooth.devices.first(where: { $0.isConnected && own($0, adapter, bluetooth) })
    else { throw BluetoothError(.notConnected("any")) }
    return device
  }

  private static func expect(
    _ value: [UInt8], _ values: inout AsyncStream<[UInt8]>.Iterator
  ) async throws(BluetoothError) {
    let got = await values.next(isolation: #isolation)
    guard got == value else { fail("\(String(describing: got)) came instead of \(value)") }
  }

  /// Messages both ways: the longest ones with and without response, and many short ones.
  private static func talk(
    _ bluetooth: Bluetooth, _ device: BluetoothDevice
  ) async throws(BluetoothError) {
    let input = try bluetooth.characteristic(rx, of: device.id)
    let notifications = try await bluetooth.notifications(
      of: bluetooth.characteristic(tx, of: device.id))
    guard notifications.isDirect else { fail("notifications come the slow way") }
    var values = notifications.values.makeAsyncIterator()
    var expected: [[UInt8]] = []
    for number in UInt8(0)..<20 {
      expected.append([0x0A, number])
      try await bluetooth.write([0x0A, number], to: input)
    }
    for _ in 0..<5 {
      expected.append(answer)
      try await bluetooth.write(question, to: input)
    }
    for value in expected { try await expect(value, &values) }
    // The messages follow each other, as in the accessory protocol. Each message waits for its
    // answer. Without these waits, one message in five is lost between two BlueZ 5.66, because ATT
    // guarantees no more in either direction.
    for message in (UInt8(0)..<20).map({ [0x0C, $0] }) + [question] {
      try await bluetooth.writeWithoutResponse(message, to: input)
      try await expect(message == question ? answer : message, &values)
      expected.append(message)
    }
    let limit = try bluetooth.characteristic(rx, of: device.id).messageLimit
    say("\(expected.count) messages and answers, up to \(limit ?? -1) bytes")
    notifications.cancel()
  }
}
