// SPDX-License-Identifier: Apache-2.0

import UCI
package import UWB
package import UWBSimulator

extension Recording {
  /// Creates a recording from a capture. Packets with an unknown direction count as packets of the
  /// chip.
  package init(_ capture: Capture) {
    self.init(
      capture.packets.map {
        Packet(time: $0.time, direction: $0.direction ?? .inbound, bytes: $0.bytes)
      })
  }
}

extension RecordedChip.Statistics {
  package func text(of recording: Recording) -> String {
    func names(_ opcodes: [Opcode: Int]) -> String {
      let list = opcodes.map { opcode, count in
        MessageCatalog.name(type: .command, opcode: opcode) + (count > 1 ? " ×\(count)" : "")
      }
      return "(\(list.sorted().joined(separator: ", ")))"
    }
    let refused = unknown.values.reduce(0, +)
    let filled = invented.values.reduce(0, +)
    return
      counted(exact + similar + refused + filled, "request") + ": \(exact) as recorded, "
      + "\(similar) with other contents, \(refused) not in the capture and rejected"
      + (refused > 0 ? " \(names(unknown))" : "")
      + (filled > 0 ? ", \(filled) answered without a recording \(names(invented))" : "")
      + "; \(counted(packetsSent, "packet")) of \(recording.packets) recorded sent"
  }
}
