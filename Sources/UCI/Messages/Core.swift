// SPDX-License-Identifier: Apache-2.0

/// CORE_DEVICE_RESET: the chip forgets its sessions and reports READY again.
public struct DeviceReset: UCICommand, Hashable {
  public typealias Response = StatusResponse
  public static let opcode = Opcode.coreDeviceReset
  public static let isIdempotent = true

  /// 0: reset of the UWB subsystem; other values are reserved. The octet is mandatory.
  public var configuration: UInt8

  /// A reset of the UWB subsystem.
  public init(configuration: UInt8 = 0) { self.configuration = configuration }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    configuration = try reader.u8("reset configuration")
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(configuration)
  }
}

/// CORE_DEVICE_STATUS_NTF.
public struct DeviceStatusNotification: UCINotification, Hashable {
  public static let opcode = Opcode.coreDeviceStatus

  /// The new state.
  public var state: DeviceState

  /// A state.
  public init(state: DeviceState) { self.state = state }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    state = DeviceState(rawValue: try reader.u8("device state"))
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(state.rawValue)
  }
}

/// CORE_GENERIC_ERROR_NTF: with `commandRetry` it takes the place of a response.
public struct GenericErrorNotification: UCINotification, Hashable {
  public static let opcode = Opcode.coreGenericError

  /// What went wrong.
  public var status: Status

  /// A status.
  public init(status: Status) { self.status = status }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
  }
}

/// A command without any payload whose answer has one.
public protocol EmptyCommand: UCICommand {
  /// There is nothing to give.
  init()
}

extension EmptyCommand {
  public static var isIdempotent: Bool { true }
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    self.init()
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {}
}

/// CORE_GET_DEVICE_INFO.
public struct GetDeviceInfo: EmptyCommand, Hashable {
  public typealias Response = DeviceInfoResponse
  public static let opcode = Opcode.coreGetDeviceInfo
  public init() {}
}

/// A version as two octets: major, then minor and maintenance in a nibble each.
public struct UCIVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
  public var major: UInt8
  public var minor: UInt8
  public var maintenance: UInt8

  /// 2.0.0 and so on; `minor` and `maintenance` 0…15.
  public init(_ major: UInt8, _ minor: UInt8, _ maintenance: UInt8 = 0) {
    self.major = major
    self.minor = minor & 15
    self.maintenance = maintenance & 15
  }

  init(from reader: inout PayloadReader, _ field: String) throws(PayloadError) {
    let major = try reader.u8(field)
    let rest = try reader.u8(field)
    self.init(major, rest >> 4, rest & 15)
  }

  func encode(into writer: inout PayloadWriter) {
    writer.u8(major)
    writer.u8(minor << 4 | maintenance)
  }

  public static func < (a: UCIVersion, b: UCIVersion) -> Bool {
    (a.major, a.minor, a.maintenance) < (b.major, b.minor, b.maintenance)
  }

  public var description: String { "\(major).\(minor).\(maintenance)" }
}

/// What a chip says about itself.
public struct DeviceInfo: Hashable, Sendable {
  /// UCI generic specification. Not the MAC version: dialects follow this one.
  public var uciVersion: UCIVersion
  public var macVersion: UCIVersion
  public var phyVersion: UCIVersion
  /// UCI test specification.
  public var testVersion: UCIVersion
  /// The vendor's own octets, at most 255.
  public var vendorInfo: [UInt8]

  public init(
    uciVersion: UCIVersion, macVersion: UCIVersion, phyVersion: UCIVersion,
    testVersion: UCIVersion, vendorInfo: [UInt8]
  ) {
    self.uciVersion = uciVersion
    self.macVersion = macVersion
    self.phyVersion = phyVersion
    self.testVersion = testVersion
    self.vendorInfo = vendorInfo
  }
}

/// CORE_GET_DEVICE_INFO_RSP.
public struct DeviceInfoResponse: UCIResponse, Hashable {
  public var status: Status
  /// Missing in error responses.
  public var info: DeviceInfo?

  public init(status: Status, info: DeviceInfo?) {
    self.status = status
    self.info = info
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    guard status == .ok || reader.remaining >= 9 else { return }
    let uci = try UCIVersion(from: &reader, "UCI version")
    let mac = try UCIVersion(from: &reader, "MAC version")
    let phy = try UCIVersion(from: &reader, "PHY version")
    let test = try UCIVersion(from: &reader, "test version")
    let length = try reader.u8("vendor info length")
    info = DeviceInfo(
      uciVersion: uci, macVersion: mac, phyVersion: phy, testVersion: test,
      vendorInfo: try reader.octets(Int(length), "vendor info"))
  }

  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let info else { return }
    for version in [info.uciVersion, info.macVersion, info.phyVersion, info.testVersion] {
      version.encode(into: &writer)
    }
    writer.u8(UInt8(info.vendorInfo.count))
    writer.octets(info.vendorInfo)
  }
}

/// CORE_GET_CAPS_INFO.
public struct GetCapabilities: EmptyCommand, Hashable {
  public typealias Response = TLVListResponse
  public static let opcode = Opcode.coreGetCapsInfo
  public init() {}
}

/// A status and a list of parameters: the answer to GET_CAPS_INFO, CORE_GET_CONFIG and
/// SESSION_GET_APP_CONFIG.
public struct TLVListResponse: UCIResponse, Hashable {
  public var status: Status
  /// nil where the response ends behind its status.
  public var parameters: [TLV]?

  public init(status: Status, parameters: [TLV]?) {
    self.status = status
    self.parameters = parameters
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    parameters = reader.remaining > 0 ? try reader.tlvs("parameters") : nil
  }

  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let parameters { writer.tlvs(parameters) }
  }
}

/// A parameter the chip refused, and why.
public struct RefusedParameter: Hashable, Sendable {
  public var id: UInt8
  public var status: Status

  public init(id: UInt8, status: Status) {
    self.id = id
    self.status = status
  }
}

/// A status and the refused parameters: the answer to CORE_SET_CONFIG and SESSION_SET_APP_CONFIG.
public struct ConfigurationResponse: UCIResponse, Hashable {
  public var status: Status
  /// nil where the response ends behind its status. Empty on full success.
  public var refused: [RefusedParameter]?

  public init(status: Status, refused: [RefusedParameter]?) {
    self.status = status
    self.refused = refused
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    guard reader.remaining > 0 else { return }
    let count = try reader.u8("refused count")
    var list: [RefusedParameter] = []
    for _ in 0..<count {
      let id = try reader.u8("refused id")
      list.append(
        RefusedParameter(id: id, status: Status(rawValue: try reader.u8("refused status"))))
    }
    refused = list
  }

  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let refused else { return }
    writer.u8(UInt8(refused.count))
    for parameter in refused {
      writer.u8(parameter.id)
      writer.u8(parameter.status.rawValue)
    }
  }
}

/// CORE_SET_CONFIG. What is accepted stays applied even if another parameter is refused.
public struct SetConfig: UCICommand, Hashable {
  public typealias Response = ConfigurationResponse
  public static let opcode = Opcode.coreSetConfig
  public static let isIdempotent = true

  public var parameters: [TLV]

  public init(_ parameters: [TLV]) { self.parameters = parameters }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    parameters = try reader.tlvs("parameters")
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.tlvs(parameters)
  }
}

/// CORE_GET_CONFIG.
public struct GetConfig: UCICommand, Hashable {
  public typealias Response = TLVListResponse
  public static let opcode = Opcode.coreGetConfig
  public static let isIdempotent = true

  public var ids: [UInt8]

  public init(ids: [UInt8]) { self.ids = ids }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    let count = try reader.u8("id count")
    ids = try reader.octets(Int(count), "ids")
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(UInt8(ids.count))
    writer.octets(ids)
  }
}

/// CORE_QUERY_UWBS_TIMESTAMP, FiRa 2.0.
public struct QueryTimestamp: EmptyCommand, Hashable {
  public typealias Response = TimestampResponse
  public static let opcode = Opcode.coreQueryUWBSTimestamp
  public init() {}
}

/// CORE_QUERY_UWBS_TIMESTAMP_RSP.
public struct TimestampResponse: UCIResponse, Hashable {
  public var status: Status
  /// The chip's time in microseconds; missing in some error responses.
  public var microseconds: UInt64?

  public init(status: Status, microseconds: UInt64?) {
    self.status = status
    self.microseconds = microseconds
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    microseconds = reader.remaining >= 8 ? try reader.u64("timestamp") : nil
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let microseconds { writer.u64(microseconds) }
  }
}
