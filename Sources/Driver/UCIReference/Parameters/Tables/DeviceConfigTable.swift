// SPDX-License-Identifier: Apache-2.0

package import UCI

/// A parameter of the chip (CORE_SET_CONFIG, CORE_GET_CONFIG).
package typealias DeviceConfigParameter = Parameter<DeviceConfigID>

extension DeviceConfigID: TabulatedID {
  package static let table = ParameterTable(
    DeviceConfigTable.fira, DeviceConfigTable.qorvo, DeviceConfigTable.nxp)
  package var unknownName: String { unknownParameter("DEVICE_CONFIG", number, subID) }
}

/// The descriptions of parameters of the chip.
///
/// Sources: FiRa's two as published in the packet definitions of AOSP; Qorvo's in UWB Qorvo Tools
/// 1.1.1; NXP's in AOSP hardware/nxp/uwb, nxp-uwb/sr250-uwbiot-zephyr and its UWBIoT API Reference
/// Guide, and in the logs of an SR250 that come with it. NXP's default set depends on the chip and
/// the board.
enum DeviceConfigTable {
  private static let onOff: [UInt64: String] = [0: "off", 1: "on"]

  static let fira: [DeviceConfigParameter] = [
    .init(
      .deviceState, "DEVICE_STATE", [1],
      values: [0: "initialising", 1: "ready", 2: "active", 0xFF: "error"], readOnly: true,
      summary: "The state of the chip."),
    .init(
      .lowPowerMode, "LOW_POWER_MODE", [1], range: 0...1, default: 1, values: onOff,
      summary: "Whether the chip may sleep between rounds."),
  ]

  static let qorvo: [DeviceConfigParameter] = [
    .init(
      DeviceConfigID(0xA0), "CHANNEL_NUMBER", [1], range: 5...14, vendors: [.qorvo],
      summary: "Channel of sessions that set none."),
    .init(
      DeviceConfigID(0xA9), "PM_MIN_INACTIVITY_S4", [4], unit: "ms", range: 0...4_294_967_295,
      vendors: [.qorvo],
      summary: "Shortest idle time for which the chip goes into its deepest sleep."),
    .init(
      DeviceConfigID(0xAA), "HW_TEST_MODE", [], vendors: [.qorvo],
      summary: "For tests of the hardware."),
  ]

  private static func e4(
    _ subID: UInt8, _ name: String, _ lengths: [Int] = [], format: ParameterFormat = .number,
    unit: String? = nil, range: ClosedRange<UInt64>? = nil, default defaultValue: UInt64? = nil,
    values: [UInt64: String] = [:], summary: String = ""
  ) -> DeviceConfigParameter {
    .init(
      DeviceConfigID(0xE4, subID), name, lengths, format: format, unit: unit, range: range,
      default: defaultValue, values: values, vendors: [.nxp], summary: summary)
  }

  static let nxp: [DeviceConfigParameter] = [
    e4(0x00, "DELAY_CALIBRATION", format: .bytes, summary: "Older firmware only."),
    e4(0x01, "AOA_CONTROL", format: .bytes, summary: "Older firmware only."),
    e4(0x02, "DPD_WAKEUP_SOURCE", [1], summary: "The events that end deep power-down, as bits."),
    e4(
      0x03, "WTX_COUNT", [1], range: 0...255, summary: "How often the chip may ask for more time."),
    e4(
      0x04, "DPD_ENTRY_TIMEOUT", [2], unit: "ms", range: 100...2000, default: 500,
      summary: "Idle time before deep power-down."),
    e4(0x05, "WIFI_COEX_CH5", [4], format: .bytes, summary: "Coexistence with Wi-Fi on channel 5."),
    e4(0x06, "DUAL_AOA_GPIO", [1], summary: "Pin that switches between two pairs of antennas."),
    e4(0x07, "SESSION_HANDLE_ENABLE", summary: "Whether sessions are named by handles."),
    e4(0x08, "GPIO_USAGE", format: .bytes, summary: "The uses of pins."),
    e4(0x26, "BASEBAND_CONFIG", [1], summary: "Transmitter's baseband."),
    e4(
      0x27, "DDFS_TONE_CONFIG", [72], format: .bytes,
      summary: "Tones of the transmitter's spectrum control."),
    e4(0x28, "TX_PULSE_SHAPE", [4], format: .bytes, summary: "Shape of the pulses."),
    e4(0x30, "CLOCK_CONFIG_SR1XX", format: .bytes, summary: "Where an SR1xx has its clocks from."),
    e4(
      0x31, "HOST_MAX_UCI_PAYLOAD", [2], unit: "bytes", range: 0...65535,
      summary: "Longest payload the host takes."),
    e4(
      0x33, "EXTENDED_NOTIFICATIONS", [1], range: 0...1, values: onOff,
      summary: "Whether SESSION_INFO_NTF has the vendor's part after its measurements."),
    e4(0x34, "CLOCK_WAITING_TIME", summary: "How long the chip waits for its clock."),
    e4(
      0x35, "INITIAL_RX_OFFSET_ABSOLUTE", [2],
      summary: "How much earlier the receiver is switched on."),
    e4(
      0x36, "INITIAL_RX_OFFSET_RELATIVE", [2],
      summary: "How much earlier the receiver is switched on."),
    e4(
      0x39, "WLAN_CHANNEL_INFO", format: .bytes,
      summary: "The chip's information about Wi-Fi channels."),
    e4(0x3A, "CLOCK_CONFIG_SR2XX", format: .bytes, summary: "Where an SR2xx has its clocks from."),
    e4(
      0x3B, "DDFS_TONE_PER_PULSE_SHAPE", format: .bytes,
      summary: "Spectrum control for each pulse shape."),
    e4(0x3C, "AOA_MODE", summary: "How angles are measured."),
    e4(
      0x46, "PDOA_CALIBRATION_TABLE", [2], format: .numbers(bytes: 1),
      summary: "Grid of the calibration of angles: degrees of a step, number of steps."),
    e4(
      0x60, "RX_ANTENNAS_DEFINE", format: .bytes,
      summary: "Receiving antennas: a count, then 6 bytes each."),
    e4(
      0x61, "TX_ANTENNAS_DEFINE_SR1XX", format: .bytes,
      summary: "Sending antennas of an SR1xx: a count, then 5 bytes each."),
    e4(
      0x62, "RX_ANTENNA_PAIRS_DEFINE", format: .bytes,
      summary: "Pairs for angles: a count, then 6 bytes each."),
    e4(
      0x63, "TX_ANTENNAS_DEFINE_SR2XX", format: .bytes,
      summary: "Sending antennas of an SR2xx: a count, then 6 bytes each."),
    e4(
      0x64, "WIFI_COEX_OTHER", [4], format: .bytes,
      summary: "Coexistence with Wi-Fi on other channels."),
    e4(
      0x65, "DEFAULT_VENDOR_APP_CONFIG", format: .bytes,
      summary: "Vendor's parameters of new sessions."),
    e4(0x67, "WIFI_COEX", [4], format: .bytes, summary: "Coexistence with Wi-Fi."),
    .init(
      DeviceConfigID(0xF0), "WIFI_COEX_FEATURE", [], format: .bytes, vendors: [.nxp],
      summary: "Coexistence with Wi-Fi."),
  ]
}
