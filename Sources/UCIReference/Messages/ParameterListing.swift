// SPDX-License-Identifier: Apache-2.0

import UCI

extension FieldValue {
  /// A parameter by name, with its value, unit and meaning. What its row marks as secret stays so; so
  /// does everything with `isSecret`, which whoever knows of other rows gives.
  private static func parameter<ID>(
    _ tlv: TLV, name: String, _ row: Parameter<ID>?, isSecret: Bool = false
  ) -> FieldValue {
    var fields = [Field("name", .text(name)), Field("id", .number(tlv.id))]
    if let subID = tlv.subID { fields.append(Field("sub_id", .number(subID))) }
    if isSecret || row?.isSecret == true {
      return .object(fields + [Field("value", .secret(tlv.value))])
    }
    fields.append(Field("value", row?.fieldValue(of: tlv.value) ?? tlv.plainValue))
    if let unit = row?.unit { fields.append(Field("unit", .text(unit))) }
    if let meaning = row?.meaning(of: tlv.value) { fields.append(Field("meaning", .text(meaning))) }
    return .object(fields)
  }

  /// Parameters of a session.
  static func appConfig(_ parameters: [TLV], _ dialect: Dialect) -> FieldValue {
    .list(
      parameters.map { tlv in
        guard tlv.subID == nil else { return .longAppConfig(tlv) }
        let id = AppConfigID(rawValue: tlv.id)
        let row = id.parameter(in: dialect, length: tlv.value.count)
        return parameter(tlv, name: row?.name ?? id.name, row, isSecret: id.isSecret)
      })
  }

  /// Older firmware of NXP has vendor's parameters of sessions among those of FiRa, with numbers of
  /// two bytes. What they hold is not known, so it is not shown.
  private static func longAppConfig(_ tlv: TLV) -> FieldValue {
    .object([
      Field("name", .text("APP_CONFIG_\(hex(tlv.id))_\(hex(tlv.subID ?? 0))")),
      Field("id", .number(tlv.id)), Field("sub_id", .number(tlv.subID)),
      Field("value", .secret(tlv.value)),
    ])
  }

  /// Parameters of the chip.
  static func deviceConfig(_ parameters: [TLV], _ dialect: Dialect) -> FieldValue {
    .list(
      parameters.map { tlv in
        let id = DeviceConfigID(tlv)
        return parameter(tlv, name: id.name(in: dialect), id.parameter(in: dialect))
      })
  }

  /// Parameters of the radio tests.
  static func testConfig(_ parameters: [TLV]) -> FieldValue {
    .list(
      parameters.map { tlv in
        let id = TestConfigID(tlv.id, tlv.subID)
        return parameter(tlv, name: id.name, id.parameter)
      })
  }

  /// Parameters of a radar session in Android's vendor group.
  static func radarConfig(_ parameters: [TLV]) -> FieldValue {
    .list(
      parameters.map { tlv in
        let id = RadarConfigID(rawValue: tlv.id)
        return parameter(tlv, name: id.name, id.parameter)
      })
  }

  /// NXP's own parameters of a session.
  static func nxpAppConfig(_ parameters: [TLV]) -> FieldValue {
    .list(
      parameters.map { tlv in
        guard tlv.subID == nil else { return .longAppConfig(tlv) }
        let id = NXPAppConfigID(rawValue: tlv.id)
        return parameter(tlv, name: id.name, id.parameter)
      })
  }

  /// What a chip can do.
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
