// SPDX-License-Identifier: Apache-2.0

package import UCI
package import UWBTestSupport

/// Returns the answers of a ranging chip to a command, with one empty round.
package func rangingAnswer(_ packet: [UInt8]) -> [UInt8] {
  switch (packet[0], packet[1]) {
  case (0x20, 0x00): hexBytes("40 00 00 01 00 60 01 00 01 01")
  case (0x20, 0x02): hexBytes("40 02 00 0A 00 00 02 00 02 00 02 01 10 00")
  case (0x20, 0x03): hexBytes("40 03 00 02 00 00")
  case (0x21, 0x00):
    hexBytes("41 00 00 05 00 01 00 00 00 61 02 00 06 01 00 00 00 00 00")
  case (0x21, 0x03): hexBytes("41 03 00 02 00 00 61 02 00 06 01 00 00 00 03 00")
  case (0x21, 0x05): hexBytes("41 05 00 02 00 01")
  case (0x22, 0x00): hexBytes("42 00 00 01 00 61 02 00 06 01 00 00 00 02 00") + emptyRound
  case (0x22, 0x01): hexBytes("42 01 00 01 00 61 02 00 06 01 00 00 00 03 00")
  case (0x21, 0x01): hexBytes("41 01 00 01 00 61 02 00 06 01 00 00 00 01 00")
  default: [packet[0] & 0x0F | 0x40, packet[1], 0, 1, 0x08]
  }
}

/// A report of the session of `rangingAnswer` without measurements.
package let emptyRound = hexBytes(
  "62 00 00 19 00000000 01000000 00 c8000000 01 00 00 00000000 00000000 00")

/// Starts a chip that ranges, with other answers to some commands.
///
/// - Parameter heard: Receives each command.
package func rangingChip(
  _ answers: [Opcode: String], heard: @escaping @Sendable (Opcode) -> Void = { _ in }
) throws -> ScriptedTerminal {
  try ScriptedTerminal { packet in
    let opcode = Opcode(GroupID(rawValue: packet[0] & 0x0F), packet[1])
    heard(opcode)
    guard let answer = answers[opcode] else { return rangingAnswer(packet) }
    return answer.isEmpty ? [] : hexBytes(answer)
  }
}
