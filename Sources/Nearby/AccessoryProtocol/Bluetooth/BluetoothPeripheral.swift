// SPDX-License-Identifier: Apache-2.0
package import Bluetooth

/// The name, adapter and pairing of an accessory over Bluetooth LE.
///
/// ```swift
/// try await accessory.serve(BluetoothPeripheral(name: "Door"))
/// ```
///
/// Phones find two data channels, the Nordic UART Service and Qorvo's QNIS, and Apple's Nearby
/// Interaction service. Its encrypted Accessory Configuration Data returns to each phone the data
/// that its app received. bluetoothd and libsystemd are needed at run time.
public struct BluetoothPeripheral: Sendable {
  /// The phones that may pair. Pairing stores keys on both sides, which apps need in the
  /// background.
  public enum Pairing: Sendable {
    /// Every phone in range may pair, without a comparison ("Just Works").
    case allowed
    /// No phone may pair.
    case refused
    /// A phone may pair if the closure returns true for its address within 60 seconds.
    case asked(@Sendable (String) async -> Bool)
  }

  /// An event in addition to the accessory's events. Later versions may add cases, so a `switch`
  /// needs a default.
  public enum Event: Sendable, Hashable {
    /// Phones can find the accessory on this adapter, at first or after an interruption.
    case advertising(adapter: String)
    /// Phones are served one at a time, because BlueZ before 5.76 sends each notification to all
    /// phones.
    case servesOnePhone
    /// A phone was disconnected, because another phone is being served.
    case refused(phone: String)
    /// bluetoothd or the adapter was lost. Serving continues when it is back.
    case lost
    /// A registration could not be renewed. It is tried again.
    case failed(AccessoryError)
  }

  /// The advertised name: 1 to 29 bytes.
  public var name: String
  /// The name of the adapter, such as `hci0`, or its address; nil for the first that can be a
  /// peripheral.
  public var adapter: String?
  /// The phones that may pair.
  public var pairing: Pairing
  /// The D-Bus address of the bus; nil for the system bus.
  package var bus: String?

  /// Creates the description of a peripheral, which exists while an accessory serves it.
  public init(
    name: String = "UWB accessory", adapter: String? = nil, pairing: Pairing = .allowed
  ) {
    (self.name, self.adapter, self.pairing) = (name, adapter, pairing)
  }
}

extension Accessory {
  /// Serves phones over Bluetooth LE until the task is cancelled.
  ///
  /// Serving continues after bluetoothd was restarted or the adapter was replugged. Other channels
  /// can be served at the same time. A phone keeps its name, and so its session, when it connects
  /// again.
  ///
  /// - Parameters:
  ///   - peripheral: the name, the adapter and the phones that may pair.
  ///   - report: called with each event, one after the other.
  /// - Throws: `AccessoryError` with the code `.bluetooth` if something is missing at the start.
  public func serve(
    _ peripheral: BluetoothPeripheral,
    report: @escaping @Sendable (BluetoothPeripheral.Event) -> Void = { _ in }
  ) async throws(AccessoryError) {
    let services = PeripheralServices { [weak self] device in
      // The phone's app may not have asked yet.
      let data = self?.offered(to: device.address) ?? (try? self?.configurationData())
      return data.map { .success($0.bytes) } ?? .failure(.application(0x80))
    }
    do throws(BluetoothError) {
      let server = try await PeripheralServer(peripheral, services, report)
      await server.run { await self.serve($0, as: $0.name) }
    } catch {
      throw AccessoryError(.bluetooth(error))
    }
  }
}

/// A service for messages between programs: each write and each notification is a message.
package struct BluetoothService: Sendable {
  package let uuid: BluetoothUUID
  /// The characteristic that a client writes, and the characteristic that notifies it.
  package let input, output: BluetoothUUID

  package init(uuid: BluetoothUUID, input: BluetoothUUID, output: BluetoothUUID) {
    (self.uuid, self.input, self.output) = (uuid, input, output)
  }
}

/// The services in the order of their handles. Phones store the handles, so the order must not
/// change.
struct PeripheralServices: Sendable {
  static let uart = BluetoothService(
    uuid: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E", input: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E",
    output: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E")
  static let qnis = BluetoothService(
    uuid: "2E938FD0-6A61-11ED-A1EB-0242AC120002", input: "2E93998A-6A61-11ED-A1EB-0242AC120002",
    output: "2E939AF2-6A61-11ED-A1EB-0242AC120002")
  static let channels = [uart, qnis]
  /// The service with configuration data for iOS itself.
  static let nearbyInteraction: BluetoothUUID = "48FE3E40-0817-4BB2-8633-3073689C2DBA"
  /// The services that accessories advertise. Estimote's accessories advertise fe9a, and offer the
  /// first.
  static let advertised = Set(channels.map(\.uuid) + ["fe9a"])

  let server: GATTServer
  /// The output of each input, for the answers to its messages.
  let outputs: [GATTCharacteristic: GATTCharacteristic]
  let advertisements: [Advertisement]
  /// Whether unsubscribing counts as disconnecting.
  let needsListeners: Bool

  /// Creates one service, without pairing.
  ///
  /// - Parameter data: the advertised data of the service.
  init(_ service: BluetoothService, data: [UInt8]) {
    var advertisement = Advertisement()
    advertisement.serviceData = [service.uuid: data]
    let input = GATTCharacteristic(service.input, [.write], writeLimit: 255)
    let output = GATTCharacteristic(service.output, [.notify])
    outputs = [input: output]
    server = GATTServer([GATTService(service.uuid, [input, output])])
    (advertisements, needsListeners) = ([advertisement], true)
  }

  /// Creates the services of an accessory.
  ///
  /// - Parameter data: returns the configuration data for a phone.
  init(data: @escaping GATTCharacteristic.Read) {
    func input(_ channel: BluetoothService) -> GATTCharacteristic {
      GATTCharacteristic(channel.input, [.write, .writeWithoutResponse], writeLimit: 255)
    }
    // An advertisement has room for one UUID of this length.
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
          // Apps read this characteristic to make the phone pair.
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
