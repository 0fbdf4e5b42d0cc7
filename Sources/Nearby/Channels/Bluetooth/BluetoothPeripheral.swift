// SPDX-License-Identifier: Apache-2.0
package import Bluetooth

/// The name, adapter and pairing of an accessory over Bluetooth LE.
///
/// ```swift
/// try await accessory.serve(BluetoothPeripheral(name: "Door"))
/// ```
///
/// iPhones find two data channels, the Nordic UART Service and Qorvo's QNIS, and Apple's Nearby
/// Interaction service. Android phones find a service with a data channel for them:
/// 1226A228-277C-49ED-B6EB-2EB2DAB4E9C7. Apple's encrypted Accessory Configuration Data returns to
/// each phone the data that its app received. bluetoothd and libsystemd are needed at run time.
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
    case failed(ChannelError)
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

/// A service for messages between programs: each write and each notification is a message.
package struct BluetoothService: Sendable {
  package let uuid: BluetoothUUID
  /// The characteristic that a client writes, and the characteristic that notifies it.
  package let input, output: BluetoothUUID

  package init(uuid: BluetoothUUID, input: BluetoothUUID, output: BluetoothUUID) {
    (self.uuid, self.input, self.output) = (uuid, input, output)
  }
}
