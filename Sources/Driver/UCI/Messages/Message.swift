// SPDX-License-Identifier: Apache-2.0

/// A whole UCI message, reassembled, of any kind.
///
/// No byte is refused or lost. A message without a known layout, or with another one, is kept as
/// bytes; bytes after a known layout are kept as `trailing`.
public struct Message: Sendable {
  package enum Content: Sendable {
    case payload(any UCIPayload)
    /// The layout is unknown; or, with an error, it is known and these bytes do not have it.
    case opaque([UInt8], PayloadError?)
  }

  /// Command, response, notification or data.
  package var type: MessageType
  /// Group and opcode; for a data message the format in the position of the group, and opcode 0.
  public var opcode: Opcode
  /// The typed payload, or its bytes.
  package var content: Content
  /// Bytes after the known layout.
  package var trailing: [UInt8]

  /// Reads a whole message from the joined payloads of all its segments.
  package init(type: MessageType, opcode: Opcode, payload: RawSpan, dialect: Dialect = .assumed) {
    self.type = type
    self.opcode = opcode
    trailing = []
    func bytes() -> [UInt8] { unsafe payload.withUnsafeBytes { unsafe Array($0) } }
    let key = MessageCatalog.Key(type: type, opcode: opcode)
    guard let known = MessageCatalog.payload(of: key, dialect: dialect) else {
      content = .opaque(bytes(), nil)
      return
    }
    var reader = PayloadReader(payload)
    do {
      content = .payload(try known.init(from: &reader, dialect: dialect))
      trailing = reader.rest()
    } catch {
      content = .opaque(bytes(), error)
    }
  }

  /// Reads one unsegmented packet, header included.
  ///
  /// - Throws: `PayloadError` when the bytes are not exactly one packet. Its contents never throw.
  package init(packet: [UInt8], dialect: Dialect = .assumed) throws(PayloadError) {
    let bytes = unsafe packet.span.bytes
    var header = try PacketHeader(parsing: bytes, dataLengthInByte3: dialect.dataLengthInByte3)
    let announced = PacketHeader.length + header.payloadLength
    if bytes.byteCount != announced {
      guard header.hasShortLength(of: bytes) else {
        throw bytes.byteCount < announced
          ? PayloadError.tooShort(
            field: "packet", needed: announced, available: bytes.byteCount)
          : PayloadError.invalid(
            field: "packet",
            reason:
              "its header announces \(counted(announced, "byte")), there are \(bytes.byteCount)")
      }
      header.payloadLength = bytes.byteCount - PacketHeader.length
    }
    self.init(
      type: header.type, opcode: header.opcode,
      payload: bytes.extracting(PacketHeader.length..<bytes.byteCount), dialect: dialect)
  }

  /// Returns the payload, encoded again.
  public func payload(dialect: Dialect = .assumed) -> [UInt8] {
    var writer = PayloadWriter()
    switch content {
    case .payload(let payload): payload.encode(into: &writer, dialect: dialect)
    case .opaque(let bytes, _): writer.bytes(bytes)
    }
    writer.bytes(trailing)
    return writer.bytes
  }

  /// The status of a response; nil for everything else and for responses without one.
  public var status: Status? {
    switch content {
    case .payload(let payload): (payload as? any UCIResponse)?.status
    case .opaque(let bytes, _): type == .response ? bytes.first.map { Status(rawValue: $0) } : nil
    }
  }
}
