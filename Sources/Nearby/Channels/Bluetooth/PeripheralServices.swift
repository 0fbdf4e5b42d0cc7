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
  /// The service for Android phones, whose protocol names none. Android's messages to a phone could
  /// not be distinguished from Apple's in a common service.
  package static let android = BluetoothService(
    uuid: "1226A228-277C-49ED-B6EB-2EB2DAB4E9C7", input: "2E20EB71-02F9-40C8-B9F4-41D25140D007",
    output: "3B06F3B3-74AE-4707-9CF3-B00F38917946")
  static let channels = [uart, qnis]
  /// The service with configuration data for iOS itself.
  static let nearbyInteraction: BluetoothUUID = "48FE3E40-0817-4BB2-8633-3073689C2DBA"
  /// The services that accessories advertise. Estimote's accessories advertise fe9a, and offer the
  /// first of `channels`.
  static let advertised = Set(channels.map(\.uuid) + ["fe9a"])

  let server: GATTServer
  /// The output of each input, for the answers to its messages.
  let outputs: [GATTCharacteristic: GATTCharacteristic]
  let advertisements: [Advertisement]
  /// Whether unsubscribing counts as disconnecting.
  let needsListeners: Bool
  /// The longest message to inputs of Android phones in bytes: the longest value of a
  /// characteristic. Blocks of other technologies may precede the block of UWB.
  private static let longestOfAndroid = 512
  private static let longest = 255

  /// Returns the longest message that a phone may write to an input, in bytes.
  func longestMessage(to input: GATTCharacteristic) -> Int {
    input.uuid == Self.android.input ? Self.longestOfAndroid : Self.longest
  }

  /// The phones for which there are services.
  package struct Phones: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let iPhone = Phones(rawValue: 1)
    package static let android = Phones(rawValue: 2)
  }

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
  /// An adapter that supports few advertisements omits the last of them. The service for Android is
  /// last in both lists, so that it takes no place from the services for iPhones.
  ///
  /// - Parameters:
  ///   - phones: the phones to serve.
  ///   - data: returns the configuration data for an iPhone.
  package init(
    for phones: Phones = [.iPhone, .android], data: @escaping GATTCharacteristic.Read
  ) {
    var (services, channels): ([GATTService], [BluetoothService]) = ([], [])
    var outputs: [GATTCharacteristic: GATTCharacteristic] = [:]
    if phones.contains(.iPhone) {
      channels += Self.channels
      services += Self.iPhoneServices(&outputs, data)
    }
    if phones.contains(.android) {
      channels.append(Self.android)
      let input = GATTCharacteristic(Self.android.input, [.write])
      let output = GATTCharacteristic(Self.android.output, [.notify])
      outputs[input] = output
      services.append(GATTService(Self.android.uuid, [input, output]))
    }
    // An advertisement has room for one UUID of this length.
    advertisements = channels.map { Advertisement(services: [$0.uuid]) }
    (self.outputs, server, needsListeners) = (outputs, GATTServer(services), false)
  }

  private static func iPhoneServices(
    _ outputs: inout [GATTCharacteristic: GATTCharacteristic],
    _ data: @escaping GATTCharacteristic.Read
  ) -> [GATTService] {
    func input(_ channel: BluetoothService) -> GATTCharacteristic {
      GATTCharacteristic(channel.input, [.write, .writeWithoutResponse])
    }
    let uartInput = input(Self.uart)
    let uartOutput = GATTCharacteristic(Self.uart.output, [.notify])
    let qnisInput = input(Self.qnis)
    let qnisOutput = GATTCharacteristic(Self.qnis.output, [.notify])
    outputs = [uartInput: uartOutput, qnisInput: qnisOutput]
    return [
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
    ]
  }
}
