// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Reads a value out of all the bytes: too few and too many are errors.
func decoded<Value>(
  _ bytes: [UInt8], _ read: (inout PayloadReader) throws(PayloadError) -> Value
) throws(AccessoryProtocolError) -> Value {
  do throws(PayloadError) {
    var reader = PayloadReader(bytes.span.bytes)
    let value = try read(&reader)
    guard reader.remaining == 0 else {
      throw .invalid(field: "length", reason: "is \(reader.remaining) bytes too much")
    }
    return value
  } catch {
    switch error {
    case .tooShort(let field, let needed, let available):
      throw .invalidConfiguration(
        field: field, reason: "is cut off: bytes needed \(needed), bytes there \(available)")
    case .invalid(let field, let reason):
      throw .invalidConfiguration(field: field, reason: reason)
    }
  }
}

extension PayloadReader {
  /// One byte, 0 or 1.
  mutating func flag(_ field: String) throws(PayloadError) -> Bool {
    let value = try u8(field)
    guard value <= 1 else { throw .invalid(field: field, reason: "is \(value), neither 0 nor 1") }
    return value == 1
  }
}
