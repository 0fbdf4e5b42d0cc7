// SPDX-License-Identifier: Apache-2.0
internal import Bluetooth
internal import Channels
internal import System
internal import UCI

/// The transport of peers over Bluetooth LE. Each program advertises a service and scans for it.
/// The inviting program connects.
///
/// ## The service, version 1
///
/// Programs derive the UUID from the name of their service, so that only programs of one service
/// find each other. The UUID is of version 8. It has 122 bits of SHA-256 of
/// `swift-uwb peer service 1` followed by the name.
///
/// The octet with the index 3 is 1 in the service. It is 2 in the characteristic that is written
/// (with response), and 3 in the characteristic that notifies.
///
/// Each write and each notification is a message. The longest message has 130 bytes, so ATT_MTU is
/// at least 133.
///
/// The advertisement has service data for the UUID: a random number of the program (8 bytes,
/// little-endian). The scan response has its name, 1 to 29 bytes. If two programs find each other,
/// the program with the lower number invites. Unsubscribing counts as disconnecting.
final class BluetoothTransport: PeerTransport {
  let id: UInt64
  let arrivals: AsyncStream<PeerArrival>
  /// Always true, because the programs in range are not known in advance.
  let hasNetwork = true

  private let listener: BluetoothListener
  private let central: BluetoothCentral
  private let peers: Locked<[UInt64: BluetoothAccessory]>
  private let looking: Task<Void, Never>

  /// The number of peers that are remembered, however many advertise.
  private static let capacity = 64

  /// Starts advertising and scanning.
  ///
  /// - Parameters:
  ///   - bus: the D-Bus address of the bus; nil for the system bus.
  ///   - pause: the time before the next scan, after bluetoothd or the adapter was lost.
  init(
    service: String, name: String, adapter: String?, bus: String?, pause: Duration = .seconds(1),
    report: @escaping @Sendable (PeerSighting) -> Void
  ) async throws(NIPeerError) {
    do throws(PeerTokenError) { _ = try Cryptography.load() } catch { throw NIPeerError(error) }
    let service = Self.service(service)
    let known = Locked<[UInt64: BluetoothAccessory]>([:])
    peers = known
    let id = UInt64.random(in: 1 ... .max)
    self.id = id
    do throws(ChannelError) {
      let central = try await BluetoothCentral.open(adapter: adapter, bus: bus, service: service)
      self.central = central
      var peripheral = BluetoothPeripheral(name: name, adapter: central.ownAddress)
      peripheral.bus = bus
      do throws(ChannelError) {
        listener = try await BluetoothListener(
          peripheral, service,
          data: (0..<8).map { UInt8(truncatingIfNeeded: id >> (8 * $0)) })
      } catch {
        await central.close()
        throw error
      }
    } catch {
      throw .bluetooth(error)
    }
    let (arrivals, arrival) = AsyncStream<PeerArrival>.makeStream()
    self.arrivals = arrivals
    Task { [accepted = listener.channels] in
      for await channel in accepted {
        let address = (channel as? BluetoothChannel)?.name ?? ""
        arrival.yield(PeerArrival(channel: channel, address: address))
      }
      arrival.finish()
    }
    looking = Task { [central] in
      while !Task.isCancelled {
        let sightings = try? await central.sightings()
        for await sighting in sightings ?? AsyncStream(unfolding: { nil }) {
          for change in Self.handle(sighting, known) { report(change) }
        }
        // bluetoothd or the adapter was lost.
        let gone = known.withLock { known in
          defer { known = [:] }
          return known.keys.sorted()
        }
        for id in gone { report(.lost(id: id)) }
        try? await Task.sleep(for: pause)
      }
    }
  }

  deinit { close() }

  private static func handle(
    _ sighting: BluetoothCentral.Sighting, _ known: Locked<[UInt64: BluetoothAccessory]>
  ) -> [PeerSighting] {
    known.withLock { known in
      switch sighting {
      case .heard(let device, let data):
        let id = UInt64(littleEndianBytes: data)
        // The advertisement may be received before the scan response with the name.
        guard data.count == 8, id != 0, known[id] == nil, known.count < capacity,
          let name = device.name.flatMap({ PeerAnnouncement.name($0.utf8) })
        else { return [] }
        // An address has one number, so a machine has one program at a time.
        let before = forget(device, in: &known)
        known[id] = device
        return before + [.found(id: id, name: name)]
      case .gone(let device): return forget(device, in: &known)
      }
    }
  }

  private static func forget(
    _ device: BluetoothAccessory, in known: inout [UInt64: BluetoothAccessory]
  ) -> [PeerSighting] {
    let ids = known.filter { $0.value.address == device.address }.keys.sorted()
    for id in ids { known[id] = nil }
    return ids.map { .lost(id: $0) }
  }

  /// Returns the Bluetooth service for the name of a service.
  static func service(_ name: String) -> BluetoothService {
    var bytes = Array(
      Cryptography.loaded.digest(Array("swift-uwb peer service 1".utf8) + name.utf8).prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    func uuid(_ number: UInt8) -> BluetoothUUID {
      bytes[3] = number
      var text = bytes.map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      for index in [10, 8, 6, 4] { text.insert("-", at: index) }
      return BluetoothUUID(stringLiteral: text.joined())
    }
    return BluetoothService(uuid: uuid(1), input: uuid(2), output: uuid(3))
  }

  func connect(to id: UInt64) async throws(NIPeerError) -> any DataChannel {
    guard let peer = peers.withLock({ $0[id] }) else { throw .unreachable("it has closed.") }
    do throws(ChannelError) { return try await central.connect(to: peer) } catch {
      throw .unreachable(error.description)
    }
  }

  func close() {
    looking.cancel()
    listener.close()
  }

  func end() async {
    looking.cancel()
    await listener.end()
    await central.close()
  }
}
