// SPDX-License-Identifier: Apache-2.0

/// The possible positions of key material in messages of one kind: session keys, ranging keys,
/// initialisation vectors, random bytes that become keys, commands to a secure element.
package struct KeyMaterialLocation: Sendable {
  /// The number of bytes before the first byte that can belong to a key, whatever follows.
  package let plainBytes: Int
  /// The layout of the message; nil for messages that are secret as a whole.
  private let payload: (any UCIPayload.Type)?
  private let opcode: Opcode

  fileprivate init(_ plainBytes: Int, _ payload: (any UCIPayload.Type)?, _ opcode: Opcode) {
    (self.plainBytes, self.payload, self.opcode) = (plainBytes, payload, opcode)
  }

  /// Returns the bytes of a whole message that are key material.
  ///
  /// For a payload that cannot be parsed, returns all bytes from the first one that can belong to a
  /// key.
  package func secrets(in bytes: [UInt8]) -> [Range<Int>] {
    let all = plainBytes < bytes.count ? [plainBytes..<bytes.count] : []
    guard let payload else { return all }
    return Self.secrets(of: payload, opcode, bytes) ?? all
  }

  /// Returns the fields that are marked as secret; nil when the payload does not have their layout.
  private static func secrets<P: UCIPayload>(
    of payload: P.Type, _ opcode: Opcode, _ bytes: [UInt8]
  ) -> [Range<Int>]? {
    var coder = unsafe FieldReader(
      PayloadReader(bytes.span.bytes), .assumed, findingKeysIn: opcode)
    var payload = P()
    guard (try? payload.visit(&coder)) != nil, coder.reader.remaining == 0 else { return nil }
    return coder.secrets
  }

  /// NXP's own parameters that are or contain key material.
  static let nxpAppConfig: Set<UInt8> = [0x66, 0x79]
}

extension Message {
  /// Returns whether messages of this kind can carry key material. Their bytes do not belong in
  /// logs unless the positions of the keys are known.
  package static func canCarryKeys(
    type: MessageType, opcode: Opcode, dialect: Dialect = .assumed
  ) -> Bool {
    keyMaterialLocation(type: type, opcode: opcode, dialect: dialect) != nil
  }

  /// Returns the possible positions of key material in messages of this kind; nil where there is
  /// none.
  ///
  /// - Parameter dialect: the dialect with the vendor; while it is unknown, every vendor with
  ///   secrets in the group counts.
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

/// Messages that can carry key material: messages whose layout marks it, and messages without a
/// known layout that are secret as a whole.
private enum SecretMessages {
  typealias Rows = [MessageCatalog.Key: KeyMaterialLocation]

  static let standard = rows(MessageCatalog.standard)

  // Derived from the names of the messages; for their sources see the catalogue.
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

  /// Returns rows for secret messages; the status of a response that is secret as a whole stays
  /// visible.
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
