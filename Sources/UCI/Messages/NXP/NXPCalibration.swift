// SPDX-License-Identifier: Apache-2.0

/// SET_CALIBRATION of NXP's group 0xF: one parameter of a channel.
package struct NXPSetCalibration: UCICommand, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0xF), 0x21)
  package static let isIdempotent = true

  /// The channel; 0 where the parameter has none.
  package var channel: UInt8 = 0
  /// Which parameter, for example 1 clock accuracy, 2 RX antenna delay, 3 PDoA offset.
  package var parameter: UInt8 = 0
  /// At most 255 bytes.
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
  package typealias Response = NXPCalibrationResponse
  package static let opcode = Opcode(GroupID(rawValue: 0xF), 0x22)
  package static let isIdempotent = true

  /// The channel; 0 where the parameter has none.
  package var channel: UInt8 = 0
  /// Which parameter, for example 1 clock accuracy, 2 RX antenna delay, 3 PDoA offset.
  package var parameter: UInt8 = 0
  /// A third byte: 0 in the published logs that read AOA_ANTENNAS_PDOA_CALIB, nil in all others.
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
package struct NXPCalibrationResponse: UCIResponse, Hashable {
  /// What was asked for.
  package struct Value: FieldGroup, Hashable, Sendable {
    /// The state of the calibration: 1 and 3 in logs that were published.
    package var state: UInt8 = 1
    package var parameter: UInt8 = 0
    /// At most 255 bytes.
    package var bytes: [UInt8] = []

    package init() {}
    package init(state: UInt8 = 1, parameter: UInt8, bytes: [UInt8]) {
      (self.state, self.parameter, self.bytes) = (state, parameter, bytes)
    }

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
      try coder.field("state", &state)
      try coder.field("parameter", &parameter, .nxpCalibration)
      try coder.bytes("value", &bytes, .u8)
    }
  }

  package var status = Status.ok
  /// nil where the response ends behind its status.
  package var value: Value?

  package init() {}
  package init(status: Status, value: Value?) { (self.status, self.value) = (status, value) }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &value)
  }
}

/// READ_CALIB_DATA of NXP's group 0xA: calibration in the chip's one-time memory. The value comes in
/// a notification.
///
/// Source: AOSP hardware/nxp/uwb (Apache-2.0), which reads the crystal's values so.
package struct NXPReadOTPCalibration: UCICommand, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0xA), 0x01)
  package static let isIdempotent = true

  package var channel: UInt8 = 0
  /// Where it is: 1 the one-time memory.
  package var option: UInt8 = 1
  package var parameter: UInt8 = 0

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("channel", &channel)
    try coder.field("option", &option)
    try coder.field("parameter", &parameter, .names(["0", "TX_POWER", "CRYSTAL"]))
  }
}

/// READ_CALIB_DATA_NTF of NXP's group 0xA. Source: AOSP hardware/nxp/uwb (Apache-2.0).
package struct NXPReadOTPCalibrationNotification: UCINotification, Hashable {
  package static let opcode = NXPReadOTPCalibration.opcode
  package var status = Status.ok
  /// At most 255 bytes.
  package var value: [UInt8] = []

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.bytes("value", &value, .u8)
  }
}
