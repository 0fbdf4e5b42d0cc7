// SPDX-License-Identifier: Apache-2.0

package import UCI

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
        Field("soc_id", .bytes(qorvo.socID)),
        Field("device_id", .text("0x" + String(qorvo.deviceID, radix: 16, uppercase: true))),
        Field("packaging", .choice(qorvo.packaging, ["SOC", "SIP"])),
      ]
    case .nxp(let nxp):
      fields += [
        Field("vendor", .text("nxp")),
        Field("device_name", .deviceText(nxp.deviceName)),
        Field("firmware", nxp.firmware.map { .text($0) } ?? .null),
        Field("vendor_uci_version", nxp.uciVersion.map { .text($0) } ?? .null),
        Field("chip_id", nxp.chipID.map { .bytes($0) } ?? .null),
        Field("max_ppm", .number(nxp.maxPPM)),
      ]
    case nil: break
    }
    return fields + [Field("vendor_info", .bytes(info.vendorInfo))]
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
    let dialect = context.dialect
    switch context.opcode {
    case .coreGetCapsInfo: return [Field("capabilities", .capabilities(parameters, dialect))]
    case TestConfigGet.opcode: return [Field("parameters", .testConfig(parameters))]
    case AndroidRadarGetAppConfig.opcode: return [Field("parameters", .radarConfig(parameters))]
    case NXPGetAppConfig.opcode: return [Field("parameters", .nxpAppConfig(parameters))]
    default: return [Field("parameters", .appConfig(parameters, dialect))]
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
    case .sessionSetAppConfig: AppConfigID(rawValue: parameter.id).name(in: context.dialect)
    case TestConfigSet.opcode: TestConfigID(parameter.id, parameter.subID).name
    case AndroidRadarSetAppConfig.opcode: RadarConfigID(rawValue: parameter.id).name
    case NXPSetAppConfig.opcode: NXPAppConfigID(rawValue: parameter.id).name
    default: DeviceConfigID(parameter.id, parameter.subID).name(in: context.dialect)
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
    let names = parameters.map { $0.name(in: context.dialect) }
    return [Field("parameters", .list(names.map { .text($0) }))]
  }
}
