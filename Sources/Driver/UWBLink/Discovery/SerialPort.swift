// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// A USB device with its descriptors. The texts come from the device, so callers escape control
/// characters for output.
package struct USBDevice: Sendable, Hashable {
  /// The vendor ID, which USB-IF assigns.
  package var vendorID: UInt16
  /// The product ID, which the vendor assigns.
  package var productID: UInt16
  /// The manufacturer string of the device.
  package var manufacturer: String?
  /// The product string of the device.
  package var product: String?
  /// The serial number, which does not depend on the host or its socket.
  package var serial: String?
  /// The kernel's name of the device's socket, such as `1-3.2`.
  package var socket: String
  /// The major and minor number, such as `189:4`, which identify udev's record.
  package var deviceNumbers: String?

  /// The IDs in the usual form, such as `1915:520f`.
  package var ids: String { "\(Self.hex(vendorID)):\(Self.hex(productID))" }

  /// The matching row of `KnownProduct.all`; nil for an unknown device.
  package var known: KnownProduct? { .matching(self) }

  private static func hex(_ value: UInt16) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}

/// A serial port of this machine with hardware.
package struct SerialPort: Sendable, Hashable {
  /// The device node, such as `/dev/ttyACM0`. The number can change with each plug.
  package var path: FilePath
  /// The kernel driver, such as `cdc_acm` or `ftdi_sio`.
  package var driver: String?
  /// The USB device of the port; nil for a port of the mainboard.
  package var usb: USBDevice?
  /// The number of the USB interface, which distinguishes several ports of one device.
  package var interface: UInt8?
  /// The links to the port that do not depend on its number, best first. `/dev/uwb` precedes
  /// `/dev/serial/by-id`, which precedes `/dev/serial/by-path`.
  package var stablePaths: [FilePath]
  package var access: DeviceAccess?
  /// The major and minor number, such as `166:0`, which identify udev's record.
  package var deviceNumbers: String?

  /// The endpoint of the port: `usb:` with its serial number if it has one, or else its path.
  package var endpoint: LinkEndpoint {
    guard let serial = usb?.serial, !serial.isEmpty else { return .serial(path: path) }
    return .usb(serial: serial, interface: interface)
  }
}
