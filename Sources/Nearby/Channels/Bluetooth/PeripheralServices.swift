// SPDX-License-Identifier: Apache-2.0
package import Bluetooth

/// The services in the order of their handles. Phones store the handles, so the order must not
/// change.
package struct PeripheralServices: Sendable {
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
    let input = GATTCharacteristic(service.input, [.write])
    let output = GATTCharacteristic(service.output, [.notify])
    outputs = [input: output]
    server = GATTServer([GATTService(service.uuid, [input, output])])
    (advertisements, needsListeners) = ([advertisement], true)
  }

  /// Creates the services of an accessory.
  ///
  /// - Parameter data: returns the configuration data for a phone.
  package init(data: @escaping GATTCharacteristic.Read) {
    func input(_ channel: BluetoothService) -> GATTCharacteristic {
      GATTCharacteristic(channel.input, [.write, .writeWithoutResponse])
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
