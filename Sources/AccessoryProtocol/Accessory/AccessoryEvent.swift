// SPDX-License-Identifier: Apache-2.0
public import UWB

extension Accessory {
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
    /// The chip no longer ranges with an app.
    case stopped(App, StopReason)
    /// An app's request was refused; the app was told that the accessory does not range.
    case refused(App, AccessoryError)
    /// A message that is not part of the protocol, for example a vendor's own.
    case ignored(App, AccessoryError)
    /// An app's channel has ended, with its error unless it was closed. Its session continues for as
    /// long as something is measured.
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
