// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// A device on the USB, as it describes itself. The texts come from the device: a program that
/// prints them has to escape control characters.
package struct USBDevice: Sendable, Hashable {
  /// Vendor id, given out by USB-IF.
  package var vendorID: UInt16
  /// Product id, given out by the vendor.
  package var productID: UInt16
  /// What the device calls its maker.
  package var manufacturer: String?
  /// What the device calls itself.
  package var product: String?
  /// Its serial number: the same in every socket of every host.
  package var serial: String?
  /// The kernel's name for the socket it is plugged into, such as `1-3.2`.
  package var socket: String
  /// Its character device's numbers, such as `189:4`: the key of udev's record of it.
  package var deviceNumbers: String?

  /// The ids in the customary form, such as `1915:520f`.
  package var ids: String { "\(Self.hex(vendorID)):\(Self.hex(productID))" }

  /// The row of `KnownProduct.all` that fits; nil for a stranger.
  package var known: KnownProduct? { .matching(self) }

  private static func hex(_ value: UInt16) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}

/// A serial port of this machine that has hardware behind it.
package struct SerialPort: Sendable, Hashable {
  /// The device node, such as `/dev/ttyACM0`. The number can change at every plug.
  package var path: FilePath
  /// The kernel driver, such as `cdc_acm` or `ftdi_sio`.
  package var driver: String?
  /// The USB device it belongs to; nil for a port of the board itself.
  package var usb: USBDevice?
  /// The number of its USB interface: tells the ports of one device apart.
  package var interface: UInt8?
  /// Links that lead to it whatever its number is, best first: those below `/dev/uwb`, then
  /// `/dev/serial/by-id`, then `/dev/serial/by-path`.
  package var stablePaths: [FilePath]
  package var access: DeviceAccess?
  /// The character device's numbers, such as `166:0`: the key of udev's record of it.
  package var deviceNumbers: String?

  /// How to name it so that the same device is found again after it was plugged elsewhere: by its
  /// USB serial number where it has one, by its path otherwise.
  package var endpoint: LinkEndpoint {
    guard let serial = usb?.serial, !serial.isEmpty else { return .serial(path: path) }
    return .usb(serial: serial, interface: interface)
  }
}
