// SPDX-License-Identifier: Apache-2.0

/// CORE_DEVICE_RESET: the chip drops its sessions and reports READY again.
package struct DeviceReset: UCICommand, Hashable {
  package static let opcode = Opcode.coreDeviceReset
  package static let isIdempotent = true

  /// 0: reset of the UWB subsystem; other values are reserved. The byte is mandatory.
  package var configuration: UInt8 = 0

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("configuration", &configuration)
  }
}

package struct DeviceStatusNotification: UCINotification, Hashable {
  package static let opcode = Opcode.coreDeviceStatus
  package var state = DeviceState.ready

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("state", &state)
  }
}

/// CORE_GENERIC_ERROR_NTF: with `commandRetry` it replaces a response.
package struct GenericErrorNotification: UCINotification, Hashable {
  package static let opcode = Opcode.coreGenericError
  package var status = Status.ok

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
  }
}

package struct GetDeviceInfo: EmptyCommand, Hashable {
  package typealias Response = BodyResponse<DeviceInfo>
  package static let opcode = Opcode.coreGetDeviceInfo
  package init() {}
}

package struct GetCapabilities: EmptyCommand, Hashable {
  package typealias Response = TLVListResponse
  package static let opcode = Opcode.coreGetCapsInfo
  package init() {}
}

/// CORE_QUERY_UWBS_TIMESTAMP, FiRa 2.0.
package struct QueryTimestamp: EmptyCommand, Hashable {
  package typealias Response = TimestampResponse
  package static let opcode = Opcode.coreQueryUWBSTimestamp
  package init() {}
}

package struct TimestampResponse: UCIResponse, Hashable {
  package var status = Status.ok
  /// The chip's time in microseconds; missing in some error responses.
  package var microseconds: UInt64?

  package init() {}
  package init(status: Status, microseconds: UInt64?) {
    (self.status, self.microseconds) = (status, microseconds)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("timestamp_us", &microseconds)
  }
}
