// SPDX-License-Identifier: Apache-2.0

import UCI

// What is asked for against what the chip says it has.
extension ConfigurationCheck {
  func capabilityRows() -> [ConfigurationProblem] {
    guard let capabilities else { return [] }
    return Self.rows.compactMap { row in
      guard let value = parameters.isSet(row.parameter) ? number(row.parameter) : nil,
        let bit = row.bit(value), let bytes = capabilities[row.capability],
        let mask = Self.mask(bytes), bit < 64, mask >> bit & 1 == 0
      else { return nil }
      let isHint = row.isHint || isKnownToLie(row.capability)
      return .init(
        isHint ? .advice : .refusedByChip,
        "This chip does not list \(name(row.parameter)) \(text(row.parameter)) among its "
          + "capabilities\(isHint ? ", which are not always right" : "").", [row.parameter])
    } + overstated(capabilities)
  }

  private struct Row: Sendable {
    var parameter: AppConfigID
    var capability: CapabilityID
    /// Missing, the chip goes on without it.
    var isHint = false
    /// Which bit of the capability a value needs; nil: none.
    var bit: @Sendable (UInt64) -> UInt64?

    init(
      _ parameter: AppConfigID, _ capability: CapabilityID, isHint: Bool = false,
      bit: @escaping @Sendable (UInt64) -> UInt64? = { $0 }
    ) {
      self.parameter = parameter
      self.capability = capability
      self.isHint = isHint
      self.bit = bit
    }
  }

  /// On or off: one bit.
  @Sendable private static func anything(_ value: UInt64) -> UInt64? { value > 0 ? 0 : nil }

  private static let rows: [Row] = [
    Row(.deviceType, .deviceType) { 1 - min($0, 1) }, Row(.deviceRole, .deviceRoles),
    Row(.rangingRoundUsage, .rangingMethod), Row(.stsConfig, .stsConfig),
    Row(.multiNodeMode, .multiNodeMode), Row(.rangingTimeStruct, .rangingTimeStruct),
    Row(.scheduleMode, .scheduleMode), Row(.hoppingMode, .hoppingMode, bit: anything),
    Row(.blockStrideLength, .blockStriding, bit: anything),
    Row(.uwbInitiationTime, .uwbInitiationTime, bit: anything),
    Row(.channelNumber, .channels) { channel in
      [5, 6, 8, 9, 10, 12, 13, 14].firstIndex(of: channel).map { UInt64($0) }
    }, Row(.rframeConfig, .rframeConfig), Row(.macAddressMode, .extendedMACAddress, bit: anything),
    // A chip that measures no angles takes the request and reports none.
    Row(.aoaResultRequest, .aoaSupport, isHint: true) { $0 == 3 ? 2 : nil },
  ]

  private static func mask(_ bytes: [UInt8]) -> UInt64? { TLV(0, bytes).integer }

  /// Source: NXP's release notes (SR250 lists channel 10); its HAL overrides the angles of SR1xx.
  private static let lies: [(vendor: Dialect.Vendor, capability: CapabilityID)] = [
    (.nxp, .channels), (.nxp, .aoaSupport),
  ]

  private func isKnownToLie(_ capability: CapabilityID) -> Bool {
    Self.lies.contains { $0 == (parameters.dialect.vendor, capability) }
  }

  /// What a chip lists although it is known not to have it, and angles that none are measured of.
  private func overstated(_ capabilities: Capabilities) -> [ConfigurationProblem] {
    var problems: [ConfigurationProblem] = []
    if isKnownToLie(.channels), isSet(.channelNumber), number(.channelNumber) == 10 {
      problems.add(
        .advice, "Chips of this vendor list channel 10 without having it.", [.channelNumber],
        try: "Use 9 or 5.")
    }
    if isSet(.aoaResultRequest), (number(.aoaResultRequest) ?? 0) > 0, capabilities.angles == [] {
      problems.add(
        .advice, "This chip measures no angles; none will be reported.", [.aoaResultRequest])
    }
    return problems
  }
}
