// SPDX-License-Identifier: Apache-2.0

/// A parameter on the wire: a byte with the identifier, a byte with the length, and the value.
public struct TLV: Hashable, Sendable {
  /// The number of the parameter; its meaning depends on the message.
  public var id: UInt8
  /// Second byte of the identifier, for the device parameters of NXP that have two bytes.
  public var subID: UInt8?
  /// The bytes of the value, at most 255.
  public var value: [UInt8]

  /// Creates a parameter with its value in the order of the wire.
  public init(_ id: UInt8, _ value: [UInt8], subID: UInt8? = nil) {
    self.id = id
    self.subID = subID
    self.value = value
  }

  /// The value as an unsigned little-endian number; nil when it is empty or longer than 8 bytes.
  public var integer: UInt64? {
    (1...8).contains(value.count) ? UInt64(littleEndianBytes: value) : nil
  }
}

extension PayloadReader {
  /// Reads a count and its parameters; identifiers in `twoByteIDs` have a second byte.
  @_lifetime(self: copy self)
  package mutating func tlvs(
    _ field: String, twoByteIDs: ClosedRange<UInt8>? = nil
  ) throws(PayloadError) -> [TLV] {
    let count = try u8("\(field) count")
    var list: [TLV] = []
    // A parameter has at least two bytes, which limits their number.
    list.reserveCapacity(min(Int(count), remaining / 2))
    for index in 0..<Int(count) {
      let id = try u8("\(field)[\(index)] id")
      let isLong = twoByteIDs?.contains(id) ?? false
      let subID: UInt8? = isLong ? try u8("\(field)[\(index)] sub id") : nil
      let length = try u8("\(field)[\(index)] length")
      list.append(TLV(id, try bytes(Int(length), "\(field)[\(index)] value"), subID: subID))
    }
    return list
  }

  /// Reads a count and its parameters. On NXP chips, parameters numbered 0xE3…0xE5 can have
  /// identifiers of two bytes.
  ///
  /// No byte states the length of an identifier. Both lengths are tried, and the first one with
  /// which the parameters end exactly with the payload applies. The dialect determines which length
  /// is tried first.
  @_lifetime(self: copy self)
  mutating func tlvs(
    _ field: String, longIDsFirst: Bool
  ) throws(PayloadError) -> [TLV] {
    let forms: [ClosedRange<UInt8>?] = longIDsFirst ? [0xE4...0xE5, nil] : [nil, 0xE3...0xE5]
    for form in forms {
      var attempt = self
      if let list = try? attempt.tlvs(field, twoByteIDs: form), attempt.remaining == 0 {
        self = attempt
        return list
      }
    }
    return try tlvs(field, twoByteIDs: forms[0])
  }
}
