// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// The responses that may still arrive for commands that timed out, in the order of the commands.
///
/// UCI has no sequence numbers: a response names its command by group and opcode only. But a chip
/// executes commands one after another and responds in that order. After a response, no response to
/// an earlier command follows. An answered query with another opcode therefore means that no
/// earlier response is outstanding. This holds for a chip that was slow, and for a chip that never
/// received the command.
struct OutstandingResponses: Sendable {
  /// The command that a response belongs to.
  enum Owner: Sendable {
    /// The command that waits for its response.
    case current
    /// A command that timed out.
    case abandoned
    /// No command that was sent.
    case unknown
  }

  private var opcodes: [Opcode] = []
  /// The last late response.
  private(set) var late: (opcode: Opcode, payload: [UInt8])?

  /// The greatest number of outstanding responses, for a chip that never responds.
  private static let limit = 64

  var isEmpty: Bool { opcodes.isEmpty }

  func contains(_ opcode: Opcode) -> Bool { opcodes.contains(opcode) }

  /// Adds a command that timed out.
  mutating func add(_ opcode: Opcode) {
    if opcodes.count == Self.limit { opcodes.removeFirst() }
    opcodes.append(opcode)
  }

  mutating func removeAll() { opcodes = [] }

  mutating func forgetLate() { late = nil }

  /// Assigns a response to a command.
  ///
  /// If the waiting command repeats a command that timed out, the response to either is valid,
  /// because both are the same command. The other response stays outstanding.
  mutating func receive(_ opcode: Opcode, _ payload: [UInt8], current: Opcode?) -> Owner {
    let isCurrent = opcode == current
    if isCurrent { opcodes.append(opcode) }
    guard let index = opcodes.firstIndex(of: opcode) else { return .unknown }
    opcodes.removeFirst(index + 1)
    if !isCurrent { late = (opcode, payload) }
    return isCurrent ? .current : .abandoned
  }
}
