// SPDX-License-Identifier: Apache-2.0

/// A status and a list of parameters: the answer to GET_CAPS_INFO, SESSION_GET_APP_CONFIG and their
/// like.
package struct TLVListResponse: UCIResponse, Hashable {
  package var status = Status.ok
  /// The parameters; nil where the response ends after its status.
  package var parameters: [TLV]?

  package init() {}
  package init(status: Status, parameters: [TLV]?) {
    (self.status, self.parameters) = (status, parameters)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &parameters) { c, list throws(PayloadError) in
      try c.parameters("parameters", &list, .asked(else: .app))
    }
  }
}

/// CORE_GET_CONFIG_RSP. If a parameter is unknown, the response lists only the unknown parameters,
/// without values.
package struct DeviceConfigResponse: UCIResponse, Hashable {
  package var status = Status.ok
  /// The parameters; nil where the response ends after its status.
  package var parameters: [TLV]?

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &parameters) { c, list throws(PayloadError) in
      try c.parameters("parameters", &list, .device)
    }
  }
}

/// A parameter that the chip refused, and the reason.
public struct RefusedParameter: Hashable, Sendable {
  /// The number of the parameter.
  public var id: UInt8
  /// Second byte of the identifier, for the device parameters of NXP that have two bytes.
  public var subID: UInt8?
  /// The reason of the refusal.
  public var status: Status

  package init(id: UInt8, status: Status, subID: UInt8? = nil) {
    (self.id, self.subID, self.status) = (id, subID, status)
  }
}

/// A status and the refused parameters: the answer to commands that set parameters.
package struct ConfigurationResponse: UCIResponse, Hashable {
  package var status = Status.ok
  /// The refused parameters; nil where the response ends after its status. Empty if all were
  /// accepted.
  package var refused: [RefusedParameter]?

  package init() {}
  package init(status: Status, refused: [RefusedParameter]?) {
    (self.status, self.refused) = (status, refused)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &refused) { c, list throws(PayloadError) in
      var count = UInt8(list.count)
      try c.field("count", &count, .hidden)
      // Identifiers of one or two bytes occur, and the length shows whether an identifier has two.
      let hasLongIDs = c.holds(list.contains { $0.subID != nil }) { $0 != 2 * Int(count) }
      let longIDs = hasLongIDs ? c.dialect.twoByteConfigIDs : nil
      try c.list(
        "refused", &list, .exactly(Int(count)), blank: RefusedParameter(id: 0, status: .ok)
      ) { c, parameter throws(PayloadError) in
        try c.parameterID(&parameter.id, &parameter.subID, .asked(else: .device)) {
          longIDs?.contains($0) ?? false
        }
        try c.code("status", &parameter.status)
      }
    }
  }
}

/// CORE_SET_CONFIG. Accepted parameters stay applied even if another one is refused.
package struct SetConfig: UCICommand, Hashable {
  package typealias Response = ConfigurationResponse
  package static let opcode = Opcode.coreSetConfig
  package static let isIdempotent = true

  /// The parameters to set, at most 255.
  package var parameters: [TLV] = []

  package init() {}
  package init(_ parameters: [TLV]) { self.parameters = parameters }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.parameters("parameters", &parameters, .device)
  }
}

package struct GetConfig: UCICommand, Hashable {
  package typealias Response = DeviceConfigResponse
  package static let opcode = Opcode.coreGetConfig
  package static let isIdempotent = true

  /// The parameters to read, at most 255.
  package var parameters: [DeviceConfigID] = []

  package init() {}
  package init(_ parameters: [DeviceConfigID]) { self.parameters = parameters }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    var count = UInt8(parameters.count)
    try coder.field("count", &count, .hidden)
    // The length shows whether identifiers of two bytes occur.
    let hasLongIDs = coder.holds(parameters.contains { $0.subID != nil }) { $0 != Int(count) }
    let longIDs = hasLongIDs ? coder.dialect.twoByteConfigIDs : nil
    try coder.values(
      "parameters", &parameters, .exactly(Int(count)), blank: DeviceConfigID(0)
    ) { c, parameter throws(PayloadError) in
      var (id, subID) = (parameter.number, parameter.subID)
      try c.parameterID(&id, &subID, .device) { longIDs?.contains($0) ?? false }
      parameter = DeviceConfigID(id, subID)
    }
  }
}
