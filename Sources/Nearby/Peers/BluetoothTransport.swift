// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import Bluetooth
internal import System

/// Peers over Bluetooth LE. Each program advertises the service and looks for it; who invites connects.
///
/// ## The service, version 1
///
/// Its UUID has 122 bits of SHA-256 of `swift-uwb peer service 1` and the name of the service, and is of
/// version 8, so that only programs of the same service find each other. The octet with the index 3 is 1 in
/// the service, 2 in the characteristic that is written (with response), and 3 in the one that notifies.
/// Each write and each notification is a message, the longest of which has 130 bytes: ATT_MTU is at least
/// 133.
///
/// The advertisement has service data for the UUID, a random number of the program (8 bytes, little-endian),
/// and the scan response its name, 1 to 29 bytes. Of two that find each other the one with the lower number
/// invites. Who unsubscribes has left.
final class BluetoothTransport: PeerTransport {
  let id: UInt64
  var channels: AsyncStream<any DataChannel> { listener.channels }
  /// Who is near is not known before somebody is found.
  let hasNetwork = true

  private let listener: BluetoothListener
  private let central: BluetoothCentral
  private let peers: Locked<[UInt64: BluetoothAccessory]>
  private let looking: Task<Void, Never>

  /// Peers that are remembered at once, whoever advertises what.
  private static let capacity = 64

  /// - Parameters:
  ///   - bus: as D-Bus writes addresses; nil: the system's.
  ///   - pause: before it is looked again where bluetoothd or the adapter is gone.
  init(
    service: String, name: String, adapter: String?, bus: String?, pause: Duration = .seconds(1),
    tell: @escaping @Sendable (PeerSighting) -> Void
  ) async throws(NIPeerError) {
    do throws(PeerTokenError) { _ = try Cryptography.load() } catch { throw NIPeerError(error) }
    let service = Self.service(service)
    let known = Locked<[UInt64: BluetoothAccessory]>([:])
    peers = known
    let id = UInt64.random(in: 1 ... .max)
    self.id = id
    do throws(AccessoryError) {
      let central = try await BluetoothCentral.open(adapter: adapter, bus: bus, service: service)
      self.central = central
      var peripheral = BluetoothPeripheral(name: name, adapter: central.ownAddress)
      peripheral.bus = bus
      do throws(AccessoryError) {
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
    looking = Task { [central] in
      while !Task.isCancelled {
        let sightings = try? await central.sightings()
        for await sighting in sightings ?? AsyncStream(unfolding: { nil }) {
          for change in Self.take(sighting, known) { tell(change) }
        }
        // bluetoothd or the adapter is gone.
        let gone = known.withLock { known in
          defer { known = [:] }
          return known.keys.sorted()
        }
        for id in gone { tell(.lost(id: id)) }
        try? await Task.sleep(for: pause)
      }
    }
  }

  deinit { close() }

  private static func take(
    _ sighting: BluetoothCentral.Sighting, _ known: Locked<[UInt64: BluetoothAccessory]>
  ) -> [PeerSighting] {
    known.withLock { known in
      switch sighting {
      case .heard(let device, let data):
        let id = data.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // It may be heard before its name.
        guard data.count == 8, id != 0, known[id] == nil, known.count < capacity,
          let name = device.name.flatMap({ PeerAnnouncement.name($0.utf8) })
        else { return [] }
        // A machine has one program at a time, because an address has one number.
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

  /// What programs of a service offer.
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
    guard let peer = peers.withLock({ $0[id] }) else { throw .unreachable("it has left.") }
    do throws(AccessoryError) { return try await central.connect(to: peer) } catch {
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
