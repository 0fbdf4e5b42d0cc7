// SPDX-License-Identifier: Apache-2.0
import AccessoryProtocol
import Bluetooth
import Foundation
import Testing

/// An app that finds accessories over Bluetooth LE.
@Suite(.bus, .timeLimit(.minutes(1))) @BluetoothActor struct BluetoothCentralTests {
  private func first(_ central: BluetoothCentral) async throws -> BluetoothAccessory? {
    for await accessory in try await central.accessories() { return accessory }
    return nil
  }

  @Test func anAccessoryIsFoundPairedAndTalkedTo() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    // Not heard, and no accessory.
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
    // Other programs go on to be asked for other devices.
    #expect(!blueZ.calls.contains { $0.member == "RequestDefaultAgent" })
    try await channel.send([0x0A])
    let call = await blueZ.called("WriteValue")
    #expect(call.path.hasSuffix("char0000") && call.body.first?.bytes == [0x0A])
    #expect(call.body.last?.properties?["type"]?.string == "request")
    let answer = [UInt8](0..<49)
    #expect(send(socket.number, answer, answer.count, 0) == answer.count)
    var messages = channel.messages.makeAsyncIterator()
    #expect(await messages.next(isolation: #isolation) == answer)
    await #expect(throws: AccessoryError.self) {
      try await channel.send([UInt8](repeating: 0, count: 200))
    }
    channel.close()
    #expect(await messages.next(isolation: #isolation) == nil)
    _ = await blueZ.called("Disconnect")
    await central.close()
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

  @Test func aDeviceWithoutAChannelIsDisconnected() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    // It advertises more than it has. It is paired, and not heard now.
    let estimote = "0000fe9a-0000-1000-8000-00805f9b34fb"
    blueZ.device("AA", [("UUIDs", .strings([estimote])), ("Bonded", .bool(true))])
    let central = try await BluetoothCentral.open(bus: bus.address)
    let accessory = try #require(try await first(central))
    #expect(accessory.isPaired && accessory.signalStrength == nil)
    let error = await #expect(throws: AccessoryError.self) {
      try await central.connect(to: accessory)
    }
    #expect(error?.code == .bluetooth)
    _ = await blueZ.called("Disconnect")
    await central.close()
    blueZ.end()
  }
}
