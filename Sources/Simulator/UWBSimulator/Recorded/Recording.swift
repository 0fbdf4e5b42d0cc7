// SPDX-License-Identifier: Apache-2.0

package import UCI

/// The recorded dialogue of a chip and a host: each request with the packets that it caused, and
/// their delays.
package struct Recording: Sendable {
  package struct Packet: Sendable {
    /// The time in nanoseconds on any clock; nil if the source has no times.
    package var time: UInt64?
    package var direction: PacketDirection
    /// The whole packet, header included.
    package var bytes: [UInt8]

    package init(time: UInt64?, direction: PacketDirection, bytes: [UInt8]) {
      self.time = time
      self.direction = direction
      self.bytes = bytes
    }
  }

  /// A command or data message of the host, reassembled.
  struct Request: Hashable, Sendable {
    var type: MessageType
    var opcode: Opcode
    var payload: [UInt8]

    var token: UInt32? { SessionTokens.token(type: type, opcode: opcode, payload: payload) }
  }

  struct Answer: Sendable {
    /// The nanoseconds after the cause of the packet; never less than the delay of the answer
    /// before it.
    var delay: UInt64
    var bytes: [UInt8]
    /// Whether the packet is a measurement, which ends with its session.
    var isStream = false
    /// Whether the packet is the first of a message.
    var isFirst = true
  }

  struct Turn: Sendable {
    var request: Request
    var answers: [Answer] = []
    /// Whether the chip answered, even if only with a retry.
    var isAnswered = false
  }

  /// The packets before the first request.
  private(set) var greeting: [Answer] = []
  /// All requests with their answers, in order.
  private(set) var turns: [Turn] = []

  package var packets: Int { turns.reduce(greeting.count) { $0 + $1.answers.count } }
  package var requests: Int { turns.count }

  /// Creates a recording from packets in recorded order. Leaves out incomplete packets and commands
  /// without an answer, which a sleeping chip missed.
  package init(_ packets: some Sequence<Packet>) {
    var sorter = RecordingSorter()
    for packet in packets { sorter.take(packet) }
    greeting = sorter.greeting
    turns = sorter.turns.filter { $0.isAnswered || $0.request.type == .data }
  }
}
