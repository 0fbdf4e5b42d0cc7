// SPDX-License-Identifier: Apache-2.0
import Bluetooth
import Foundation
import Testing

@Suite(.bus, .timeLimit(.minutes(10))) struct DBusTests {
  /// A connection whose object at /echo returns its arguments.
  @BluetoothActor private func echo(
    _ bus: PrivateBus
  ) async throws -> (connection: DBusConnection, method: DBusMethod) {
    let connection = try DBusConnection(to: bus.address)
    try connection.open()
    connection.ended = { withExtendedLifetime(bus) {} }
    connection.export("/echo", [DBusInterface("test.Echo", call: { $0.reply($0.message.body) })])
    _ = try await connection.call(.bus("RequestName"), [.string("test.Echo"), .uint32(0)])
    return (connection, DBusMethod("test.Echo", "/echo", "test.Echo", "Echo"))
  }

  @Test @BluetoothActor func valuesSurviveTheBus() async throws {
    let bus = try await PrivateBus()
    let (server, method) = try await echo(bus)
    let values: [DBusValue] = [
      .byte(255), .bool(true), .bool(false), .int16(-2), .uint16(.max), .int32(.min), .uint32(.max),
      .int64(.min), .uint64(.max), .double(-0.5), .string(""), .string("höher"), .path("/a/b"),
      .signature("a{sv}"), .bytes([]), .bytes([0, 1, 255]), .strings([]), .strings(["a", "b"]),
      .array([.bytes([1]), .bytes([])], of: "ay"), .structure([.byte(1), .string("x")]),
      .variant(.variant(.int32(7))), .properties(["b": .bytes([1, 2]), "a": .bool(true)]),
      .dictionary([], of: "oa{sa{sv}}"),
      .dictionary([.init(.uint16(0x4C), .variant(.bytes([2])))], of: "qv"),
    ]
    #expect(try await server.call(method, values) == values)
    #expect(try await server.call(method) == [])
  }

  @Test @BluetoothActor func aDescriptorGoesOverTheBus() async throws {
    let bus = try await PrivateBus()
    let (server, method) = try await echo(bus)
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    let answer = try await server.call(method, [.descriptor(OwnedDescriptor(ends[1]))])
    let end = try #require(answer.first?.descriptor)
    #expect(end.number != ends[1])
    #expect(write(end.number, [42 as UInt8], 1) == 1)
    var byte: UInt8 = 0
    #expect(read(ends[0], &byte, 1) == 1 && byte == 42)
    close(ends[0])
  }

  @Test @BluetoothActor func textWithAZeroIsNotSent() async throws {
    let bus = try await PrivateBus()
    let (server, method) = try await echo(bus)
    await #expect(throws: BluetoothError(.unsendable("Echo", EINVAL))) {
      try await server.call(method, [.string("a\0b")])
    }
    await #expect(throws: BluetoothError(.unsendable("Echo", EINVAL))) {
      try await server.call(method, [.path("no path")])
    }
  }

  @Test @BluetoothActor func anAnswerThatDoesNotComeEndsTheCall() async throws {
    let bus = try await PrivateBus()
    let (server, _) = try await echo(bus)
    var held: [DBusCall] = []
    server.export("/mute", [DBusInterface("test.Echo", call: { held.append($0) })])
    let mute = DBusMethod("test.Echo", "/mute", "test.Echo", "Echo")
    await #expect(throws: BluetoothError(.timeout("Echo", .milliseconds(50)))) {
      try await server.call(mute, within: .milliseconds(50))
    }
    // A cancelled task does not wait.
    let task = Task { @BluetoothActor in try await server.call(mute) }
    task.cancel()
    await #expect(throws: BluetoothError(.cancelled)) { try await task.value }
    #expect(held.count <= 2)
    // If a handler drops its call, the call gets no reply, but ends.
    server.export("/dropped", [DBusInterface("test.Echo", call: { _ in })])
    await #expect(
      throws: BluetoothError(.refused("Echo", name: "Failed", text: "There was no reply."))
    ) {
      try await server.call(DBusMethod("test.Echo", "/dropped", "test.Echo", "Echo"))
    }
  }

  @Test @BluetoothActor func whatIsNotThereIsToldApart() async throws {
    let bus = try await PrivateBus()
    let (server, _) = try await echo(bus)
    await #expect(throws: BluetoothError(.noDevice("/nowhere"))) {
      try await server.call(DBusMethod("test.Echo", "/nowhere", "test.Echo", "Echo"))
    }
    await #expect(throws: BluetoothError(.unsupported("test.Other.Echo", since: "5.55"))) {
      try await server.call(DBusMethod("test.Echo", "/echo", "test.Other", "Echo"))
    }
    await #expect(throws: BluetoothError(.noDaemon)) {
      try await server.call(DBusMethod("org.bluez", "/", "org.bluez.Adapter1", "Any"))
    }
  }

  @Test @BluetoothActor func objectsAreListedInTheirOrder() async throws {
    let bus = try await PrivateBus()
    let (server, _) = try await echo(bus)
    for path in ["/app", "/app/z", "/app/z/b", "/app/z/a", "/app/y", "/apple"] {
      server.export(path, [DBusInterface("test.I", properties: { [("P", .string(path))] })])
    }
    let answer = try await server.call(
      DBusMethod("test.Echo", "/app", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
    let paths = answer.first?.entries?.compactMap(\.key.path)
    #expect(paths == ["/app/z", "/app/z/b", "/app/z/a", "/app/y"])
    server.withdraw("/app/z")
    let rest = try await server.call(
      DBusMethod("test.Echo", "/app", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
    #expect(rest.first?.entries?.compactMap(\.key.path) == ["/app/y"])
    let property = try await server.call(
      DBusMethod("test.Echo", "/app/y", "org.freedesktop.DBus.Properties", "Get"),
      [.string("test.I"), .string("P")])
    #expect(property == [.variant(.string("/app/y"))])
  }

  @Test @BluetoothActor func aBusThatEndsEndsCalls() async throws {
    let bus = try await PrivateBus()
    let (server, _) = try await echo(bus)
    var held: [DBusCall] = []
    let (calls, arrived) = AsyncStream<Void>.makeStream()
    server.export(
      "/mute",
      [
        DBusInterface(
          "test.Echo",
          call: {
            held.append($0)
            arrived.yield()
          })
      ])
    let (ends, ended) = AsyncStream<Void>.makeStream()
    server.ended = { ended.yield() }
    let task = Task { @BluetoothActor in
      try await server.call(DBusMethod("test.Echo", "/mute", "test.Echo", "Echo"))
    }
    for await _ in calls { break }
    bus.kill()
    await #expect(throws: BluetoothError(.busLost)) { try await task.value }
    for await _ in ends { break }
    #expect(!server.isOpen)
    await #expect(throws: BluetoothError(.busLost)) { try await server.call(.bus("GetId")) }
    // The released call has nowhere to send its reply.
    held = []
  }
}

@Suite struct DBusValueTests {
  @Test func readingAnotherTypeIsNil() {
    let value = DBusValue.strings(["a"])
    #expect(value.bytes == nil && value.string == nil && value.bool == nil && value.path == nil)
    #expect(value.integer == nil && value.properties == nil && value.entries == nil)
    #expect(value.descriptor == nil)
    #expect(DBusValue.array([.string("a"), .byte(1)], of: "v").strings == nil)
    #expect(DBusValue.uint64(.max).integer == nil)
    #expect(DBusValue.variant(.variant(.byte(3))).content.integer == 3)
    #expect(DBusValue.properties([("a", .byte(1)), ("a", .byte(2))]).properties == ["a": .byte(2)])
  }

  @Test func uuids() {
    #expect(BluetoothUUID("FE9A").description == "0000fe9a-0000-1000-8000-00805f9b34fb")
    #expect(
      BluetoothUUID("6E400001-B5A3-F393-E0A9-E50E24DCCA9E").description
        == "6e400001-b5a3-f393-e0a9-e50e24dcca9e")
    #expect(BluetoothUUID("0000fe9a") == BluetoothUUID("fe9a"))
    for text in [
      "", "fe9", "xe9a", "6E400001B5A3F393E0A9E50E24DCCA9E",
      "6E400001-B5A3-F393-E0A9-E50E24DCCA9", "6E40000-1B5A3-F393-E0A9-E50E24DCCA9E",
      "6E400001-B5A3-F393-E0A9-E50E24DCCAÄ",
    ] {
      #expect(BluetoothUUID(text) == nil)
    }
  }
}
