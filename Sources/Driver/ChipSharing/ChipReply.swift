// SPDX-License-Identifier: Apache-2.0
package import JSON
internal import Varlink

/// The reply to a call that succeeded, except the replies of `Monitor` and `Watch`.
package enum ChipReply: Sendable {
  case service(version: String, run: String, host: String)
  /// - Parameter sequence: The number of the last event of the run.
  case chips([Chips.Chip], run: String, sequence: Int)
  /// - Parameter info: The device's description of itself, as JSON.
  case description(chip: String, info: String)
  case started(chip: String, sessionID: UInt32, joined: Bool)
  /// The reply to `Stop`, `SetShare` and `End`.
  case done
  /// The reply to `Attach` and `Borrow`.
  case chip(String)

  /// The encoded message with its zero byte.
  package var bytes: [UInt8] {
    switch self {
    case .service(let version, let run, let host):
      return VarlinkReply([
        "version": .string(version), "protocol": .integer(Int64(Chips.protocolVersion)),
        "features": .array(Chips.features.map { .string($0) }), "run": .string(run),
        "host": .string(host),
      ]).bytes
    case .chips(let chips, let run, let sequence):
      return VarlinkReply([
        "chips": chips.json, "run": .string(run), "sequence": .integer(Int64(sequence)),
      ]).bytes
    case .description(let chip, let info):
      var bytes: [UInt8] = []
      EncodedReply { text in
        text.append(#""chip":"#)
        text.appendJSON(chip)
        text.append(contentsOf: #","info":\#(info)"#.utf8)
      }.append(to: &bytes)
      return bytes
    case .started(let chip, let id, let joined):
      return VarlinkReply([
        "chip": .string(chip), "session_id": .integer(Int64(id)), "joined": .bool(joined),
      ]).bytes
    case .done: return VarlinkReply().bytes
    case .chip(let chip): return VarlinkReply(["chip": .string(chip)]).bytes
    }
  }
}

/// A measurement as a reply of `Monitor`. It is encoded once for all clients that receive it.
package struct MeasurementReply: Sendable {
  private let reply: EncodedReply

  /// The length in bytes, without the parts that differ from client to client.
  package var count: Int { reply.count }

  /// - Parameters:
  ///   - monotonic: Microseconds of CLOCK_MONOTONIC.
  ///   - utc: Microseconds since 1970.
  ///   - member: The member of the reply: `measurement`, or `one_way` for a message.
  ///   - appendMeasurement: Appends the measurement as JSON.
  package init(
    chip: String, sessionID: UInt32, monotonic: UInt64, utc: UInt64,
    member: StaticString = "measurement",
    _ appendMeasurement: (inout JSONText) -> Void
  ) {
    // Measurements take about 1,000 bytes.
    reply = EncodedReply(own: "lost", capacity: 1_400) { text in
      text.append(#""chip":"#)
      text.appendJSON(chip)
      text.appendKey("session_id")
      text.appendDigits(UInt64(sessionID))
      text.appendKey("monotonic_us")
      text.appendDigits(monotonic)
      text.appendKey("utc_us")
      text.appendDigits(utc)
      text.appendKey(member)
      appendMeasurement(&text)
    }
  }

  /// The message for clients that requested no identity, receive further replies, and have missed
  /// no measurement just before.
  package var message: [UInt8] { reply.message }

  /// Appends the message for one client.
  ///
  /// - Parameters:
  ///   - lost: The number of measurements that were dropped for this client just before.
  ///   - identity: The origin of the measurement, for a client that wants it.
  ///   - continues: Whether the client receives further replies to its call.
  package func append(
    to output: inout [UInt8], lost: Int, identity: EncodedIdentity? = nil, continues: Bool
  ) {
    reply.append(
      to: &output, own: UInt64(lost), more: identity?.bytes ?? [], continues: continues)
  }
}

/// The origin of the measurements of a session, encoded once.
package struct EncodedIdentity: Sendable {
  fileprivate let bytes: [UInt8]

  package init(_ identity: Chips.Identity) {
    bytes = Array(#","identity":\#(identity.json)"#.utf8)
  }
}

/// An event as a reply of `Watch` and `Monitor`, encoded once for all clients that receive it.
package struct EventReply: Sendable {
  private let reply: EncodedReply

  package init(_ event: Chips.Event, run: String) {
    reply = EncodedReply(own: "lost") {
      $0.append(contentsOf: #""run":\#(JSON.string(run)),"event":\#(event.json)"#.utf8)
    }
  }

  /// Appends the message for one client.
  ///
  /// - Parameters:
  ///   - lost: The number of events that were dropped for this client just before.
  ///   - continues: Whether the client receives further replies to its call.
  package func append(to output: inout [UInt8], lost: Int, continues: Bool) {
    reply.append(to: &output, own: UInt64(lost), continues: continues)
  }
}
