// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Glibc
package import SystemPackage
import UCI
package import UWB
package import UWBLink
import UWBSimulator

/// Decodes the packets on a link, optionally between another program and the chip.
package struct Monitoring {
  package var printer: PacketPrinter
  /// The terminal of another program whose packets are forwarded.
  package var proxy: ProxyTerminal?
  package var write: (String) -> Void
  /// The number of packets to show; nil for no limit.
  package var count: Int?
  /// The number of packets shown, without the filtered ones.
  package private(set) var shown = 0
  /// The number of packets that the other program did not read.
  private(set) var undelivered = 0
  /// The time-out for the response to a reset.
  private static let resetTimeout = Duration.seconds(2)
  /// The number of packets that arrived too fast to be shown.
  package private(set) var dropped = 0
  /// Whether the link was opened, so that there is something to count.
  package private(set) var hasOpened = false

  package init(
    printer: PacketPrinter, proxy: ProxyTerminal? = nil, write: @escaping (String) -> Void,
    count: Int? = nil
  ) {
    self.printer = printer
    self.proxy = proxy
    self.write = write
    self.count = count
  }

  /// The time to wait until the other program accepts a packet. It is shorter after a lost packet,
  /// so that the chip does not wait for each one.
  private var patience: Duration { .milliseconds(undelivered == 0 ? 200 : 10) }

  /// Monitors the link.
  ///
  /// - Parameters:
  ///   - resets: Whether to reset the chip first and read its device information.
  ///   - limit: The duration; nil for no limit.
  /// - Throws: `LinkError` when the link ends; nothing when cancelled.
  package nonisolated(nonsending) mutating func run(
    _ endpoint: LinkEndpoint, profile: DeviceProfile?, tap: UWBDevice.PacketTap?, resets: Bool,
    limit: Duration?
  ) async throws {
    let chip = try await PacketLink(endpoint, record: tap)
    hasOpened = true
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
      // The count of the link includes bytes after the last packet.
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
  package var summary: String {
    var parts = [printer.counts]
    if dropped > 0 { parts.append("\(dropped) too fast to be shown") }
    if undelivered > 0 { parts.append("\(undelivered) not read by the other program") }
    return parts.joined(separator: ", ") + "\n"
  }
}

/// A pseudo-terminal that another program opens in place of the chip.
///
/// This process also keeps the other end open, so that the program may close and reopen it.
package struct ProxyTerminal {
  private let terminal: PseudoTerminal
  private let link: String?

  /// Opens the pseudo-terminal.
  ///
  /// - Parameter link: A symbolic link to create or replace.
  package init(link: String?) throws(Errno) {
    terminal = try PseudoTerminal()
    self.link = link
    guard let link else { return }
    do { try terminal.makeLink(at: link) } catch {
      terminal.hangUp()
      throw error
    }
  }

  /// The path for the other program, such as `/dev/pts/5`.
  package var path: String { terminal.path }
  /// The end of this program, as an endpoint that closes it.
  package var endpoint: LinkEndpoint { .descriptor(terminal.master) }

  /// Discards data that the other program has not read.
  func discard() { tcflush(terminal.slave.rawValue, TCIFLUSH) }

  /// Hangs up, and removes the link.
  package func close() {
    try? terminal.slave.close()
    if let link { unsafe unlink(link) }
  }
}
