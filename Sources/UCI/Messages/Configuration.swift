// SPDX-License-Identifier: Apache-2.0

/// A status and a list of parameters: the answer to GET_CAPS_INFO and SESSION_GET_APP_CONFIG.
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
    guard reader.remaining > 0 else { return }
    var attempt = reader
    do {
      parameters = try attempt.tlvs("parameters", longIDsFirst: false)
      reader = attempt
    } catch {
      // Errors are answered with anything from the status alone to a status and a stray byte.
      guard status != .ok else { throw error }
    }
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
  /// Second byte of the identifier, for the device parameters that have two (NXP).
  public var subID: UInt8?
  /// Why it was refused.
  public var status: Status

  /// From its fields.
  public init(id: UInt8, status: Status, subID: UInt8? = nil) {
    self.id = id
    self.subID = subID
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
    var attempt = reader
    do {
      refused = try Self.refusals(&attempt, dialect)
      reader = attempt
    } catch {
      // As above: pica answers malformed commands with REJECTED and a stray byte.
      guard status != .ok else { throw error }
    }
  }

  private static func refusals(
    _ reader: inout PayloadReader, _ dialect: Dialect
  ) throws(PayloadError) -> [RefusedParameter] {
    let count = try reader.u8("refused count")
    // Both forms of identifier can occur, and the length says whether one of two bytes does.
    let twoByteIDs = reader.remaining == 2 * Int(count) ? nil : dialect.twoByteConfigIDs
    var list: [RefusedParameter] = []
    for _ in 0..<count {
      let id = try reader.u8("refused id")
      let isLong = twoByteIDs?.contains(id) ?? false
      let subID: UInt8? = isLong ? try reader.u8("refused sub id") : nil
      list.append(
        RefusedParameter(
          id: id, status: Status(rawValue: try reader.u8("refused status")), subID: subID))
    }
    return list
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let refused else { return }
    writer.u8(UInt8(refused.count))
    for parameter in refused {
      writer.u8(parameter.id)
      if let subID = parameter.subID { writer.u8(subID) }
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
    parameters = try reader.tlvs("parameters", longIDsFirst: dialect.twoByteConfigIDs != nil)
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.tlvs(parameters)
  }
}

/// CORE_GET_CONFIG.
public struct GetConfig: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = DeviceConfigResponse
  /// Group and opcode.
  public static let opcode = Opcode.coreGetConfig
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// Which parameters to read, at most 255.
  public var parameters: [DeviceConfigID]

  /// From its fields.
  public init(_ parameters: [DeviceConfigID]) { self.parameters = parameters }

  /// For parameters whose identifiers have one byte.
  public init(ids: [UInt8]) { parameters = ids.map { DeviceConfigID($0) } }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    let count = try reader.u8("id count")
    // The length says whether identifiers of two bytes occur.
    let twoByteIDs = reader.remaining == Int(count) ? nil : dialect.twoByteConfigIDs
    parameters = []
    for _ in 0..<count {
      let id = try reader.u8("id")
      let isLong = twoByteIDs?.contains(id) ?? false
      parameters.append(DeviceConfigID(id, isLong ? try reader.u8("sub id") : nil))
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(UInt8(parameters.count))
    for parameter in parameters {
      writer.u8(parameter.number)
      if let subID = parameter.subID { writer.u8(subID) }
    }
  }
}

/// CORE_GET_CONFIG_RSP. If a parameter is unknown, only the unknown ones are listed, without value.
public struct DeviceConfigResponse: UCIResponse, Hashable {
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
    guard reader.remaining > 0 else { return }
    var attempt = reader
    do {
      parameters = try attempt.tlvs("parameters", longIDsFirst: dialect.twoByteConfigIDs != nil)
      reader = attempt
    } catch {
      // Errors are answered with anything from the status alone to a status and a stray byte.
      guard status != .ok else { throw error }
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let parameters { writer.tlvs(parameters) }
  }
}
