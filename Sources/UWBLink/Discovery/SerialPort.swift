// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// A device on the USB, as it describes itself. The texts come from the device: a program that
/// prints them has to escape control characters.
public struct USBDevice: Sendable, Hashable {
  /// Vendor id, given out by USB-IF.
  public var vendorID: UInt16
  /// Product id, given out by the vendor.
  public var productID: UInt16
  /// What the device calls its maker.
  public var manufacturer: String?
  /// What the device calls itself.
  public var product: String?
  /// Its serial number: the same in every socket of every host.
  public var serial: String?
  /// The kernel's name for the socket it is plugged into, such as `1-3.2`.
  public var socket: String
  /// Its character device's numbers, such as `189:4`: the key of udev's record of it.
  public var deviceNumbers: String?

  /// The ids in the customary form, such as `1915:520f`.
  public var ids: String { "\(Self.hex(vendorID)):\(Self.hex(productID))" }

  /// The row of `KnownProduct.all` that fits; nil for a stranger.
  package var known: KnownProduct? { .matching(self) }

  private static func hex(_ value: UInt16) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}

/// A serial port of this machine that has hardware behind it.
public struct SerialPort: Sendable, Hashable {
  /// The device node, such as `/dev/ttyACM0`. The number can change at every plug.
  public var path: FilePath
  /// The kernel driver, such as `cdc_acm` or `ftdi_sio`.
  public var driver: String?
  /// The USB device it belongs to; nil for a port of the board itself.
  public var usb: USBDevice?
  /// The number of its USB interface: tells the ports of one device apart.
  public var interface: UInt8?
  /// Links that lead to it whatever its number is, best first: those below `/dev/uwb`, then
  /// `/dev/serial/by-id`, then `/dev/serial/by-path`.
  public var stablePaths: [FilePath]
  /// Who may open it.
  package var access: DeviceAccess?
  /// The character device's numbers, such as `166:0`: the key of udev's record of it.
  public var deviceNumbers: String?

  /// How to name it so that the same device is found again after it was plugged elsewhere: by its
  /// USB serial number where it has one, by its path otherwise.
  public var endpoint: LinkEndpoint {
    guard let serial = usb?.serial, !serial.isEmpty else { return .serial(path: path) }
    return .usb(serial: serial, interface: interface)
  }
}
