// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Formats
package import SystemPackage
import UCI
import UWB
package import UWBLink

// Checks a port with information from the kernel, udev and /proc, before it is opened.
extension Checkup {
  /// The path of the device, if any. `usb:` is resolved.
  private var path: FilePath? {
    (try? endpoint.resolved(with: machine.discovery))?.path
  }

  /// Runs the checks in order, up to the first failure that makes later ones meaningless.
  package func checkPort(_ report: (Finding) -> Void) {
    let device = device()
    report(device)
    guard device.verdict != .fail, let path else { return }
    let port = machine.discovery.port(at: path)
    let sharing = sharing
    report(permission(path, port, sharing))
    if let port { report(udevRule(port)) }
    report(holder(path, sharing))
    if let port { report(modemManager(port)) }
  }

  /// The service's answer: whether it shares the device.
  package enum Sharing {
    case notShared
    case shared(name: String)
    case unknown(LinkError)
  }

  private var sharing: Sharing {
    do throws(LinkError) {
      guard case .service(_, let name, _)? = try endpoint.inService(at: machine.serviceSocket)
      else { return .notShared }
      return .shared(name: name ?? "\(endpoint)")
    } catch { return .unknown(error) }
  }

  // MARK: device

  package func device() -> Finding {
    let resolved: LinkEndpoint
    do { resolved = try endpoint.resolved(with: machine.discovery) } catch {
      return .fail(.device, ExitStatus(error), error.description, candidates)
    }
    switch resolved {
    case .tcp:
      return .ok(.device, "\(endpoint): over the network, cannot be checked before opening")
    case .descriptor, .usb, .service: return .ok(.device, "\(endpoint)")
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
        guard let access = DeviceAccess(of: path) else {
          return .fail(.device, .unavailable, "There is no device at \(path).", candidates)
        }
        guard !access.isMemory else {
          return .fail(.device, .usage, "\(path) is not a serial device.", candidates)
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

  package func permission(
    _ path: FilePath, _ port: SerialPort?, _ sharing: Sharing = .notShared
  ) -> Finding {
    guard let access = port?.access ?? DeviceAccess(of: path) else {
      return .skipped(.permission, "there is no device node")
    }
    if access.isAllowed { return .ok(.permission, "\(access): you can open it") }
    if let finding = permission(access, sharing) { return finding }
    if access.needsNewLogin {
      return .fail(
        .permission, .permission,
        "\(access): you joined the group \(access.group) after this login.",
        "Log out and in again, or use now: newgrp \(access.group)")
    }
    var advice: [String] = []
    if port?.usb != nil {
      advice.append("Install the udev rules: sudo uwbctl setup --install")
    } else if access.joinableGroup == nil {
      let node = path.string.dropFirst(path.string.hasPrefix("/dev/") ? 5 : 0)
      advice.append("Make a rule for it: sudo uwbctl setup --install --node \(node)")
    }
    if let group = access.joinableGroup {
      advice.append("join the group and log in again: sudo usermod -aG \(group) $USER")
    }
    return .fail(
      .permission, .permission, "\(access): this user cannot open it.",
      advice.joined(separator: "; or "))
  }

  /// Returns the finding for a device that this user may not open, if the service decides. Rules
  /// for the device do not help then.
  private func permission(_ access: DeviceAccess, _ sharing: Sharing) -> Finding? {
    switch sharing {
    case .shared:
      return .ok(.permission, "\(access): this user needs the service uwbd, and may use it")
    case .unknown(let error) where error.code == .permissionDenied:
      return .fail(
        .permission, .permission,
        "\(access): this user cannot open it; the service uwbd may share it. \(error)",
        error.recoverySuggestion ?? "")
    case .notShared, .unknown: return nil
    }
  }

  package func udevRule(_ port: SerialPort) -> Finding {
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
        "sudo uwbctl setup --install (uwbctl setup shows the changes)")
    }
    return .warn(
      .udevRule, "\(rule) is installed, but not in effect for this port.",
      "sudo udevadm control --reload && sudo udevadm trigger, or replug the board; uwbctl setup shows "
        + "whether the file belongs to this version")
  }

  package func holder(_ path: FilePath, _ sharing: Sharing = .notShared) -> Finding {
    let (holders, someHidden) = machine.processes.holders(of: path)
    if let service = served(sharing, holders) { return service }
    guard let first = holders.first else {
      return .ok(
        .holder,
        someHidden
          ? "none of your programs has it open (only root sees the programs of other users)"
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

  /// Returns the finding for a device that the service holds; nil if it does not.
  private func served(_ sharing: Sharing, _ holders: [PortHolder]) -> Finding? {
    let exclusive = "uwbctl doctor \(endpoint) --exclusive"
    switch sharing {
    case .notShared: return nil
    case .shared(let name):
      return .fail(
        .holder, .busy, "The service uwbd shares it as \(name).",
        "Programs use it through the service. To check the chip itself: \(exclusive)")
    case .unknown(let error):
      guard holders.first?.name == "uwbd" else { return nil }
      return .fail(
        .holder, .busy, "The service uwbd shares it. \(error)",
        "\(error.recoverySuggestion ?? "") Then: \(exclusive)")
    }
  }

  private static let modemManager = "ModemManager"

  package func modemManager(_ port: SerialPort) -> Finding {
    guard let daemon = machine.processes.running(Self.modemManager).first else {
      return .ok(.modemManager, "not running")
    }
    guard let usb = port.usb else {
      return .ok(.modemManager, "running, but it ignores ports that are not USB ports")
    }
    let records = [port.deviceNumbers, usb.deviceNumbers].compactMap {
      UdevRecord(deviceNumbers: $0, in: machine.udevRecords)
    }
    if records.contains(where: \.isIgnoredByModemManager) {
      return .ok(.modemManager, "running, but configured to ignore this device")
    }
    return .warn(
      .modemManager,
      "running (process \(daemon.pid)) and may treat this device as a modem: it sends AT commands when "
        + "the board is plugged in, which confuse its parser.",
      "sudo uwbctl setup --install, which sets ID_MM_DEVICE_IGNORE and ID_MM_PORT_IGNORE, and "
        + "replug; or: sudo systemctl disable --now ModemManager")
  }
}

extension Finding {
  /// Returns the finding for a machine without a board.
  ///
  /// - Parameter shared: The names of the chips that the service shares, on any bus or network.
  package static func noBoard(shared: Result<[String], LinkError>) -> Finding {
    let missing = "No board is plugged in."
    switch shared {
    case .success(let names):
      guard let first = names.first else {
        return .fail(
          .device, .unavailable, missing,
          "Plug one in (a DWM3001CDK at J20) and look at the kernel log: sudo dmesg | tail. "
            + "To try the program without a board: uwbctl doctor sim")
      }
      return .fail(
        .device, .unavailable,
        "\(missing) The service uwbd shares \(names.joined(separator: ", ")).",
        "Programs use it through the service. To check a chip itself: uwbctl doctor \(first) "
          + "--exclusive")
    case .failure(let error):
      return .fail(
        .device, .unavailable, "\(missing) The service uwbd may have a chip. \(error)",
        error.recoverySuggestion ?? "")
    }
  }
}

/// The parts of this machine that the checks read. Tests replace them by a tree of files.
package struct Machine: Sendable {
  package var discovery = Discovery()
  package var processes = ProcessTable()
  package var serviceSocket = LinkEndpoint.serviceSocket
  /// The folder of udev's records.
  package var udevRecords: FilePath = "/run/udev/data"
  package var udevRules: [FilePath] = [
    "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d",
    "/usr/lib/udev/rules.d", "/lib/udev/rules.d",
  ]

  package init(discovery: Discovery = .init(), processes: ProcessTable = .init()) {
    (self.discovery, self.processes) = (discovery, processes)
  }

  /// The path of the installed udev rules; nil if they are not installed.
  var installedRule: FilePath? {
    udevRules.map { $0.appending("60-uwb.rules") }.first {
      (try? FileDescriptor.open($0, .readOnly).close()) != nil
    }
  }

  var hasUdev: Bool { (try? FileDescriptor.open(udevRecords, .readOnly).close()) != nil }
}

// Checks an open line before the reset: unsolicited packets, and the state left by an earlier
// program.
extension Checkup {
  /// The silence that ends a backlog.
  private static let silence = Duration.milliseconds(150)
  /// The longest backlog. Qorvo's firmware buffers 32 kB and sends them within 3 s.
  private static let backlog = Duration.seconds(4)

  /// Checks the open line.
  ///
  /// - Returns: Whether the device could be opened.
  nonisolated(nonsending) func checkLine(_ report: (Finding) -> Void) async throws -> Bool {
    let link: PacketLink
    do {
      link = try await PacketLink(endpoint, record: options.tap)
    } catch {
      try Task.checkCancellation()
      report(.fail(.open, error, else: "Look at the kernel log: sudo dmesg | tail"))
      return false
    }
    return try await link.use { try await check(link, report) }
  }

  private nonisolated(nonsending) func check(
    _ link: PacketLink, _ report: (Finding) -> Void
  ) async throws -> Bool {
    report(.ok(.open, endpoint.isStream ? "raw, 8N1, exclusive" : "whole packets, exclusive"))
    report(lines(link.modemLines))
    var sessions: Finding?
    do {
      let traffic = try await listen(link)
      report(stale(traffic))
      sessions = try await leftovers(link)
    } catch let error as LinkError {
      try Task.checkCancellation()
      report(.fail(.stale, error, else: "Plug it in again and retry."))
      return false
    }
    // The request may have been answered with invalid bytes.
    let statistics = link.statistics
    await link.closeAndWait()
    report(await framing(statistics))
    if let sessions { report(sessions) }
    return true
  }

  private func lines(_ lines: ModemLines?) -> Finding {
    guard let lines else {
      return .skipped(.dtr, "this kind of device has no control lines")
    }
    guard lines.contains(.dtr) else {
      return .fail(
        .dtr, .system, "The driver does not raise DTR; USB firmware does not send without it.",
        "Replug the board; if that does not help, the cable or the bridge does not carry DTR.")
    }
    if case .serial(_, _, true) = endpoint, !lines.contains(.cts) {
      return .warn(
        .dtr, "raised, but CTS is not: nothing can be sent with rtscts.",
        "Omit rtscts, or check the wiring of CTS.")
    }
    return .ok(.dtr, "raised")
  }

  // MARK: stale traffic

  struct Traffic {
    var names: [String: Int] = [:]
    var packets = 0
    /// Whether the backlog did not end within the time limit.
    var isEndless = false
  }

  private func listen(_ link: PacketLink) async throws -> Traffic {
    var traffic = Traffic()
    var decoder = FrameDecoder()
    let end = PacketLink.now() + UInt64(Self.backlog / .nanoseconds(1))
    var last: UInt64 = 0
    while true {
      let before = traffic.packets
      try await link.receive(for: Self.silence) { packet in
        traffic.packets += 1
        last = packet.time
        if let name = try? decoder.decode(packet.bytes).name {
          traffic.names[name, default: 0] += 1
        }
        return false
      }
      if traffic.packets == before { return traffic }
      if last > end {
        traffic.isEndless = true
        return traffic
      }
    }
  }

  private func stale(_ traffic: Traffic) -> Finding {
    // Chips send their device state when they are opened.
    let others = traffic.names.filter { $0.key != "CORE_DEVICE_STATUS_NTF" }
    guard !others.isEmpty else { return .ok(.stale, "none") }
    let list = others.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(3)
      .map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    return .warn(
      .stale,
      "\(traffic.packets) unsolicited packets (\(list)): "
        + (traffic.isEndless
          ? "a session of an earlier program is still ranging."
          : "left over from an earlier program."),
      "Nothing: the reset ends it. Programs should end their sessions before closing the device."
    )
  }

  // MARK: framing

  private func framing(_ statistics: LinkStatistics?) async -> Finding {
    guard let statistics, statistics.bytesSkipped > 0 else {
      return .ok(.framing, "every byte belongs to a packet")
    }
    let skipped = statistics.bytesSkipped
    // A packet that the previous program cut off is normal. More bytes than one packet are not.
    if statistics.framesRead > 0, skipped < 259 {
      return .warn(
        .framing,
        counted(skipped, "byte before the first packet is", "bytes before the first packet are")
          + " not UCI.",
        "Nothing: usually the rest of a packet that the last program did not read.")
    }
    let sample = Self.words(await sample())
    return .fail(
      .framing, .protocolError,
      "\(counted(skipped, "byte that is", "bytes that are")) not UCI, "
        + counted(statistics.framesRead, "packet")
        + (sample.map { "; \($0)" } ?? ""),
      wrongSpeaker)
  }

  private var wrongSpeaker: String {
    let isNetwork = if case .tcp = endpoint { true } else { false }
    return "The device does not send UCI: it may have other firmware (a command-line or AT build "
      + "prints text), " + (isNetwork ? "" : "another baud rate (add ?baud= to the path), ")
      + "or this is the wrong port."
  }

  // MARK: sessions

  private func leftovers(_ link: PacketLink) async throws -> Finding {
    let command = Segmentation.packets(GetSessionCount())
    // A chip that reports an error answers nothing else before its reset.
    struct ErrorState: Error {}
    let answer: [UInt8]?
    do {
      answer = try await link.ask(command, timeout: answerTime) {
        if $0.deviceState == .error { throw ErrorState() }
      }
    } catch is ErrorState {
      return .skipped(.sessions, "the chip answers only with errors before its reset")
    }
    guard let payload = answer else {
      return .skipped(.sessions, "the chip does not answer before its reset")
    }
    var reader = unsafe PayloadReader(payload.span.bytes)
    guard
      let response = try? SessionCountResponse(from: &reader, dialect: .assumed),
      response.status == .ok, let count = response.count
    else { return .skipped(.sessions, "the chip does not report them") }
    guard count > 0 else { return .ok(.sessions, "none") }
    return .warn(
      .sessions, "\(count) left on the chip by an earlier program.",
      "Nothing: the reset removes them. They count against the chip's limit until then.")
  }

  // MARK: bytes that are not UCI

  /// Requests the device information, and returns all bytes that arrive; empty if the device cannot
  /// be opened.
  private func sample() async -> [UInt8] {
    let bytes = try? await Link.with(endpoint, connector: Link.serviceConnector) { link in
      for packet in Segmentation.packets(GetDeviceInfo()) { try? await link.write(packet) }
      let time = Int32(sampleTime / .milliseconds(1))
      return try? await runBlocking { link.readRaw(milliseconds: time, limit: 512) }
    }
    return (bytes ?? nil) ?? []
  }

  /// Describes bytes in one line; nil if there are none.
  package static func words(_ bytes: [UInt8]) -> String? {
    guard let first = bytes.first else { return nil }
    let readable = bytes.filter { (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x0D }
    if readable.count * 10 >= bytes.count * 9 {
      let text = String(decoding: bytes.prefix(60), as: UTF8.self)
      let lines = text.split(whereSeparator: \.isNewline)
      return "it looks like text: \"\(lines.joined(separator: " / "))\""
    }
    if bytes.allSatisfy({ $0 == first }) {
      return "all \(bytes.count) bytes are 0x\(hexDigits([first]))"
    }
    return "it begins with \(hexDigits(bytes.prefix(16), separator: " "))"
  }
}
