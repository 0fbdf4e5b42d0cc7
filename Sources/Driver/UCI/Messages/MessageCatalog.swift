// SPDX-License-Identifier: Apache-2.0

/// Every message with a known layout: a new message is one row here.
package enum MessageCatalog {
  /// The properties that distinguish messages.
  package struct Key: Hashable, Sendable {
    /// Command, response, notification or data.
    package var type: MessageType
    /// Group and opcode; for data messages the format and 0.
    package var opcode: Opcode

    package init(type: MessageType, opcode: Opcode) {
      (self.type, self.opcode) = (type, opcode)
    }
  }

  struct Layout: Sendable {
    let payload: any UCIPayload.Type
    let firstKeyByte: Int?
  }

  /// A message of one direction, or a command and its response.
  struct Row {
    let name: String
    private(set) var layouts: [(Key, Layout)] = []

    private mutating func add(
      _ type: MessageType, _ opcode: Opcode, _ payload: any UCIPayload.Type, _ firstKeyByte: Int?
    ) {
      layouts.append(
        (Key(type: type, opcode: opcode), Layout(payload: payload, firstKeyByte: firstKeyByte)))
    }

    static func command<C: UCICommand>(_ name: String, _ type: C.Type) -> Row {
      var row = Row(name: name)
      row.add(.command, C.opcode, C.self, C.firstKeyByte)
      row.add(.response, C.opcode, C.Response.self, C.firstKeyByteOfResponse)
      return row
    }

    static func notification<N: UCINotification>(
      _ name: String, _ type: N.Type, _ opcode: Opcode = N.opcode
    ) -> Row {
      var row = Row(name: name)
      row.add(.notification, opcode, N.self, N.firstKeyByte)
      return row
    }

    static func data<D: UCIData>(_ name: String, _ type: D.Type) -> Row {
      var row = Row(name: name)
      row.add(.data, D.opcode, D.self, D.firstKeyByte)
      return row
    }
  }

  /// The messages of the specification or of a vendor.
  struct Table: Sendable {
    private(set) var layouts: [Key: Layout] = [:]
    private(set) var names: [Key: String] = [:]
    /// Names of messages by their opcode alone, for messages without a known layout. Keys are the
    /// group in the high byte and the opcode in the low one.
    private(set) var namesOfAnyType: [Int: String]

    init(_ rows: [Row], names: [Int: String]) {
      namesOfAnyType = names
      for row in rows {
        for (key, layout) in row.layouts {
          layouts[key] = layout
          self.names[key] = row.name
          guard key.type != .data else { continue }
          namesOfAnyType[key.opcode.number] = namesOfAnyType[key.opcode.number] ?? row.name
        }
      }
    }
  }

  /// Returns the layout of a message; nil when it is unknown.
  package static func payload(of key: Key, dialect: Dialect) -> (any UCIPayload.Type)? {
    // The vendor's own table comes first, and Android's last, because chips of many makers have
    // Android's group.
    (vendor(dialect)?.layouts[key] ?? standard.layouts[key] ?? android.layouts[key])?.payload
  }

  /// Returns every message whose layout is known in this dialect.
  package static func keys(in dialect: Dialect) -> Set<Key> {
    Set(standard.layouts.keys).union(android.layouts.keys)
      .union(vendor(dialect)?.layouts.keys.map(\.self) ?? [])
  }

  /// Returns the name of a message: `CORE_GET_CAPS_INFO_RSP`, `SESSION_INFO_NTF`,
  /// `DATA_MESSAGE_SND`.
  ///
  /// Messages without a name are named by their numbers: `VENDOR_0xE_0x00_CMD`,
  /// `GROUP_0x4_0x05_RSP`. Vendors' messages have names only where the dialect has the vendor.
  package static func name(
    type: MessageType, opcode: Opcode, dialect: Dialect = .assumed
  ) -> String {
    let key = Key(type: type, opcode: opcode)
    let group = "0x\(String(opcode.group.rawValue, radix: 16, uppercase: true))"
    let suffix: String
    switch type {
    case .data: return standard.names[key] ?? "DATA_\(group)"
    case .command: suffix = "_CMD"
    case .response: suffix = "_RSP"
    case .notification: suffix = "_NTF"
    default: return "RESERVED_\(type.rawValue)_\(group)_\(hex(opcode.oid))"
    }
    let vendor = vendor(dialect)
    let number = opcode.number
    let name =
      vendor?.names[key] ?? standard.names[key] ?? standard.namesOfAnyType[number]
      ?? vendor?.namesOfAnyType[number] ?? android.namesOfAnyType[number]
    let unnamed = opcode.group.isVendor ? "VENDOR" : "GROUP"
    return (name ?? "\(unnamed)_\(group)_\(hex(opcode.oid))") + suffix
  }

  // A vendor group has different meanings on different chips, so each vendor has its own table.
  private static func vendor(_ dialect: Dialect) -> Table? {
    switch dialect.vendor {
    case .nxp: nxp
    case .qorvo: qorvo
    case .unknown, .android: nil
    }
  }
}

extension Opcode {
  /// The group in the high byte and the opcode in the low one.
  fileprivate var number: Int { Int(group.rawValue) << 8 | Int(oid) }
}

extension Message {
  /// Returns the name of the message, for example `SESSION_INFO_NTF`.
  package func name(dialect: Dialect = .assumed) -> String {
    MessageCatalog.name(type: type, opcode: opcode, dialect: dialect)
  }
}
