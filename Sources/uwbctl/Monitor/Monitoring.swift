// SPDX-License-Identifier: Apache-2.0

import UCI
import UWB
import UWBLink

/// Decodes the packets on a link, also between another program and the chip.
struct Monitoring {
  var printer: PacketPrinter
  /// Set when the packets of another program are forwarded.
  var proxy: ProxyTerminal?
  /// Prints a piece of output.
  var write: (String) -> Void
  /// Packets that the other program did not read.
  private(set) var undelivered = 0
  /// Packets that arrived too fast to be shown.
  private(set) var dropped = 0

  /// How long to wait until the other program makes room for a packet: less once a packet was lost,
  /// because the chip must not wait.
  private var patience: Duration { .milliseconds(undelivered == 0 ? 200 : 10) }

  /// - Parameters:
  ///   - resets: whether to reset the chip and read its device information first.
  ///   - limit: for how long; nil: until cancelled.
  /// - Throws: `LinkError` when the link ends, but nothing when cancelled.
  nonisolated(nonsending) mutating func run(
    _ endpoint: LinkEndpoint, profile: DeviceProfile?, tap: UWBDevice.PacketTap?, resets: Bool,
    limit: Duration?
  ) async throws {
    let chip = try await PacketLink(endpoint, record: tap)
    if let profile { chip.adopt(profile) }
    try await chip.use { try await run(chip, resets: resets, limit: limit) }
  }

  private nonisolated(nonsending) mutating func run(
    _ chip: PacketLink, resets: Bool, limit: Duration?
  ) async throws {
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
      host?.close()
      passing.cancel()
    }
    if resets {
      for packet in Segmentation.packets(DeviceReset()) { try await chip.send(packet) }
      for packet in Segmentation.packets(GetDeviceInfo()) { try await chip.send(packet) }
    }
    let end = limit.map { chip.timer(after: $0) }
    for await event in chip.events {
      switch event {
      case .packet(let packet): await take(packet, chip, host)
      case .timer(let number): if number == end { return finish(chip) }
      case .ended(let error):
        finish(chip)
        throw error
      }
    }
    finish(chip)
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
    let before = printer.profile
    let text = printer.text(packet)
    if let profile = printer.profile, before == nil { chip.adopt(profile) }
    if !text.isEmpty { write(text) }
  }

  private mutating func finish(_ chip: PacketLink) { dropped = chip.dropped }

  /// Counts of what was seen, on one line.
  var summary: String {
    var parts = [printer.counts]
    if dropped > 0 { parts.append("\(dropped) too fast to be shown") }
    if undelivered > 0 { parts.append("\(undelivered) not read by the other program") }
    return parts.joined(separator: ", ") + "\n"
  }
}
