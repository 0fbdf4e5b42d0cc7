// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Decodes a value that takes up all the bytes.
func decoded<Value>(
  _ bytes: [UInt8], _ read: (inout PayloadReader) throws(PayloadError) -> Value
) throws(AccessoryError) -> Value {
  do throws(PayloadError) {
    var reader = PayloadReader(bytes.span.bytes)
    let value = try read(&reader)
    guard reader.remaining == 0 else {
      throw .invalid(field: "length", reason: "is \(reader.remaining) bytes too long")
    }
    return value
  } catch {
    switch error {
    case .tooShort(let field, let needed, let available):
      throw AccessoryError(
        .invalidConfiguration(
          field: field, reason: "is cut off: it has \(available) of \(needed) bytes"))
    case .invalid(let field, let reason):
      throw AccessoryError(.invalidConfiguration(field: field, reason: reason))
    }
  }
}

extension PayloadReader {
  /// Reads one byte, 0 or 1.
  mutating func flag(_ field: String) throws(PayloadError) -> Bool {
    let value = try u8(field)
    guard value <= 1 else { throw .invalid(field: field, reason: "is \(value), neither 0 nor 1") }
    return value == 1
  }
}
