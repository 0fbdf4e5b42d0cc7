// SPDX-License-Identifier: Apache-2.0

extension DeviceReset: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("configuration", .number(configuration))]
  }
}

extension DeviceStatusNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("state", .code(state))] }
}

extension GenericErrorNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("status", .status(status))] }
}

extension DeviceInfoResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let info else { return [] }
    var fields = [
      Field("uci_version", .text(info.uciVersion.description)),
      Field("mac_version", .text(info.macVersion.description)),
      Field("phy_version", .text(info.phyVersion.description)),
      Field("test_version", .text(info.testVersion.description)),
    ]
    switch info.vendorDetails {
    case .qorvo(let qorvo):
      fields += [
        Field("vendor", .text("qorvo")),
        Field("firmware", .text(qorvo.firmware)),
        Field("build", .number(qorvo.build)),
        Field("oem_version", .text(qorvo.oemVersion)),
        Field("soc_id", .octets(qorvo.socID)),
        Field("device_id", .text("0x" + String(qorvo.deviceID, radix: 16, uppercase: true))),
        Field("packaging", .choice(qorvo.packaging, ["SOC", "SIP"])),
      ]
    case .nxp(let nxp):
      fields += [
        Field("vendor", .text("nxp")),
        Field("device_name", .text(nxp.deviceName)),
        Field("firmware", nxp.firmware.map { .text($0) } ?? .null),
        Field("vendor_uci_version", nxp.uciVersion.map { .text($0) } ?? .null),
        Field("chip_id", nxp.chipID.map { .octets($0) } ?? .null),
        Field("max_ppm", .number(nxp.maxPPM)),
      ]
    case nil: break
    }
    return fields + [Field("vendor_info", .octets(info.vendorInfo))]
  }
}

extension TimestampResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("timestamp_us", .number(microseconds))]
  }
}

extension TLVListResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let parameters else { return [] }
    if context.opcode == .sessionGetAppConfig {
      return [Field("parameters", .appConfig(parameters))]
    }
    if context.opcode == TestConfigGet.opcode {
      return [Field("parameters", .testConfig(parameters))]
    }
    if context.opcode == AndroidRadarGetAppConfig.opcode {
      return [Field("parameters", .radarConfig(parameters))]
    }
    let capabilities = Capabilities(parameters)
    let numbering = capabilities.numbering
    return [
      Field(
        "capabilities",
        .list(
          parameters.map { tlv in
            .object([
              Field("name", .text(CapabilityID.name(of: tlv.id, in: numbering))),
              Field("id", .number(tlv.id)), Field("value", capabilities.fieldValue(of: tlv)),
              Field("octets", .octets(tlv.value)),
            ])
          }))
    ]
  }
}

extension Capabilities {
  /// Versions and channels as people write them, everything else as a number or octets.
  fileprivate func fieldValue(of tlv: TLV) -> FieldValue {
    switch CapabilityID(number: tlv.id, in: numbering) {
    case .channels: return channels.map { .list($0.map { .number($0) }) } ?? tlv.plainValue
    case .firaPHYVersionRange, .firaMACVersionRange:
      guard tlv.value.count == 4 else { return tlv.plainValue }
      let versions = [0, 2].map { at in
        UCIVersion(tlv.value[at], tlv.value[at + 1] >> 4, tlv.value[at + 1] & 15)
      }
      return .text("\(versions[0])-\(versions[1])")
    default: return tlv.plainValue
    }
  }
}

extension DeviceConfigResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    parameters.map { [Field("parameters", .deviceConfig($0, context.dialect))] } ?? []
  }
}

extension ConfigurationResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let refused else { return [] }
    return [
      Field(
        "refused",
        .list(
          refused.map { parameter in
            .object([
              Field(
                "name",
                .text(
                  Self.name(of: parameter, in: context))),
              Field("id", .number(parameter.id)),
              Field("status", .status(parameter.status)),
            ])
          }))
    ]
  }
}

extension ConfigurationResponse {
  /// The numbers of parameters mean something else in each command.
  private static func name(of parameter: RefusedParameter, in context: DescriptionContext) -> String
  {
    switch context.opcode {
    case .sessionSetAppConfig: AppConfigID(rawValue: parameter.id).name
    case TestConfigSet.opcode: TestConfigID(rawValue: parameter.id).name
    case AndroidRadarSetAppConfig.opcode: RadarConfigID(rawValue: parameter.id).name
    default:
      DeviceConfigID.name(of: parameter.id, subID: parameter.subID, dialect: context.dialect)
    }
  }
}

extension SetConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("parameters", .deviceConfig(parameters, context.dialect))]
  }
}

extension GetConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let names = ids.map { DeviceConfigID.name(of: $0, dialect: context.dialect) }
    return [Field("parameters", .list(names.map { .text($0) }))]
  }
}

extension FieldValue {
  static func deviceConfig(_ parameters: [TLV], _ dialect: Dialect) -> FieldValue {
    .list(
      parameters.map { tlv in
        let name = DeviceConfigID.name(of: tlv.id, subID: tlv.subID, dialect: dialect)
        var fields = [Field("name", .text(name)), Field("id", .number(tlv.id))]
        if let subID = tlv.subID { fields.append(Field("sub_id", .number(subID))) }
        return .object(fields + [Field("value", tlv.plainValue)])
      })
  }

  /// Parameters of a session by name, with unit and meaning; keys are secrets.
  static func appConfig(_ parameters: [TLV]) -> FieldValue {
    .list(
      parameters.map { tlv in
        let id = AppConfigID(rawValue: tlv.id)
        let known = id.parameter
        var fields = [Field("name", .text(id.name)), Field("id", .number(tlv.id))]
        if id.isSecret {
          return .object(fields + [Field("value", .secret(tlv.value))])
        }
        fields.append(Field("value", appConfigValue(id, tlv)))
        if let unit = known?.unit { fields.append(Field("unit", .text(unit))) }
        if let meaning = tlv.integer.flatMap({ known?.values[$0] }) {
          fields.append(Field("meaning", .text(meaning)))
        }
        return .object(fields)
      })
  }

  private static func appConfigValue(_ id: AppConfigID, _ tlv: TLV) -> FieldValue {
    switch id {
    case .deviceMACAddress, .dstMACAddress:
      // A list of extended addresses can be as long as one of short ones; addresses of eight octets
      // are rare, so only a value of exactly eight for one device is taken for one of them.
      if id == .deviceMACAddress, let address = MACAddress(octets: tlv.value) {
        return .text(address.description)
      }
      guard tlv.value.count == 2, let address = MACAddress(octets: tlv.value) else {
        return .octets(tlv.value)
      }
      return .text(address.description)
    case .uwbInitiationTime: return tlv.integer.map { .number($0) } ?? .octets(tlv.value)
    default: return tlv.plainValue
    }
  }
}
