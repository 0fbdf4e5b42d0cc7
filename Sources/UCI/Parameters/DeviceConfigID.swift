// SPDX-License-Identifier: Apache-2.0

/// Names a parameter of the chip (CORE_SET_CONFIG, CORE_GET_CONFIG).
public struct DeviceConfigID: RawRepresentable, Hashable, Sendable {
  /// The octet on the wire.
  public let rawValue: UInt8
  /// Any octet.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// DEVICE_STATE, one octet, read only.
  public static let deviceState = DeviceConfigID(rawValue: 0x00)
  /// LOW_POWER_MODE, one octet: 0 off, 1 on (default).
  public static let lowPowerMode = DeviceConfigID(rawValue: 0x01)

  /// The name of a parameter; `DEVICE_CONFIG_0xNN` where there is none.
  ///
  /// - Parameter subID: second octet of the identifier, for parameters that have two (NXP).
  public static func name(of id: UInt8, subID: UInt8? = nil, dialect: Dialect = .assumed) -> String
  {
    if let subID {
      return nxp[subID] ?? "DEVICE_CONFIG_\(hex(id))_\(hex(subID))"
    }
    switch (id, dialect.vendor) {
    case (0x00, _): return "DEVICE_STATE"
    case (0x01, _): return "LOW_POWER_MODE"
    case (0xA0, .qorvo): return "CHANNEL_NUMBER"
    case (0xF0, .nxp): return "WIFI_COEX"
    default: return "DEVICE_CONFIG_\(hex(id))"
    }
  }

  // Second octets of NXP's identifiers 0xE4. Source: NXP's published host code.
  private static let nxp: [UInt8: String] = [
    0x02: "WAKEUP_SOURCE", 0x03: "WTX_COUNT", 0x04: "DPD_ENTRY_TIMEOUT", 0x26: "BASEBAND",
    0x27: "DDFS_TONE", 0x28: "TX_PULSE_SHAPE", 0x31: "HOST_MAX_UCI_PAYLOAD",
    0x33: "EXTENDED_NOTIFICATIONS", 0x34: "CLOCK_WAITING_TIME", 0x35: "INITIAL_RX_OFFSET_CH5",
    0x36: "INITIAL_RX_OFFSET_CH9", 0x3A: "CLOCK_CONFIG", 0x3C: "AOA_MODE",
    0x60: "RX_ANTENNA_DEFINE", 0x61: "TX_ANTENNA_DEFINE", 0x62: "RX_ANTENNA_PAIR_DEFINE",
    0x63: "TX_ANTENNA_DEFINE", 0x65: "RX_ANTENNAS", 0x67: "WIFI_COEX",
  ]
}
