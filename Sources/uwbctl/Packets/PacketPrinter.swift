// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UCIReference
import UWB

/// How packets are printed.
enum PacketStyle: String, ExpressibleByArgument, CaseIterable {
  /// One line each; a line for the header and for each field; one JSON object a line.
  case line, details, json
}

/// Decodes the packets of a link in their order and formats them.
struct PacketPrinter {
  var style = PacketStyle.line
  var filter: PacketFilter?
  private(set) var decoder: FrameDecoder
  private let format: FrameFormat
  private var start: UInt64?

  /// The number of packets by direction, and of bytes that did not form packets.
  private(set) var inbound = 0
  private(set) var outbound = 0
  private(set) var skipped = 0

  /// - Parameters:
  ///   - vendor: whose vendor messages these are; nil: as the chip reports.
  ///   - start: where times begin, CLOCK_MONOTONIC in nanoseconds; nil: at the first packet.
  init(
    _ style: PacketStyle, filter: PacketFilter? = nil, vendor: Dialect.Vendor? = nil,
    showSecrets: Bool = false, start: UInt64? = nil
  ) {
    self.start = start
    self.style = style
    self.filter = filter
    decoder = FrameDecoder(vendor: vendor)
    format = FrameFormat(showSecrets: showSecrets)
  }

  /// The lines of a packet, line ends included; empty when the filter hides it.
  mutating func text(_ packet: WirePacket) -> String {
    let beginning = start ?? packet.time
    start = beginning
    let seconds = Double(Int64(truncatingIfNeeded: packet.time &- beginning)) / 1e9
    switch packet.direction {
    case .inbound: inbound += 1
    case .outbound: outbound += 1
    }
    skipped += packet.skippedBefore
    guard let frame = try? decoder.decode(packet.bytes) else { return "" }
    guard filter?.shows(frame.header, name: frame.name) ?? true else { return "" }
    return note(packet, seconds) + written(frame, packet.direction, seconds) + "\n"
  }

  private func written(
    _ frame: DecodedFrame, _ direction: PacketDirection, _ seconds: Double
  ) -> String {
    switch style {
    case .json:
      return format.json(
        frame,
        first: [
          Field("time_s", .decimal((seconds * 1e6).rounded() / 1e6)),
          Field("direction", .text(direction == .inbound ? "from_chip" : "to_chip")),
        ])
    case .line: return prefix(direction, seconds) + format.line(frame)
    case .details: return prefix(direction, seconds) + format.text(frame)
    }
  }

  /// A line about bytes that were discarded.
  private func note(_ packet: WirePacket, _ seconds: Double) -> String {
    guard packet.skippedBefore > 0, style != .json else { return "" }
    return prefix(packet.direction, seconds)
      + "(\(packet.skippedBefore) bytes that are not UCI)\n"
  }

  private func prefix(_ direction: PacketDirection, _ seconds: Double) -> String {
    "\(fixed(seconds, 6).right(12)) \(direction == .inbound ? "<" : ">") "
  }

  /// The family of the chip, once it is known.
  var profile: DeviceProfile? {
    switch decoder.dialect.vendor {
    case .qorvo: .qorvo
    case .nxp: .nxp
    default: nil
    }
  }

  /// For example `12 packets from the chip, 3 to it, 0 bytes skipped`.
  var counts: String {
    "\(inbound) packets from the chip, \(outbound) to it, \(skipped) bytes skipped"
  }
}
