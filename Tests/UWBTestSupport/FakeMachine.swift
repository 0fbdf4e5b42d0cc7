// SPDX-License-Identifier: Apache-2.0
internal import Foundation
package import SystemPackage
package import UWBLink

/// A tree of files and links in a temporary folder, made the way the kernel and udev make theirs.
/// Removed with the value's last reference.
package final class FakeMachine {
  package let root: String

  package var discovery: Discovery {
    Discovery(sysfs: FilePath(root + "/sys"), dev: FilePath(root + "/dev"))
  }
  package var processes: ProcessTable { ProcessTable(procfs: FilePath(root + "/proc")) }
  package var udev: FilePath { FilePath(root + "/run/udev/data") }

  package init() throws {
    // The real path: the tests compare with the targets of links.
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "uwb-machine-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    root = folder.resolvingSymlinksInPath().path
    for path in ["sys/class/tty", "sys/bus/usb/devices", "dev", "proc", "run/udev/data"] {
      try self.folder(path)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  package func folder(_ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: "\(root)/\(path)", withIntermediateDirectories: true)
  }

  package func file(_ path: String, _ text: String) throws {
    try folder((path as NSString).deletingLastPathComponent)
    try text.write(toFile: "\(root)/\(path)", atomically: false, encoding: .utf8)
  }

  /// A link with a relative target, as sysfs and udev write them.
  package func link(_ path: String, to target: String) throws {
    try folder((path as NSString).deletingLastPathComponent)
    try FileManager.default.createSymbolicLink(
      atPath: "\(root)/\(path)", withDestinationPath: target)
  }

  // MARK: hardware

  private static let controller = "devices/pci0000:00/0000:00:14.0/usb1"

  /// A device on a hub, without interfaces.
  package func usbDevice(
    _ socket: String, _ vendor: String, _ product: String, _ texts: [String: String] = [:]
  ) throws {
    let path = "sys/\(Self.controller)/\(socket)"
    try file("sys/\(Self.controller)/idVendor", "1d6b\n")
    try file("sys/\(Self.controller)/idProduct", "0002\n")
    try file("sys/\(Self.controller)/serial", "0000:00:14.0\n")
    try file("\(path)/idVendor", vendor + "\n")
    try file("\(path)/idProduct", product + "\n")
    try file("\(path)/dev", "189:7\n")
    for (name, text) in texts { try file("\(path)/\(name)", text + "\n") }
    try link("sys/bus/usb/devices/\(socket)", to: "../../../\(Self.controller)/\(socket)")
  }

  /// A CDC-ACM port: its tty lies below the interface.
  package func cdcPort(_ name: String, socket: String, interface: String, numbers: String) throws {
    let part = "\(Self.controller)/\(socket)/\(socket):1.\(UInt8(interface, radix: 16)!)"
    try file("sys/\(part)/bInterfaceNumber", interface + "\n")
    try link("sys/\(part)/driver", to: "../../../../../../bus/usb/drivers/cdc_acm")
    try tty(name, hardware: part, numbers: numbers)
  }

  /// The port of a bridge: between interface and tty lies a port of the usb-serial bus.
  package func bridgePort(_ name: String, socket: String, driver: String, numbers: String) throws {
    let part = "\(Self.controller)/\(socket)/\(socket):1.0"
    try file("sys/\(part)/bInterfaceNumber", "00\n")
    try link("sys/\(part)/driver", to: "../../../../../../bus/usb/drivers/\(driver)")
    try folder("sys/\(part)/\(name)")
    try link(
      "sys/\(part)/\(name)/driver", to: "../../../../../../../bus/usb-serial/drivers/\(driver)")
    try tty(name, hardware: "\(part)/\(name)", numbers: numbers)
  }

  /// A port of the board itself; `type` is the chip's type according to the 8250 driver.
  package func boardPort(_ name: String, type: String) throws {
    let part = "devices/platform/serial8250"
    try folder("sys/\(part)")
    try tty(name, hardware: part, numbers: "4:64")
    try file("sys/\(part)/tty/\(name)/type", type + "\n")
    try? link("sys/\(part)/driver", to: "../../../bus/platform/drivers/serial8250")
  }

  /// A console without hardware.
  package func virtualTerminal(_ name: String) throws {
    try file("sys/devices/virtual/tty/\(name)/dev", "4:1\n")
    try link("sys/class/tty/\(name)", to: "../../devices/virtual/tty/\(name)")
  }

  private func tty(_ name: String, hardware: String, numbers: String) throws {
    try file("sys/\(hardware)/tty/\(name)/dev", numbers + "\n")
    try link(
      "sys/\(hardware)/tty/\(name)/device",
      to: "../../../\((hardware as NSString).lastPathComponent)")
    try link("sys/class/tty/\(name)", to: "../../\(hardware)/tty/\(name)")
    try file("dev/\(name)", "")
  }

  // MARK: programs

  package func process(_ pid: Int, _ name: String, open paths: [String]) throws {
    try file("proc/\(pid)/comm", name + "\n")
    try folder("proc/\(pid)/fd")
    for (number, path) in paths.enumerated() {
      try link("proc/\(pid)/fd/\(number)", to: path)
    }
  }

  // MARK: common machines

  /// Returns a desk with a kit, a bridge without a serial number, a console, and two ports of a PC.
  /// Both connectors of the kit are plugged in. One of the ports does not exist.
  package static func desk() throws -> FakeMachine {
    let machine = try FakeMachine()
    try machine.usbDevice(
      "1-3", "1915", "520f",
      [
        "manufacturer": "Nordic Semiconductor", "product": "nRF52 USB Product",
        "serial": "E5A1B2C3D4F6",
      ])
    try machine.cdcPort("ttyACM1", socket: "1-3", interface: "00", numbers: "166:1")
    try machine.usbDevice(
      "1-4", "1366", "1051",
      ["manufacturer": "SEGGER", "product": "J-Link", "serial": "000760012345"])
    try machine.cdcPort("ttyACM0", socket: "1-4", interface: "00", numbers: "166:0")
    try machine.cdcPort("ttyACM2", socket: "1-4", interface: "02", numbers: "166:2")
    try machine.usbDevice("1-5", "1a86", "7523", ["product": "USB Serial"])
    try machine.bridgePort("ttyUSB0", socket: "1-5", driver: "ch341-uart", numbers: "188:0")
    try machine.boardPort("ttyS0", type: "4")
    try machine.boardPort("ttyS1", type: "0")
    try machine.virtualTerminal("tty1")
    try machine.link(
      "dev/serial/by-id/usb-Nordic_Semiconductor_nRF52_USB_Product_E5A1B2C3D4F6-if00",
      to: "../../ttyACM1")
    try machine.link("dev/serial/by-path/pci-0000:00:14.0-usb-0:3:1.0", to: "../../ttyACM1")
    return machine
  }
}
