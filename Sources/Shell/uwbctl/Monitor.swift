// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Glibc
import SystemPackage
import UCI
import UWB
import UWBLink
import UWBSimulator

struct Monitor: Command {
  static let configuration = CommandConfiguration(
    abstract: "Decode the packets on a link until interrupted.",
    discussion: """
      Sends nothing to the chip, except with --reset. A port can be open in one program at a time; to \
      watch the packets between another program and a chip, connect the program through this one:
        uwbctl monitor --device /dev/ttyACM0 --proxy --link /tmp/uwb
        vendors-script --port /tmp/uwb
      > marks packets to the chip, < packets from it; times are in seconds. Bytes that do not form \
      packets are counted, but not forwarded.
      """)

  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup var monitor: MonitorOptions
  @OptionGroup(title: "Filter") var filter: PacketFilter
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "Output format; json is one object a line.") var format =
    PacketStyle.line
  @Flag(help: "Show keys and initialisation vectors.") var showSecrets = false

  func execute() async throws {
    let printer = PacketPrinter(
      format, filter: filter, vendor: options.driverOptions.profile?.vendor,
      showSecrets: showSecrets, start: PacketLink.now())
    try await monitor.run(options, capture, printer) { standardOutput.write($0) }
  }
}

struct CaptureCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "capture",
    abstract: "Record the packets on a link in a file (pcapng) until interrupted.",
    discussion: """
      Sends nothing to the chip, except with --reset; with --proxy another program uses the chip \
      through this one. To see the packets as well, use monitor --capture FILE; most commands record \
      their own packets with --capture. Keys are recorded as zeros without --include-secrets.
      """)

  @Argument(help: "The file, or - for standard output; an existing one is overwritten.")
  var file: String
  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup var monitor: MonitorOptions
  @Flag(help: "Record keys in clear instead of as zeros.") var includeSecrets = false

  func execute() async throws {
    Ending.endWithCapture()
    var capture = CaptureOptions()
    capture.capture = file
    capture.includeSecrets = includeSecrets
    let printer = PacketPrinter(.line, vendor: options.driverOptions.profile?.vendor)
    let name = file == "-" ? "standard output" : printable(file)
    try await monitor.run(options, capture, printer, about: "\(name): ") { _ in }
  }
}

/// The options that `monitor` and `capture` share.
struct MonitorOptions: ParsableArguments {
  @Option(name: [.customShort("n"), .long], help: "Stop after this many packets.")
  var count: Int?
  @OptionGroup var time: TimeLimit

  @Flag(help: "Reset the chip first, and read its device information.")
  var reset = false

  @Flag(
    help: """
      Create a pseudo-terminal for another program, such as a vendor's script, forward packets in \
      both directions, and print its path.
      """)
  var proxy = false

  @Option(help: "With --proxy: create this symbolic link to the pseudo-terminal.")
  var link: String?

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count takes 1 or more.") }
    if link != nil, !proxy { throw ValidationError("--link needs --proxy.") }
  }

  /// Monitors a device.
  ///
  /// - Parameters:
  ///   - title: The text before the summary on standard error.
  ///   - write: Prints a piece of output.
  func run(
    _ options: DeviceOptions, _ capture: CaptureOptions, _ printer: PacketPrinter,
    about title: String = "", write: @escaping (String) -> Void
  ) async throws {
    let target = try await OpenTarget(options.device, options.chip, capture)
    defer { target.finish() }
    let terminal = proxy ? try ProxyTerminal(link: link) : nil
    defer { terminal?.close() }
    if let terminal {
      note("Open this in the other program: \(link ?? terminal.path)")
    }
    var monitoring = Monitoring(printer: printer, proxy: terminal, write: write, count: count)
    defer { standardError.write(title + monitoring.summary) }
    try await monitoring.run(
      target.endpoint, profile: options.driverOptions.profile, tap: target.tap, resets: reset,
      limit: time.limit)
  }
}

/// Decodes the packets on a link, optionally between another program and the chip.
struct Monitoring {
  var printer: PacketPrinter
  /// The terminal of another program whose packets are forwarded.
  var proxy: ProxyTerminal?
  var write: (String) -> Void
  /// The number of packets to show; nil for no limit.
  var count: Int?
  /// The number of packets shown, without the filtered ones.
  private(set) var shown = 0
  /// The number of packets that the other program did not read.
  private(set) var undelivered = 0
  /// The time-out for the response to a reset.
  private static let resetTimeout = Duration.seconds(2)
  /// The number of packets that arrived too fast to be shown.
  private(set) var dropped = 0

  /// The time to wait until the other program accepts a packet. It is shorter after a lost packet,
  /// because the chip must not wait.
  private var patience: Duration { .milliseconds(undelivered == 0 ? 200 : 10) }

  /// Monitors the link.
  ///
  /// - Parameters:
  ///   - resets: Whether to reset the chip first and read its device information.
  ///   - limit: The duration; nil for no limit.
  /// - Throws: `LinkError` when the link ends; nothing when cancelled.
  nonisolated(nonsending) mutating func run(
    _ endpoint: LinkEndpoint, profile: DeviceProfile?, tap: UWBDevice.PacketTap?, resets: Bool,
    limit: Duration?
  ) async throws {
    let chip = try await PacketLink(endpoint, record: tap)
    if let profile { chip.adopt(profile) }
    defer { dropped = chip.dropped }
    try await chip.use { try await run(chip, resets: resets, limit: limit) }
  }

  private nonisolated(nonsending) mutating func run(
    _ chip: PacketLink, resets: Bool, limit: Duration?
  ) async throws {
    let start = ContinuousClock.now
    if resets {
      let isReady = try await chip.reset(timeout: Self.resetTimeout) { show($0, chip) }
      if isReady {
        for packet in Segmentation.packets(GetDeviceInfo()) { try await chip.send(packet) }
      } else {
        note("The chip did not report READY after its reset.")
      }
    }
    var framing = Link.Framing()
    framing.fromHost = true
    // Packets of the host are shown and recorded when they are sent to the chip.
    var host: PacketLink?
    if let proxy { host = try await PacketLink(proxy.endpoint, framing: framing) }
    let hostLink = host
    let passing = Task {
      guard let hostLink else { return }
      for await event in hostLink.events {
        if case .packet(let packet) = event, packet.direction == .inbound {
          try await chip.send(packet.bytes)
        }
      }
    }
    defer {
      // Includes bytes after the last packet.
      printer.skipped = max(printer.skipped, Int(chip.statistics?.bytesSkipped ?? 0))
      host?.close()
      passing.cancel()
    }
    if let count, shown >= count { return }
    let end = limit.map { chip.timer(after: max(.zero, $0 - (ContinuousClock.now - start))) }
    for await event in chip.events {
      switch event {
      case .packet(let packet):
        await take(packet, chip, host)
        if let count, shown >= count { return }
      case .timer(let number): if number == end { return }
      case .ended(let error): throw error
      }
    }
  }

  private nonisolated(nonsending) mutating func take(
    _ packet: WirePacket, _ chip: PacketLink, _ host: PacketLink?
  ) async {
    if packet.direction == .inbound, let host {
      do {
        try await host.write(packet.bytes, timeout: patience)
      } catch {
        undelivered += 1
        proxy?.discard()
      }
    }
    show(packet, chip)
  }

  private mutating func show(_ packet: WirePacket, _ chip: PacketLink) {
    // A reset is completed even if fewer packets were requested.
    if let count, shown >= count { return }
    let before = printer.profile
    let text = printer.text(packet)
    if let profile = printer.profile, before == nil { chip.adopt(profile) }
    guard !text.isEmpty else { return }
    shown += 1
    write(text)
  }

  /// The counts in one line.
  var summary: String {
    var parts = [printer.counts]
    if dropped > 0 { parts.append("\(dropped) too fast to be shown") }
    if undelivered > 0 { parts.append("\(undelivered) not read by the other program") }
    return parts.joined(separator: ", ") + "\n"
  }
}

/// A pseudo-terminal that another program opens in place of the chip.
///
/// This process also keeps the other end open, so that the program may close and reopen it.
struct ProxyTerminal {
  private let terminal: PseudoTerminal
  private let link: String?

  /// Opens the pseudo-terminal.
  ///
  /// - Parameter link: A symbolic link to create or replace.
  init(link: String?) throws(Errno) {
    terminal = try PseudoTerminal()
    self.link = link
    guard let link else { return }
    do { try terminal.makeLink(at: link) } catch {
      terminal.hangUp()
      throw error
    }
  }

  /// The path for the other program, such as `/dev/pts/5`.
  var path: String { terminal.path }
  /// The end of this program, as an endpoint that closes it.
  var endpoint: LinkEndpoint { .descriptor(terminal.master) }

  /// Discards data that the other program has not read.
  func discard() { tcflush(terminal.slave.rawValue, TCIFLUSH) }

  /// Hangs up, and removes the link.
  func close() {
    try? terminal.slave.close()
    if let link { unlink(link) }
  }
}
