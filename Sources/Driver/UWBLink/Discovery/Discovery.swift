// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// Finds the serial ports of this machine in sysfs, without opening them.
///
/// Each call reads sysfs again. Tests replace the roots by a tree of files.
package struct Discovery: Sendable {
  /// The mount point of sysfs.
  package var sysfs: FilePath
  /// The folder of the device nodes.
  package var dev: FilePath

  package init(sysfs: FilePath = "/sys", dev: FilePath = "/dev") {
    self.sysfs = sysfs
    self.dev = dev
  }

  /// Returns each serial port that has hardware, sorted by name. Excludes consoles and
  /// pseudo-terminals.
  package func ports() -> [SerialPort] {
    let links = stableLinks()
    return FileTree.names(in: tty).compactMap { port(named: $0, links) }
  }

  /// Returns the port at a path, after following links, or nil if it is not a port.
  package func port(at path: FilePath) -> SerialPort? {
    guard let name = (FileTree.resolved(path) ?? path).lastComponent?.string else { return nil }
    return port(named: name, stableLinks())
  }

  /// Returns the ports of the USB devices with this serial number.
  package func find(serial: String) -> [SerialPort] {
    ports().filter { $0.usb?.serial == serial }
  }

  /// Returns the USB devices in `KnownProduct` without a serial port. Their driver is missing, or
  /// they never have a port.
  package func knownDevicesWithoutPort() -> [USBDevice] {
    let withPort = Set(ports().compactMap(\.usb?.socket))
    let devices = sysfs.appending("bus").appending("usb").appending("devices")
    return FileTree.names(in: devices).compactMap { name in
      guard !withPort.contains(name), let device = usbDevice(devices.appending(name)) else {
        return nil
      }
      return device.known == nil ? nil : device
    }
  }

  /// Returns the one port that matches a `usb:` name.
  ///
  /// - Parameter interface: The interface of the port; nil if the device has only one.
  /// - Throws: `LinkError` with code `notFound` or `ambiguous`.
  package func port(
    serial: String, interface: UInt8? = nil
  ) throws(LinkError) -> SerialPort {
    let name = LinkEndpoint.usb(serial: serial, interface: interface).description
    let device = find(serial: serial)
    let fitting = device.filter { interface == nil || $0.interface == interface }
    if let only = fitting.first, fitting.count == 1 { return only }
    func list(_ ports: [SerialPort]) -> String {
      ports.map { "\($0.path)" + ($0.interface.map { " (if=\($0))" } ?? "") }
        .joined(separator: ", ")
    }
    if fitting.isEmpty {
      let others = device.isEmpty ? nil : "that device has \(list(device))"
      throw LinkError(.notFound, endpoint: name, detail: others)
    }
    throw LinkError(.ambiguous, endpoint: name, detail: list(fitting))
  }

  /// Returns an endpoint that finds the same device again at another path.
  ///
  /// A path becomes `usb:SERIAL` if its port belongs to a USB device with a unique serial number.
  /// Other endpoints are returned unchanged.
  package func stableEndpoint(of endpoint: LinkEndpoint) -> LinkEndpoint {
    guard case .serial(let path, let baud, let flowControl) = endpoint, let port = port(at: path),
      case .usb(let serial, let interface, _, _) = port.endpoint,
      find(serial: serial).filter({ $0.interface == interface }).count == 1
    else { return endpoint }
    return .usb(
      serial: serial, interface: interface, baud: baud, hardwareFlowControl: flowControl)
  }

  // MARK: names

  /// Returns possible device names on this machine, in the forms of `LinkEndpoint(_:)`, for
  /// completion. The name of a chip on SPI ends before its lines.
  package func names() -> [String] {
    let ports = ports()
    var names = ports.flatMap { $0.stablePaths.map(\.string) + [$0.path.string] }
    names += ports.compactMap { port in
      if case .usb = port.endpoint { port.endpoint.description } else { nil }
    }
    for port in ports where port.usb?.vendorID == Self.nxpVendor {
      names.append("nxp-usb:\(port.path)")
    }
    for name in FileTree.names(in: dev) {
      let path = dev.appending(name)
      if Self.nxpNodes.contains(name) {
        names.append("sr1xx:\(path)")
      } else if name == "uci" || Self.isNumbered(name, "uci") {
        names.append("uci:\(path)")
      } else if name.hasPrefix("spidev") {
        names += SPIEndpoint.Chip.allCases.map { "spi:\(path)?chip=\($0.rawValue)&irq=" }
      }
    }
    return names
  }

  /// The USB vendor ID of NXP. Source: 1FC9:0095 of an-sr250-uwb-plug-and-play-demo.
  private static let nxpVendor: UInt16 = 0x1FC9
  /// The nodes of the kernel drivers for NXP's chips.
  private static let nxpNodes: Set<String> = ["srxxx", "sr1xx", "sr200"]

  /// Reports whether a name is the stem with a number: `uci0`, but not `ucix`.
  private static func isNumbered(_ name: String, _ stem: String) -> Bool {
    name.hasPrefix(stem) && UInt16(name.dropFirst(stem.count)) != nil
  }

  // MARK: sysfs

  private var tty: FilePath { sysfs.appending("class").appending("tty") }

  private func port(named name: String, _ links: [String: [FilePath]]) -> SerialPort? {
    let entry = tty.appending(name)
    // A port without hardware lacks this link.
    guard let hardware = FileTree.resolved(entry.appending("device")) else { return nil }
    // PORT_UNKNOWN: a legacy port that this PC lacks.
    if FileTree.text(entry.appending("type")) == "0" { return nil }
    let path = dev.appending(name)
    var port = SerialPort(
      path: path, driver: driver(hardware), usb: nil, interface: nil,
      stablePaths: links[name] ?? [], access: DeviceAccess(of: path),
      deviceNumbers: FileTree.text(entry.appending("dev")))
    // The search goes upwards from the port: its interface, then its device. The hub above is also
    // a USB device.
    var folder = hardware
    while folder.components.count > sysfs.components.count, port.usb == nil {
      if port.interface == nil, let text = FileTree.text(folder.appending("bInterfaceNumber")) {
        port.interface = UInt8(text, radix: 16)
      }
      port.usb = usbDevice(folder)
      folder.removeLastComponent()
    }
    return port
  }

  private func driver(_ hardware: FilePath) -> String? {
    FileTree.target(of: hardware.appending("driver"))?.lastComponent?.string
  }

  private func usbDevice(_ folder: FilePath) -> USBDevice? {
    func text(_ name: String) -> String? { FileTree.text(folder.appending(name)) }
    guard let vendor = text("idVendor").flatMap({ UInt16($0, radix: 16) }),
      let product = text("idProduct").flatMap({ UInt16($0, radix: 16) })
    else { return nil }
    return USBDevice(
      vendorID: vendor, productID: product, manufacturer: text("manufacturer"),
      product: text("product"), serial: text("serial"),
      socket: folder.lastComponent?.string ?? "", deviceNumbers: text("dev"))
  }

  /// Returns the links to each port, by the port's name.
  private func stableLinks() -> [String: [FilePath]] {
    let serial = dev.appending("serial")
    let folders = [dev.appending("uwb"), serial.appending("by-id"), serial.appending("by-path")]
    var links: [String: [FilePath]] = [:]
    for folder in folders {
      for name in FileTree.names(in: folder) {
        let link = folder.appending(name)
        guard let target = FileTree.target(of: link)?.lastComponent?.string else { continue }
        links[target, default: []].append(link)
      }
    }
    return links
  }
}

extension LinkEndpoint {
  /// Returns the serial port with its current path for `.usb`, and other endpoints unchanged.
  ///
  /// - Throws: `LinkError` with code `notFound` or `ambiguous`.
  package func resolved(with discovery: Discovery = Discovery()) throws(LinkError) -> LinkEndpoint {
    guard case .usb(let serial, let interface, let baud, let flowControl) = self else {
      return self
    }
    let port = try discovery.port(serial: serial, interface: interface)
    return .serial(path: port.path, baud: baud, hardwareFlowControl: flowControl)
  }
}
