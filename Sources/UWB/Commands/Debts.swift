// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Answers the chip still owes to commands that were given up, in the order in which those were sent.
///
/// UCI numbers nothing: an answer names its command by group and opcode only. What keeps late
/// answers apart from those that are waited for is that a chip takes one command after the other and
/// answers in that order. So an answer settles everything that was sent before its own command, and
/// whoever wants to be sure asks a question of another opcode and waits for that answer: what has
/// not come by then never will. That holds for the chip that was slow and for the one that never
/// got the command.
struct Debts: Sendable {
  /// Whom an answer belongs to.
  enum Creditor: Sendable {
    /// To the command that waits.
    case outstanding
    /// To one that was given up.
    case given
    /// To none that was sent.
    case nobody
  }

  private var owed: [Opcode] = []
  /// The last answer that came too late.
  private(set) var late: (opcode: Opcode, payload: [UInt8])?

  /// A chip that never answers must not make this grow for ever.
  private static let limit = 64

  var isEmpty: Bool { owed.isEmpty }

  func contains(_ opcode: Opcode) -> Bool { owed.contains(opcode) }

  /// A command was given up.
  mutating func add(_ opcode: Opcode) {
    if owed.count == Self.limit { owed.removeFirst() }
    owed.append(opcode)
  }

  /// Nothing more is to come.
  mutating func settle() { owed = [] }

  /// Forgets what came late so far.
  mutating func forgetLate() { late = nil }

  /// An answer has come.
  ///
  /// Where the command that waits repeats one that was given up, the answer to either will do: they
  /// are the same question. The other answer is owed on.
  mutating func take(_ opcode: Opcode, _ payload: [UInt8], outstanding: Opcode?) -> Creditor {
    let isWaitedFor = opcode == outstanding
    if isWaitedFor { owed.append(opcode) }
    guard let place = owed.firstIndex(of: opcode) else { return .nobody }
    owed.removeFirst(place + 1)
    if !isWaitedFor { late = (opcode, payload) }
    return isWaitedFor ? .outstanding : .given
  }
}
