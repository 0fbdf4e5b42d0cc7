// SPDX-License-Identifier: Apache-2.0

/// SET_CALIBRATION of NXP's group 0xF: one parameter of a channel.
package struct NXPSetCalibration: UCICommand, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0xF), 0x21)
  package static let isIdempotent = true

  /// The channel; 0 where the parameter has none.
  package var channel: UInt8 = 0
  /// The number of the parameter, for example 1 clock accuracy, 2 RX antenna delay, 3 PDoA offset.
  package var parameter: UInt8 = 0
  package var value: [UInt8] = []

  package init() {}
  package init(channel: UInt8, parameter: UInt8, value: [UInt8]) {
    (self.channel, self.parameter, self.value) = (channel, parameter, value)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("channel", &channel)
    try coder.field("parameter", &parameter, .nxpCalibration)
    try coder.bytes("value", &value, .u8)
  }
}

/// GET_CALIBRATION of NXP's group 0xF: one parameter of a channel.
///
/// Source: published logs of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_device_calibration).
package struct NXPGetCalibration: UCICommand, Hashable {
  package typealias Response = BodyResponse<NXPCalibrationValue>
  package static let opcode = Opcode(GroupID(rawValue: 0xF), 0x22)
  package static let isIdempotent = true

  /// The channel; 0 where the parameter has none.
  package var channel: UInt8 = 0
  /// The number of the parameter, for example 1 clock accuracy, 2 RX antenna delay, 3 PDoA offset.
  package var parameter: UInt8 = 0
  /// A third byte: 0 in the published logs that read AOA_ANTENNAS_PDOA_CALIB, nil in all other
  /// logs.
  package var selector: UInt8?

  package init() {}
  package init(channel: UInt8, parameter: UInt8, selector: UInt8? = nil) {
    (self.channel, self.parameter, self.selector) = (channel, parameter, selector)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("channel", &channel)
    try coder.field("parameter", &parameter, .nxpCalibration)
    try coder.optional("selector", &selector, absent: .omitted)
  }
}

/// GET_CALIBRATION_RSP of NXP's group 0xF.
///
/// Source: published logs of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_device_calibration).
package struct NXPCalibrationValue: ResponseBody {
  package static let isMandatory = false

  /// The state of the calibration: 1 and 3 in published logs.
  package var state: UInt8 = 1
  package var parameter: UInt8 = 0
  package var bytes: [UInt8] = []

  package init() {}
  package init(parameter: UInt8, bytes: [UInt8]) {
    (self.parameter, self.bytes) = (parameter, bytes)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("state", &state)
    try coder.field("parameter", &parameter, .nxpCalibration)
    try coder.bytes("value", &bytes, .u8)
  }
}

/// READ_CALIB_DATA of NXP's group 0xA: calibration in the chip's one-time memory. The value comes
/// in a notification.
///
/// Source: AOSP hardware/nxp/uwb (Apache-2.0), which reads the crystal's values this way.
struct NXPReadOTPCalibration: UCICommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xA), 0x01)
  static let isIdempotent = true

  var channel: UInt8 = 0
  /// The memory: 1 is the one-time memory.
  var option: UInt8 = 1
  var parameter: UInt8 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("channel", &channel)
    try coder.field("option", &option)
    try coder.field("parameter", &parameter, .names(["0", "TX_POWER", "CRYSTAL"]))
  }
}

/// READ_CALIB_DATA_NTF of NXP's group 0xA. Source: AOSP hardware/nxp/uwb (Apache-2.0).
struct NXPReadOTPCalibrationNotification: UCINotification, Hashable {
  static let opcode = NXPReadOTPCalibration.opcode
  var status = Status.ok
  var value: [UInt8] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.bytes("value", &value, .u8)
  }
}
