// SPDX-License-Identifier: Apache-2.0
import Bluetooth
import Foundation
import Testing

@testable import Peers

/// Two machines that find each other over Bluetooth LE and exchange tokens. On the virtual bench,
/// the real bluetoothd transmits their messages.
@Suite(.bus, .timeLimit(.minutes(10))) @BluetoothActor struct PeerTests {
  private static func identity() throws -> PeerIdentity {
    try PeerIdentity(capabilities: [.preciseDistance, .controller, .controlee])
  }

  private static func meet(
    _ nearby: NINearbyPeers
  ) async throws -> NIPeerConnection {
    for await event in nearby.events {
      switch event {
      case .found(let peer) where nearby.isToInvite(peer):
        return try await nearby.invite(peer, as: identity())
      case .invited(let invitation): return try await invitation.accept(as: identity())
      default: break
      }
    }
    throw NIPeerError.closed
  }

  private static func meet(_ nearby: [NINearbyPeers]) async throws -> [NIPeerConnection] {
    async let first = meet(nearby[0])
    async let second = meet(nearby[1])
    return try await [first, second]
  }

  @Test func tokensAreExchanged() async throws {
    let air = try await Air()
    let nearby = try await air.peers()
    let ends = try await Self.meet(nearby)
    #expect(ends[0].code == ends[1].code)
    // The longest message has the longest name.
    #expect(ends.map(\.name) == air.names.reversed())
    // A program that has found a peer does not have to be visible to others.
    for peers in nearby { peers.close() }
    for machine in air.machines { _ = await machine.blueZ.called("UnregisterAdvertisement") }
    async let confirmed = ends[0].confirmed()
    async let other = ends[1].confirmed()
    #expect(try await confirmed != other)
    ends[0].close()
    #expect(await ends[1].ended() == .vanished)
    for peers in nearby { await peers.end() }
    air.end()
  }

  /// A program that was killed loses its connection to bluetoothd.
  @Test func theEndOfAProgramEndsTheConnection() async throws {
    let air = try await Air()
    let nearby = try await air.peers()
    let ends = try await Self.meet(nearby)
    // The program shuts bluetoothd's end of the connection.
    air.socket?.shut()
    for end in ends { #expect(await end.ended() == .vanished) }
    _ = await air.invited.blueZ.called("Disconnect")
    for peers in nearby { await peers.end() }
    air.end()
  }

  @Test func peersComeAndGo() async throws {
    let air = try await Air()
    let nearby = try await air.peers()
    var events = nearby[0].events.makeAsyncIterator()
    guard case .found(let peer)? = await events.next(isolation: #isolation) else {
      return #expect(Bool(false), "nobody is found")
    }
    #expect(peer.name == air.names[1])
    #expect(nearby[0].isToInvite(peer) == (air.inviting === air.machines[0]))
    let (machine, other) = (air.machines[0], air.machines[1])
    machine.blueZ.remove(other.path)
    guard case .lost(peer)? = await events.next(isolation: #isolation) else {
      return #expect(Bool(false), "it is not lost")
    }
    await #expect(throws: NIPeerError.self) {
      try await nearby[0].invite(peer, as: Self.identity())
    }
    // An advertisement without a name identifies no peer, a name may be invalid, and data may be
    // any bytes.
    let strange: [(String?, Int)] = [
      (nil, 8), ("", 8), ("a\u{202E}b", 8), ("Eve", 7), ("Eve", 0), ("Eve", 9),
    ]
    for (name, length) in strange {
      machine.blueZ.device(
        "00_AA_01_00_00_77",
        (name.map { [("Name", .string($0))] } ?? [])
          + [
            (
              "ServiceData",
              .properties([(machine.service, .bytes([UInt8](repeating: 1, count: length)))])
            ),
            ("RSSI", .int16(-50)),
          ])
    }
    machine.hear(other)
    guard case .found(peer)? = await events.next(isolation: #isolation) else {
      return #expect(Bool(false), "it is not found again")
    }
    // The adapter is removed.
    machine.blueZ.removeAll(below: "/org/bluez/hci0")
    guard case .lost(peer)? = await events.next(isolation: #isolation) else {
      return #expect(Bool(false), "it is not lost with the adapter")
    }
    machine.blueZ.adapter(address: machine.address, version: 0x0542)
    machine.hear(other)
    guard case .found(peer)? = await events.next(isolation: #isolation) else {
      return #expect(Bool(false), "it is not found when the adapter is back")
    }
    for peers in nearby { await peers.end() }
    air.end()
  }

  @Test func aConnectionThatIsTooSmallIsRefused() async throws {
    let air = try await Air()
    // An invitation with the longest name fits, but no answer does.
    air.mtu = 68
    let nearby = try await air.peers()
    let meetings = nearby.map { nearby in Task { try await Self.meet(nearby) } }
    let isFirst = air.inviting === air.machines[0]
    let (inviting, invited) = (meetings[isFirst ? 0 : 1], meetings[isFirst ? 1 : 0])
    let error = await #expect(throws: NIPeerError.self) { _ = try await invited.value }
    #expect(error?.code == .unreachable && error?.description.contains("does not fit") == true)
    await #expect(throws: NIPeerError.vanished) { _ = try await inviting.value }
    for peers in nearby { await peers.end() }
    air.end()
  }

  @Test func whatIsMissingIsSaid() async throws {
    let bus = try await PrivateBus()
    for name in ["", String(repeating: "n", count: 30)] {
      await #expect(throws: NIPeerError.invalidName) {
        try await NINearbyPeers(
          service: "test", name: name, over: .bluetooth(), limits: .init(), bus: bus.address)
      }
    }
    let error = await #expect(throws: NIPeerError.self) {
      try await NINearbyPeers(
        service: "test", name: "A", over: .bluetooth(), limits: .init(), bus: bus.address)
    }
    #expect(error?.code == .noBluetooth && error?.recoverySuggestion != nil)
    let blueZ = try await FakeBlueZ(bus)
    blueZ.adapter(roles: ["central"], advertises: false)
    let other = await #expect(throws: NIPeerError.self) {
      try await NINearbyPeers(
        service: "test", name: "A", over: .bluetooth(adapter: "hci0"), limits: .init(),
        bus: bus.address)
    }
    #expect(other?.description.contains("peripheral") == true)
    blueZ.end()
  }
}

/// Two machines, each with a bus and a stand-in for bluetoothd, which carry each other's messages.
@BluetoothActor private final class Air {
  @BluetoothActor final class Machine {
    let bus: PrivateBus
    let blueZ: FakeBlueZ
    let address: String
    let name: String
    fileprivate(set) var program = ""
    fileprivate(set) var paths: [String] = []
    fileprivate(set) var service = ""
    /// The bytes of the current advertisement.
    fileprivate(set) var number: [UInt8] = []
    /// The path of bluetoothd's object for this machine, at the other machine.
    var path: String { "/org/bluez/hci0/dev_" + address.replacing(":", with: "_") }

    init(_ address: String, _ name: String) async throws {
      (self.address, self.name) = (address, name)
      bus = try await PrivateBus()
      blueZ = try await FakeBlueZ(bus)
      blueZ.adapter(address: address, version: 0x0542)
    }

    /// Lets this machine receive the advertisement of the other machine.
    func hear(_ other: Machine) {
      blueZ.device(
        other.address.replacing(":", with: "_"),
        [
          ("Name", .string(other.name)), ("RSSI", .int16(-50)),
          ("ServiceData", .properties([(other.service, .bytes(other.number))])),
        ])
      guard !blueZ.knows(other.path + "/service") else { return }
      blueZ.put(
        other.path + "/service", "org.bluez.GattService1",
        [("UUID", .string(other.service)), ("Device", .path(other.path))])
      for (number, flag) in ["write", "notify"].enumerated() {
        var uuid = Array(other.service)
        uuid[7] = Character("\(number + 2)")
        blueZ.put(
          "\(other.path)/service/char\(number)", "org.bluez.GattCharacteristic1",
          [
            ("UUID", .string(String(uuid))), ("Service", .path(other.path + "/service")),
            ("Flags", .strings([flag])),
          ])
      }
      for path in ["", "/char0", "/char1"] { blueZ.tell(other.path + "/service" + path) }
    }
  }

  let machines: [Machine]
  var names: [String] { machines.map(\.name) }
  /// The peer with the lower number, and the other peer.
  var inviting: Machine {
    machines[0].number.reversed().lexicographicallyPrecedes(machines[1].number.reversed())
      ? machines[0] : machines[1]
  }
  var invited: Machine { inviting === machines[0] ? machines[1] : machines[0] }
  /// The path of the connection, and bluetoothd's object for it.
  private(set) var socket: OwnedDescriptor?
  var mtu: UInt16 = 185

  init() async throws {
    machines = [
      try await Machine("00:AA:01:00:00:42", "Alice"),
      try await Machine("00:AA:01:00:00:43", String(repeating: "B", count: 29)),
    ]
  }

  func end() { for machine in machines { machine.blueZ.end() } }

  /// Two programs that receive each other's advertisements.
  func peers() async throws -> [NINearbyPeers] {
    var all: [NINearbyPeers] = []
    for machine in machines {
      all.append(
        try await NINearbyPeers(
          service: "test", name: machine.name, over: .bluetooth(), limits: .init(),
          bus: machine.bus.address))
      machine.program = await machine.blueZ.called("RegisterApplication").sender
      let objects = try #require(machine.blueZ.applications.last)
      machine.service = objects[0].uuid
      machine.paths = objects.map(\.path)
      // There is no agent, because pairing is not required.
      _ = await machine.blueZ.called("RegisterAdvertisement")
      let data = try #require(machine.blueZ.advertisements.last?["ServiceData"]?.properties)
      machine.number = try #require(data[machine.service]?.bytes)
    }
    #expect(machines[0].service == machines[1].service)
    carry()
    for (machine, other) in zip(machines, machines.reversed()) { machine.hear(other) }
    return all
  }

  private func carry() {
    let (from, to) = (inviting, invited)
    func connect(_ isConnected: Bool) {
      for (machine, other) in [(to, from), (from, to)] where machine.blueZ.knows(other.path) {
        for name in ["Connected", "ServicesResolved"] {
          machine.blueZ.change(other.path, "org.bluez.Device1", name, .bool(isConnected))
        }
      }
    }
    from.blueZ.answers["Connect"] = { call in
      connect(true)
      call.reply()
    }
    for machine in machines {
      machine.blueZ.answers["Disconnect"] = { [weak self] call in
        call.reply()
        // The socket is bluetoothd's end of the connection.
        self?.socket?.shut()
        self?.socket = nil
        connect(false)
      }
    }
    let options = DBusValue.properties([
      ("device", .path(from.path)), ("mtu", .uint16(mtu)), ("link", .string("LE")),
    ])
    from.blueZ.answers["AcquireNotify"] = { [weak self] call in
      Task { @BluetoothActor in
        let answer = try await to.blueZ.ask(
          to.program, to.paths[2], "org.bluez.GattCharacteristic1", "AcquireNotify", [options])
        if case .descriptor(let socket)? = answer.first { self?.socket = socket }
        call.reply(answer)
      }
    }
    from.blueZ.answers["WriteValue"] = { call in
      Task { @BluetoothActor in
        do throws(BluetoothError) {
          _ = try await to.blueZ.ask(
            to.program, to.paths[1], "org.bluez.GattCharacteristic1", "WriteValue",
            [call.message.body[0], options])
          call.reply()
        } catch {
          call.fail("org.bluez.Error.Failed", "\(error)")
        }
      }
    }
  }
}

extension OwnedDescriptor {
  fileprivate func shut() { shutdown(number, Int32(SHUT_RDWR)) }
}
