// SPDX-License-Identifier: Apache-2.0

import UCI
import UWB
import UWBLink

/// Listens to a link, alone or between it and another program, and shows what goes over it.
struct Monitoring {
  var printer: PacketPrinter
  /// Takes each piece of output.
  var write: (String) -> Void
  /// Set when another program's packets are passed on.
  var proxy: ProxyTerminal?
  /// Packets that the other program did not take.
  private(set) var undelivered = 0
  /// Packets that came too fast for us.
  private(set) var dropped = 0

  init(
    printer: PacketPrinter, proxy: ProxyTerminal? = nil, write: @escaping (String) -> Void
  ) {
    self.printer = printer
    self.proxy = proxy
    self.write = write
  }

  /// How long the other program may take to make room for a packet, in milliseconds. It gets less
  /// time once it has turned out not to read: the chip must not be kept waiting.
  private var patience: Int32 { undelivered == 0 ? 200 : 10 }

  /// - Parameters:
  ///   - resets: whether the chip is reset and asked who it is first.
  ///   - milliseconds: for how long; nil: until cancelled.
  /// - Throws: `LinkError` when the link ends. Being cancelled is no failure.
  mutating func run(
    _ endpoint: LinkEndpoint, profile: DeviceProfile?, tap: UWBDevice.PacketTap?, resets: Bool,
    milliseconds: Int?
  ) async throws {
    let chip = try PacketLink(endpoint, record: tap)
    defer { chip.close() }
    if let profile { chip.adopt(profile) }
    var framing = Link.Framing()
    framing.fromHost = true
    // What the host sends is shown, and recorded, when it goes out to the chip.
    let host = try proxy.map { try PacketLink($0.endpoint, framing: framing) }
    let hostLink = host
    let passing = Task {
      guard let hostLink else { return }
      for await event in hostLink.events {
        if case .packet(let packet) = event, packet.direction == .inbound {
          try chip.send(packet.bytes)
        }
      }
    }
    defer {
      host?.close()
      passing.cancel()
    }
    if resets {
      for packet in Segmentation.packets(DeviceReset()) { try chip.send(packet) }
      for packet in Segmentation.packets(GetDeviceInfo()) { try chip.send(packet) }
    }
    let end = milliseconds.map { chip.timer(after: $0) }
    for await event in chip.events {
      switch event {
      case .packet(let packet): take(packet, chip, host)
      case .timer(let number): if number == end { return finish(chip) }
      case .ended(let error):
        finish(chip)
        throw error
      }
    }
    finish(chip)
  }

  private mutating func take(_ packet: WirePacket, _ chip: PacketLink, _ host: PacketLink?) {
    if packet.direction == .inbound, let host {
      do {
        try host.write(packet.bytes, timeout: patience)
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

  /// What was seen, one line.
  var summary: String {
    var parts = [printer.counts]
    if dropped > 0 { parts.append("\(dropped) came too fast and are missing above") }
    if undelivered > 0 { parts.append("\(undelivered) not taken by the other program") }
    return parts.joined(separator: ", ") + "\n"
  }
}
