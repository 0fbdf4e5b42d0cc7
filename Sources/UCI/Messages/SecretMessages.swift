// SPDX-License-Identifier: Apache-2.0

/// Where in messages of one kind key material can be: session keys, ranging keys, initialisation
/// vectors, random bytes that become keys, what a secure element is told.
public enum PlaceOfKeys: Hashable, Sendable {
  /// In parameters of a session, behind this many bytes and a count.
  case appConfig(offset: Int)
  /// In NXP's own parameters of a session, behind this many bytes and a count.
  case nxpAppConfig(offset: Int)
  /// In the entries of a list of controlees.
  case controlees
  /// Anywhere behind this many bytes.
  case everything(offset: Int)

  /// Bytes before the first that can belong to a key, whatever the rest is.
  public var plainBytes: Int {
    switch self {
    case .appConfig(let offset), .nxpAppConfig(let offset), .everything(let offset): offset
    case .controlees: 4
    }
  }
}

extension Message {
  /// Messages of this kind can carry key material, so their bytes do not belong into logs unless
  /// someone knows which of them the keys are.
  ///
  /// - Parameter dialect: whose vendor groups these are; as long as that is not known, the answer is
  ///   yes if it is for any vendor.
  public static func canCarryKeys(
    type: MessageType, opcode: Opcode, dialect: Dialect = .assumed
  ) -> Bool {
    placeOfKeys(type: type, opcode: opcode, dialect: dialect) != nil
  }

  /// Where in messages of this kind key material can be; nil where there is none.
  ///
  /// - Parameter dialect: whose vendor groups these are; as long as that is not known, the answer is
  ///   that of the first vendor who has secrets there.
  public static func placeOfKeys(
    type: MessageType, opcode: Opcode, dialect: Dialect = .assumed
  ) -> PlaceOfKeys? {
    // Commands to a secure element and its responses, on some of Qorvo's chips.
    if [4, 5].contains(type.rawValue) { return .everything(offset: 0) }
    let key = MessageCatalog.Key(type: type, opcode: opcode)
    if let place = SecretMessages.standard[key] { return place }
    guard dialect.vendor == .unknown else { return SecretMessages.vendor[dialect.vendor]?[key] }
    return SecretMessages.anyVendor[key]
  }
}

/// Which messages can carry key material. A parameter that is a secret is marked in its table; here
/// are the messages that hold such parameters, and those that are a secret as a whole.
enum SecretMessages {
  /// Parameters of NXP's own that are or hold key material.
  static let nxpAppConfig: Set<UInt8> = [0x66, 0x79]

  typealias Rows = [MessageCatalog.Key: PlaceOfKeys]

  static let standard: Rows = [
    .init(type: .command, opcode: .sessionSetAppConfig): .appConfig(offset: 4),
    .init(type: .response, opcode: .sessionGetAppConfig): .appConfig(offset: 1),
    .init(type: .command, opcode: .sessionUpdateMulticastList): .controlees,
  ]

  // Judged by what the messages' names say; for their sources see the table of names.
  static let vendor: [Dialect.Vendor: Rows] = [
    .qorvo: whole(0x9, 0x00...0x3F),  // The secure element.
    .nxp: [
      .init(type: .response, opcode: NXPGetRandom.opcode): .everything(offset: 1),
      .init(type: .command, opcode: NXPSetProfile.opcode): .everything(offset: 5),
      .init(type: .command, opcode: NXPSetAppConfig.opcode): .nxpAppConfig(offset: 4),
      .init(type: .response, opcode: NXPGetAppConfig.opcode): .nxpAppConfig(offset: 1),
    ].merging(whole(0xA, 0x08...0x0E)) { first, _ in first }  // Binding, talk with the element.
      .merging(whole(0xE, 0x08...0x08)) { first, _ in first }  // Key derivation.
      .merging(whole(0xE, 0x2B...0x2B)) { first, _ in first }  // Ranging data sets.
      .merging(whole(0xF, 0x23...0x23)) { first, _ in first }  // Calibration with a tag.
      .merging(whole(0xF, 0x30...0x32)) { first, _ in first },  // The secure element.
  ]

  // Where vendors disagree about a place, the whole message is one.
  static let anyVendor: Rows = vendor.values.reduce(into: [:]) { all, rows in
    all.merge(rows) { a, b in a == b ? a : .everything(offset: 0) }
  }

  /// Messages that are a secret as a whole, in both directions; of a response the status is none.
  private static func whole(_ group: UInt8, _ oids: ClosedRange<UInt8>) -> Rows {
    var rows: Rows = [:]
    for oid in oids {
      let opcode = Opcode(GroupID(rawValue: group), oid)
      rows[.init(type: .command, opcode: opcode)] = .everything(offset: 0)
      rows[.init(type: .response, opcode: opcode)] = .everything(offset: 1)
      rows[.init(type: .notification, opcode: opcode)] = .everything(offset: 0)
    }
    return rows
  }
}
