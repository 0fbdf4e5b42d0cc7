// SPDX-License-Identifier: Apache-2.0
import Accessory
import AccessoryProtocol
import Channels
import Bluetooth
import Testing
import UWB

@Suite(.bus, .timeLimit(.minutes(10))) @BluetoothActor struct PeripheralTests {
  private let initialize = AppMessage.initialize.bytes

  private func configuration(_ bytes: [UInt8]?) throws -> AccessoryConfigurationData {
    try Stage.configuration(try #require(bytes))
  }

  private func event<Value>(
    _ events: AsyncStream<Accessory.Event>, _ body: (Accessory.Event) -> Value?
  ) async -> Value? {
    for await event in events {
      if let value = body(event) { return value }
    }
    return nil
  }

  @Test func theHandlesHaveAFixedOrder() async throws {
    let stage = try await Stage()
    #expect(
      stage.blueZ.applications.last?.map(\.uuid) == [
        "6e400001-b5a3-f393-e0a9-e50e24dcca9e", Stage.uart.0, Stage.uart.1,
        "2e938fd0-6a61-11ed-a1eb-0242ac120002", "2e93941c-6a61-11ed-a1eb-0242ac120002",
        Stage.qnis.0, Stage.qnis.1,
        "48fe3e40-0817-4bb2-8633-3073689c2dba", Stage.data,
        "1226a228-277c-49ed-b6eb-2eb2dab4e9c7", Stage.android.0, Stage.android.1,
      ])
    await stage.end()
  }

  @Test func anAndroidPhoneHasItsOwnServiceBesideAnIPhone() async throws {
    let stage = try await Stage()
    #expect(
      stage.blueZ.advertisements.map { $0["ServiceUUIDs"]?.strings } == [
        ["6e400001-b5a3-f393-e0a9-e50e24dcca9e"], ["2e938fd0-6a61-11ed-a1eb-0242ac120002"],
        ["1226a228-277c-49ed-b6eb-2eb2dab4e9c7"],
      ])
    stage.connect("AA")
    stage.connect("BB")
    let first = try await stage.subscribe("AA")
    let second = try await stage.subscribe("BB", Stage.android.1, mtu: 247)
    try await stage.write([3, 0, 1, 0], "BB", Stage.android.0, mtu: 247)
    try await stage.write(initialize, "AA")
    _ = try configuration(await first.next())
    let answer = try AndroidAccessoryMessage(try #require(await second.next()))
    guard case .capabilityResponse(let capability?, _) = answer.content else {
      Issue.record("\(answer)")
      return
    }
    #expect(answer.version == 3 && capability.roles == [.initiator, .responder])
    // Blocks of other technologies make a message longer than an iPhone's.
    let other = [3, 2, 4, 0, 4, 0, 2, 250] + [UInt8](repeating: 0, count: 248) + [0]
    try await stage.write(other, "BB", Stage.android.0, mtu: 517)
    #expect(await second.next() == [3, 3, 0, 0])
    await stage.end()
  }

  @Test func eachPhoneHasItsOwnDataBesideAnAppOverTCP() async throws {
    let stage = try await Stage()
    let listener = try await SocketListener(.tcp(host: "127.0.0.1", port: 0))
    let listening = Task { [accessory = stage.accessory] in await accessory.serve(listener) }
    stage.connect("AA")
    stage.connect("BB")
    let first = try await stage.subscribe("AA")
    let second = try await stage.subscribe("BB", Stage.qnis.1)
    try await stage.write(initialize, "AA")
    try await stage.write(initialize, "BB", Stage.qnis.0)
    let (a, b) = await (first.next(), second.next())
    #expect(try await stage.read("AA") == Array(try #require(a).dropFirst()))
    #expect(try await stage.read("BB") == Array(try #require(b).dropFirst()))
    let socket = try await SocketChannel.connect(to: listener.endpoint)
    try await socket.send(initialize)
    var messages = socket.messages.makeAsyncIterator()
    let c = await messages.next(isolation: #isolation)
    let addresses = try [a, b, c].map { try configuration($0).uwb.address }
    #expect(Set(addresses).count == 3)
    // A phone whose app has not requested data receives it as well.
    stage.connect("CC")
    #expect(try await stage.read("CC")?.count == 37)
    socket.close()
    listening.cancel()
    await stage.end()
  }

  @Test func aPhoneRangesAndFindsItsSessionAgain() async throws {
    let stage = try await Stage()
    let events = stage.accessory.events
    stage.connect("AA")
    let socket = try await stage.subscribe("AA")
    try await stage.write(initialize, "AA")
    let accessory = try configuration(await socket.next())
    var data = ShareableConfigurationData.answering(accessory)
    // The interval is long, because only 256 events are kept for a test that waits.
    data.interval = 200
    data.slotDuration = 2_400
    let session = try await stage.chips[1].makeSession(
      try data.session(of: .app, with: accessory.uwb))
    try await session.start()
    try await stage.write(AppMessage.configureAndStart(data.bytes).bytes, "AA")
    #expect(await socket.next() == AccessoryMessage.accessoryUwbDidStart.bytes)
    func distance() async -> Int? {
      await event(events) {
        guard case .measured(_, let measurement) = $0 else { return nil }
        return measurement.result.distanceCentimetres
      }
    }
    #expect(abs(try #require(await distance()) - 300) < 50)
    stage.leave("AA")
    let name = await event(events) {
      if case .disconnected(let app, nil) = $0 { app.name } else { nil }
    }
    #expect(name == "AA")
    #expect(await distance() != nil)
    #expect(stage.accessory.rangingApps.map(\.name) == ["AA"])
    stage.connect("AA")
    let again = try await stage.subscribe("AA")
    try await stage.write(AppMessage.stop.bytes, "AA")
    #expect(await again.next() == AccessoryMessage.accessoryUwbDidStop.bytes)
    try await session.close()
    await stage.end()
  }

  @Test func anAnswerWaitsForTheSubscription() async throws {
    let stage = try await Stage()
    let events = stage.accessory.events
    stage.connect("AA")
    try await stage.write(initialize, "AA")
    _ = await event(events) { if case .offered = $0 { true } else { nil } }
    let socket = try await stage.subscribe("AA")
    let bytes = await socket.next()
    #expect(throws: Never.self) { try configuration(bytes) }
    await stage.end()
  }

  @Test func anAnswerIsForThePhoneThatAsked() async throws {
    let stage = try await Stage()
    let events = stage.accessory.events
    stage.connect("AA")
    stage.connect("BB")
    let first = try await stage.subscribe("AA")
    try await stage.write(initialize, "BB")
    _ = await event(events) { if case .offered = $0 { true } else { nil } }
    let second = try await stage.subscribe("BB")
    _ = try configuration(await second.next())
    try await stage.write(initialize, "AA")
    let own = try #require(await first.next())
    #expect(try await stage.read("AA") == Array(own.dropFirst()))
    await stage.end()
  }

  @Test func aPhoneThatIsBackAtOnceIsAnswered() async throws {
    let stage = try await Stage()
    for _ in 0..<20 {
      stage.connect("AA")
      let socket = try await stage.subscribe("AA")
      try await stage.write(initialize, "AA")
      let bytes = await socket.next()
      #expect(throws: Never.self) { try configuration(bytes) }
      stage.leave("AA")
    }
    await stage.end()
  }

  @Test func aShortMTUIsSaidInsteadOfDamagedData() async throws {
    let stage = try await Stage()
    let events = stage.accessory.events
    stage.connect("AA")
    let socket = try await stage.subscribe("AA", mtu: 23)
    try await stage.write(initialize, "AA", mtu: 23)
    let error = await event(events) {
      if case .disconnected(_, let error) = $0 { error } else { nil }
    }
    #expect(error == ChannelError(.bluetooth(BluetoothError(.messageSize(bytes: 38, limit: 20)))))
    #expect(await stage.blueZ.called("Disconnect").path.hasSuffix("dev_AA"))
    withExtendedLifetime(socket) {}
    await stage.end()
  }

  /// The MTU is exchanged after the subscription.
  @Test func aGreaterMTUAfterTheSubscriptionIsUsed() async throws {
    for version in [0x0552, 0x0542] as [UInt16] {
      let stage = try await Stage(version: version)
      stage.connect("AA")
      let socket = try await stage.subscribe("AA", mtu: 23)
      try await stage.write(initialize, "AA", mtu: 185)
      let bytes = await socket.next()
      #expect(throws: Never.self) { try configuration(bytes) }
      await stage.end()
    }
  }

  /// bluetoothd has already confirmed the message, so that the accessory can only disconnect the
  /// phone.
  @Test func aMessageThatIsTooLongEndsTheConnection() async throws {
    let stage = try await Stage()
    let events = stage.accessory.events
    stage.connect("AA")
    try await stage.write(initialize, "AA")
    _ = await event(events) { if case .offered = $0 { true } else { nil } }
    await #expect(
      throws: BluetoothError(.refused("WriteValue", name: "InvalidValueLength", text: ""))
    ) {
      try await stage.write([UInt8](repeating: 0x0A, count: 256), "AA", mtu: 517)
    }
    let error = await event(events) {
      if case .disconnected(_, let error) = $0 { error } else { nil }
    }
    #expect(error == ChannelError(.messageTooLong(bytes: 256, limit: 255)))
    #expect(await stage.blueZ.called("Disconnect").path.hasSuffix("dev_AA"))
    // A message before the disconnection does not open a new channel.
    await #expect(throws: BluetoothError.self) { try await stage.write(initialize, "AA") }
    stage.leave("AA")
    stage.connect("AA")
    let socket = try await stage.subscribe("AA")
    try await stage.write(initialize, "AA")
    let bytes = await socket.next()
    #expect(throws: Never.self) { try configuration(bytes) }
    await stage.end()
  }

  @Test func lostMessagesOfAFloodAreCounted() async throws {
    let bus = try await PrivateBus()
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter(version: 0x0552)
    var peripheral = BluetoothPeripheral(name: "Door")
    peripheral.bus = bus.address
    let server = try await PeripheralServer(
      peripheral, PeripheralServices { _ in .failure(.notPermitted) })
    let (left, leave) = AsyncStream<Void>.makeStream()
    let (ends, ended) = AsyncStream<(received: Int, failure: ChannelError?)>.makeStream()
    let serving = Task {
      await server.run { channel in
        for await _ in left {}
        var received = 0
        for await _ in channel.messages { received += 1 }
        ended.yield((received, channel.failure))
      }
    }
    let program = await blueZ.called("RegisterApplication").sender
    let input = try #require(blueZ.applications.last?.first { $0.uuid == Stage.uart.0 }).path
    let phone = "/org/bluez/hci0/dev_AA"
    blueZ.device("AA")
    blueZ.change(phone, "org.bluez.Device1", "Connected", .bool(true))
    var refused = 0
    for _ in 0..<520 {
      do throws(BluetoothError) {
        _ = try await blueZ.ask(
          program, input, "org.bluez.GattCharacteristic1", "WriteValue",
          [.bytes([0xEE]), .properties([("device", .path(phone))])])
      } catch {
        #expect(error == BluetoothError(.refused("WriteValue", name: "Failed", text: "0x80")))
        refused += 1
      }
    }
    #expect(refused == 8)
    #expect(await blueZ.called("Disconnect").path == phone)
    blueZ.change(phone, "org.bluez.Device1", "Connected", .bool(false))
    leave.finish()
    var results = ends.makeAsyncIterator()
    let end = try #require(await results.next(isolation: #isolation))
    // The disconnection comes at any time after the first loss.
    guard case .messagesLost(1...8)? = end.failure?.reason else {
      Issue.record("\(String(describing: end.failure))")
      return
    }
    #expect(end.received == 512)
    serving.cancel()
    await serving.value
    blueZ.end()
  }

  @Test func anOrderlyEndIsNotALoss() async throws {
    let stage = try await Stage()
    var reports = stage.reports.makeAsyncIterator()
    stage.connect("AA")
    #expect(await reports.next(isolation: #isolation) == .advertising(adapter: "hci0"))
    await stage.end()
    #expect(await reports.next(isolation: #isolation) == nil)
  }

  @Test func oldVersionsServeOnePhone() async throws {
    let stage = try await Stage(version: 0x0542)
    var reports = stage.reports.makeAsyncIterator()
    #expect(await reports.next(isolation: #isolation) == .advertising(adapter: "hci0"))
    #expect(await reports.next(isolation: #isolation) == .servesOnePhone)
    stage.connect("AA")
    stage.connect("BB")
    let socket = try await stage.subscribe("AA")
    try await stage.write(initialize, "AA")
    _ = try configuration(await socket.next())
    for _ in 0..<3 {
      await #expect(
        throws: BluetoothError(.refused("WriteValue", name: "Failed", text: "0x80"))
      ) {
        try await stage.write(initialize, "BB")
      }
      #expect(await reports.next(isolation: #isolation) == .refused(phone: "BB"))
      #expect(await stage.blueZ.called("Disconnect").path.hasSuffix("dev_BB"))
      stage.connect("BB")
    }
    stage.leave("AA")
    try await stage.write(initialize, "BB")
    // All phones share one socket.
    _ = try configuration(await socket.next())
    // The accessory served the phone only after another phone had disconnected.
    for _ in 0..<3 { _ = await stage.blueZ.called("RegisterAdvertisement") }
    #expect(!stage.blueZ.calls.contains { $0.member == "RegisterAdvertisement" })
    await stage.end()
  }

  /// The socket belongs to the previous phone, whose MTU was greater.
  @Test func aShortMTUIsSaidWhereASocketIsShared() async throws {
    let stage = try await Stage(version: 0x0542)
    let events = stage.accessory.events
    stage.connect("AA")
    let socket = try await stage.subscribe("AA")
    stage.leave("AA")
    stage.connect("BB")
    try await stage.write(initialize, "BB", mtu: 23)
    let error = await event(events) {
      if case .disconnected(_, let error) = $0 { error } else { nil }
    }
    #expect(error == ChannelError(.bluetooth(BluetoothError(.messageSize(bytes: 38, limit: 20)))))
    withExtendedLifetime(socket) {}
    await stage.end()
  }

  /// BlueZ before 5.76 would not deliver an answer to the phone.
  @Test func aPhoneThatGetsAnAddressByPairingConnectsAgain() async throws {
    let stage = try await Stage(version: 0x0542)
    stage.connect("AA")
    let socket = try await stage.subscribe("AA")
    try await stage.write(initialize, "AA")
    _ = try configuration(await socket.next())
    stage.blueZ.change(
      "/org/bluez/hci0/dev_AA", "org.bluez.Device1", "Address", .string("C0:FF:EE:00:00:01"))
    await #expect(throws: BluetoothError(.refused("WriteValue", name: "Failed", text: "0x80"))) {
      try await stage.write(initialize, "AA")
    }
    #expect(await stage.blueZ.called("Disconnect").path.hasSuffix("dev_AA"))
    stage.connect("AA")
    try await stage.write(initialize, "AA")
    _ = try configuration(await socket.next())
    await stage.end()
  }

  /// BlueZ (5.82) keeps the subscription of a phone that is paired, but not its socket.
  @Test func aPhoneWhoseSubscriptionIsKeptIsAnswered() async throws {
    let stage = try await Stage()
    var values = try await stage.values().makeAsyncIterator()
    stage.connect("AA")
    let socket = try await stage.subscribe("AA")
    try await stage.write(initialize, "AA")
    let first = try configuration(await socket.next())
    stage.leave("AA")
    stage.connect("AA")
    try await stage.write(initialize, "AA")
    let value = try #require(await values.next(isolation: #isolation))
    #expect(try configuration(value) != first)
    #expect(try await stage.read("AA") == Array(value.dropFirst()))
    // Another subscribed phone would also receive this notification.
    var reports = stage.reports.makeAsyncIterator()
    #expect(await reports.next(isolation: #isolation) == .advertising(adapter: "hci0"))
    stage.connect("BB")
    _ = try await stage.subscribe("BB")
    #expect(await reports.next(isolation: #isolation) == .refused(phone: "BB"))
    #expect(await stage.blueZ.called("Disconnect").path.hasSuffix("dev_BB"))
    stage.leave("AA")
    stage.connect("BB")
    let other = try await stage.subscribe("BB")
    try await stage.write(initialize, "BB")
    _ = try configuration(await other.next())
    stage.connect("AA")
    await #expect(throws: BluetoothError(.refused("WriteValue", name: "Failed", text: "0x80"))) {
      try await stage.write(initialize, "AA")
    }
    #expect(await reports.next(isolation: #isolation) == .refused(phone: "AA"))
    #expect(await stage.blueZ.called("Disconnect").path.hasSuffix("dev_AA"))
    await stage.end()
  }

  /// The earlier phone does not receive the notification for the new phone, and the notification is
  /// not lost.
  @Test func aPhoneWhoseSubscriptionIsKeptIsAnsweredWhenOthersHaveLeft() async throws {
    let stage = try await Stage()
    var values = try await stage.values().makeAsyncIterator()
    let events = stage.accessory.events
    stage.connect("BB")
    let socket = try await stage.subscribe("BB")
    stage.connect("AA")
    stage.blueZ.change(
      "/org/bluez/hci0/dev_AA", "org.bluez.Device1", "Bonded", .bool(true))
    try await stage.write(initialize, "AA")
    _ = await event(events) { if case .offered = $0 { true } else { nil } }
    #expect(await stage.blueZ.called("Disconnect").path.hasSuffix("dev_BB"))
    // A socket whose phone has disconnected is closed.
    withExtendedLifetime(socket) { stage.leave("BB") }
    let value = try #require(await values.next(isolation: #isolation))
    #expect(try await stage.read("AA") == Array(value.dropFirst()))
    // A paired phone that subscribed before receives the notification as soon as it is connected.
    stage.connect("CC")
    let other = try await stage.subscribe("CC")
    #expect(await stage.blueZ.called("Disconnect").path.hasSuffix("dev_CC"))
    withExtendedLifetime(other) { stage.leave("CC") }
    stage.blueZ.change(
      "/org/bluez/hci0/dev_CC", "org.bluez.Device1", "Bonded", .bool(true))
    stage.connect("CC")
    #expect(await stage.blueZ.called("Disconnect").path.hasSuffix("dev_CC"))
    await stage.end()
  }

  /// When an unpaired phone disconnects, BlueZ closes another phone's socket.
  @Test func aPhoneThatLosesItsSocketIsAnswered() async throws {
    let stage = try await Stage()
    var values = try await stage.values().makeAsyncIterator()
    stage.connect("AA")
    stage.connect("BB")
    do {
      let (first, second) = try await (stage.subscribe("AA"), stage.subscribe("BB"))
      for (phone, socket) in [("AA", first), ("BB", second)] {
        try await stage.write(initialize, phone)
        _ = try configuration(await socket.next())
      }
    }
    stage.leave("BB")
    try await stage.write(initialize, "AA")
    let bytes = await values.next(isolation: #isolation)
    #expect(throws: Never.self) { try configuration(bytes) }
    await stage.end()
  }

  @Test func everythingIsBackAfterARestartOfBluetoothd() async throws {
    let stage = try await Stage()
    stage.connect("AA")
    let socket = try await stage.subscribe("AA")
    try await stage.write(initialize, "AA")
    let first = try configuration(await socket.next())
    let events = stage.accessory.events
    try await stage.restartBlueZ()
    #expect(await event(events) { if case .disconnected = $0 { true } else { nil } } == true)
    var reports = stage.reports.makeAsyncIterator()
    var seen: [BluetoothPeripheral.Event] = []
    while let report = await reports.next(isolation: #isolation) {
      seen.append(report)
      if seen.count(where: { $0 == .advertising(adapter: "hci0") }) == 2 { break }
    }
    #expect(seen.contains(.lost))
    stage.connect("AA")
    let again = try await stage.subscribe("AA")
    try await stage.write(initialize, "AA")
    #expect(try configuration(await again.next()) != first)
    await stage.end()
  }

  @Test func pairingIsAskedFor() async throws {
    let stage = try await Stage()
    stage.connect("AA")
    await #expect(throws: Never.self) { try await stage.authorize("AA") }
    await stage.end()
  }

  @Test func whatIsMissingIsSaid() async throws {
    let stage = try await Stage()
    var peripheral = BluetoothPeripheral()
    peripheral.bus = "unix:path=/nonexistent/bus"
    let error = await #expect(throws: ChannelError.self) {
      try await stage.accessory.serve(peripheral)
    }
    #expect(error?.code == .bluetooth && error?.recoverySuggestion != nil)
    peripheral.bus = stage.bus.address
    peripheral.name = String(repeating: "n", count: 30)
    await #expect(throws: ChannelError.self) { try await stage.accessory.serve(peripheral) }
    await stage.end()
  }
}
