// SPDX-License-Identifier: Apache-2.0
public import UWB

extension Accessory {
  /// An app that an accessory serves. Who it is, the accessory only knows from whoever made its
  /// channel.
  public struct App: Sendable, Hashable, CustomStringConvertible {
    /// The name given to `serve`, or `app 1`, `app 2` and so on.
    public let name: String
    /// The name.
    public var description: String { name }
  }

  /// What happens between an accessory and its apps.
  public enum Event: Sendable {
    /// An app has a channel.
    case connected(App)
    /// An app was sent configuration data.
    case offered(App, AccessoryConfigurationData)
    /// The chip ranges with an app.
    case started(App, sessionID: UInt32)
    /// A ranging round with an app, measured or failed.
    case measured(App, RangingMeasurement)
    /// The chip ranges with an app no more.
    case stopped(App, StopReason)
    /// What an app asked for was not done. It was told that the accessory does not range.
    case refused(App, AccessoryError)
    /// A message that means nothing here, of a vendor for example.
    case ignored(App, AccessoryProtocolError)
    /// An app has no channel any more. A session goes on while there is somebody to range with.
    case disconnected(App, DataChannelError?)
  }

  /// Why ranging with an app ended.
  public enum StopReason: Sendable, Hashable {
    /// The app said so.
    case byApp
    /// The app began anew.
    case replaced
    /// Nothing was measured for as long as `Options.silence` says.
    case silence
    /// The chip ended it: with the other side's word, or with an error.
    case byChip(DriverError)
    /// The accessory was closed.
    case closed
  }
}
