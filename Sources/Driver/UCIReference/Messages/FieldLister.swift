// SPDX-License-Identifier: Apache-2.0

import UCI

/// Lists fields with names and values, for users.
struct FieldLister: FieldCoder {
  let dialect: Dialect
  let opcode: Opcode
  private(set) var fields: [Field] = []

  init(_ opcode: Opcode, _ dialect: Dialect) {
    self.opcode = opcode
    self.dialect = dialect
  }

  static func fields(
    of payload: some FieldGroup, _ opcode: Opcode, _ dialect: Dialect
  ) -> [Field] {
    if let listed = payload as? any ListedFields { return listed.fields(dialect: dialect) }
    var lister = FieldLister(opcode, dialect)
    var payload = payload
    // Only reading throws.
    try? payload.visit(&lister)
    return lister.fields
  }

  private mutating func add(_ name: StaticString, _ value: FieldValue) {
    fields.append(Field("\(name)", value))
  }

  mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: StaticString, _ value: inout T, width: Int, _ form: () -> FieldForm
  ) {
    let byte = UInt8(truncatingIfNeeded: value)
    switch form() {
    case .hidden: return
    case .names(let names, let others):
      let meaning = value < names.count ? names[Int(value)] : others[byte] ?? hex(byte)
      add(name, .code(byte, name: meaning, explanation: nil))
    case .bit(let bit, let names):
      add(name, .code(byte, name: names[Int(value >> T(bit) & 1)], explanation: nil))
    case .scaled(let divisor): add(name, .decimal(Double(value) / divisor))
    case .flag: add(name, .bool(value != 0))
    case .shortAddress:
      add(name, .text(MACAddress(UInt16(truncatingIfNeeded: value)).description))
    case .anyAddress: add(name, .text(dataAddress(UInt64(truncatingIfNeeded: value))))
    case .nxpCalibration:
      let id = NXPCalibrationID(rawValue: byte)
      add(name, .code(byte, name: id.name, explanation: nil))
    case .plain, .text, .secret: add(name, .number(value))
    }
  }

  mutating func bytes(
    _ name: StaticString, _ value: inout [UInt8], _ count: FieldCount, _ form: () -> FieldForm
  ) {
    switch form() {
    case .hidden: return
    case .secret: add(name, .secret(value))
    case .text: add(name, .deviceText(String(decoding: value, as: UTF8.self)))
    default: add(name, .bytes(value))
    }
  }

  /// Returns the fields that `body` lists of each element.
  private func each<E>(
    _ list: [E], _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError) -> [(element: E, fields: [Field])] {
    var all: [(element: E, fields: [Field])] = []
    for var element in list {
      var inner = FieldLister(opcode, dialect)
      try body(&inner, &element)
      all.append((element, inner.fields))
    }
    return all
  }

  mutating func list<E>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount, blank: E,
    _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    let all = try each(value, body)
    add(
      name, .list(all.map { ($0.element as? any ListedValue)?.fieldValue ?? .object($0.fields) }))
  }

  mutating func values<E>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount, blank: E,
    _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    let all = try each(value, body)
    add(name, .list(all.compactMap { $0.fields.first?.value }))
  }

  mutating func code<T: WireCode>(_ name: StaticString, _ value: inout T) {
    let byte = UInt8(truncatingIfNeeded: value.rawValue)
    if let listed = value as? any ListedValue {
      add(name, listed.fieldValue)
    } else if let named = value as? any CustomStringConvertible {
      add(name, .code(byte, name: named.description, explanation: nil))
    } else {
      add(name, .number(value.rawValue))
    }
  }

  mutating func group<G: FieldGroup>(
    _ name: StaticString, _ value: inout G
  ) throws(PayloadError) {
    var inner = FieldLister(opcode, dialect)
    try value.visit(&inner)
    add(name, (value as? any ListedValue)?.fieldValue ?? .object(inner.fields))
  }

  mutating func address(_ name: StaticString, _ value: inout MACAddress, extended: Bool) {
    add(name, .text(value.description))
  }

  mutating func optional<V>(
    _ name: StaticString, _ value: inout V?, blank: V, _ absence: FieldAbsence,
    _ isPresent: (_ remaining: Int) -> Bool,
    _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    if var present = value {
      try body(&self, &present)
    } else if absence == .null {
      add(name, .null)
    }
  }

  mutating func parameters(
    _ name: StaticString, _ list: inout [TLV], _ space: ParameterSpace
  ) {
    switch space.answering(opcode) {
    case .app, .asked:
      add(name, .parameters(list, dialect) { $0.subID == nil ? AppConfigID(rawValue: $0.id) : nil })
    case .nxpApp:
      add(
        name, .parameters(list, dialect) { $0.subID == nil ? NXPAppConfigID(rawValue: $0.id) : nil }
      )
    case .device: add(name, .parameters(list, dialect) { DeviceConfigID($0) })
    case .test: add(name, .parameters(list, dialect) { TestConfigID($0.id, $0.subID) })
    case .radar: add(name, .parameters(list, dialect) { RadarConfigID(rawValue: $0.id) })
    case .capabilities: add("capabilities", .capabilities(list, dialect))
    case .results(let names):
      fields += list.map { Field(names[$0.id] ?? "result_\(hex($0.id))", $0.plainValue) }
    }
  }

  mutating func parameterID(
    _ id: inout UInt8, _ subID: inout UInt8?, _ space: ParameterSpace, isLong: (UInt8) -> Bool
  ) {
    let name =
      switch space.answering(opcode) {
      case .app: AppConfigID(rawValue: id).name(in: dialect)
      case .nxpApp: NXPAppConfigID(rawValue: id).name
      case .test: TestConfigID(id, subID).name
      case .radar: RadarConfigID(rawValue: id).name
      default: DeviceConfigID(id, subID).name(in: dialect)
      }
    add("name", .text(name))
    add("id", .number(id))
  }
}

extension FieldValue {
  /// Returns parameters by name, each with its value, unit and meaning. Values stay secret if their
  /// row marks them as secret, or if they are secret in any dialect.
  ///
  /// - Parameter id: nil for parameters of NXP's older firmware, which mixes the vendor's own with
  ///   FiRa's, with numbers of two bytes. Their contents are unknown, so they are not shown.
  static func parameters<ID: TabulatedID>(
    _ list: [TLV], _ dialect: Dialect, _ id: (TLV) -> ID?
  ) -> FieldValue {
    .list(
      list.map { tlv in
        let id = id(tlv)
        let row = id?.parameter(in: dialect, length: tlv.value.count)
        let unknown = id?.unknownName ?? unknownParameter("APP_CONFIG", tlv.id, tlv.subID)
        var fields = [Field("name", .text(row?.name ?? unknown)), Field("id", .number(tlv.id))]
        if let subID = tlv.subID { fields.append(Field("sub_id", .number(subID))) }
        guard let id, row?.isSecret != true, (id as? AppConfigID)?.isSecret != true else {
          return .object(fields + [Field("value", .secret(tlv.value))])
        }
        fields.append(Field("value", row?.fieldValue(of: tlv.value) ?? tlv.plainValue))
        if let unit = row?.unit { fields.append(Field("unit", .text(unit))) }
        if let meaning = row?.meaning(of: tlv.value) {
          fields.append(Field("meaning", .text(meaning)))
        }
        return .object(fields)
      })
  }

  /// Returns the capabilities of a chip.
  static func capabilities(_ parameters: [TLV], _ dialect: Dialect) -> FieldValue {
    let capabilities = Capabilities(parameters)
    return .list(
      parameters.map { tlv in
        let name = CapabilityID.name(
          of: tlv.id, subID: tlv.subID, in: capabilities.numbering)
        var fields = [Field("name", .text(name)), Field("id", .number(tlv.id))]
        if let subID = tlv.subID { fields.append(Field("sub_id", .number(subID))) }
        return .object(
          fields + [
            Field("value", capabilities.fieldValue(of: tlv, dialect)),
            Field("octets", .bytes(tlv.value)),
            Field("meaning", .text(capabilities.words(for: tlv, dialect: dialect))),
          ])
      })
  }
}

/// A value that is listed as a single value, or as fields in another order than on the wire.
protocol ListedValue {
  var fieldValue: FieldValue { get }
}

/// A message that is listed with more than its fields, or in another order.
protocol ListedFields {
  func fields(dialect: Dialect) -> [Field]
}

extension Status: ListedValue {
  var fieldValue: FieldValue { .status(self) }
}

extension StateChangeReason: ListedValue {
  var fieldValue: FieldValue {
    .code(rawValue, name: description, explanation: explanation)
  }
}

extension SessionType: ListedValue {
  private static let names: [UInt8: String] = [
    0x00: "RANGING", 0x01: "RANGING_AND_IN_BAND_DATA", 0x02: "DATA_TRANSFER",
    0x03: "RANGING_ONLY_PHASE", 0x04: "IN_BAND_DATA_PHASE", 0x05: "RANGING_WITH_DATA_PHASE",
    0x9F: "HUS_PRIMARY", 0xA0: "CCC", 0xA1: "RADAR", 0xA2: "ALIRO", 0xD0: "DEVICE_TEST",
    0xF0: "NXP_RADAR",
  ]

  var fieldValue: FieldValue {
    .code(rawValue, name: Self.names[rawValue] ?? hex(rawValue), explanation: nil)
  }
}

extension UCIVersion: ListedValue {
  var fieldValue: FieldValue { .text(description) }
}

extension TestTimestamp: ListedValue {
  var fieldValue: FieldValue { .decimal(microseconds) }
}

/// Returns the address of a data message, which has room for an extended one; a short one leaves
/// the upper bytes 0.
private func dataAddress(_ value: UInt64) -> String {
  (UInt16(exactly: value).map { MACAddress($0) } ?? MACAddress(extended: value)).description
}
