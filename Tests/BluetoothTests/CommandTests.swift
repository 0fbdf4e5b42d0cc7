// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Accessory
import Channels
import Bluetooth
import Foundation
import Glibc
import SystemPackage
import Testing
import UWB
import UWBSimulator
import UWBTestSupport

/// `uwbctl` in a process of its own, on a bus of the test.
private final class Command: Sendable {
  private let process: SpawnedProcess
  /// Returns the output until the end.
  let printed: AsyncStream<String>

  init(_ arguments: [String], on bus: PrivateBus) throws {
    let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: "uwbctl")
    let output = Pipe()
    process = try SpawnedProcess(
      program.path, arguments + ["--format", "json"],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address],
      standardOutput: output.fileHandleForWriting.fileDescriptor)
    try output.fileHandleForWriting.close()
    let (printed, continuation) = AsyncStream<String>.makeStream()
    self.printed = printed
    Thread.detachNewThread { [output = output.fileHandleForReading] in
      while case let data = output.availableData, !data.isEmpty {
        continuation.yield(String(decoding: data, as: UTF8.self))
      }
      continuation.finish()
    }
  }

  func interrupt() { process.interrupt() }

  /// Returns the rest of the output, and the exit status.
  func end() async -> (output: String, status: Int32) {
    var text = ""
    for await part in printed { text += part }
    let status = await withCheckedContinuation { continuation in
      Thread.detachNewThread { [process] in
        continuation.resume(returning: process.terminationStatus)
      }
    }
    return (text, status)
  }
}

/// The accessory's end of the app's writes and notifications.
private final class CarriedChannel: DataChannel {
  let messages: AsyncStream<[UInt8]>
  let failure: ChannelError? = nil
  private let continuation: AsyncStream<[UInt8]>.Continuation
  private let notifications: OwnedDescriptor

  init(_ notifications: OwnedDescriptor) {
    self.notifications = notifications
    (messages, continuation) = AsyncStream.makeStream()
  }

  func take(_ message: [UInt8]) { continuation.yield(message) }

  func send(_ message: [UInt8]) async throws(ChannelError) {
    guard Glibc.send(notifications.number, message, message.count, Int32(MSG_NOSIGNAL)) >= 0 else {
      throw .closed
    }
  }

  func close() { continuation.finish() }
}

@Suite(.bus, .timeLimit(.minutes(10))) @BluetoothActor struct CommandTests {
  @Test func phonesAndSocketsAreServedAtTheSameTime() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter(version: 0x0552)
    // An embedded app ranges over the socket.
    let command = try Command(
      ["accessory", "--listen", "ble", "--listen", "tcp:0", "--ble-name", "Door"], on: bus)
    let call = await blueZ.called("RegisterApplication")
    let paths = Dictionary(
      try #require(blueZ.applications.last).map { ($0.uuid, $0.path) },
      uniquingKeysWith: { a, _ in a })
    blueZ.device("AA")
    blueZ.change("/org/bluez/hci0/dev_AA", "org.bluez.Device1", "Connected", .bool(true))
    let options = DBusValue.properties([
      ("device", .path("/org/bluez/hci0/dev_AA")), ("mtu", .uint16(185)),
    ])
    func ask(_ uuid: String, _ member: String, _ arguments: [DBusValue]) async throws -> [DBusValue]
    {
      try await blueZ.ask(
        call.sender, try #require(paths[uuid]), "org.bluez.GattCharacteristic1", member, arguments)
    }
    let answer = try await ask(
      "6e400003-b5a3-f393-e0a9-e50e24dcca9e", "AcquireNotify", [options])
    _ = try await ask(
      "6e400002-b5a3-f393-e0a9-e50e24dcca9e", "WriteValue", [.bytes([0x0A]), options])
    var seen = ""
    for await text in command.printed {
      seen += text
      if seen.contains(#""event":"offered","app":"AA""#), seen.contains(#""event":"measured""#) {
        break
      }
    }
    #expect(seen.contains(#""endpoint":"ble:hci0""#))
    #expect(
      try await ask("95e8d9d5-d8ef-4721-9a4e-807375f53328", "ReadValue", [options]).first?.bytes?
        .count == 37)
    withExtendedLifetime(answer) {}
    command.interrupt()
    #expect(await command.end().status == 0)
    blueZ.end()
  }

  @Test func anAppFindsAnAccessory() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    blueZ.device("BB", [("RSSI", .int16(-30)), ("Name", .string("Headset"))])
    blueZ.accessory("AA")
    // The controller of the app does not report signal strengths.
    blueZ.device(
      "CC", [("RSSI", .int16(127)), ("UUIDs", .strings([FakeBlueZ.uart.service]))])
    let listing = try Command(["find", "--ble", "--list", "--wait", "0"], on: bus)
    var listed = ""
    for await text in listing.printed {
      listed += text
      if listed.split(separator: "\n").count == 2, listed.hasSuffix("\n") { break }
    }
    listing.interrupt()
    let rest = await listing.end()
    #expect(rest.status == 0)
    #expect(
      listed + rest.output == """
        {"event":"accessory","address":"AA","name":"Door","rssi_dbm":-50.0,"paired":false}
        {"event":"accessory","address":"CC","name":null,"rssi_dbm":null,"paired":false}

        """)
    // The paired accessory with this name is out of range.
    blueZ.device(
      "DD",
      [
        ("Name", .string("Door")), ("UUIDs", .strings([FakeBlueZ.uart.service])),
        ("Paired", .bool(true)), ("Bonded", .bool(true)),
      ])
    try await finds(with: ["--to", "Door", "--pair"], blueZ, bus) { await blueZ.called("Pair") }
    blueZ.end()
  }

  @Test func anAndroidPhoneFindsAnAccessory() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    // A kit for iPhones has the same name.
    blueZ.accessory("BB")
    blueZ.accessory("AA", FakeBlueZ.android)
    try await finds(with: ["--to", "Door", "--android"], blueZ, bus) {
      await blueZ.called("Connect")
    }
    blueZ.end()
  }

  /// Runs `find` with options until it has measured the distance to AA three times.
  ///
  /// - Parameter call: Returns a call of the command.
  private func finds(
    with options: [String], _ blueZ: FakeBlueZ, _ bus: PrivateBus, call: () async -> DBusMessage
  ) async throws {
    let bench = SimulatedBench(scene: Scene(seed: 11))
    let own = try bench.add(profile: .qm33PDoA, placement: Placement(at: SIMD3(0, 0, 0)))
    let other = try bench.add(
      profile: .qm33PDoA, placement: Placement(at: SIMD3(3, 0, 0), yaw: 180))
    bench.start()
    let chip = try await UWBDevice.open(.serial(path: FilePath(own.path)), options: .patient)
    let accessory = try Accessory(chip)
    let channel = CarriedChannel(try blueZ.acquirable("AcquireNotify"))
    blueZ.answers["WriteValue"] = { call in
      channel.take(call.message.body.first?.bytes ?? [])
      call.reply()
    }
    let serving = Task { await accessory.serve(channel) }
    let finding = try Command(
      ["find", "--device", other.path, "--ble"] + options, on: bus)
    // The accessory's message and the measurements arrive in any order.
    var found = ""
    for await text in finding.printed {
      found += text
      let count = found.split(separator: "\n").count { $0.contains(#""event":"found""#) }
      if count >= 3, found.contains(#""event":"accessory_started""#) { break }
    }
    finding.interrupt()
    #expect(await finding.end().status == 0, "\(found)")
    #expect(found.contains(#"{"event":"accessory","address":"AA""#))
    #expect(await call().path == "/org/bluez/hci0/dev_AA")
    _ = await blueZ.called("Disconnect")
    channel.close()
    await serving.value
    await accessory.close()
    await chip.close()
    bench.stop()
  }

  @Test func bondsAreListedAndRemoved() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    blueZ.adapter("hci1", address: "00:AA:01:00:00:43")
    let bonded: [(String, DBusValue)] = [("Bonded", .bool(true)), ("Name", .string("Phone"))]
    // Without a name, BlueZ uses the address.
    blueZ.device("AA", bonded + [("Alias", .string("Phone"))])
    blueZ.device("BB", bonded, on: "hci1")
    blueZ.device("DD_EE", [("Bonded", .bool(true)), ("Alias", .string("DD-EE"))])
    blueZ.device("CC", [("Name", .string("Other"))])
    let all = try await Command(["bonds"], on: bus).end()
    #expect(
      all.output == """
        {"address":"AA","name":"Phone","adapter":"hci0","connected":false,"removed":false}
        {"address":"DD:EE","name":null,"adapter":"hci0","connected":false,"removed":false}
        {"address":"BB","name":"Phone","adapter":"hci1","connected":false,"removed":false}

        """)
    #expect(all.status == 0)
    #expect(try await Command(["bonds", "--remove", "Phone"], on: bus).end().status == 64)
    #expect(try await Command(["bonds", "--remove", "Other"], on: bus).end().status == 69)
    #expect(try await Command(["bonds", "--ble-adapter", "hci7"], on: bus).end().status == 69)
    let removed = try await Command(
      ["bonds", "--remove", "Phone", "--ble-adapter", "hci1"], on: bus
    ).end()
    #expect(removed.output.contains(#""address":"BB""#) && removed.output.contains("true"))
    let call = await blueZ.called("RemoveDevice")
    #expect(call.path == "/org/bluez/hci1")
    #expect(call.body == [.path("/org/bluez/hci1/dev_BB")])
    #expect(try await Command(["bonds", "--remove", "aa"], on: bus).end().status == 0)
    #expect(await blueZ.called("RemoveDevice").body == [.path("/org/bluez/hci0/dev_AA")])
    blueZ.change(
      "/org/bluez/hci0/dev_DD_EE", "org.bluez.Device1", "Alias", .string("Door"))
    #expect(try await Command(["bonds", "--remove", "Door"], on: bus).end().status == 0)
    let none = try await Command(["bonds"], on: bus).end()
    #expect(none.output.isEmpty && none.status == 0)
    blueZ.end()
  }

  @Test func theDoctorChecksBluetooth() async throws {
    let bus = try await PrivateBus()
    let silent = try await Command(["doctor", "ble"], on: bus).end()
    #expect(silent.output.contains(#"{"check":"bluetoothd","verdict":"fail""#))
    #expect(silent.status == 69)
    let blueZ = try await FakeBlueZ(bus)
    let without = try await Command(["doctor", "ble"], on: bus).end()
    #expect(without.output.contains(#"{"check":"adapter","verdict":"fail""#))
    #expect(without.status == 69)
    blueZ.adapter(version: 0x0542)
    let checked = try await Command(["doctor", "ble"], on: bus).end().output
    #expect(checked.contains(#"{"check":"bluetoothd","verdict":"ok""#))
    #expect(checked.contains(#"{"check":"several_phones","verdict":"warn""#))
    #expect(checked.contains(#"{"check":"controller_mode","#))
    blueZ.end()
  }
}
