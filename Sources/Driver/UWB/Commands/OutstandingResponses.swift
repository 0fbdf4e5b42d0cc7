// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// The responses that may still come to commands that timed out, in the order in which those were
/// sent.
///
/// UCI numbers nothing: a response names its command by group and opcode only. What tells late
/// responses from the one that is waited for is that a chip takes one command after the other and
/// responds in that order. So a response also means that none comes any more to the commands before
/// its own, and a query of another opcode, once it is answered, means that none is outstanding. That
/// holds for a chip that was slow and for one that never got the command.
struct OutstandingResponses: Sendable {
  /// What a response belongs to.
  enum Owner: Sendable {
    /// The command that waits.
    case current
    /// A command that timed out.
    case abandoned
    /// No command that was sent.
    case unknown
  }

  private var opcodes: [Opcode] = []
  /// The last response that came too late.
  private(set) var late: (opcode: Opcode, payload: [UInt8])?

  /// A chip that never responds must not make this grow without end.
  private static let limit = 64

  var isEmpty: Bool { opcodes.isEmpty }

  func contains(_ opcode: Opcode) -> Bool { opcodes.contains(opcode) }

  /// A command timed out.
  mutating func add(_ opcode: Opcode) {
    if opcodes.count == Self.limit { opcodes.removeFirst() }
    opcodes.append(opcode)
  }

  mutating func removeAll() { opcodes = [] }

  mutating func forgetLate() { late = nil }

  /// A response has come.
  ///
  /// Where the command that waits repeats one that timed out, the response to either will do: they
  /// ask the same. The other one stays outstanding.
  mutating func receive(_ opcode: Opcode, _ payload: [UInt8], current: Opcode?) -> Owner {
    let isCurrent = opcode == current
    if isCurrent { opcodes.append(opcode) }
    guard let index = opcodes.firstIndex(of: opcode) else { return .unknown }
    opcodes.removeFirst(index + 1)
    if !isCurrent { late = (opcode, payload) }
    return isCurrent ? .current : .abandoned
  }
}
