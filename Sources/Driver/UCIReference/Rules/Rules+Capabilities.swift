// SPDX-License-Identifier: Apache-2.0

import UCI

// Rules that compare the requested parameters with the chip's capabilities.
extension ConfigurationCheck {
  mutating func capabilityRows() {
    guard let capabilities else { return }
    for row in Self.rows {
      guard let value = given(row.parameter), let bit = row.bit(value),
        let bytes = capabilities[row.capability], let mask = TLV(0, bytes).integer, bit < 64,
        mask >> bit & 1 == 0
      else { continue }
      let isHint = row.isHint || isKnownToLie(row.capability)
      add(
        isHint ? .advice : .warning,
        "This chip does not list \(name(row.parameter)) \(text(row.parameter)) among its "
          + "capabilities, which are not always right.", [row.parameter],
        try: isHint ? nil : "If the chip refuses it, change \(name(row.parameter)).")
    }
    if isKnownToLie(.channels), given(.channelNumber) == 10 {
      add(
        .advice, "Chips of this vendor list channel 10 without having it.", [.channelNumber],
        try: "Use 9 or 5.")
    }
    if (given(.aoaResultRequest) ?? 0) > 0, capabilities.angles == [] {
      add(
        .advice, "This chip measures no angles; none will be reported.", [.aoaResultRequest])
    }
  }

  private struct Row: Sendable {
    var parameter: AppConfigID
    var capability: CapabilityID
    /// Whether the chip ranges even without the capability.
    var isHint = false
    /// The bit of the capability that a value needs; nil if it needs none.
    var bit: @Sendable (UInt64) -> UInt64?
  }

  private static func row(
    _ parameter: AppConfigID, _ capability: CapabilityID, isHint: Bool = false,
    bit: @escaping @Sendable (UInt64) -> UInt64? = { $0 }
  ) -> Row { Row(parameter: parameter, capability: capability, isHint: isHint, bit: bit) }

  /// Returns bit 0 for any value but 0, which needs no bit.
  @Sendable private static func anything(_ value: UInt64) -> UInt64? { value > 0 ? 0 : nil }

  private static let rows: [Row] = [
    row(.deviceType, .deviceType) { 1 - min($0, 1) }, row(.deviceRole, .deviceRoles),
    row(.rangingRoundUsage, .rangingMethod), row(.stsConfig, .stsConfig),
    row(.multiNodeMode, .multiNodeMode), row(.rangingTimeStruct, .rangingTimeStruct),
    row(.scheduleMode, .scheduleMode), row(.hoppingMode, .hoppingMode, bit: anything),
    row(.blockStrideLength, .blockStriding, bit: anything),
    row(.uwbInitiationTime, .uwbInitiationTime, bit: anything),
    row(.channelNumber, .channels) { channel in
      [5, 6, 8, 9, 10, 12, 13, 14].firstIndex(of: channel).map { UInt64($0) }
    }, row(.rframeConfig, .rframeConfig), row(.macAddressMode, .extendedMACAddress, bit: anything),
    // A chip without angles accepts the request and reports none.
    row(.aoaResultRequest, .aoaSupport, isHint: true) { $0 == 3 ? 2 : nil },
  ]

  /// The capabilities that some chips report wrongly. Source: NXP's release notes (SR250 lists
  /// channel 10); its HAL overrides the angles of SR1xx.
  private static let lies: [(vendor: Dialect.Vendor, capability: CapabilityID)] = [
    (.nxp, .channels), (.nxp, .aoaSupport),
  ]

  private func isKnownToLie(_ capability: CapabilityID) -> Bool {
    Self.lies.contains { $0 == (parameters.dialect.vendor, capability) }
  }
}
