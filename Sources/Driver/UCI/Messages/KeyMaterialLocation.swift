// SPDX-License-Identifier: Apache-2.0

/// Where in messages of one kind key material can be: session keys, ranging keys, initialisation
/// vectors, random bytes that become keys, what a secure element is told.
package struct KeyMaterialLocation: Sendable {
  /// Bytes before the first that can belong to a key, whatever the rest is.
  package let plainBytes: Int
  /// What the message says; nil for messages that are secret as a whole.
  private let payload: (any UCIPayload.Type)?
  private let opcode: Opcode

  fileprivate init(_ plainBytes: Int, _ payload: (any UCIPayload.Type)?, _ opcode: Opcode) {
    (self.plainBytes, self.payload, self.opcode) = (plainBytes, payload, opcode)
  }

  /// Which bytes of a whole message are key material.
  ///
  /// A payload that cannot be taken apart is, from its first byte that can belong to a key.
  package func secrets(in bytes: [UInt8]) -> [Range<Int>] {
    let all = plainBytes < bytes.count ? [plainBytes..<bytes.count] : []
    guard let payload else { return all }
    return Self.secrets(of: payload, opcode, bytes) ?? all
  }

  /// The fields that are marked as secret; nil when the payload does not have their layout.
  private static func secrets<P: UCIPayload>(
    of payload: P.Type, _ opcode: Opcode, _ bytes: [UInt8]
  ) -> [Range<Int>]? {
    var coder = unsafe FieldReader(
      PayloadReader(bytes.span.bytes), .assumed, findingKeysIn: opcode)
    var payload = P()
    guard (try? payload.visit(&coder)) != nil, coder.reader.remaining == 0 else { return nil }
    return coder.secrets
  }

  /// Parameters of NXP's own that are or hold key material.
  static let nxpAppConfig: Set<UInt8> = [0x66, 0x79]
}

extension Message {
  /// Messages of this kind can carry key material, so their bytes do not belong into logs unless
  /// someone knows which of them the keys are.
  package static func canCarryKeys(
    type: MessageType, opcode: Opcode, dialect: Dialect = .assumed
  ) -> Bool {
    keyMaterialLocation(type: type, opcode: opcode, dialect: dialect) != nil
  }

  /// Where in messages of this kind key material can be; nil where there is none.
  ///
  /// - Parameter dialect: whose vendor groups these are; as long as that is not known, every vendor
  ///   who has secrets there counts.
  package static func keyMaterialLocation(
    type: MessageType, opcode: Opcode, dialect: Dialect = .assumed
  ) -> KeyMaterialLocation? {
    // Commands to a secure element and its responses, on some of Qorvo's chips.
    if [.testCommand, .testResponse].contains(type) { return .init(0, nil, opcode) }
    let key = MessageCatalog.Key(type: type, opcode: opcode)
    if let location = SecretMessages.standard[key] { return location }
    guard dialect.vendor == .unknown else { return SecretMessages.vendor[dialect.vendor]?[key] }
    return SecretMessages.anyVendor[key]
  }
}

/// Messages that can carry key material: those that say so of themselves, and those without a known
/// layout that are secret as a whole.
private enum SecretMessages {
  typealias Rows = [MessageCatalog.Key: KeyMaterialLocation]

  static let standard = rows(MessageCatalog.standard)

  // Judged by what the messages' names say; for their sources see the catalogue.
  static let vendor: [Dialect.Vendor: Rows] = [
    .qorvo: rows(MessageCatalog.qorvo, whole: [(0x9, 0x00...0x3F)]),  // The secure element.
    .nxp: rows(
      MessageCatalog.nxp,
      whole: [
        (0xA, 0x08...0x0E),  // Binding, exchange with the element.
        (0xE, 0x08...0x08),  // Key derivation.
        (0xE, 0x2B...0x2B),  // Ranging data sets.
        (0xF, 0x23...0x23),  // Calibration with a tag.
        (0xF, 0x30...0x32),  // The secure element.
      ]),
  ]

  // Where vendors disagree, the whole message is secret.
  static let anyVendor: Rows = vendor.values.reduce(into: [:]) { all, rows in
    for (key, location) in rows {
      all[key] = all[key] == nil ? location : .init(0, nil, key.opcode)
    }
  }

  /// Of a response that is secret as a whole, the status is not.
  private static func rows(
    _ table: MessageCatalog.Table, whole: [(group: UInt8, oids: ClosedRange<UInt8>)] = []
  ) -> Rows {
    var rows: Rows = [:]
    for (key, layout) in table.layouts {
      if let first = layout.firstKeyByte { rows[key] = .init(first, layout.payload, key.opcode) }
    }
    for (group, oids) in whole {
      for oid in oids {
        let opcode = Opcode(GroupID(rawValue: group), oid)
        for type in [MessageType.command, .response, .notification] {
          rows[.init(type: type, opcode: opcode)] = .init(type == .response ? 1 : 0, nil, opcode)
        }
      }
    }
    return rows
  }
}
