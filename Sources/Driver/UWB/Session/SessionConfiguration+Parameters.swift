// SPDX-License-Identifier: Apache-2.0
public import UCI
public import UCIReference

extension SessionConfiguration {
  /// Returns the parameters of SESSION_SET_APP_CONFIG in an order that strict parsers accept. The
  /// address mode and the number of controlees precede the addresses, and the STS precedes its
  /// keys.
  package func parameters(for generation: Dialect.Generation) -> [TLV] {
    var list = role.deviceType.map { [TLV(.deviceType, [$0])] } ?? []
    list += [
      TLV(.deviceRole, [role.deviceRole]),  // the controller initiates
      TLV(.multiNodeMode, [isOneToMany ? 1 : 0]),
      TLV(.rangingRoundUsage, [role.oneWayUsage ?? roundUsage.rawValue]),
      TLV(.macAddressMode, [address.isExtended ? 2 : 0]),
      TLV(.deviceMACAddress, address.bytes),
    ]
    if !role.isOneWay || !peers.isEmpty {
      list += [
        TLV(.numberOfControlees, [UInt8(clamping: peers.count)]),
        TLV(.dstMACAddress, peers.flatMap(\.bytes)),
      ]
    }
    list += [
      TLV(.channelNumber, [channel]),
      TLV(.stsConfig, [sts.config]),
      TLV(.rframeConfig, [rframe]),
      TLV(.scheduleMode, [!role.isOneWay && roundUsage.isContentionBased ? 0 : 1]),
      TLV(.preambleCodeIndex, [preambleCode]),
      TLV(.sfdID, [sfd]),
      TLV(.slotDuration, slotDuration.littleEndianBytes),
      TLV(.rangingDuration, interval.littleEndianBytes),
      TLV(.slotsPerRR, [slotsPerRound]),
    ]
    list += sts.parameters + reporting(for: generation) + role.parameters
    if blockStride > 0 { list.append(TLV(.blockStrideLength, [blockStride])) }
    if fcs != .crc16 { list.append(TLV(.macFCSType, [fcs.rawValue])) }
    if let keyRotationRate {
      list += [TLV(.keyRotation, [1]), TLV(.keyRotationRate, [keyRotationRate])]
    }
    if maxMeasurements > 0 {
      list.append(TLV(.maxNumberOfMeasurements, maxMeasurements.littleEndianBytes))
    }
    list.removeAll { parameter in additional.contains { $0.id == parameter.id } }
    return list + additional
  }

  /// Returns the parameters that determine the chip's reports.
  private func reporting(for generation: Dialect.Generation) -> [TLV] {
    var list = [
      TLV(.stsLength, [1]),  // 64 symbols
      TLV(.aoaResultRequest, [wantsAngles && role.measures ? 1 : 0]),
    ]
    if !role.isOneWay {
      list.append(
        TLV(.resultReportConfig, [resultReport?.rawValue ?? (wantsAngles ? 0x0F : 0x01)]))
    }
    list.append(TLV(.hoppingMode, [hopping ? 1 : 0]))
    if generation >= .fira2 { list.append(TLV(.rssiReporting, [wantsRSSI ? 1 : 0])) }
    return list
  }

  /// Returns all problems of the configuration, the gravest first. Sends nothing to the chip.
  ///
  /// - Parameters:
  ///   - dialect: the dialect of the chip: `UWBDevice.dialect`.
  ///   - capabilities: the capabilities of the chip: `Capabilities(device.capabilities)`.
  public func problems(
    for dialect: Dialect = .assumed, capabilities: Capabilities? = nil
  ) -> [ConfigurationProblem] {
    let length = address.isExtended ? 8 : 2
    if peers.isEmpty, !role.isOneWay {
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
    let found = ConfigurationCheck(parameters, capabilities: capabilities).problems()
    // The rounds are not parameters, so their problems are added here.
    return (found + roundProblems(capabilities)).sorted { $0.severity > $1.severity }
  }

  /// - Throws: `DriverError.configurationProblems` with all problems that prevent ranging, or
  ///   because of which the chip would refuse the configuration.
  package func validate() throws(DriverError) {
    let errors = problems().errors
    guard errors.isEmpty else { throw .configurationProblems(errors) }
  }

  /// Creates the configuration of a profile, including its ranging rounds of downlink TDoA.
  ///
  /// - Throws: `DriverError.configurationProblems` if the parameters do not name both ends.
  public init(_ profile: SessionProfile, for dialect: Dialect = .assumed) throws(DriverError) {
    try self.init(sessionID: profile.sessionID, profile.parameters(for: dialect))
    switch role {
    case .downlinkAnchor(var anchor):
      anchor.rounds = profile.rounds
      role = .downlinkAnchor(anchor)
    case .downlinkTag(var tag):
      tag.rounds = profile.rounds.map(\.index)
      role = .downlinkTag(tag)
    default:
      guard profile.rounds.isEmpty else {
        throw .invalidConfiguration(
          "the profile has ranging rounds, which only anchors and tags of downlink TDoA have")
      }
    }
  }

  /// Creates a configuration from parameters, for example of a profile or a capture. Parameters
  /// without a property in this type are copied to `additional`.
  ///
  /// - Throws: `DriverError.configurationProblems` if the parameters do not name both ends.
  public init(sessionID: UInt32, _ parameters: SessionParameters) throws(DriverError) {
    let oneWay = Role(oneWay: parameters)
    guard let address = parameters.address,
      oneWay != nil || parameters.isController != nil && parameters.isSet(.dstMACAddress)
    else {
      throw .configurationProblems(
        [AppConfigID.deviceType, .deviceMACAddress, .dstMACAddress].filter {
          !parameters.isSet($0) || ($0 == .deviceMACAddress && parameters.address == nil)
        }.map { .init(.preventsRanging, "\($0.name) is missing or has a wrong length.", [$0]) })
    }
    self.init(
      role: oneWay ?? (parameters.isController == true ? .controller : .controlee),
      sessionID: sessionID, address: address, peers: parameters.destinations)
    type = parameters.type
    wantsAngles = parameters.number(.aoaResultRequest) != 0
    resultReport = .timeOfFlight
    wantsRSSI = false
    let config = parameters.number(.stsConfig) ?? 0
    var inSTS: [AppConfigID] = []
    if config == 0, let vendor = parameters[.vendorID], let iv = parameters[.staticSTSIV] {
      sts = .fixed(StaticSTS(vendorID: vendor, iv: iv))
      inSTS = [.stsConfig, .vendorID, .staticSTSIV]
    } else if config == 3, let key = parameters[.sessionKey] {
      sts = .provisioned(SessionKey(key))
      inSTS = [.stsConfig, .sessionKey]
    } else {
      // Only the given parameters are used, without defaults.
      sts = .dynamic
      if !parameters.isSet(.stsConfig) {
        additional.append(TLV(.stsConfig, [UInt8(truncatingIfNeeded: config)]))
      }
    }
    for tlv in parameters.list
    where !inSTS.contains(AppConfigID(rawValue: tlv.id)) && !take(tlv, of: parameters) {
      additional.append(tlv)
    }
  }

  /// Reads a parameter into its property. Returns false if there is no property for it or for its
  /// value.
  private mutating func take(_ tlv: TLV, of all: SessionParameters) -> Bool {
    let id = AppConfigID(rawValue: tlv.id)
    guard let value = tlv.integer ?? (tlv.value.isEmpty ? nil : 0) else { return false }
    let byte = UInt8(truncatingIfNeeded: value)
    switch id {
    case .deviceMACAddress, .dstMACAddress: return true
    case .deviceType: return !role.isOneWay || byte == role.deviceType
    case .deviceRole: return byte == role.deviceRole
    case .rangingRoundUsage where role.isOneWay: return byte == role.oneWayUsage
    case _ where role.parameters.contains(tlv): return true
    case .multiNodeMode where byte <= 1: isOneToMany = byte == 1
    case .macAddressMode: return byte == (address.isExtended ? 2 : 0)
    case .numberOfControlees: return Int(byte) == peers.count
    case .channelNumber: channel = byte
    case .preambleCodeIndex: preambleCode = byte
    case .sfdID: sfd = byte
    case .rframeConfig: rframe = byte
    case .slotDuration where tlv.value.count == 2: slotDuration = UInt16(value)
    case .slotsPerRR: slotsPerRound = byte
    case .rangingDuration where tlv.value.count == 4: interval = UInt32(value)
    case .blockStrideLength: blockStride = byte
    case .resultReportConfig: resultReport = ResultReport(rawValue: byte)
    case .rssiReporting where byte <= 1: wantsRSSI = byte == 1
    case .aoaResultRequest where byte <= 1 && (role.measures || byte == 0): wantsAngles = byte == 1
    case .hoppingMode where byte <= 1: hopping = byte == 1
    case .macFCSType where byte <= 1: fcs = byte == 1 ? .crc32 : .crc16
    case .maxNumberOfMeasurements where tlv.value.count == 2: maxMeasurements = UInt16(value)
    case .rangingRoundUsage:
      guard let usage = RoundUsage(rawValue: byte) else { return false }
      roundUsage = usage
    case .scheduleMode:
      return byte == (all.number(.rangingRoundUsage) ?? 2 >= 7 ? 0 : 1)
    case .stsLength: return byte == 1
    default: return false
    }
    return true
  }
}
