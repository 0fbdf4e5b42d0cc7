// SPDX-License-Identifier: Apache-2.0
internal import UCI
package import UWB

extension AndroidConfiguration {
  /// The configurations that phones choose by the out-of-band protocol, the preferred one first.
  /// Source: AOSP's UwbConfigSelector in packages/modules/Uwb.
  static let ofPhones: [Self] = [.provisionedUnicastVeryFast, .provisionedUnicast, .unicast]
}

extension AndroidChoice {
  /// Returns the session of one side, ready for `UWBDevice.makeSession`.
  ///
  /// The role of the accessory alone determines the ends: an initiator is the controller. All
  /// configurations have rounds of six slots, deferred double-sided ranging, SP3 frames, hopping
  /// and only the time of flight in the report. A session key rotates with each block. Sources:
  /// AOSP's ConfigurationManager, FiraOpenSessionParams and FiraEncoder in packages/modules/Uwb.
  ///
  /// - Parameters:
  ///   - side: the end to configure.
  ///   - accessory: the capabilities that the accessory has sent.
  ///   - angles: whether this side's chip measures angles.
  /// - Throws: `AccessoryError` with the code `.invalidConfiguration` for a value that the
  ///   accessory does not have.
  package func session(
    of side: SessionSide, with accessory: AndroidCapability, angles: Bool = true
  ) throws(AccessoryError) -> SessionConfiguration {
    let configuration = try check(with: accessory)
    let ends = [MACAddress(accessory.address), MACAddress(address)]
    let isController = (role == .controller) == (side == .accessory)
    var session = SessionConfiguration(
      role: isController ? .controller : .controlee, sessionID: sessionID,
      address: ends[side == .accessory ? 0 : 1], peers: [ends[side == .accessory ? 1 : 0]])
    session.channel = channel
    session.preambleCode = preambleCode
    session.slotDuration = UInt16(slot) * 1_200
    session.slotsPerRound = configuration.slotsPerRound
    session.interval = UInt32(interval)
    if configuration.stsConfig == 0 {
      session.sts = .fixed(
        .init(vendorID: Array(key.bytes.prefix(2)), iv: Array(key.bytes.dropFirst(2))))
    } else {
      session.sts = .provisioned(key)
      session.keyRotationRate = 0
    }
    session.hopping = true
    session.wantsAngles = angles
    session.resultReport = .timeOfFlight
    session.additional = [
      TLV(.prfMode, [preambleCode >= 25 ? 1 : 0]), TLV(.rangingRoundControl, [3]),
      TLV(.maxRRRetry, [0, 0]),
    ]
    return session
  }

  /// Checks the values that depend on the accessory.
  private func check(
    with accessory: AndroidCapability
  ) throws(AccessoryError) -> AndroidConfiguration {
    func require(
      _ condition: Bool, _ field: String, _ reason: @autoclosure () -> String
    ) throws(AccessoryError) {
      if !condition {
        throw AccessoryError(.invalidConfiguration(field: field, reason: reason()))
      }
    }
    guard let configuration = AndroidConfiguration(outOfBandID: number),
      AndroidConfiguration.ofPhones.contains(configuration), accessory.hasConfiguration(number)
    else {
      throw AccessoryError(
        .invalidConfiguration(field: "configuration", reason: "\(number) was not offered"))
    }
    try require(
      configuration.keyLengths.contains(key.bytes.count), "key",
      "of \(key.bytes.count) bytes does not belong to configuration \(number)")
    try require(accessory.hasChannel(channel), "channel", "\(channel) was not offered")
    try require(
      accessory.hasPreamble(preambleCode), "preamble code index", "\(preambleCode) was not offered")
    try require(
      interval >= max(1, accessory.interval), "ranging interval",
      "is \(interval) ms, less than \(max(1, accessory.interval))")
    try require(
      slot >= max(1, accessory.slot) && slot <= 54, "slot duration",
      "is \(slot) ms, not \(max(1, accessory.slot)) to 54")
    try require(
      accessory.roles.contains(role == .controller ? .initiator : .responder), "role",
      "was not offered")
    try require(address < 0xFFFE, "phone's address", "is reserved")
    try require(address != accessory.address, "phone's address", "is the accessory's own")
    return configuration
  }
}
