// SPDX-License-Identifier: Apache-2.0
package import Bluetooth
internal import System

/// How an accessory is found and reached over Bluetooth LE.
///
/// ```swift
/// try await accessory.serve(BluetoothPeripheral(name: "Door"))
/// ```
///
/// Phones find two data channels, the Nordic UART Service and Qorvo's QNIS, and Apple's Nearby Interaction
/// service. Its encrypted Accessory Configuration Data answers each phone with the data that its app was
/// sent. Needs bluetoothd and libsystemd at run time.
public struct BluetoothPeripheral: Sendable {
  /// Who may pair. Pairing keeps keys on both sides; apps need it for sessions in the background.
  public enum Pairing: Sendable {
    /// Every phone in range, without a comparison ("Just Works").
    case allowed
    /// None.
    case refused
    /// Those for which the closure returns true within 60 seconds. It gets the phone's address.
    case asked(@Sendable (String) async -> Bool)
  }

  /// What happens beside the accessory's events. Later versions may add cases, so a `switch` needs a
  /// default.
  public enum Event: Sendable, Hashable {
    /// Phones can find the accessory on this adapter, at first and after each interruption.
    case advertising(adapter: String)
    /// The installed BlueZ sends what one phone is told to all phones (before 5.76), so they are served one
    /// at a time.
    case servesOnePhone
    /// A phone was disconnected, because another one is being served.
    case refused(phone: String)
    /// bluetoothd or the adapter is gone; it is waited for.
    case lost
    /// What could not be registered again is tried again.
    case failed(AccessoryError)
  }

  /// What phones are shown: 1 to 29 bytes.
  public var name: String
  /// The adapter by name, as `hci0`, or address; nil: the first that can be a peripheral.
  public var adapter: String?
  /// Who may pair.
  public var pairing: Pairing
  /// The bus, as D-Bus writes addresses; nil: the system's.
  package var bus: String?

  /// Describes a peripheral; it exists while an accessory serves it.
  public init(
    name: String = "UWB accessory", adapter: String? = nil, pairing: Pairing = .allowed
  ) {
    (self.name, self.adapter, self.pairing) = (name, adapter, pairing)
  }
}

extension Accessory {
  /// Serves phones over Bluetooth LE until the task is cancelled, also after bluetoothd was restarted or
  /// the adapter was replugged. Other channels can be served at the same time.
  ///
  /// A phone keeps its name, and so its session, when it connects again.
  ///
  /// - Parameters:
  ///   - peripheral: What phones see, on which adapter, and who may pair.
  ///   - report: Called with what happens, one event after the other.
  /// - Throws: `AccessoryError` with the code `.bluetooth` if something is missing at the start.
  public func serve(
    _ peripheral: BluetoothPeripheral,
    report: @escaping @Sendable (BluetoothPeripheral.Event) -> Void = { _ in }
  ) async throws(AccessoryError) {
    let offered = Locked<[BluetoothDeviceID: [UInt8]]>([:])
    let services = PeripheralServices { [weak self] device in
      if let data = offered.withLock({ $0[device] }) { return .success(data) }
      // Its app has not asked yet.
      guard let data = try? self?.configurationData() else { return .failure(.application(0x80)) }
      return .success(data.bytes)
    }
    do throws(BluetoothError) {
      let server = try await PeripheralServer(peripheral, services, offered, report)
      await server.run { await self.serve($0, as: $0.name) }
    } catch {
      throw AccessoryError(.bluetooth(error))
    }
  }
}

/// A service over which programs talk: each write and each notification is a message.
package struct BluetoothService: Sendable {
  package let uuid: BluetoothUUID
  /// What who has connected writes, and where it listens.
  package let input, output: BluetoothUUID

  package init(uuid: BluetoothUUID, input: BluetoothUUID, output: BluetoothUUID) {
    (self.uuid, self.input, self.output) = (uuid, input, output)
  }
}

/// The services in the order of their handles, which phones remember: it must not change.
struct PeripheralServices: Sendable {
  static let uart = BluetoothService(
    uuid: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E", input: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E",
    output: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E")
  static let qnis = BluetoothService(
    uuid: "2E938FD0-6A61-11ED-A1EB-0242AC120002", input: "2E93998A-6A61-11ED-A1EB-0242AC120002",
    output: "2E939AF2-6A61-11ED-A1EB-0242AC120002")
  static let channels = [uart, qnis]
  /// Holds configuration data for iOS itself.
  static let nearbyInteraction: BluetoothUUID = "48FE3E40-0817-4BB2-8633-3073689C2DBA"
  /// What accessories advertise. Estimote's advertise fe9a, and offer the first.
  static let advertised = Set(channels.map(\.uuid) + ["fe9a"])

  let server: GATTServer
  /// Where the answers to what is written go.
  let outputs: [GATTCharacteristic: GATTCharacteristic]
  let advertisements: [Advertisement]
  /// Whether who does not listen any more has left.
  let needsListeners: Bool

  /// One service, without pairing.
  ///
  /// - Parameter data: of the service, for who looks for it.
  init(_ service: BluetoothService, data: [UInt8]) {
    var advertisement = Advertisement()
    advertisement.serviceData = [service.uuid: data]
    let input = GATTCharacteristic(service.input, [.write], writeLimit: 255)
    let output = GATTCharacteristic(service.output, [.notify])
    outputs = [input: output]
    server = GATTServer([GATTService(service.uuid, [input, output])])
    (advertisements, needsListeners) = ([advertisement], true)
  }

  /// Those of an accessory.
  ///
  /// - Parameter data: the configuration data for a phone.
  init(data: @escaping GATTCharacteristic.Read) {
    func input(_ channel: BluetoothService) -> GATTCharacteristic {
      GATTCharacteristic(channel.input, [.write, .writeWithoutResponse], writeLimit: 255)
    }
    // An advertisement holds one UUID of this length.
    advertisements = Self.channels.map { Advertisement(services: [$0.uuid]) }
    needsListeners = false
    let uartInput = input(Self.uart)
    let uartOutput = GATTCharacteristic(Self.uart.output, [.notify])
    let qnisInput = input(Self.qnis)
    let qnisOutput = GATTCharacteristic(Self.qnis.output, [.notify])
    outputs = [uartInput: uartOutput, qnisInput: qnisOutput]
    server = GATTServer([
      GATTService(Self.uart.uuid, [uartInput, uartOutput]),
      GATTService(
        Self.qnis.uuid,
        [
          // Apps read it to make the phone pair.
          GATTCharacteristic("2E93941C-6A61-11ED-A1EB-0242AC120002", [.encryptedRead]) { _ in
            .success([0x51, 0x6F, 0x72, 0x76, 0x6F, 0x00])
          },
          qnisInput, qnisOutput,
        ]),
      GATTService(
        Self.nearbyInteraction,
        [
          GATTCharacteristic("95E8D9D5-D8EF-4721-9A4E-807375F53328", [.encryptedRead], read: data)
        ]),
    ])
  }
}
