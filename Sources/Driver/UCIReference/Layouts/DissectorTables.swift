// SPDX-License-Identifier: Apache-2.0

package import UCI

/// The tables of this module and the layouts of all messages in the notation of Lua, for a
/// dissector of Wireshark.
package struct DissectorTables {
  private let notes = LayoutProbe.Notes()
  private var layouts: [String] = []
  private var numbers: [String: Int] = [:]
  /// The layouts of messages by vendor and number of the message.
  private var messages: [String] = []

  /// The layouts of bytes inside messages.
  private var extra: [String] = []

  package static let types: [MessageType] = [.command, .response, .notification]

  /// The numbers of layouts by message and signature.
  private var known: [String: [[[LayoutStep]]: Int]] = [:]

  /// Creates the tables.
  package init() throws(UnsupportedLayout) {
    for vendor in Dialect.Vendor.allCases {
      var rows: [(key: Int, value: String)] = []
      let keys = MessageCatalog.keys(in: Dialect(vendor: vendor))
      for key in keys.sorted(by: { Self.number($0) < Self.number($1) }) {
        rows.append((Self.number(key), try row(key, vendor)))
      }
      messages.append("\(vendor.rawValue)=\(Lua.map(rows))")
    }
    let parts: [(name: String, type: any FieldGroup.Type)] = [
      ("frame", NXPReceivedFrame.self), ("angles", NXPOneWayTail.OneWayAngles.self),
      ("uplink", NXPOneWayTail.Uplink.self),
    ]
    for (name, type) in parts {
      let builder = LayoutBuilder(type, .sessionInfo, .assumed, notes)
      extra.append("\(name)=\(try builder.layout())")
    }
  }

  /// Returns the number of a message in the tables.
  package static func number(_ key: MessageCatalog.Key) -> Int {
    Int(key.type.rawValue) << 10 | Int(key.opcode.group.rawValue) << 6 | Int(key.opcode.oid)
  }

  /// Returns the number of the layout of a message; a list of numbers by generation if the layouts
  /// differ.
  private mutating func row(
    _ key: MessageCatalog.Key, _ vendor: Dialect.Vendor
  ) throws(UnsupportedLayout) -> String {
    var all: [Int] = []
    for generation in Dialect.Generation.allCases {
      let dialect = Dialect(generation: generation, vendor: vendor)
      guard let payload = MessageCatalog.payload(of: key, dialect: dialect) else { continue }
      let builder = LayoutBuilder(payload, key.opcode, dialect, notes)
      let (name, signature) = ("\(payload) \(Self.number(key))", builder.signature())
      if let number = known[name]?[signature] {
        all.append(number)
        continue
      }
      let text = try builder.layout()
      let number = numbers[text] ?? layouts.count + 1
      if number > layouts.count { layouts.append(text) }
      numbers[text] = number
      known[name, default: [:]][signature] = number
      all.append(number)
    }
    return Set(all).count == 1 ? "\(all[0])" : Lua.list(all.map { "\($0)" })
  }

  /// The tables as the members of one Lua table.
  package var lua: String {
    let codes = notes.tables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    let layouts = layouts.enumerated().map { "[\($0.offset + 1)]=\($0.element)" }
    let channels = Capabilities.channelNumbers.map { "\($0)" }
    return """
      T.codes = {
      \(codes.joined(separator: ",\n"))}
      T.layouts = {
      \(layouts.joined(separator: ",\n"))}
      T.extra = {
      \(extra.joined(separator: ",\n"))}
      T.messages = {
      \(messages.joined(separator: ",\n"))}
      T.titles = {
      \(Dialect.Vendor.allCases.map(Self.titles).joined(separator: ",\n"))}
      T.keys = {
      \(Dialect.Vendor.allCases.map(Self.keyCarriers).joined(separator: ",\n"))}
      T.parameters = {
      app=\(Self.rows(AppConfigID.self) { Int($0.rawValue) }),
      nxpApp=\(Self.rows(NXPAppConfigID.self) { Int($0.rawValue) }),
      device=\(Self.rows(DeviceConfigID.self) { Self.number($0.number, $0.subID) }),
      test=\(Self.rows(TestConfigID.self) { Self.number($0.number, $0.subID) }),
      radar=\(Self.rows(RadarConfigID.self) { Int($0.rawValue) }),
      capabilities=\(Self.rows(CapabilityID.self) { Lua.string($0.rawValue) })}
      T.capabilities = {
      fira1=\(Self.capabilities(.fira1)),
      fira2=\(Self.capabilities(.fira2))}
      T.channels = \(Lua.list(channels))

      """
  }

  /// Returns the names of the messages in a vendor's dialect: by opcode, or by the number of the
  /// message if messages of one opcode have different names.
  private static func titles(_ vendor: Dialect.Vendor) -> String {
    func name(_ type: MessageType, _ group: UInt8, _ oid: UInt8) -> String? {
      let opcode = Opcode(GroupID(rawValue: group), oid)
      let dialect = Dialect(vendor: vendor)
      let name = MessageCatalog.name(type: type, opcode: opcode, dialect: dialect)
      guard !name.contains("0x\(String(group, radix: 16, uppercase: true))") else { return nil }
      return Lua.string(type == .data ? name : String(name.dropLast(4)))
    }
    var rows: [(key: Int, value: String)] = []
    for group in UInt8.min...15 {
      if let name = name(.data, group, 0) { rows.append((Int(group) << 6, name)) }
      for oid in UInt8.min...63 {
        for type in Self.types {
          guard let name = name(type, group, oid) else { continue }
          let key = MessageCatalog.Key(type: type, opcode: Opcode(GroupID(rawValue: group), oid))
          rows.append((Self.number(key), name))
        }
      }
    }
    return "\(vendor.rawValue)=\(Lua.map(rows))"
  }

  /// Returns the messages that can carry keys.
  private static func keyCarriers(_ vendor: Dialect.Vendor) -> String {
    var rows: [(key: Int, value: String)] = []
    for number in 0..<6 << 10 {
      let type = MessageType(rawValue: UInt8(number >> 10))
      let opcode = Opcode(GroupID(rawValue: UInt8(number >> 6 & 15)), UInt8(number & 63))
      let dialect = Dialect(vendor: vendor)
      guard type.isControl, Message.canCarryKeys(type: type, opcode: opcode, dialect: dialect)
      else { continue }
      rows.append((number, "1"))
    }
    return "\(vendor.rawValue)=\(Lua.map(rows))"
  }

  private static func number(_ id: UInt8, _ subID: UInt8?) -> Int {
    subID.map { (Int(id) + 1) << 8 | Int($0) } ?? Int(id)
  }

  private static func capabilities(_ numbering: CapabilityID.Numbering) -> String {
    let numbers = CapabilityTable.numbers[numbering] ?? [:]
    let rows = numbers.map {
      (key: number($0.key.number, $0.key.subID), value: Lua.string($0.value.rawValue))
    }
    return Lua.map(rows)
  }

  /// Returns the rows of a table by the identifiers of its parameters.
  private static func rows<ID: TabulatedID, Key: LosslessStringConvertible>(
    _ id: ID.Type, key: (ID) -> Key
  ) -> String {
    let groups = Dictionary(grouping: ID.table.rows) { key($0.id).description }
    let texts = groups.sorted { $0.key < $1.key }.map { group in
      "[\(group.key)]=\(Lua.list(group.value.map(Self.row)))"
    }
    return "{\n\(texts.joined(separator: ",\n"))}"
  }

  private static func row<ID>(_ row: Parameter<ID>) -> String {
    var items = ["name=\(Lua.string(row.name))", "format=\(Self.format(row.format))"]
    if !row.lengths.isEmpty { items.append("lengths=\(Lua.list(row.lengths.map { "\($0)" }))") }
    if let unit = row.unit { items.append("unit=\(Lua.string(unit))") }
    if !row.values.isEmpty {
      items.append("values=\(Lua.map(row.values.map { ($0.key, Lua.string($0.value)) }))")
    }
    if row.isSecret { items.append("secret=true") }
    let (first, last) = (row.generations.lowerBound.rawValue, row.generations.upperBound.rawValue)
    if first > 1 { items.append("first=\(first)") }
    if last < 3 { items.append("last=\(last)") }
    if !row.vendors.isEmpty {
      items.append("vendors=\(Lua.list(row.vendors.map { "\($0.rawValue)=true" }))")
    }
    return Lua.list(items)
  }

  private static func format(_ format: ParameterFormat) -> String {
    switch format {
    case .numbers(let bytes): "\"numbers\",size=\(bytes)"
    case .fixedPoint(let fraction): "\"fixedPoint\",scale=\(1 << fraction)"
    default: "\"\(format)\""
    }
  }
}
