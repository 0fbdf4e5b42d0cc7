// SPDX-License-Identifier: Apache-2.0

package import UCI

/// What a chip said to a host, sorted by what it was said to: each command with the packets that
/// came of it, at their times behind it.
package struct Recording: Sendable {
  /// A packet as it was recorded.
  package struct Packet: Sendable {
    /// Nanoseconds on any clock; nil where the source has no times.
    package var time: UInt64?
    /// Which way it went.
    package var direction: PacketDirection
    /// The whole packet, header included.
    package var bytes: [UInt8]

    /// From its parts.
    package init(time: UInt64?, direction: PacketDirection, bytes: [UInt8]) {
      self.time = time
      self.direction = direction
      self.bytes = bytes
    }
  }

  /// What the host sent: a command or data, joined.
  struct Request: Hashable, Sendable {
    var type: MessageType
    var opcode: Opcode
    var payload: [UInt8]

    /// The session it is about.
    var token: UInt32? { SessionTokens.token(type: type, opcode: opcode, payload: payload) }
  }

  /// A packet of the chip.
  struct Answer: Sendable {
    /// Nanoseconds after its cause; never less than that of the answer before it.
    var delay: UInt64
    var bytes: [UInt8]
    /// It ends when its session does: a measurement, not a response or a state.
    var isStream = false
    /// It begins a message: its payload starts with the fields of the message.
    var isFirst = true
  }

  /// A request and what came of it.
  struct Turn: Sendable {
    var request: Request
    var answers: [Answer] = []
    /// The chip answered, if only to ask for the same command again.
    var isAnswered = false
  }

  /// What the chip said before it was asked anything.
  private(set) var greeting: [Answer] = []
  /// Everything the chip was asked and answered, in order.
  private(set) var turns: [Turn] = []

  /// Packets of the chip in it.
  package var packets: Int { turns.reduce(greeting.count) { $0 + $1.answers.count } }
  /// Requests with an answer.
  package var requests: Int { turns.count }

  /// Sorts packets, given in the order in which they were recorded. Packets that are not whole are
  /// left out, and so are commands without an answer: what a sleeping chip missed need not be missed
  /// again.
  package init(_ packets: some Sequence<Packet>) {
    var sorter = RecordingSorter()
    for packet in packets { sorter.take(packet) }
    greeting = sorter.greeting
    turns = sorter.turns.filter { $0.isAnswered || $0.request.type == .data }
  }
}
