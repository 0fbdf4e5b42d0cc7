// SPDX-License-Identifier: Apache-2.0
public import UCI
public import UWBLink

/// An event of a device other than measurements and responses. Switch over it with a `default`:
/// cases may be added.
public enum DeviceEvent: Sendable {
  /// The state of the chip itself changed.
  case deviceStatus(DeviceState)
  /// A session changed its state.
  case sessionStatus(SessionStatusNotification)
  /// The chip reported an error that belongs to no command.
  case genericError(Status)
  /// Measurements of a session were dropped because their consumer was too slow: `total` until now.
  case measurementsDropped(sessionToken: UInt32, total: Int)
  /// Data of a session was dropped because its subscriber was too slow.
  case dataDropped(sessionToken: UInt32)
  /// Any other notification, or a data message.
  case message(Message)
  /// A response for which no command waits: it is late, or was not requested.
  case unexpectedResponse(Opcode)
  /// The device lost its sessions, or is no longer available. With `UWBDevice.Options.recovery` it
  /// is being recovered: `.recovered` or the end of the events follows.
  case lost(DriverError)
  /// An attempt to recover the device failed. The next one follows.
  case notRecovered(DriverError)
  /// The device is back, with its sessions as they were.
  case recovered
  /// The device is back, but no longer accepts this session, which has ended.
  case sessionLost(sessionID: UInt32, DriverError)
  /// The link ended; nothing follows.
  case disconnected(LinkError)
}

extension DeviceEvent {
  /// Returns the cause if this event ends the session although the program did not request it; nil
  /// for other events.
  package func end(of session: UWBSession) -> DriverError? {
    switch self {
    case .sessionStatus(let status) where status.sessionToken == session.token:
      return session.unexpectedEnd
    case .sessionLost(session.configuration.sessionID, let error): return error
    case .disconnected(let error): return .link(error)
    default: return nil
    }
  }
}
