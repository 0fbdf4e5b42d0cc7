// SPDX-License-Identifier: Apache-2.0
public import UWB

extension Accessory {
  /// How an accessory presents itself and how long it stays.
  public struct Options: Sendable, Hashable {
    /// How often it wants to be ranged with.
    public var updateRate: AccessoryConfigurationData.UpdateRate = .userInteractive
    /// Version of the UWB configuration data; iPhones are seen to use 1.1.
    public var version: ConfigurationVersion = .v11
    /// Its role; nil: controller and initiator, as the demonstrations of Qorvo and NXP, or controlee
    /// where the chip can only be that.
    public var role: SessionConfiguration.Role?
    /// The session it would like to have, in version 2.0.
    public var request = UWBConfigurationData.Request(slotsPerRound: 6)
    /// Who made it, in place of what the chip says.
    public var manufacturer: UInt32?
    /// Which model it is, in place of what the chip says.
    public var model: UInt32?
    /// A session in which nothing has been measured for so many milliseconds ends. It is counted in
    /// ranging rounds: chips report each, failed ones too. Counts also for an app whose channel is
    /// gone; 0: never.
    public var silence: UInt32 = 10_000
    /// Apps with which it ranges at a time; nil: as many as the chip takes.
    public var maximumSessions: Int?

    /// Leaves shareable data to the chip, which decodes it itself: NXP chips can (SET_PROFILE), in
    /// versions 1.0 and 1.1. Otherwise it becomes parameters of a session here.
    public var leavesDataToChip = false

    /// Everything as most accessories have it.
    public init() {}
  }
}
