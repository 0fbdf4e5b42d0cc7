// SPDX-License-Identifier: Apache-2.0

import SystemPackage
import UWBLink

/// The checks before anything is opened, with what the kernel, udev and /proc tell of the port.
struct PortChecks {
  let endpoint: LinkEndpoint
  let machine: Machine

  /// The path of the device, if any; `usb:` is looked up.
  private var path: FilePath? {
    (try? endpoint.resolved(with: machine.discovery))?.path
  }

  /// Runs the checks in their order, up to the first failure that makes the others pointless.
  func run(_ report: (Finding) -> Void) {
    let device = device()
    report(device)
    guard device.verdict != .fail, let path else { return }
    let port = machine.discovery.port(at: path)
    report(permission(path, port))
    if let port {
      report(udevRule(port))
      report(holder(path))
      report(modemManager(port))
    } else {
      report(holder(path))
    }
  }

  // MARK: device

  func device() -> Finding {
    let resolved: LinkEndpoint
    do { resolved = try endpoint.resolved(with: machine.discovery) } catch {
      return .fail(.device, ExitStatus(error), error.description, candidates)
    }
    switch resolved {
    case .tcp:
      return .ok(.device, "\(endpoint): over the network, cannot be checked before opening")
    case .descriptor, .usb: return .ok(.device, "\(endpoint)")
    case .spi, .srxxx, .qorvoCharacterDevice:
      guard let path = resolved.path, DeviceAccess(of: path) != nil else {
        return .fail(
          .device, .unavailable, "There is no device at \(resolved).",
          "Enable SPI on this machine, or load the vendor's kernel driver; then look at: ls /dev")
      }
      return .ok(.device, "\(resolved)")
    case .serial, .nxpBoard:
      guard let path = resolved.path else { return .ok(.device, "\(resolved)") }
      guard let port = machine.discovery.port(at: path) else {
        guard DeviceAccess(of: path) != nil else {
          return .fail(.device, .unavailable, "There is no device at \(path).", candidates)
        }
        return .ok(.device, "\(path): no hardware (a pseudo-terminal?)")
      }
      return judge(port)
    }
  }

  private func judge(_ port: SerialPort) -> Finding {
    guard let usb = port.usb else { return .ok(.device, "\(port.path): \(port.driver ?? "port")") }
    let name = usb.known?.name ?? usb.product ?? "unknown USB device"
    let text = "\(port.path): \(name), \(usb.ids)" + (usb.serial.map { ", number \($0)" } ?? "")
    guard usb.known?.kind == .debugProbe else { return .ok(.device, text) }
    let board = machine.discovery.ports().first { $0.usb?.known?.kind == .board }
    return .warn(
      .device, text + ": probably the debug port, which does not carry UCI with stock firmware",
      board.map { "Use the board's own port: \($0.endpoint)" }
        ?? "Plug a cable into the board's other USB connector (J20 on a DWM3001CDK).")
  }

  private var candidates: String {
    let ports = machine.discovery.ports().filter { $0.usb != nil }
    return ports.isEmpty
      ? "Plug in the board (a DWM3001CDK at J20) and look at the kernel log: sudo dmesg | tail"
      : "There are: " + ports.map(\.path.string).joined(separator: ", ")
        + ". See also: uwbctl list"
  }

  // MARK: permissions and other programs

  func permission(_ path: FilePath, _ port: SerialPort?) -> Finding {
    guard let access = port?.access ?? DeviceAccess(of: path) else {
      return .skipped(.permission, "there is no device node")
    }
    if access.isAllowed { return .ok(.permission, "\(access): you can open it") }
    if access.needsNewLogin {
      return .fail(
        .permission, .permission,
        "\(access): you are in the group \(access.group), but not in this login.",
        "Log out and in again, or use now: newgrp \(access.group)")
    }
    let rule =
      port?.usb == nil ? "" : "Install the udev rules: sudo uwbctl setup --install; or "
    return .fail(
      .permission, .permission, "\(access): this user cannot open it.",
      rule + "join the group and log in again: sudo usermod -aG \(access.group) $USER")
  }

  func udevRule(_ port: SerialPort) -> Finding {
    guard machine.hasUdev else { return .skipped(.udevRule, "udev is not running") }
    let kind = port.usb?.known?.kind
    guard kind == .board || kind == .debugProbe else {
      return .skipped(.udevRule, "the rules of this package do not concern this device")
    }
    let record = UdevRecord(deviceNumbers: port.deviceNumbers, in: machine.udevRecords)
    if let record, record.tags.contains("uaccess"), record.isIgnoredByModemManager {
      return .ok(.udevRule, "in effect")
    }
    guard let rule = machine.installedRule else {
      return .warn(
        .udevRule, "The udev rules are not installed.",
        "sudo uwbctl setup --install (uwbctl setup shows what it does)")
    }
    return .warn(
      .udevRule, "\(rule) is installed, but not in effect for this port.",
      "sudo udevadm control --reload && sudo udevadm trigger, or replug the board; uwbctl setup shows "
        + "whether the file is that of this version")
  }

  func holder(_ path: FilePath) -> Finding {
    let (holders, someHidden) = machine.processes.holders(of: path)
    guard let first = holders.first else {
      return .ok(
        .holder,
        someHidden
          ? "none of your programs has it open (only root can see those of others)"
          : "no other program has it open")
    }
    let names = holders.map { "\($0.name) (process \($0.pid))" }.joined(separator: ", ")
    return .fail(
      .holder, .busy, "It is open in \(names).",
      first.name == Self.modemManager
        ? "ModemManager treats the board as a modem; sudo uwbctl setup --install and replug, or: "
          + "sudo systemctl stop ModemManager"
        : "End that program (kill \(first.pid)), then try again.")
  }

  /// The name in `comm`.
  private static let modemManager = "ModemManager"

  func modemManager(_ port: SerialPort) -> Finding {
    guard let daemon = machine.processes.running(Self.modemManager).first else {
      return .ok(.modemManager, "not running")
    }
    guard let usb = port.usb else {
      return .ok(.modemManager, "running, but it ignores ports that are not on the USB")
    }
    let records = [port.deviceNumbers, usb.deviceNumbers].compactMap {
      UdevRecord(deviceNumbers: $0, in: machine.udevRecords)
    }
    if records.contains(where: \.isIgnoredByModemManager) {
      return .ok(.modemManager, "running, but told to ignore this device")
    }
    return .warn(
      .modemManager,
      "running (process \(daemon.pid)) and may treat this device as a modem: it sends AT commands when "
        + "the board is plugged in, which confuse its parser.",
      "sudo uwbctl setup --install, which sets ID_MM_DEVICE_IGNORE and ID_MM_PORT_IGNORE, and "
        + "replug; or: sudo systemctl disable --now ModemManager")
  }
}
