// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
package import UCI
import UCIReference
package import UWB

package enum PacketStyle: String, ExpressibleByArgument, CaseIterable {
  /// One line per packet; a line for the header and for each field; one JSON object per line.
  case line, details, json
}

/// Decodes the packets of a link in order, and formats them.
package struct PacketPrinter {
  package var style = PacketStyle.line
  package var filter: PacketFilter?
  package private(set) var decoder: FrameDecoder
  private let format: FrameFormat
  private var start: UInt64?

  /// The number of packets from the chip.
  package private(set) var inbound = 0
  /// The number of packets to the chip.
  package private(set) var outbound = 0
  /// The number of bytes that did not form packets.
  package var skipped = 0

  /// Creates a printer.
  ///
  /// - Parameters:
  ///   - vendor: The vendor of vendor messages; nil to use the device information.
  ///   - start: The origin of times in nanoseconds of CLOCK_MONOTONIC; nil for the first packet.
  package init(
    _ style: PacketStyle, filter: PacketFilter? = nil, vendor: Dialect.Vendor? = nil,
    showSecrets: Bool = false, start: UInt64? = nil
  ) {
    self.start = start
    self.style = style
    self.filter = filter
    decoder = FrameDecoder(vendor: vendor)
    format = FrameFormat(showSecrets: showSecrets)
  }

  /// Returns the lines of a packet with line feeds; empty if the filter hides it.
  package mutating func text(_ packet: WirePacket) -> String {
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

  /// Returns a line about discarded bytes.
  private func note(_ packet: WirePacket, _ seconds: Double) -> String {
    guard packet.skippedBefore > 0, style != .json else { return "" }
    return prefix(packet.direction, seconds)
      + "(\(counted(packet.skippedBefore, "byte that is", "bytes that are")) not UCI)\n"
  }

  private func prefix(_ direction: PacketDirection, _ seconds: Double) -> String {
    "\(fixed(seconds, 6).right(12)) \(direction == .inbound ? "<" : ">") "
  }

  /// The family of the chip, once it is known.
  package var profile: DeviceProfile? {
    [DeviceProfile.qorvo, .nxp].first { $0.vendor == decoder.dialect.vendor }
  }

  /// The counts, such as `12 packets from the chip, 3 to it, 0 bytes skipped`.
  package var counts: String {
    "\(counted(inbound, "packet")) from the chip, \(outbound) to it, "
      + counted(skipped, "byte") + " skipped"
  }
}
