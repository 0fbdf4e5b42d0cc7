// SPDX-License-Identifier: Apache-2.0
public import UWB

extension Accessory {
  /// How an accessory presents itself, and its limits.
  public struct Options: Sendable, Hashable {
    /// How often the accessory asks to be ranged with.
    public var updateRate: AccessoryConfigurationData.UpdateRate = .userInteractive
    /// The version of the UWB configuration data; iPhones are seen to use 1.1.
    public var version: ConfigurationVersion = .v11
    /// The accessory's role; nil: controller and initiator, as in Qorvo's and NXP's demonstrations,
    /// or controlee where the chip can only be that.
    public var role: SessionConfiguration.Role?
    /// The session that the accessory asks for, in version 2.0.
    public var request = UWBConfigurationData.Request(slotsPerRound: 6)
    /// The manufacturer's number, in place of the chip's.
    public var manufacturer: UInt32?
    /// The model's number, in place of the chip's.
    public var model: UInt32?
    /// Ends a session in which nothing has been measured for this time, also while its app has no
    /// channel; nil: never. Counted in ranging rounds, because chips report failed ones too.
    public var inactivityTimeout: Duration? = .seconds(10)
    /// How many apps can range at a time; nil: as many as the chip allows.
    public var maximumSessions: Int?

    /// Leaves the decoding of shareable data to the chip: NXP chips can (SET_PROFILE), in versions
    /// 1.0 and 1.1. Otherwise the data becomes session parameters here.
    public var leavesDataToChip = false

    /// Creates options with the values above.
    public init() {}
  }
}
