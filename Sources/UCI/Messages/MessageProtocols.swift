// SPDX-License-Identifier: Apache-2.0

/// A payload with a known layout, readable and writable.
///
/// Decoding leaves bytes it does not know in the reader; `Message` keeps them. Whatever was
/// decoded encodes to the same bytes again.
public protocol UCIPayload: Sendable {
  /// Reads the fields from the front of a payload.
  init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError)
  /// Writes the fields.
  func encode(into writer: inout PayloadWriter, dialect: Dialect)
}

/// What the host asks of the chip.
public protocol UCICommand: UCIPayload {
  /// What the chip answers with.
  associatedtype Response: UCIResponse
  /// Group and opcode, shared with the response.
  static var opcode: Opcode { get }
  /// Whether sending it twice does the same as sending it once, so that it may be repeated after a
  /// timeout.
  static var isIdempotent: Bool { get }
}

extension UCICommand {
  /// Reading something can be repeated; whatever is not a question has to say so itself.
  public static var isIdempotent: Bool { false }
}

/// What the chip answers.
public protocol UCIResponse: UCIPayload {
  /// Whether the chip did what it was asked.
  var status: Status { get }
}

/// What the chip says on its own.
public protocol UCINotification: UCIPayload {
  /// Group and opcode.
  static var opcode: Opcode { get }
}

/// A response that is nothing but its status.
public struct StatusResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status

  /// From a status.
  public init(status: Status) { self.status = status }

  /// One byte.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
  }

  /// One byte.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
  }
}

extension UCIPayload {
  /// The payload as bytes.
  public func encoded(dialect: Dialect = .assumed) -> [UInt8] {
    var writer = PayloadWriter()
    encode(into: &writer, dialect: dialect)
    return writer.bytes
  }

  /// Reads a whole payload; bytes behind the known layout are ignored.
  public init(decoding payload: [UInt8], dialect: Dialect = .assumed) throws(PayloadError) {
    var reader = unsafe PayloadReader(payload.span.bytes)
    try self.init(from: &reader, dialect: dialect)
  }
}
