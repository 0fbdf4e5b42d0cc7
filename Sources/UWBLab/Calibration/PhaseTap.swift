// SPDX-License-Identifier: Apache-2.0

import Synchronization
import UWB

/// Phase differences of single frames out of Qorvo's range diagnostics, as they go over the wire.
package final class PhaseTap: Sendable {
  private let phases = Mutex<[Double]>([])

  /// What came since the last call, in radians.
  func drain() -> [Double] {
    phases.withLock { list in
      defer { list.removeAll() }
      return list
    }
  }

  /// Sees each packet, header included.
  func take(_ direction: PacketDirection, _ packet: RawSpan) {
    guard direction == .inbound, let header = try? PacketHeader(parsing: packet),
      header.type == .notification, header.opcode == RangeDiagnosticsNotification.qorvoOpcode,
      !header.moreFollows, packet.byteCount > PacketHeader.length
    else { return }
    var reader = PayloadReader(packet.extracting(droppingFirst: PacketHeader.length))
    guard
      let diagnostics = try? RangeDiagnosticsNotification(
        from: &reader, dialect: Dialect(generation: .fira2, vendor: .qorvo))
    else { return }
    // TDoA, PDoA and AoA as 16 bits in two's complement, 2^-11 rad each, figure of merit, kind of
    // angle. Source: Qorvo's UCI range diagnostics.
    let found = diagnostics.reports.flatMap(\.items).compactMap { item -> Double? in
      guard item.type == 1, item.value.count >= 6 else { return nil }
      let word = UInt16(item.value[2]) | UInt16(item.value[3]) << 8
      return Double(Int16(bitPattern: word)) / 2048
    }
    phases.withLock { $0 += found }
  }
}
