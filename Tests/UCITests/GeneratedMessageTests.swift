// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBTestSupport
import UCIReference
import UCITestSupport

@testable import UCI

/// Messages that are created from the descriptions of their own fields: a written message reads
/// back equal, for every message and any values.
@Suite(.computes) struct GeneratedMessageTests {
  private static let dialects = [
    Dialect(), Dialect(generation: .fira1), Dialect(vendor: .nxp),
    Dialect(generation: .fira3, vendor: .qorvo), Dialect(vendor: .android),
  ]

  private func forEachKind(
    _ body: (MessageCatalog.Key, any UCIPayload.Type, Dialect) throws -> Void
  ) rethrows {
    for dialect in Self.dialects {
      for key in MessageCatalog.keys(in: dialect) {
        guard let payload = MessageCatalog.payload(of: key, dialect: dialect) else {
          Issue.record("\(key) has no layout")
          continue
        }
        try body(key, payload, dialect)
      }
    }
  }

  @Test("What is written of a message is read as the same", .timeLimit(.minutes(10)))
  func roundTrips() throws {
    try forEachKind { key, type, dialect in
      for seed in 0..<20 as Range<UInt64> { try roundTrip(type, key, seed, dialect) }
    }
  }

  private func roundTrip<P: UCIPayload>(
    _ type: P.Type, _ key: MessageCatalog.Key, _ seed: UInt64, _ dialect: Dialect
  ) throws {
    let (payload, isAmbiguous) = FieldRandomiser.message(of: P.self, seed: seed, dialect: dialect)
    let bytes = payload.encoded(dialect: dialect)
    let name = MessageCatalog.name(type: key.type, opcode: key.opcode, dialect: dialect)
    let message = Message(
      type: key.type, opcode: key.opcode, payload: bytes.span.bytes, dialect: dialect)
    #expect(message.payload(dialect: dialect) == bytes, "\(name) seed \(seed)")
    if case .opaque(_, let error) = message.content, !isAmbiguous {
      Issue.record("\(name) seed \(seed): \(hexadecimal(bytes)) \(error.debugDescription)")
    }
    #expect(message.trailing.isEmpty || isAmbiguous, "\(name) seed \(seed)")
    if !isAmbiguous {
      let read = try P(decoding: bytes, dialect: dialect)
      #expect(
        read.encoded(dialect: dialect) == bytes && "\(read)" == "\(payload)",
        "\(name) seed \(seed): \(read) was \(payload)")
    }
    // An empty list of results is one byte without fields.
    #expect(!message.fields(dialect: dialect).isEmpty || bytes.count < 2, "\(name) lists nothing")
  }

  @Test("A message cut anywhere is refused or kept, and never traps", .timeLimit(.minutes(10)))
  func cuts() {
    forEachKind { key, type, dialect in
      for seed in 0..<4 as Range<UInt64> { cut(type, key, seed, dialect) }
    }
  }

  private func cut<P: UCIPayload>(
    _ type: P.Type, _ key: MessageCatalog.Key, _ seed: UInt64, _ dialect: Dialect
  ) {
    let payload = FieldRandomiser.message(of: P.self, seed: seed, dialect: dialect).payload
    let bytes = payload.encoded(dialect: dialect)
    for count in 0..<bytes.count {
      let cut = Array(bytes[..<count])
      let message = Message(
        type: key.type, opcode: key.opcode, payload: cut.span.bytes, dialect: dialect)
      if message.payload(dialect: dialect) != cut {
        Issue.record("\(key) \(hexadecimal(cut)) is not encoded as it was")
      }
      _ = message.fields(dialect: dialect)
    }
  }

  @Test("Every field that is listed as a secret is one of the ranges that are redacted")
  func secrets() {
    var kinds: Set<MessageCatalog.Key> = []
    forEachKind { key, type, dialect in
      for seed in 0..<60 as Range<UInt64> {
        if checkSecrets(type, key, seed, dialect) { kinds.insert(key) }
      }
    }
    let expected: [(MessageType, Opcode)] = [
      (.command, .sessionSetAppConfig), (.response, .sessionGetAppConfig),
      (.command, .sessionUpdateMulticastList), (.command, NXPSetAppConfig.opcode),
      (.response, NXPGetAppConfig.opcode), (.command, NXPSetProfile.opcode),
      (.response, NXPGetRandom.opcode),
    ]
    #expect(kinds == Set(expected.map { .init(type: $0.0, opcode: $0.1) }))
  }

  /// Whether the message has a secret.
  private func checkSecrets<P: UCIPayload>(
    _ type: P.Type, _ key: MessageCatalog.Key, _ seed: UInt64, _ dialect: Dialect
  ) -> Bool {
    let payload = FieldRandomiser.message(of: P.self, seed: seed, dialect: dialect).payload
    var bytes = payload.encoded(dialect: dialect)
    func message() -> Message {
      Message(type: key.type, opcode: key.opcode, payload: bytes.span.bytes, dialect: dialect)
    }
    let secrets = Self.secrets(in: .object(message().fields(dialect: dialect)))
    guard secrets.contains(where: { $0.contains { $0 != 0 } }) else { return false }
    let location = Message.keyMaterialLocation(
      type: key.type, opcode: key.opcode, dialect: dialect)
    guard let location else {
      Issue.record("\(key) has secrets and does not say so")
      return true
    }
    for range in location.secrets(in: bytes) {
      #expect(range.lowerBound >= location.plainBytes, "\(key)")
      for index in range { bytes[index] = 0 }
    }
    let left = Self.secrets(in: .object(message().fields(dialect: dialect)))
    #expect(left.allSatisfy { $0.allSatisfy { $0 == 0 } }, "\(key) seed \(seed): \(left)")
    return true
  }

  private static func secrets(in value: FieldValue) -> [[UInt8]] {
    switch value {
    case .secret(let bytes): [bytes]
    case .list(let values): values.flatMap { secrets(in: $0) }
    case .object(let fields): fields.flatMap { secrets(in: $0.value) }
    default: []
    }
  }
}
