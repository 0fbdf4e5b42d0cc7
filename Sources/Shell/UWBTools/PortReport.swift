// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import ChipSharing
import CommandSupport
package import Formats
import SystemPackage
import UWB
package import UWBLink

/// A chip that the service shares.
package struct SharedPort {
  package var chip: Chips.Chip
  /// The location as in `LinkEndpoint.place`.
  package var place: String

  package init(chip: Chips.Chip, place: String) { (self.chip, self.place) = (chip, place) }

  /// Returns the chips of the service; empty without a service.
  package static func all() throws(LinkError) -> [SharedPort] {
    try LinkEndpoint.servedChips().map { chip in
      SharedPort(chip: chip, place: (try? LinkEndpoint(chip.name))?.place ?? chip.name)
    }
  }

  /// Returns the names of the chips of the service; empty without a service. Blocks.
  package static func names() -> Result<[String], LinkError> {
    Result { () throws(LinkError) in try all().map(\.chip.name) }
  }

  /// Ends a session of the service for all programs that hold it. Blocks.
  ///
  /// - Parameter chip: The name or the path of the chip; nil for the only chip with the session.
  /// - Throws: `LinkError` without a service that answers; `Failure`.
  package static func endSession(_ id: UInt32, on chip: String?) throws {
    let wanted = chip.map { (try? LinkEndpoint($0))?.place ?? $0 }
    let found = try all().filter { port in
      (wanted == nil || wanted == port.place || chip == port.chip.name)
        && port.chip.sessions.contains { $0.id == id }
    }
    guard let first = found.first else {
      throw Failure(
        .unavailable, "The service has no session \(id)\(chip.map { " on \($0)" } ?? "").",
        try: "uwbctl list shows the sessions.")
    }
    guard found.count == 1 else {
      throw Failure(
        .usage, "\(found.count) chips have a session \(id).",
        try: "Name one: " + found.map { "--chip \($0.chip.name)" }.joined(separator: ", or "))
    }
    let socket = LinkEndpoint.serviceSocket
    do throws(ChipService.Failure) {
      try ChipService.end(id, on: first.chip.name, at: socket)
    } catch {
      guard case .rejected(let reason) = error else {
        throw LinkError(error, .service(socket: socket, chip: first.chip.name), rejected: .system)
      }
      if case .noSession = reason { return }
      var status = ExitStatus.configuration
      if case .denied = reason { status = .permission }
      throw Failure(status, reason.reason, try: reason.advice)
    }
  }
}

extension SharedPort {
  /// Adds the rows of the chip.
  ///
  /// - Parameter listed: The serial number that the table has.
  fileprivate func add(to table: inout TextTable, serial listed: String?) {
    table.add("shared as", printable(chip.name))
    if let device = chip.device { table.add("lasting name", printable(device)) }
    if let model = chip.model { table.add("chip", printable(model)) }
    if let serial = chip.serial, serial != listed {
      table.add("serial number", printable(serial))
    }
    if let problem = chip.problem { table.add("problem", printable(problem)) }
    if let borrower = chip.borrower {
      let reason = borrower.reason.isEmpty ? "" : ": \(printable(borrower.reason))"
      table.add("lent to", Self.name(of: borrower.user) + reason)
    }
    for session in chip.sessions {
      table.add("session \(session.id)", Self.description(of: session))
      let counters = session.counters
      table.add(
        "  counts",
        "measured \(counters.measured), failed \(counters.failed), missing \(counters.missing)")
    }
  }

  private static func name(of user: Chips.User) -> String {
    "\(printable(DeviceAccess.userName(user.uid) ?? "\(user.uid)")) (\(user.pid))"
  }

  private static func description(of session: Chips.Session) -> String {
    var parts = [printable(session.state)]
    if let address = session.address { parts.append("address \(printable(address))") }
    switch session.share {
    case "": break
    case "user": parts.append("for its user alone")
    default: parts.append("for \(printable(session.share))")
    }
    if !session.owners.isEmpty {
      parts.append("held by " + session.owners.map(name).joined(separator: ", "))
    }
    return parts.joined(separator: ", ")
  }
}

/// A listed USB device or serial port.
package struct PortReport {
  /// The port; nil for a known device without one.
  package var port: SerialPort?
  package var usb: USBDevice?
  package var holders: [PortHolder] = []
  /// Whether this user cannot see the open files of some programs.
  var someHoldersHidden = false
  /// The chip in the service, if the service holds it.
  package var shared: SharedPort?

  /// Returns the ports of USB devices, known devices without a port, and other chips of the
  /// service.
  ///
  /// - Parameters:
  ///   - shared: The chips of the service.
  ///   - all: Whether to include the built-in ports of the machine.
  package static func all(
    _ discovery: Discovery, _ processes: ProcessTable, _ shared: [SharedPort] = [], all: Bool
  ) -> [PortReport] {
    let known = discovery.ports()
    func chip(_ port: SerialPort) -> SharedPort? {
      shared.first { $0.place == port.path.string }
    }
    let ports = known.filter { all || $0.usb != nil || chip($0) != nil }.map { port in
      let (holders, hidden) = processes.holders(of: port.path)
      return PortReport(
        port: port, usb: port.usb, holders: holders, someHoldersHidden: hidden, shared: chip(port))
    }
    let others = shared.filter { chip in !known.contains { $0.path.string == chip.place } }
    return ports + discovery.knownDevicesWithoutPort().map { PortReport(usb: $0) }
      + others.map { PortReport(shared: $0) }
  }

  private var name: String {
    if port == nil, usb == nil { return "chip of the service" }
    if let known = usb?.known { return known.name }
    if let usb { return usb.product.map(printable) ?? "unknown USB device" }
    return "serial port of this machine"
  }

  // MARK: text

  package var text: String {
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
        table.add("held by", "none of your programs (only root sees the programs of other users)")
      }
    }
    shared?.add(to: &table, serial: usb?.serial)
    if let note = usb?.known?.note { table.add("note", note) }
    let place = port?.path.string ?? shared?.place
    return "\(place.map(printable) ?? "no port")  \(name)\n" + table.text
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

  package static let json = JSONTable<PortReport>("list", each: "device that is plugged in") {
    $0.key("path", "path of the serial port, or of the chip in the service") {
      $0.port?.path.string ?? $0.shared?.place
    }
    $0.key("name", "name of the device") { $0.name }
    $0.key("kind", "board, debugger, …") { $0.usb?.known?.kind.rawValue }
    $0.key("endpoint", "name for --device") { $0.port?.endpoint.description }
    $0.key("stable_paths", "paths that do not change") {
      $0.port?.stablePaths.map(\.string) ?? []
    }
    $0.key("driver", "kernel driver") { $0.port?.driver }
    $0.key("usb_vendor", "4 hexadecimal digits") { ($0.usb?.ids.prefix(4)).map { String($0) } }
    $0.key("usb_product", "4 hexadecimal digits") { ($0.usb?.ids.suffix(4)).map { String($0) } }
    $0.key("manufacturer", "as reported by the device") { $0.usb?.manufacturer }
    $0.key("product", "as reported by the device") { $0.usb?.product }
    $0.key("serial", "serial number") { $0.usb?.serial ?? $0.shared?.chip.serial }
    $0.key("interface", "USB interface") { $0.port?.interface }
    $0.key("owner", "owner of the port") { $0.port?.access?.owner }
    $0.key("group", "group of the port") { $0.port?.access?.group }
    $0.key("mode", "permissions, octal") { $0.port?.access.map { String($0.mode, radix: 8) } }
    $0.key("may_open", "whether you can open it") { $0.port?.access?.isAllowed }
    $0.list("held_by", "programs that have it open", of: \.holders) {
      $0.key("pid?", "process id") { $0.pid }
      $0.key("name?", "program name") { $0.name }
    }
    $0.key("note", "remark on the device") { $0.usb?.known?.note }
    addService(to: &$0)
  }

  /// Adds the keys of a chip that the service shares.
  private static func addService(to table: inout JSONTable<PortReport>) {
    table.key("shared_as", "name of the chip in the service that shares it") {
      $0.shared?.chip.name
    }
    table.key("lasting_name", "name for the same chip after it was plugged in elsewhere") {
      $0.shared?.chip.device
    }
    table.key("model", "family of the chip, from the service") { $0.shared?.chip.model }
    table.key("problem", "reason why the service cannot use it now") { $0.shared?.chip.problem }
    table.list(
      "lent_to", "program with exclusive use of it",
      of: { [$0.shared?.chip.borrower].compactMap(\.self) }
    ) {
      $0.key("uid?", "number of the user") { $0.user.uid }
      $0.key("pid?", "process id") { $0.user.pid }
      $0.key("reason?", "purpose of the loan") { $0.reason }
      $0.key("since_us?", "start of the loan, in microseconds since 1970") { $0.since }
    }
    table.list("sessions", "sessions of the service on it", of: { $0.shared?.chip.sessions ?? [] })
    {
      $0.key("session_id?", "number of the session") { $0.id }
      $0.key("state?", "starting, ranging, waiting or ending") { $0.state }
      $0.key("share?", "users who may join it: user or everyone") { $0.share }
      $0.key("address?", "own address of the chip in it") { $0.address }
      $0.key("measured?", "measurements with a value") { $0.counters.measured }
      $0.key("failed?", "measurements without a value") { $0.counters.failed }
      $0.key("missing?", "rounds of a peer that are missing") { $0.counters.missing }
      $0.list("owners?", "programs that own it", of: \.owners) {
        $0.key("uid?", "number of the user") { $0.uid }
        $0.key("pid?", "process id") { $0.pid }
      }
    }
  }
}
