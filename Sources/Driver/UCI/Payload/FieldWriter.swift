// SPDX-License-Identifier: Apache-2.0

/// Writes fields. More elements or bytes than their count can express are a programming error.
struct FieldWriter: FieldCoder {
  var writer: PayloadWriter
  let dialect: Dialect

  mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: StaticString, _ value: inout T, width: Int, _ form: () -> FieldForm
  ) throws(PayloadError) {
    writer.integer(value, width: width)
  }

  mutating func bytes(
    _ name: StaticString, _ value: inout [UInt8], _ count: FieldCount, _ form: () -> FieldForm
  ) throws(PayloadError) {
    number(value.count, count)
    writer.bytes(value)
  }

  mutating func list<E>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount, blank: E,
    _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    number(value.count, count)
    for var element in value { try body(&self, &element) }
  }

  private mutating func number(_ number: Int, _ count: FieldCount) {
    switch count {
    case .u8: writer.u8(UInt8(number))
    case .u16: writer.u16(UInt16(number))
    case .exactly, .rest, .fitting: break
    }
  }
}

extension UCIPayload {
  package func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    var coder = FieldWriter(writer: writer, dialect: dialect)
    var fields = self
    do throws(PayloadError) {
      try fields.visit(&coder)
    } catch {
      preconditionFailure("writing does not throw: \(error)")
    }
    writer = coder.writer
  }

  package func encoded(dialect: Dialect = .assumed) -> [UInt8] {
    var writer = PayloadWriter()
    encode(into: &writer, dialect: dialect)
    return writer.bytes
  }
}
