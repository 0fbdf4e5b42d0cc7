// SPDX-License-Identifier: Apache-2.0
public import Ranging
public import UWB

extension Accessory {
  /// How an accessory presents itself, and its limits.
  public struct Options: Sendable, Hashable {
    /// How often the accessory asks to be ranged with.
    public var updateRate: AccessoryConfigurationData.UpdateRate = .userInteractive
    /// The version of the UWB configuration data; iPhones are seen to use 1.1.
    public var version: ConfigurationVersion = .v11
    /// The accessory's role; nil: controller and initiator, as in Qorvo's and NXP's demonstrations,
    /// or controlee where the chip lists only that.
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
    /// Closes a channel over which nothing has been received for this time, while its app does not range;
    /// nil: never.
    public var idleTimeout: Duration? = .seconds(300)
    /// How many apps can range at a time; nil: as many as the chip allows.
    public var maximumSessions: Int?

    /// Leaves the decoding of shareable data to the chip: NXP chips can (SET_PROFILE), in versions
    /// 1.0 and 1.1. Otherwise the data becomes session parameters here.
    public var leavesDataToChip = false

    /// Regions around the accessory that apps' phones enter and leave; nil: none are watched.
    public var regions: RegionRules?
    /// Tells an app of each change of its own phone with `AccessoryMessage.regionChanged`. Only for apps
    /// that are known to expect it: those made after Apple's sample end at an unknown message.
    public var tellsApps = false

    /// Creates options with the values above.
    public init() {}
  }

  /// An app that an accessory serves, known by the name given to `serve` only: the protocol does not
  /// identify apps.
  public struct App: Sendable, Hashable, CustomStringConvertible {
    /// The name given to `serve`, or `app 1`, `app 2` and so on.
    public let name: String
    /// The name.
    public var description: String { name }
  }

  /// What happens between an accessory and its apps. Later versions may add cases, so a `switch`
  /// needs a default.
  public enum Event: Sendable {
    /// An app has connected.
    case connected(App)
    /// Configuration data was sent to an app.
    case offered(App, AccessoryConfigurationData)
    /// The chip ranges with an app.
    case started(App, sessionID: UInt32)
    /// A ranging round with an app, measured or failed.
    case measured(App, RangingMeasurement)
    /// The phone of an app has entered, left or stayed in one of `Options.regions`; with the last
    /// measurement that had a distance. It leaves all of them before `stopped`.
    case regionChanged(App, RegionChange, EstimatedMeasurement)
    /// The chip no longer ranges with an app.
    case stopped(App, StopReason)
    /// An app is to be ranged with as soon as the device, which was lost, is back.
    case waiting(App, DriverError)
    /// An app's request was refused; the app was told that the accessory does not range.
    case refused(App, AccessoryError)
    /// A message that is not part of the protocol, for example a vendor's own.
    case ignored(App, AccessoryError)
    /// An app's channel has ended, with its error, or with the reason why the accessory closed it; nil:
    /// the app closed it. Its session continues for as long as something is measured.
    case disconnected(App, AccessoryError?)
  }

  /// Why ranging with an app ended. Later versions may add cases, so a `switch` needs a default.
  public enum StopReason: Sendable, Hashable {
    /// The app asked for it.
    case byApp
    /// The app began a new session.
    case replaced
    /// Nothing was measured for `Options.inactivityTimeout`.
    case inactivity
    /// The chip ended it: the peer terminated the session, or an error.
    case byChip(DriverError)
    /// The accessory was closed.
    case closed
  }
}
