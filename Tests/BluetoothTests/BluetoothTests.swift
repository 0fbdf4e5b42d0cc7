// SPDX-License-Identifier: Apache-2.0
import Bluetooth
import Foundation
import System
import Testing

/// A service for messages between an accessory and an app.
private struct Uart {
  let rx = GATTCharacteristic("6E400002-B5A3-F393-E0A9-E50E24DCCA9E", [.write])
  let tx = GATTCharacteristic("6E400003-B5A3-F393-E0A9-E50E24DCCA9E", [.notify])
  let data: GATTCharacteristic
  let server: GATTServer

  init() {
    data = GATTCharacteristic("95E8D9D5-D8EF-4721-9A4E-807375F53328", [.encryptedRead]) {
      // The value differs between devices.
      $0.description == "dev_A" ? .success([1, 2, 3]) : .failure(.application(0x81))
    }
    server = GATTServer([
      GATTService("6E400001-B5A3-F393-E0A9-E50E24DCCA9E", [rx, tx]),
      GATTService("48FE3E40-0817-4BB2-8633-3073689C2DBA", [data]),
    ])
  }
}

/// Returns the events of devices from now on. Rejects messages while `room` events wait.
@BluetoothActor private func events(
  of server: GATTServer, room: Int = .max
) -> AsyncStream<GATTServer.Event> {
  let (stream, continuation) = AsyncStream<GATTServer.Event>.makeStream(
    bufferingPolicy: .bufferingOldest(room))
  server.handle = { event in
    if case .dropped = continuation.yield(event) { .application(0x80) } else { nil }
  }
  return stream
}

private let a = DBusValue.path("/org/bluez/hci0/dev_A")
private let b = DBusValue.path("/org/bluez/hci0/dev_B")

@Suite(.bus, .timeLimit(.minutes(10))) struct OpeningTests {
  @Test func eachThingThatIsMissingIsToldApart() async throws {
    await #expect { try await Bluetooth.open(libraries: ["libnone.so.9"]) } throws: {
      guard case .noLibrary(let why) = ($0 as? BluetoothError)?.reason else { return false }
      return why.contains("libnone.so.9")
    }
    let nowhere = "unix:path=/nonexistent/bus"
    await #expect(throws: BluetoothError(.noBus(address: nowhere, errno: ENOENT))) {
      try await Bluetooth.open(bus: nowhere)
    }
    let bus = try await PrivateBus()
    await #expect(throws: BluetoothError(.noDaemon)) { try await Bluetooth.open(bus: bus.address) }
    let closed = try await PrivateBus(policy: #"<deny send_destination="org.bluez"/>"#)
    let blueZ = try await FakeBlueZ(closed)
    await #expect {
      try await Bluetooth.open(bus: closed.address)
    } throws: {
      guard case .noPermission = ($0 as? BluetoothError)?.reason else { return false }
      return true
    }
    await blueZ.end()
  }

  @Test @BluetoothActor func eachFaultOfAnAdapterIsToldApart() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    let bluetooth = try await Bluetooth.open(bus: bus.address)
    await #expect(throws: BluetoothError(.noAdapter(name: nil, known: []))) {
      try await bluetooth.adapter(for: .central)
    }
    let events = bluetooth.events()
    blueZ.adapter("hci0", powered: false, roles: ["central"], advertises: false)
    for await case .adapterAdded(let adapter) in events where adapter.name == "hci0" { break }
    await #expect(throws: BluetoothError(.noAdapter(name: "hci7", known: ["hci0"]))) {
      try await bluetooth.adapter("hci7", for: .central)
    }
    await #expect(throws: BluetoothError(.noRole(adapter: "hci0", .peripheral))) {
      try await bluetooth.adapter(for: .peripheral)
    }
    blueZ.refusesPower = "org.bluez.Error.Blocked"
    await #expect(throws: BluetoothError(.adapterBlocked("hci0"))) {
      try await bluetooth.adapter(for: .central)
    }
    blueZ.refusesPower = "org.bluez.Error.Failed"
    await #expect(throws: BluetoothError(.adapterOff("hci0"))) {
      try await bluetooth.adapter(for: .central)
    }
    blueZ.refusesPower = nil
    _ = try await bluetooth.adapter("00:aa:01:00:00:42", for: .central)
    bluetooth.close()
  }

  @Test func everyErrorSaysWhatToTry() {
    let reasons: [BluetoothError.Reason] = [
      .noLibrary("x"), .noBus(address: "x", errno: ENOENT), .busLost, .noDaemon,
      .noAdapter(name: nil, known: []), .noAdapter(name: "x", known: ["y"]), .adapterOff("x"),
      .adapterBlocked("x"), .noRole(adapter: "x", .peripheral), .noPermission("x"),
      .unsupported("x", since: "5.66"), .noDevice("x"), .notConnected("x"), .linkDropped("x"),
      .noCharacteristic("fe9a"), .messageSize(bytes: 49, limit: 20), .peerNotReading,
      .notSubscribed, .pairing("x"), .advertisement("x"), .timeout("x", .seconds(1)),
      .refused("x", name: "Failed", text: ""), .invalidReply("x"),
    ]
    let errors = reasons.map(BluetoothError.init)
    #expect(errors.allSatisfy { $0.recoverySuggestion != nil && $0.description.hasSuffix(".") })
    #expect(Set(errors.map(\.description)).count == errors.count)
  }
}

@Suite(.bus, .timeLimit(.minutes(10))) struct ServerTests {
  /// Publishes services, and returns the path of the first service.
  @BluetoothActor private func published(
    _ uart: Uart
  ) async throws -> (PrivateBus, FakeBlueZ, Bluetooth, program: String, root: String) {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    let bluetooth = try await Bluetooth.open(bus: bus.address)
    let adapter = try await bluetooth.adapter(for: .peripheral)
    _ = try await bluetooth.publish(uart.server, on: adapter)
    let call = await blueZ.called("RegisterApplication")
    blueZ.kept = [bluetooth]
    return (bus, blueZ, bluetooth, call.sender, try #require(call.body.first?.path))
  }

  private let characteristic = "org.bluez.GattCharacteristic1"

  @Test @BluetoothActor func servicesAreListedInTheirOrder() async throws {
    let uart = Uart()
    let (_, blueZ, _, _, root) = try await published(uart)
    let listed = try #require(blueZ.applications.first)
    #expect(
      listed.map(\.path) == [
        "\(root)/service0", "\(root)/service0/characteristic0", "\(root)/service0/characteristic1",
        "\(root)/service1", "\(root)/service1/characteristic0",
      ])
    #expect(listed[1].uuid == uart.rx.uuid.description)
  }

  @Test @BluetoothActor func aReadIsAnsweredForItsDevice() async throws {
    let (_, blueZ, _, program, root) = try await published(Uart())
    let path = "\(root)/service1/characteristic0"
    func read(_ options: KeyValuePairs<String, DBusValue>) async throws(BluetoothError)
      -> [DBusValue]
    {
      try await blueZ.ask(program, path, characteristic, "ReadValue", [.properties(options)])
    }
    #expect(try await read(["device": a]) == [.bytes([1, 2, 3])])
    #expect(try await read(["device": a, "offset": .uint16(2)]) == [.bytes([3])])
    #expect(try await read(["device": a, "offset": .uint16(3)]) == [.bytes([])])
    await #expect(throws: BluetoothError(.refused("ReadValue", name: "InvalidOffset", text: ""))) {
      try await read(["device": a, "offset": .uint16(4)])
    }
    await #expect(throws: BluetoothError(.refused("ReadValue", name: "Failed", text: "0x81"))) {
      try await read(["device": b])
    }
    await #expect(throws: BluetoothError.self) { try await read([:]) }
    await #expect(throws: BluetoothError.self) { try await read(["device": .string("x")]) }
  }

  @Test @BluetoothActor func writesArriveInOrderWithTheirDevice() async throws {
    let uart = Uart()
    let (_, blueZ, _, program, root) = try await published(uart)
    let events = events(of: uart.server)
    func write(_ value: DBusValue, _ device: DBusValue, offset: UInt16 = 0)
      async throws(BluetoothError)
    {
      _ = try await blueZ.ask(
        program, "\(root)/service0/characteristic0", characteristic, "WriteValue",
        [value, .properties(["device": device, "offset": .uint16(offset)])])
    }
    for byte in UInt8(0)..<20 { try await write(.bytes([byte]), byte % 2 == 0 ? a : b) }
    // bluetoothd passes on writes to characteristics that cannot be written.
    await #expect(throws: BluetoothError(.refused("WriteValue", name: "NotPermitted", text: ""))) {
      _ = try await blueZ.ask(
        program, "\(root)/service0/characteristic1", characteristic, "WriteValue",
        [.bytes([1]), .properties(["device": a])])
    }
    await #expect(throws: BluetoothError(.refused("WriteValue", name: "InvalidOffset", text: ""))) {
      try await write(.bytes([1]), a, offset: 1)
    }
    await #expect(throws: BluetoothError.self) { try await write(.string("text"), a) }
    var next: UInt8 = 0
    for await case .written(let characteristic, let device, let value) in events {
      #expect(characteristic == uart.rx && value == [next])
      #expect(device.description == (next % 2 == 0 ? "dev_A" : "dev_B"))
      next += 1
      if next == 20 { break }
    }
  }

  @Test @BluetoothActor func aFloodIsRefused() async throws {
    let uart = Uart()
    let (_, blueZ, _, program, root) = try await published(uart)
    let events = events(of: uart.server, room: 256)
    var refused = 0
    for _ in 0..<300 {
      do throws(BluetoothError) {
        _ = try await blueZ.ask(
          program, "\(root)/service0/characteristic0", characteristic, "WriteValue",
          [.bytes([1]), .properties(["device": a])])
      } catch {
        #expect(error == BluetoothError(.refused("WriteValue", name: "Failed", text: "0x80")))
        refused += 1
      }
    }
    #expect(refused == 44)
    withExtendedLifetime(events) {}
  }

  @Test @BluetoothActor func notificationsGoToTheirDevice() async throws {
    let uart = Uart()
    let (_, blueZ, _, program, root) = try await published(uart)
    let stream = events(of: uart.server)
    func subscribe(_ device: DBusValue, _ unit: UInt16) async throws -> OwnedDescriptor {
      let answer = try await blueZ.ask(
        program, "\(root)/service0/characteristic1", characteristic, "AcquireNotify",
        [.properties(["device": device, "mtu": .uint16(unit)])])
      #expect(answer.last == .uint16(unit))
      return try #require(answer.first?.descriptor)
    }
    func received(_ descriptor: OwnedDescriptor) -> [UInt8]? {
      var buffer = [UInt8](repeating: 0, count: 600)
      let count = recv(descriptor.number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      return count < 0 ? nil : Array(buffer[..<count])
    }
    func device(_ value: DBusValue) throws -> BluetoothDeviceID {
      try #require(value.path.map { BluetoothDeviceID(path: $0) })
    }
    let forA = try await subscribe(a, 52)
    let forB = try await subscribe(b, 23)
    let message = [UInt8](0..<49)
    try uart.server.notify(message, uart.tx, to: device(a))
    #expect(received(forA) == message)
    #expect(received(forB) == nil)
    // The server never delivers a part of a message.
    #expect(throws: BluetoothError(.messageSize(bytes: 49, limit: 20))) {
      try uart.server.notify(message, uart.tx, to: device(b))
    }
    #expect(throws: BluetoothError(.notSubscribed)) {
      try uart.server.notify(message, uart.rx, to: device(a))
    }
    // The phone does not read.
    #expect(throws: BluetoothError(.peerNotReading)) {
      for _ in 0..<100_000 { try uart.server.notify([1], uart.tx, to: device(b)) }
    }
    shutdown(forA.number, Int32(SHUT_RDWR))
    var events: [GATTServer.Event] = []
    for await event in stream {
      events.append(event)
      if case .unsubscribed = event { break }
    }
    #expect(
      try events == [
        .subscribed(uart.tx, device(a), messageLimit: 49),
        .subscribed(uart.tx, device(b), messageLimit: 20), .unsubscribed(uart.tx, device(a)),
      ])
  }

  @Test @BluetoothActor func strangersAreRefused() async throws {
    let (bus, blueZ, _, program, root) = try await published(Uart())
    let stranger = try DBusConnection(to: bus.address)
    try stranger.open()
    let method = DBusMethod(
      program, "\(root)/service1/characteristic0", characteristic, "ReadValue")
    await #expect(throws: BluetoothError(.noPermission("calling ReadValue of \(program)"))) {
      try await stranger.call(method, [.properties(["device": a])])
    }
    withExtendedLifetime(blueZ) {}
  }

  @Test @BluetoothActor func anEndedRegistrationIsGone() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    let bluetooth = try await Bluetooth.open(bus: bus.address)
    let adapter = try await bluetooth.adapter(for: .peripheral)
    let registration = try await bluetooth.publish(Uart().server, on: adapter)
    let root = await blueZ.called("RegisterApplication").body.first
    await bluetooth.unregister(registration)
    #expect(await blueZ.called("UnregisterApplication").body.first == root)
    await bluetooth.unregister(registration)
    #expect(blueZ.calls.filter { $0.member == "UnregisterApplication" }.isEmpty)
  }
}

@Suite(.bus, .timeLimit(.minutes(10))) struct ReturnTests {
  @Test @BluetoothActor func everythingIsRegisteredAgainAfterARestart() async throws {
    let bus = try await PrivateBus()
    var blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    blueZ.device("AA", [("Bonded", .bool(true))])
    let bluetooth = try await Bluetooth.open(bus: bus.address)
    let events = bluetooth.events()
    let adapter = try await bluetooth.adapter(for: .peripheral)
    _ = try await bluetooth.publish(Uart().server, on: adapter)
    _ = try await bluetooth.advertise(Advertisement(services: ["fe9a"]), on: adapter)
    _ = try await bluetooth.allowPairing { _ in true }
    #expect(bluetooth.bonds.count == 1)

    // The loss of bluetoothd ends a waiting call.
    var held: [DBusCall] = []
    blueZ.device("BB")
    let other = try await bluetooth.wait("device") { $0.devices.count == 2 ? $0.devices.last : nil }
    blueZ.answers["Connect"] = { held.append($0) }
    let connecting = Task { @BluetoothActor in try await bluetooth.connect(other.id) }
    _ = await blueZ.called("Connect")
    blueZ.end()
    await #expect(throws: BluetoothError(.noDaemon)) { try await connecting.value }
    #expect(held.count == 1)
    for await case .daemonLost in events { break }
    #expect(bluetooth.adapters.isEmpty && bluetooth.devices.isEmpty)
    blueZ = try await FakeBlueZ(bus)
    for await case .daemonReturned in events { break }
    // The adapter appears after bluetoothd, with another name, and is off.
    blueZ.adapter("hci3", powered: false)
    #expect(await blueZ.called("RegisterApplication").path == "/org/bluez/hci3")
    #expect(await blueZ.called("RegisterAdvertisement").path == "/org/bluez/hci3")
    _ = await blueZ.called("RequestDefaultAgent")
    var again: Set<String> = []
    for await case .registered(let registration) in events {
      again.insert(registration.description)
      if again.count == 3 { break }
    }
    #expect(bluetooth.adapters.first?.isPowered == true)
  }

  @Test @BluetoothActor func anAdapterComesBack() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    let bluetooth = try await Bluetooth.open(bus: bus.address)
    let events = bluetooth.events()
    let adapter = try await bluetooth.adapter(for: .peripheral)
    _ = try await bluetooth.publish(Uart().server, on: adapter)
    _ = await blueZ.called("RegisterApplication")
    blueZ.remove("/org/bluez/hci0")
    for await case .adapterRemoved(let removed) in events where removed == adapter { break }
    // An adapter with another address does not replace the removed one.
    blueZ.adapter("hci1", address: "00:AA:01:00:00:43")
    blueZ.adapter("hci2")
    #expect(await blueZ.called("RegisterApplication").path == "/org/bluez/hci2")
  }

  @Test @BluetoothActor func whatIsRefusedIsTriedAgain() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    let bluetooth = try await Bluetooth.open(bus: bus.address, pause: .milliseconds(1))
    let events = bluetooth.events()
    let adapter = try await bluetooth.adapter(for: .peripheral)
    _ = try await bluetooth.advertise(Advertisement(services: ["fe9a"]), on: adapter)
    blueZ.answers["RegisterAdvertisement"] = { $0.fail("org.bluez.Error.NotPermitted", "busy") }
    // bluetoothd ends the advertisement by itself.
    let call = await blueZ.called("RegisterAdvertisement")
    let path = try #require(call.body.first?.path)
    _ = try await blueZ.ask(call.sender, path, "org.bluez.LEAdvertisement1", "Release", [])
    for await case .registrationFailed(_, let error) in events {
      #expect(error == BluetoothError(.advertisement("busy")))
      break
    }
    blueZ.answers = [:]
    for await case .registered in events { break }
  }

  @Test @BluetoothActor func theBusComesBack() async throws {
    let bus = try await PrivateBus()
    var blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    let bluetooth = try await Bluetooth.open(bus: bus.address, pause: .milliseconds(1))
    let events = bluetooth.events()
    let adapter = try await bluetooth.adapter(for: .peripheral)
    _ = try await bluetooth.publish(Uart().server, on: adapter)
    bus.kill()
    for await case .daemonLost in events { break }
    await #expect(throws: BluetoothError(.noAdapter(name: nil, known: []))) {
      try await bluetooth.adapter(for: .central)
    }
    try await bus.start()
    blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    _ = await blueZ.called("RegisterApplication")
    bluetooth.close()
    for await _ in events {}
  }
}

@Suite(.bus, .timeLimit(.minutes(10))) struct CentralTests {
  @BluetoothActor private func opened() async throws -> (PrivateBus, FakeBlueZ, Bluetooth) {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter()
    return (bus, blueZ, try await Bluetooth.open(bus: bus.address))
  }

  @Test @BluetoothActor func aScanTellsDevicesWithTheService() async throws {
    let (_, blueZ, bluetooth) = try await opened()
    let adapter = try await bluetooth.adapter(for: .central)
    var found: BluetoothDevice?
    do {
      let scan = try await bluetooth.scan(for: ["fe9a"], on: adapter)
      let filter = await blueZ.called("SetDiscoveryFilter").body.first?.properties
      #expect(filter?["UUIDs"]?.strings == ["0000fe9a-0000-1000-8000-00805f9b34fb"])
      #expect(filter?["Transport"]?.string == "le")
      _ = await blueZ.called("StartDiscovery")
      blueZ.device("AA", [("UUIDs", .strings(["0000aaaa-0000-1000-8000-00805f9b34fb"]))])
      // A property whose type is not the documented type counts as missing.
      blueZ.device("BB", [("UUIDs", .byte(3)), ("RSSI", .string("loud")), ("Name", .byte(1))])
      blueZ.device(
        "CC",
        [
          ("UUIDs", .strings(["0000fe9a-0000-1000-8000-00805f9b34fb"])), ("RSSI", .int16(-40)),
          ("Name", .string("board")),
        ])
      for await device in scan {
        found = device
        break
      }
    }
    _ = await blueZ.called("StopDiscovery")
    #expect(found?.name == "board" && found?.rssi == -40 && found?.id.description == "dev_CC")
  }

  /// BlueZ would not report the services of the lost device again.
  @Test @BluetoothActor func aScanForgetsDevicesWhoseServicesWereLost() async throws {
    let (_, blueZ, bluetooth) = try await opened()
    let adapter = try await bluetooth.adapter(for: .central)
    let others: [(String, DBusValue)] = [
      ("Paired", .bool(true)), ("Connected", .bool(true)), ("Trusted", .bool(true)),
      ("Blocked", .bool(true)), ("RSSI", .int16(-40)),
      ("UUIDs", .strings(["0000fe9a-0000-1000-8000-00805f9b34fb"])),
    ]
    blueZ.device("AA")
    // The device is in the state after a connection.
    blueZ.device("AB", [("UUIDs", .strings(["00001800-0000-1000-8000-00805f9b34fb"]))])
    for (number, property) in others.enumerated() { blueZ.device("B\(number)", [property]) }
    _ = try await bluetooth.wait("devices") { $0.devices.count > others.count + 1 ? true : nil }
    // This scan accepts all devices, whatever their services.
    _ = try await bluetooth.scan(for: [], on: adapter)
    #expect(!blueZ.calls.contains { $0.member == "RemoveDevice" })
    _ = try await bluetooth.scan(for: ["fe9a"], on: adapter)
    let removed = blueZ.calls.filter { $0.member == "RemoveDevice" }.map(\.body)
    #expect(removed == ["AA", "AB"].map { [.path("/org/bluez/hci0/dev_\($0)")] })
    // The scan does not remove devices with keys.
    let properties: [(String, DBusValue)] = [("Bonded", .bool(true)), ("RSSI", .int16(-40))]
    let scan = try await bluetooth.scan(for: ["fe9a"], on: adapter)
    blueZ.device("DD", properties)
    for await device in scan where device.id.description == "dev_DD" { break }
  }

  @Test(arguments: [true, false]) @BluetoothActor func keysThatAreGoneAreSaid(
    _ isPaired: Bool
  ) async throws {
    let (_, blueZ, bluetooth) = try await opened()
    blueZ.device("AA", [("Paired", .bool(isPaired))])
    blueZ.answers["Connect"] = { $0.fail("org.bluez.Error.Failed", "le-connection-abort-by-local") }
    let device = try await bluetooth.wait("device") { $0.devices.first }
    let error = await #expect(throws: BluetoothError.self) {
      try await bluetooth.connect(device.id)
    }
    #expect((error?.reason == .linkDropped("dev_AA")) == isPaired)
    #expect(blueZ.calls.count { $0.member == "Connect" } == 1)
  }

  @Test @BluetoothActor func aConnectionPausesTheScan() async throws {
    let (_, blueZ, bluetooth) = try await opened()
    let adapter = try await bluetooth.adapter(for: .central)
    blueZ.device("AA")
    let scan = try await bluetooth.scan(for: [], on: adapter)
    let device = try await bluetooth.wait("device") { $0.devices.first }
    try await bluetooth.connect(device.id)
    #expect(bluetooth.device(device.id)?.isConnected == true)
    let order = blueZ.calls.map(\.member).filter { $0.hasSuffix("Discovery") || $0 == "Connect" }
    #expect(order == ["StartDiscovery", "StopDiscovery", "Connect", "StartDiscovery"])
    try await bluetooth.pair(device.id)
    #expect(bluetooth.bonds.map(\.id) == [device.id])
    try await bluetooth.disconnect(device.id)
    try await bluetooth.removeBond(device.id)
    _ = try await bluetooth.wait("no device") { $0.devices.isEmpty ? true : nil }
    await #expect(throws: BluetoothError(.noDevice("dev_AA"))) {
      try await bluetooth.connect(device.id)
    }
    withExtendedLifetime(scan) {}
  }

  @Test @BluetoothActor func failuresOfADeviceAreToldApart() async throws {
    let (_, blueZ, bluetooth) = try await opened()
    blueZ.device("AA")
    let device = try await bluetooth.wait("device") { $0.devices.first }
    blueZ.answers["Connect"] = { $0.fail("org.bluez.Error.Failed", "le-connection-abort-by-local") }
    await #expect(
      throws: BluetoothError(
        .refused("Connect", name: "Failed", text: "le-connection-abort-by-local"))
    ) {
      try await bluetooth.connect(device.id)
    }
    blueZ.answers["Connect"] = { $0.reply() }
    // The link is lost before the services of the device are known.
    await #expect(throws: BluetoothError(.linkDropped("dev_AA"))) {
      try await bluetooth.connect(device.id)
    }
    blueZ.answers["Pair"] = { $0.fail("org.bluez.Error.AuthenticationFailed", "refused") }
    await #expect(throws: BluetoothError(.pairing("AuthenticationFailed (refused)"))) {
      try await bluetooth.pair(device.id)
    }
    // A device that disappears while the call waits for it.
    blueZ.answers["Connect"] = { [unowned blueZ] in
      blueZ.change($0.message.path, "org.bluez.Device1", "Connected", .bool(true))
      $0.reply()
      blueZ.remove($0.message.path)
    }
    await #expect(throws: BluetoothError(.noDevice("dev_AA"))) {
      try await bluetooth.connect(device.id)
    }
  }

  @Test @BluetoothActor func consentDecidesOverPairing() async throws {
    let (_, blueZ, bluetooth) = try await opened()
    let asked = Locked<[PairingRequest]>([])
    let registration = try await bluetooth.allowPairing(.compare) { request in
      asked.withLock { $0.append(request) }
      return request.device.description == "dev_A"
    }
    let call = await blueZ.called("RegisterAgent")
    let path = try #require(call.body.first?.path)
    #expect(call.body.last == .string("DisplayYesNo"))
    func ask(_ member: String, _ arguments: [DBusValue]) async throws(BluetoothError) {
      _ = try await blueZ.ask(call.sender, path, "org.bluez.Agent1", member, arguments)
    }
    try await ask("RequestAuthorization", [a])
    try await ask("RequestConfirmation", [a, .uint32(123_456)])
    try await ask("Cancel", [])
    await #expect(throws: BluetoothError.self) { try await ask("RequestAuthorization", [b]) }
    await #expect(throws: BluetoothError.self) { try await ask("RequestPinCode", [a]) }
    await #expect(throws: BluetoothError.self) { try await ask("RequestAuthorization", []) }
    #expect(asked.withLock { $0.map(\.code) } == [nil, 123_456, nil])
    await bluetooth.unregister(registration)
    _ = await blueZ.called("UnregisterAgent")
  }

  /// A connected device with a characteristic.
  @BluetoothActor private func connected(
    _ blueZ: FakeBlueZ, _ bluetooth: Bluetooth
  ) async throws -> RemoteCharacteristic {
    blueZ.device("AA", [("Connected", .bool(true)), ("ServicesResolved", .bool(true))])
    let service = "/org/bluez/hci0/dev_AA/service0001"
    blueZ.put(
      service, "org.bluez.GattService1",
      [
        ("UUID", .string("6e400001-b5a3-f393-e0a9-e50e24dcca9e")),
        ("Device", .path("/org/bluez/hci0/dev_AA")),
      ])
    blueZ.tell(service)
    blueZ.put(
      service + "/char0002", "org.bluez.GattCharacteristic1",
      [
        ("UUID", .string("6e400003-b5a3-f393-e0a9-e50e24dcca9e")), ("Service", .path(service)),
        ("Flags", .strings(["notify", "write", "read"])), ("MTU", .uint16(23)),
      ])
    blueZ.tell(service + "/char0002")
    let device = try await bluetooth.wait("characteristic") { bluetooth in
      bluetooth.devices.first.flatMap {
        bluetooth.characteristics(of: $0.id).isEmpty ? nil : $0
      }
    }
    return try bluetooth.characteristic(
      "6E400003-B5A3-F393-E0A9-E50E24DCCA9E", of: device.id)
  }

  @Test @BluetoothActor func aMessageThatDoesNotFitIsNotSent() async throws {
    let (_, blueZ, bluetooth) = try await opened()
    let characteristic = try await connected(blueZ, bluetooth)
    #expect(characteristic.messageLimit == 20 && characteristic.flags.contains("notify"))
    await #expect(throws: BluetoothError(.messageSize(bytes: 36, limit: 20))) {
      try await bluetooth.write([UInt8](repeating: 1, count: 36), to: characteristic)
    }
    blueZ.change(
      "/org/bluez/hci0/dev_AA/service0001/char0002", "org.bluez.GattCharacteristic1", "MTU",
      .uint16(517))
    _ = try await bluetooth.wait("MTU") {
      $0.characteristics(of: characteristic.device).first?.messageLimit == 514 ? true : nil
    }
    try await bluetooth.write([UInt8](repeating: 1, count: 36), to: characteristic)
    let call = await blueZ.called("WriteValue")
    #expect(call.body.first?.bytes?.count == 36)
    #expect(call.body.last?.properties?["type"]?.string == "request")
    // Without a socket, writing without response is not possible.
    blueZ.answers["AcquireWrite"] = { $0.fail("org.bluez.Error.NotSupported") }
    try await bluetooth.writeWithoutResponse([1], to: characteristic)
    #expect(
      await blueZ.called("WriteValue").body.last?.properties?["type"]?.string == "command")
    #expect(throws: BluetoothError(.noCharacteristic("fe9a"))) {
      try bluetooth.characteristic("fe9a", of: characteristic.device)
    }
  }

  @Test @BluetoothActor func hostileAnswersAreErrors() async throws {
    let (_, blueZ, bluetooth) = try await opened()
    let characteristic = try await connected(blueZ, bluetooth)
    blueZ.answers["ReadValue"] = { $0.reply([.string("text")]) }
    await #expect(throws: BluetoothError(.invalidReply("a value"))) {
      try await bluetooth.read(characteristic)
    }
    blueZ.answers["ReadValue"] = { $0.reply() }
    await #expect(throws: BluetoothError(.invalidReply("a value"))) {
      try await bluetooth.read(characteristic)
    }
    blueZ.answers["AcquireNotify"] = { $0.reply([.uint16(5)]) }
    await #expect(throws: BluetoothError(.invalidReply("a socket"))) {
      try await bluetooth.notifications(of: characteristic)
    }
    // A descriptor that is not a socket ends the notifications.
    blueZ.answers["AcquireNotify"] = {
      $0.reply([.descriptor(OwnedDescriptor(open("/dev/zero", O_RDONLY))), .uint16(23)])
    }
    for await _ in try await bluetooth.notifications(of: characteristic).values {
      Issue.record("nothing was sent")
    }
    // The signals come from other programs, or have other types.
    blueZ.connection.emit(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", [.string("/x"), .byte(1)])
    blueZ.connection.emit(
      "/org/bluez/hci0", "org.freedesktop.DBus.Properties", "PropertiesChanged", [.byte(1)])
    blueZ.change("/org/bluez/hci0", "org.bluez.Adapter1", "Roles", .byte(1))
    _ = try await bluetooth.wait("roles") { $0.adapters.first?.roles.count == 2 ? true : nil }
  }

  @Test @BluetoothActor func notificationsComeBothWays() async throws {
    let (_, blueZ, bluetooth) = try await opened()
    let characteristic = try await connected(blueZ, bluetooth)
    var ends: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
    let theirs = OwnedDescriptor(ends[0])
    let ours = OwnedDescriptor(ends[1])
    blueZ.answers["AcquireNotify"] = { $0.reply([.descriptor(theirs), .uint16(517)]) }
    let direct = try await bluetooth.notifications(of: characteristic)
    #expect(direct.isDirect)
    for size in [1, 36, 49, 514] {
      #expect(send(ours.number, [UInt8](repeating: 7, count: size), size, 0) == size)
    }
    shutdown(ours.number, Int32(SHUT_RDWR))
    var sizes: [Int] = []
    for await value in direct.values { sizes.append(value.count) }
    #expect(sizes == [1, 36, 49, 514])

    blueZ.answers["AcquireNotify"] = { $0.fail("org.bluez.Error.NotPermitted") }
    let slow = try await bluetooth.notifications(of: characteristic)
    #expect(!slow.isDirect)
    _ = await blueZ.called("StartNotify")
    let path = "/org/bluez/hci0/dev_AA/service0001/char0002"
    for size in [36, 49] {
      blueZ.change(
        path, "org.bluez.GattCharacteristic1", "Value",
        .bytes([UInt8](repeating: 1, count: size)))
    }
    blueZ.remove(path)
    sizes = []
    for await value in slow.values { sizes.append(value.count) }
    #expect(sizes == [36, 49])
  }
}
