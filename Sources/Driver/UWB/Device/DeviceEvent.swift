// SPDX-License-Identifier: Apache-2.0
public import UCI
public import UWBLink

/// An event of a device beside measurements and responses. Switch over it with a `default`: cases
/// may be added.
public enum DeviceEvent: Sendable {
  /// The chip's own state changed.
  case deviceStatus(DeviceState)
  /// A session changed its state.
  case sessionStatus(SessionStatusNotification)
  /// The chip reported an error that belongs to no command.
  case genericError(Status)
  /// Measurements were dropped because their consumer was too slow: `total` of this session so far.
  case measurementsDropped(sessionToken: UInt32, total: Int)
  /// Data of a session was dropped because its subscriber was too slow.
  case dataDropped(sessionToken: UInt32)
  /// Any other notification, or a data message.
  case message(Message)
  /// A response that no command waits for: a late one, or an unrelated one.
  case unexpectedResponse(Opcode)
  /// The device lost its sessions, or is no longer available. With `UWBDevice.Options.recovery` it
  /// is being recovered: `.recovered` or the end of the events follows.
  case lost(DriverError)
  /// An attempt to recover the device failed; the next one follows.
  case notRecovered(DriverError)
  /// The device is back, with its sessions as they were.
  case recovered
  /// The device is back, but no longer accepts this session, which has ended.
  case sessionLost(sessionID: UInt32, DriverError)
  /// The link ended; nothing follows.
  case disconnected(LinkError)
}

extension DeviceEvent {
  /// Returns the cause if this event ends the session without a request; nil for other events.
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
