// SPDX-License-Identifier: Apache-2.0

/// The state a chip reports in CORE_DEVICE_STATUS_NTF.
public struct DeviceState: RawRepresentable, Hashable, Sendable {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a code from its byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// NXP: booted, waits for its vendor command CORE_DEVICE_INIT.
  public static let initialising = DeviceState(rawValue: 0x00)
  /// Takes commands; no session is active.
  public static let ready = DeviceState(rawValue: 0x01)
  /// At least one session is active.
  public static let active = DeviceState(rawValue: 0x02)
  /// NXP: woke up from deep power-down; an outstanding command is lost.
  public static let wokenUp = DeviceState(rawValue: 0xFC)
  /// NXP: hung, or reset from outside; everything is lost.
  public static let hardwareReset = DeviceState(rawValue: 0xFE)
  /// Everything is lost; the host has to reset the chip.
  public static let error = DeviceState(rawValue: 0xFF)
}

/// The state of a session.
public struct SessionState: RawRepresentable, Hashable, Sendable {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a code from its byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Created, lacks mandatory parameters.
  public static let initialised = SessionState(rawValue: 0)
  /// Gone.
  public static let deinitialised = SessionState(rawValue: 1)
  /// Ranging.
  public static let active = SessionState(rawValue: 2)
  /// Configured, not ranging.
  public static let idle = SessionState(rawValue: 3)
}

/// What a session is for.
public struct SessionType: RawRepresentable, Hashable, Sendable {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a code from its byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// FiRa ranging.
  public static let ranging = SessionType(rawValue: 0x00)
  /// FiRa ranging with data in the ranging frames.
  public static let rangingWithInBandData = SessionType(rawValue: 0x01)
  /// Data transfer only.
  public static let dataTransfer = SessionType(rawValue: 0x02)
  /// Radio tests.
  public static let deviceTest = SessionType(rawValue: 0xD0)
}
