// SPDX-License-Identifier: Apache-2.0
public import AccessoryProtocol
public import Channels
public import Ranging
public import UWB

extension Accessory {
  /// The phones that an accessory serves.
  public enum Phones: String, Sendable, Hashable, CaseIterable {
    /// All phones, and Linux machines.
    case any
    /// iPhones, by Nearby Interaction.
    case iPhone
    /// Android phones, by the out-of-band protocol of their ranging.
    case android
  }

  /// The role, identity and limits of an accessory.
  public struct Options: Sendable, Hashable {
    /// The phones that the accessory serves. The messages of a phone determine its protocol.
    public var phones = Phones.any
    /// The update rate that the accessory requests.
    public var updateRate: AccessoryConfigurationData.UpdateRate = .userInteractive
    /// The version of the UWB configuration data. iPhones have been observed to use 1.1.
    public var version: ConfigurationVersion = .v11
    /// The role of the accessory; nil for controller and initiator, as in demonstrations of Qorvo
    /// and NXP. A chip that lists only controlee has that role.
    public var role: SessionConfiguration.Role?
    /// The session that the accessory requests, in version 2.0.
    public var request = UWBConfigurationData.Request(slotsPerRound: 6)
    /// The number of the manufacturer, in place of the chip's.
    public var manufacturer: UInt32?
    /// The number of the model, in place of the chip's.
    public var model: UInt32?
    /// The time without a measurement after which a session ends, with or without a channel; nil
    /// for never. It is counted in ranging rounds, because chips report failed rounds too.
    public var inactivityTimeout: Duration? = .seconds(10)
    /// The time without a message after which the channel of an app that does not range is closed;
    /// nil for never.
    public var idleTimeout: Duration? = .seconds(300)
    /// The time for which ranging with an Android phone continues after its channel was lost.
    /// Phones end it after five seconds; source: AOSP's OobController.
    package var linkTimeout = Duration.seconds(30)
    /// The number of apps that can range at a time; nil for the chip's limit.
    public var maximumSessions: Int?

    /// Whether the chip decodes shareable data (SET_PROFILE). NXP chips can, in versions 1.0 and
    /// 1.1.
    ///
    /// Otherwise this package converts the data to session parameters.
    public var leavesDataToChip = false

    /// Whether the accessory shares its ranging rounds with others, in one session of the app.
    ///
    /// Apple's configuration data has no field for it, and iPhones range with each accessory alone.
    public var isOneToMany = false

    /// The regions around the accessory that phones enter and leave; nil for none.
    public var regions: RegionRules?
    /// Whether an app receives `AccessoryMessage.regionChanged` for each change of its phone.
    ///
    /// Set it only for apps that expect the message. Apps made after Apple's sample stop at an
    /// unknown message.
    public var tellsApps = false

    /// Creates options with the values above.
    public init() {}
  }

  /// An app that an accessory serves. The protocol does not identify apps, so only the name given
  /// to `serve` does.
  public struct App: Sendable, Hashable, CustomStringConvertible {
    /// The name given to `serve`, or `app 1`, `app 2` and so on.
    public let name: String
    /// The name.
    public var description: String { name }
  }

  /// An event between an accessory and its apps. Later versions may add cases, so a `switch` needs
  /// a default.
  public enum Event: Sendable {
    /// An app has connected.
    case connected(App)
    /// Configuration data was sent to an app.
    case offered(App, AccessoryConfigurationData)
    /// The chip's capabilities were sent to an Android phone, in this version of its protocol.
    case offeredCapabilities(App, version: Int, address: MACAddress)
    /// Ranging with an app has begun.
    case started(App, sessionID: UInt32)
    /// A ranging round with an app was measured or failed.
    case measured(App, RangingMeasurement)
    /// The phone of an app has entered, left or stayed in one of `Options.regions`. The measurement
    /// is the last one with a distance. The phone leaves all regions before `stopped`.
    case regionChanged(App, RegionChange, EstimatedMeasurement)
    /// Ranging with an app has ended.
    case stopped(App, StopReason)
    /// The device was lost. Ranging with an app begins when the device is back.
    case waiting(App, DriverError)
    /// An app's request was refused. The app was informed that the accessory does not range.
    case refused(App, AccessoryError)
    /// A message outside the protocol was ignored, such as a vendor's own.
    case ignored(App, AccessoryError)
    /// An app's channel has ended, with its error or the reason why the accessory closed it; nil if
    /// the app closed it. The session continues as long as something is measured.
    case disconnected(App, ChannelError?)
  }

  /// The reason why ranging with an app ended. Later versions may add cases, so a `switch` needs a
  /// default.
  public enum StopReason: Sendable, Hashable {
    /// The app requested the end.
    case byApp
    /// The app began a new session.
    case replaced
    /// Nothing was measured for `Options.inactivityTimeout`.
    case inactivity
    /// The channel of an Android phone was lost, and did not return in time.
    case lostChannel
    /// The chip ended the session, because the peer terminated it or an error occurred.
    case byChip(DriverError)
    /// The accessory was closed.
    case closed
  }
}

extension Accessory.Event: CustomStringConvertible {
  /// The app and the event in words: `app 1: ranging, session 42`.
  public var description: String {
    switch self {
    case .connected(let app): "\(app): connected"
    case .offered(let app, let data):
      "\(app): received the configuration data, version \(data.uwb.version)"
    case .offeredCapabilities(let app, let version, _):
      "\(app): received the capabilities, version \(version)"
    case .started(let app, let id): "\(app): ranging, session \(id)"
    case .measured(let app, let measurement): "\(app): \(measurement)"
    case .regionChanged(let app, let change, _): "\(app): \(change.kind) \(change.region.name)"
    case .stopped(let app, let reason): "\(app): stopped ranging: \(reason)"
    case .waiting(let app, let error): "\(app): waiting for the device: \(error)"
    case .refused(let app, let error): "\(app): refused: \(error)"
    case .ignored(let app, let error): "\(app): ignored: \(error)"
    case .disconnected(let app, let error):
      "\(app): disconnected" + (error.map { ": \($0)" } ?? "")
    }
  }
}

extension Accessory.StopReason: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch self {
    case .byApp: "the app stopped it"
    case .replaced: "the app started a new session"
    case .inactivity: "nothing was measured for a while"
    case .lostChannel: "the phone has been disconnected for too long"
    case .byChip(let error): error.description
    case .closed: "the accessory is shutting down"
    }
  }
}
