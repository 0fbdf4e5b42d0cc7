// SPDX-License-Identifier: Apache-2.0
public import UCI
public import UCIReference

extension SessionConfiguration {
  /// The parameters of SESSION_SET_APP_CONFIG, in an order that strict parsers accept: address mode
  /// and number of controlees before the addresses, the STS before its keys.
  public func parameters(for generation: Dialect.Generation) -> [TLV] {
    var list = [
      TLV(.deviceType, [role.rawValue]),
      TLV(.deviceRole, [role.rawValue]),  // the controller initiates
      TLV(.multiNodeMode, [peers.count > 1 ? 1 : 0]),
      TLV(.rangingRoundUsage, [roundUsage.rawValue]),
      TLV(.macAddressMode, [address.isExtended ? 2 : 0]),
      TLV(.deviceMACAddress, address.bytes),
      TLV(.numberOfControlees, [UInt8(clamping: peers.count)]),
      TLV(.dstMACAddress, peers.flatMap(\.bytes)),
      TLV(.channelNumber, [channel]),
      TLV(.stsConfig, [sts.config]),
      TLV(.rframeConfig, [rframe]),
      TLV(.scheduleMode, [roundUsage.isContentionBased ? 0 : 1]),
      TLV(.preambleCodeIndex, [preambleCode]),
      TLV(.sfdID, [sfd]),
      TLV(.slotDuration, slotDuration.littleEndianBytes),
      TLV(.rangingDuration, interval.littleEndianBytes),
      TLV(.slotsPerRR, [slotsPerRound]),
    ]
    list += sts.parameters
    list += [
      TLV(.stsLength, [1]),  // 64 symbols
      TLV(.aoaResultRequest, [wantsAngles ? 1 : 0]),
      TLV(.resultReportConfig, [resultReport?.rawValue ?? (wantsAngles ? 0x0F : 0x01)]),
      TLV(.hoppingMode, [hopping ? 1 : 0]),
    ]
    if generation >= .fira2 { list.append(TLV(.rssiReporting, [wantsRSSI ? 1 : 0])) }
    if blockStride > 0 { list.append(TLV(.blockStrideLength, [blockStride])) }
    if fcs != .crc16 { list.append(TLV(.macFCSType, [fcs.rawValue])) }
    if let keyRotationRate {
      list += [TLV(.keyRotation, [1]), TLV(.keyRotationRate, [keyRotationRate])]
    }
    if maxMeasurements > 0 {
      list.append(TLV(.maxNumberOfMeasurements, maxMeasurements.littleEndianBytes))
    }
    list.removeAll { parameter in
      omitted.contains(AppConfigID(rawValue: parameter.id))
        || additional.contains { $0.id == parameter.id }
    }
    return list + additional
  }

  /// Everything that will not work, or not as meant, before anything is sent; the gravest first.
  ///
  /// - Parameters:
  ///   - dialect: how the chip speaks: `UWBDevice.dialect`.
  ///   - capabilities: what it can do: `Capabilities(device.capabilities)`.
  public func problems(
    for dialect: Dialect = .assumed, capabilities: Capabilities? = nil
  ) -> [ConfigurationProblem] {
    let length = address.isExtended ? 8 : 2
    if peers.isEmpty {
      return [.init(.preventsRanging, "The session names no peer.", [.dstMACAddress])]
    }
    if peers.contains(where: { $0.isExtended != address.isExtended }) {
      return [
        .init(
          .refusedByChip, "Short and extended addresses are mixed.",
          [.macAddressMode, .deviceMACAddress, .dstMACAddress],
          try: "Use addresses of one length everywhere.")
      ]
    }
    if peers.count * length > 255 {
      return [
        .init(
          .refusedByChip,
          "\(peers.count) peers are more than DST_MAC_ADDRESS has room for: \(255 / length).",
          [.dstMACAddress])
      ]
    }
    let parameters = SessionParameters(
      parameters(for: dialect.generation), dialect: dialect, type: type)
    return ConfigurationCheck(parameters, capabilities: capabilities).problems()
  }

  /// - Throws: `DriverError.configurationProblems` with all that prevents ranging or would be
  ///   refused.
  public func validate(
    for dialect: Dialect = .assumed, capabilities: Capabilities? = nil
  ) throws(DriverError) {
    let errors = problems(for: dialect, capabilities: capabilities).errors
    guard errors.isEmpty else { throw .configurationProblems(errors) }
  }
}
