// SPDX-License-Identifier: Apache-2.0

/// CORE_DEVICE_RESET: the chip forgets its sessions and reports READY again.
public struct DeviceReset: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode.coreDeviceReset
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// 0: reset of the UWB subsystem; other values are reserved. The octet is mandatory.
  public var configuration: UInt8

  /// A reset of the UWB subsystem.
  public init(configuration: UInt8 = 0) { self.configuration = configuration }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    configuration = try reader.u8("reset configuration")
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(configuration)
  }
}

/// CORE_DEVICE_STATUS_NTF.
public struct DeviceStatusNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.coreDeviceStatus

  /// The new state.
  public var state: DeviceState

  /// A state.
  public init(state: DeviceState) { self.state = state }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    state = DeviceState(rawValue: try reader.u8("device state"))
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(state.rawValue)
  }
}

/// CORE_GENERIC_ERROR_NTF: with `commandRetry` it takes the place of a response.
public struct GenericErrorNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.coreGenericError

  /// What went wrong.
  public var status: Status

  /// A status.
  public init(status: Status) { self.status = status }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
  }
  /// Writes the fields in their order on the wire.
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
  /// Asking again changes nothing.
  public static var isIdempotent: Bool { true }
  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    self.init()
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {}
}

/// CORE_GET_DEVICE_INFO.
public struct GetDeviceInfo: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = DeviceInfoResponse
  /// Group and opcode.
  public static let opcode = Opcode.coreGetDeviceInfo
  /// There is nothing to give.
  public init() {}
}

/// A version as two octets: major, then minor and maintenance in a nibble each.
public struct UCIVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// Major version, 0…255.
  public var major: UInt8
  /// Minor version, 0…15.
  public var minor: UInt8
  /// Maintenance version, 0…15.
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

  /// Major first, then minor, then maintenance.
  public static func < (a: UCIVersion, b: UCIVersion) -> Bool {
    (a.major, a.minor, a.maintenance) < (b.major, b.minor, b.maintenance)
  }

  /// For example `2.0.0`.
  public var description: String { "\(major).\(minor).\(maintenance)" }
}

/// What a chip says about itself.
public struct DeviceInfo: Hashable, Sendable {
  /// UCI generic specification. Not the MAC version: dialects follow this one.
  public var uciVersion: UCIVersion
  /// FiRa MAC specification.
  public var macVersion: UCIVersion
  /// FiRa PHY specification.
  public var phyVersion: UCIVersion
  /// UCI test specification.
  public var testVersion: UCIVersion
  /// The vendor's own octets, at most 255.
  public var vendorInfo: [UInt8]

  /// From its fields.
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
  /// Whether the chip did what it was asked.
  public var status: Status
  /// Missing in error responses.
  public var info: DeviceInfo?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, info: DeviceInfo?) {
    self.status = status
    self.info = info
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
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

  /// Writes the fields in their order on the wire.
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
  /// What the chip answers.
  public typealias Response = TLVListResponse
  /// Group and opcode.
  public static let opcode = Opcode.coreGetCapsInfo
  /// There is nothing to give.
  public init() {}
}

/// A status and a list of parameters: the answer to GET_CAPS_INFO, CORE_GET_CONFIG and
/// SESSION_GET_APP_CONFIG.
public struct TLVListResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// nil where the response ends behind its status.
  public var parameters: [TLV]?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, parameters: [TLV]?) {
    self.status = status
    self.parameters = parameters
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    parameters = reader.remaining > 0 ? try reader.tlvs("parameters") : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let parameters { writer.tlvs(parameters) }
  }
}

/// A parameter the chip refused, and why.
public struct RefusedParameter: Hashable, Sendable {
  /// Which parameter.
  public var id: UInt8
  /// Whether the chip did what it was asked.
  public var status: Status

  /// From its fields.
  public init(id: UInt8, status: Status) {
    self.id = id
    self.status = status
  }
}

/// A status and the refused parameters: the answer to CORE_SET_CONFIG and SESSION_SET_APP_CONFIG.
public struct ConfigurationResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// nil where the response ends behind its status. Empty on full success.
  public var refused: [RefusedParameter]?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, refused: [RefusedParameter]?) {
    self.status = status
    self.refused = refused
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
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

  /// Writes the fields in their order on the wire.
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
  /// What the chip answers.
  public typealias Response = ConfigurationResponse
  /// Group and opcode.
  public static let opcode = Opcode.coreSetConfig
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// What to set, at most 255.
  public var parameters: [TLV]

  /// From its fields.
  public init(_ parameters: [TLV]) { self.parameters = parameters }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    parameters = try reader.tlvs("parameters")
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.tlvs(parameters)
  }
}

/// CORE_GET_CONFIG.
public struct GetConfig: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = TLVListResponse
  /// Group and opcode.
  public static let opcode = Opcode.coreGetConfig
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// Which parameters to read.
  public var ids: [UInt8]

  /// From its fields.
  public init(ids: [UInt8]) { self.ids = ids }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    let count = try reader.u8("id count")
    ids = try reader.octets(Int(count), "ids")
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(UInt8(ids.count))
    writer.octets(ids)
  }
}

/// CORE_QUERY_UWBS_TIMESTAMP, FiRa 2.0.
public struct QueryTimestamp: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = TimestampResponse
  /// Group and opcode.
  public static let opcode = Opcode.coreQueryUWBSTimestamp
  /// There is nothing to give.
  public init() {}
}

/// CORE_QUERY_UWBS_TIMESTAMP_RSP.
public struct TimestampResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// The chip's time in microseconds; missing in some error responses.
  public var microseconds: UInt64?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, microseconds: UInt64?) {
    self.status = status
    self.microseconds = microseconds
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    microseconds = reader.remaining >= 8 ? try reader.u64("timestamp") : nil
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let microseconds { writer.u64(microseconds) }
  }
}
