// SPDX-License-Identifier: Apache-2.0
package import UCI

/// Configuration data of an accessory or an app.
package protocol ConfigurationData: UCIPayload {}

extension ConfigurationData {
  /// Decodes data without the message identifier before it.
  ///
  /// - Throws: `AccessoryError` with the code `.invalidConfiguration`, which names the field.
  package init(_ bytes: [UInt8]) throws(AccessoryError) {
    do throws(PayloadError) {
      var reader = unsafe PayloadReader(bytes.span.bytes)
      self = try Self(from: &reader, dialect: .assumed)
      guard reader.remaining == 0 else {
        throw .invalid(field: "length", reason: "is \(counted(reader.remaining, "byte")) too long")
      }
    } catch {
      switch error {
      case .tooShort(let field, let needed, let available):
        throw AccessoryError(
          .invalidConfiguration(
            field: field, reason: "is cut off: it has \(available) of \(counted(needed, "byte"))"))
      case .invalid(let field, let reason):
        throw AccessoryError(.invalidConfiguration(field: field, reason: reason))
      }
    }
  }

  /// The encoded data. The data of an app contains key material.
  package var bytes: [UInt8] { encoded() }
}

extension FieldCoder where Self: ~Escapable {
  @_lifetime(self: copy self)
  mutating func version(
    _ name: StaticString, _ value: inout ConfigurationVersion
  ) throws(PayloadError) {
    var (major, minor) = (value.major, value.minor)
    try field(name, &major)
    try field(name, &minor)
    let known = ConfigurationVersion.allCases.first { $0.major == major && $0.minor == minor }
    try require(known != nil, name, "is \(major).\(minor), not 1.0, 1.1 or 2.0")
    value = known ?? value
  }

  /// Codes the length in bytes that a version requires.
  @_lifetime(self: copy self)
  mutating func length(
    _ name: StaticString, _ expected: UInt8, in version: ConfigurationVersion
  ) throws(PayloadError) {
    var length = expected
    try field(name, &length)
    try require(
      length == expected, name, "is \(length), not \(expected) as in version \(version)")
  }

  @_lifetime(self: copy self)
  mutating func flag(_ name: StaticString, _ value: inout Bool) throws(PayloadError) {
    var byte: UInt8 = value ? 1 : 0
    try field(name, &byte)
    try require(byte <= 1, name, "is \(byte), neither 0 nor 1")
    value = byte == 1
  }

  /// Codes bytes that are sent as 0 and not evaluated.
  @_lifetime(self: copy self)
  mutating func reserved(_ count: Int) throws(PayloadError) {
    var bytes = [UInt8](repeating: 0, count: count)
    try self.bytes("reserved", &bytes, .exactly(count))
  }
}
