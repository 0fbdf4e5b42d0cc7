// SPDX-License-Identifier: Apache-2.0

import UWBLab
import SystemPackage
import UWBLink

/// A USB device or serial port as listed.
struct PortReport {
  /// nil for a known device without a port.
  var port: SerialPort?
  var usb: USBDevice?
  var holders: [PortHolder] = []
  /// Whether there are programs whose open files this user cannot see.
  var someHoldersHidden = false

  /// The ports of USB devices, and known devices without a port.
  ///
  /// - Parameter all: also the built-in ports of the machine.
  static func all(_ discovery: Discovery, _ processes: ProcessTable, all: Bool) -> [PortReport] {
    let ports = discovery.ports().filter { all || $0.usb != nil }.map { port in
      let (holders, hidden) = processes.holders(of: port.path)
      return PortReport(
        port: port, usb: port.usb, holders: holders, someHoldersHidden: hidden)
    }
    return ports + discovery.knownDevicesWithoutPort().map { PortReport(usb: $0) }
  }

  private var name: String {
    if let known = usb?.known { return known.name }
    if let usb { return usb.product.map(printable) ?? "unknown USB device" }
    return "serial port of this machine"
  }

  // MARK: text

  var text: String {
    var table = TextTable(indent: "  ")
    if let usb {
      let maker = [usb.manufacturer, usb.product].compactMap { $0 }.map(printable)
      table.add("usb", ([usb.ids] + maker).joined(separator: " "))
      if let serial = usb.serial { table.add("serial number", printable(serial)) }
    }
    if let port {
      if let interface = port.interface { table.add("interface", "\(interface)") }
      table.add("open as", printable(port.endpoint.description))
      for path in port.stablePaths { table.add("stable path", printable(path.string)) }
      table.add("driver", port.driver.map(printable) ?? "none")
      table.add("access", access(port))
      if !holders.isEmpty {
        let names = holders.map { "\(printable($0.name)) (\($0.pid))" }
        table.add("held by", names.joined(separator: ", "))
      } else if someHoldersHidden {
        table.add("held by", "none of your programs (only root can see those of others)")
      }
    }
    if let note = usb?.known?.note { table.add("note", note) }
    return "\(port.map { printable($0.path.string) } ?? "no port")  \(name)\n" + table.text
  }

  private func access(_ port: SerialPort) -> String {
    guard let access = port.access else { return "there is no device node" }
    let verdict =
      access.isAllowed
      ? "you can open it"
      : access.needsNewLogin
        ? "you can open it after the next login" : "you cannot open it"
    return "\(printable(access.description)), \(verdict)"
  }

  // MARK: JSON

  var json: String {
    var line = JSONLine()
    line.add("path", port?.path.string)
    line.add("name", name)
    line.add("kind", usb?.known?.kind.rawValue)
    line.add("endpoint", port?.endpoint.description)
    line.add("stable_paths", port?.stablePaths.map(\.string) ?? [])
    line.add("driver", port?.driver)
    line.add("usb_vendor", usb.map { String($0.ids.prefix(4)) })
    line.add("usb_product", usb.map { String($0.ids.suffix(4)) })
    line.add("manufacturer", usb?.manufacturer)
    line.add("product", usb?.product)
    line.add("serial", usb?.serial)
    line.add("interface", port?.interface)
    line.add("owner", port?.access?.owner)
    line.add("group", port?.access?.group)
    line.add("mode", port?.access.map { String($0.mode, radix: 8) })
    line.add("may_open", port?.access?.isAllowed)
    line.add(
      "held_by",
      holders.map { holder in
        var entry = JSONLine()
        entry.add("pid", holder.pid)
        entry.add("name", holder.name)
        return entry
      })
    line.add("note", usb?.known?.note)
    return line.text
  }
}
