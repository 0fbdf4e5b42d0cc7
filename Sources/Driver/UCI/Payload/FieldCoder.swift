// SPDX-License-Identifier: Apache-2.0

/// Visits the fields of a message in their order on the wire. A message describes its fields once,
/// in `FieldGroup.visit`; reading, writing and listing are coders that visit them.
///
/// Only reading throws. Requirements that most coders implement alike have a default.
package protocol FieldCoder: ~Escapable {
  /// Chooses between layouts that differ from chip to chip.
  var dialect: Dialect { get }
  /// Whether fields are read from a message. Before that, the values of the fields are meaningless.
  var isReading: Bool { get }
  /// Bytes that have been read; 0 for coders that do not read.
  var position: Int { get }

  /// Codes a little-endian number of `width` bytes.
  @_lifetime(self: copy self)
  mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: StaticString, _ value: inout T, width: Int, _ form: () -> FieldForm
  ) throws(PayloadError)
  /// Codes bytes in the order given.
  @_lifetime(self: copy self)
  mutating func bytes(
    _ name: StaticString, _ value: inout [UInt8], _ count: FieldCount, _ form: () -> FieldForm
  ) throws(PayloadError)
  /// Codes elements of several fields each. `blank` is an element to read into.
  @_lifetime(self: copy self)
  mutating func list<E>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount, blank: E,
    _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError)

  /// Codes elements of one field each.
  @_lifetime(self: copy self)
  mutating func values<E>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount, blank: E,
    _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError)
  /// Codes a value of an open set; unknown values are kept.
  @_lifetime(self: copy self)
  mutating func code<T: WireCode>(_ name: StaticString, _ value: inout T) throws(PayloadError)
  /// Codes fields that belong together under a name.
  @_lifetime(self: copy self)
  mutating func group<G: FieldGroup>(_ name: StaticString, _ value: inout G) throws(PayloadError)
  /// Codes an address of two or eight bytes.
  @_lifetime(self: copy self)
  mutating func address(
    _ name: StaticString, _ value: inout MACAddress, extended: Bool
  ) throws(PayloadError)
  /// Codes an optional value; `isPresent` decides from the remaining bytes whether it is read.
  @_lifetime(self: copy self)
  mutating func optional<V>(
    _ name: StaticString, _ value: inout V?, blank: V, _ absence: FieldAbsence,
    _ isPresent: (_ remaining: Int) -> Bool,
    _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError)
  /// Codes the fields after the status of a response. The fields may be missing, unless the status
  /// is OK and they are mandatory (`isMandatory`). Chips append stray bytes to errors, so bytes of
  /// another layout are ignored after an error.
  @_lifetime(self: copy self)
  mutating func afterStatus<V>(
    _ status: Status, _ value: inout V?, blank: V, isMandatory: Bool,
    _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError)
  /// Codes fields with one of several layouts that the payload does not name. The first layout that
  /// ends with the payload is read, or else the first layout that can be read.
  @_lifetime(self: copy self)
  mutating func form<F>(
    _ form: inout F, oneOf forms: [F], _ body: (inout Self, F) throws(PayloadError) -> Void
  ) throws(PayloadError)
  /// Codes fields that may have another layout. Returns false, with nothing read, if they have
  /// another layout.
  @_lifetime(self: copy self)
  mutating func attempt(
    _ body: (inout Self) throws(PayloadError) -> Void
  ) throws(PayloadError) -> Bool
  /// Returns whether a part without a marker is present: `current`, or when reading, the result of
  /// `reading` for the remaining bytes.
  @_lifetime(self: copy self)
  mutating func holds(_ current: Bool, reading: (_ remaining: Int) -> Bool) -> Bool
  /// Codes parameters after a byte with their number.
  @_lifetime(self: copy self)
  mutating func parameters(
    _ name: StaticString, _ list: inout [TLV], _ space: ParameterSpace
  ) throws(PayloadError)
  /// Codes the identifier of a parameter.
  @_lifetime(self: copy self)
  mutating func parameterID(
    _ id: inout UInt8, _ subID: inout UInt8?, _ space: ParameterSpace, isLong: (UInt8) -> Bool
  ) throws(PayloadError)
  /// Checks a condition without which the rest cannot be found.
  @_lifetime(self: copy self)
  mutating func require(
    _ condition: Bool, _ field: StaticString, _ reason: @autoclosure () -> String
  ) throws(PayloadError)
}

/// Fields in their order on the wire.
package protocol FieldGroup {
  init()
  /// Passes every field to a coder. Throws only errors of the coder.
  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError)
}

/// A number with a meaning. Unknown numbers are kept.
package protocol WireCode: RawRepresentable, Sendable
where RawValue: FixedWidthInteger & BitwiseCopyable {
  init(rawValue: RawValue)
}

/// The way in which the number of elements or bytes is determined.
package enum FieldCount: Sendable {
  /// The number is in the byte before the elements.
  case u8
  /// The number is in the two bytes before the elements.
  case u16
  /// Other fields determine the number.
  case exactly(Int)
  /// All elements up to the end of the payload.
  case rest
  /// All elements of this size up to the end of the payload.
  case fitting(Int)
}

/// The meaning of a number or bytes, for coders that list them.
package enum FieldForm: Sendable {
  case plain
  /// A field that is part of the layout, and is not listed.
  case hidden
  /// Names for the numbers from 0, and for other numbers.
  case names([String], others: [UInt8: String] = [:])
  /// A bit with names for its values.
  case bit(Int, [String])
  /// The number divided by this.
  case scaled(Double)
  /// Yes or no.
  case flag
  case shortAddress
  /// An address in the space of an extended one.
  case anyAddress
  case nxpCalibration
  case text
  case secret
}

/// The way in which a list of fields shows an absent value.
package enum FieldAbsence: Sendable {
  case null
  case omitted
}

/// The meaning of the identifiers of parameters.
package enum ParameterSpace: Sendable {
  case app
  case nxpApp
  case device
  case test
  case radar
  case capabilities
  /// Results of a test, with their names.
  case results([UInt8: String])
  /// The parameters of the answered command, or the given ones if the command is unknown.
  indirect case asked(else: ParameterSpace)

  /// Resolves `asked` by the opcode of the response.
  package func answering(_ opcode: Opcode?) -> ParameterSpace {
    guard case .asked(let fallback) = self else { return self }
    return switch opcode {
    case .sessionSetAppConfig, .sessionGetAppConfig: .app
    case .coreGetCapsInfo: .capabilities
    case TestConfigSet.opcode, TestConfigGet.opcode: .test
    case AndroidRadarSetAppConfig.opcode, AndroidRadarGetAppConfig.opcode: .radar
    case NXPSetAppConfig.opcode, NXPGetAppConfig.opcode: .nxpApp
    default: fallback
    }
  }
}

extension FieldCoder where Self: ~Escapable {
  package var isReading: Bool { false }
  package var position: Int { 0 }

  @_lifetime(self: copy self)
  package mutating func values<E>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount, blank: E,
    _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    try list(name, &value, count, blank: blank, body)
  }

  @_lifetime(self: copy self)
  package mutating func code<T: WireCode>(
    _ name: StaticString, _ value: inout T
  ) throws(PayloadError) {
    var raw = value.rawValue
    try field(name, &raw)
    value = T(rawValue: raw)
  }

  @_lifetime(self: copy self)
  package mutating func group<G: FieldGroup>(
    _ name: StaticString, _ value: inout G
  ) throws(PayloadError) {
    try value.visit(&self)
  }

  @_lifetime(self: copy self)
  package mutating func address(
    _ name: StaticString, _ value: inout MACAddress, extended: Bool
  ) throws(PayloadError) {
    var number = value.value
    try integer(name, &number, width: extended ? 8 : 2) { .anyAddress }
    value = MACAddress(number, isExtended: extended)
  }

  @_lifetime(self: copy self)
  package mutating func optional<V>(
    _ name: StaticString, _ value: inout V?, blank: V, _ absence: FieldAbsence,
    _ isPresent: (_ remaining: Int) -> Bool,
    _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    guard var present = value else { return }
    try body(&self, &present)
    value = present
  }

  @_lifetime(self: copy self)
  package mutating func afterStatus<V>(
    _ status: Status, _ value: inout V?, blank: V, isMandatory: Bool,
    _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    try optional("", &value, blank: blank, .omitted, { _ in isMandatory }, body)
  }

  @_lifetime(self: copy self)
  package mutating func form<F>(
    _ form: inout F, oneOf forms: [F], _ body: (inout Self, F) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    try body(&self, form)
  }

  @_lifetime(self: copy self)
  package mutating func attempt(
    _ body: (inout Self) throws(PayloadError) -> Void
  ) throws(PayloadError) -> Bool {
    try body(&self)
    return true
  }

  @_lifetime(self: copy self)
  package mutating func holds(_ current: Bool, reading: (_ remaining: Int) -> Bool) -> Bool {
    current
  }

  @_lifetime(self: copy self)
  package mutating func parameters(
    _ name: StaticString, _ list: inout [TLV], _ space: ParameterSpace
  ) throws(PayloadError) {
    try self.list(name, &list, .u8, blank: TLV(0, [])) { c, tlv throws(PayloadError) in
      try c.parameterID(&tlv.id, &tlv.subID, space) { _ in false }
      try c.bytes(name, &tlv.value, .u8)
    }
  }

  @_lifetime(self: copy self)
  package mutating func parameterID(
    _ id: inout UInt8, _ subID: inout UInt8?, _ space: ParameterSpace, isLong: (UInt8) -> Bool
  ) throws(PayloadError) {
    try field("id", &id)
    let hasSubID = isReading ? isLong(id) : subID != nil
    try optional("sub_id", &subID, if: hasSubID)
  }

  @_lifetime(self: copy self)
  package mutating func require(
    _ condition: Bool, _ field: StaticString, _ reason: @autoclosure () -> String
  ) throws(PayloadError) {}
}

// Shorter forms of the requirements, for the descriptions of messages.
extension FieldCoder where Self: ~Escapable {
  /// Codes a little-endian number.
  @_lifetime(self: copy self)
  package mutating func field<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: StaticString, _ value: inout T, _ form: @autoclosure () -> FieldForm = .plain
  ) throws(PayloadError) {
    try integer(name, &value, width: MemoryLayout<T>.size, form)
  }

  /// Codes bytes in the order given.
  @_lifetime(self: copy self)
  package mutating func bytes(
    _ name: StaticString, _ value: inout [UInt8], _ count: FieldCount,
    _ form: @autoclosure () -> FieldForm = .plain
  ) throws(PayloadError) {
    try bytes(name, &value, count, form)
  }

  /// Codes groups of fields.
  @_lifetime(self: copy self)
  package mutating func list<E: FieldGroup>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount = .u8
  ) throws(PayloadError) {
    try list(name, &value, count, blank: E()) { c, element throws(PayloadError) in
      try element.visit(&c)
    }
  }

  /// Codes numbers.
  @_lifetime(self: copy self)
  package mutating func numbers<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: StaticString, _ value: inout [T], _ count: FieldCount = .u8,
    _ form: @autoclosure () -> FieldForm = .plain
  ) throws(PayloadError) {
    try values(name, &value, count, blank: 0) { c, number throws(PayloadError) in
      try c.field(name, &number, form())
    }
  }

  /// Codes a number if the payload has room for it.
  @_lifetime(self: copy self)
  package mutating func optional<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: StaticString, _ value: inout T?, _ form: @autoclosure () -> FieldForm = .plain,
    absent: FieldAbsence = .null
  ) throws(PayloadError) {
    try optional(
      name, &value, blank: 0, absent, { $0 >= MemoryLayout<T>.size }
    ) { c, value throws(PayloadError) in try c.field(name, &value, form()) }
  }

  /// Codes a number whose presence depends on another field.
  @_lifetime(self: copy self)
  package mutating func optional<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: StaticString, _ value: inout T?, if isPresent: Bool, width: Int? = nil,
    absent: FieldAbsence = .null
  ) throws(PayloadError) {
    if !isReading { value = isPresent ? value ?? 0 : nil }
    try optional(
      name, &value, blank: 0, absent, { _ in isPresent }
    ) { c, value throws(PayloadError) in
      try c.integer(name, &value, width: width ?? MemoryLayout<T>.size) { .plain }
    }
  }

  /// Codes an element of type `WireCode` if the payload has room for it.
  @_lifetime(self: copy self)
  package mutating func optional<T: WireCode>(
    _ name: StaticString, _ value: inout T?
  ) throws(PayloadError) {
    try optional(
      name, &value, blank: T(rawValue: 0), .null, { $0 >= MemoryLayout<T.RawValue>.size }
    ) { c, value throws(PayloadError) in try c.code(name, &value) }
  }

  /// Codes a list after a status.
  @_lifetime(self: copy self)
  package mutating func afterStatus<E>(
    _ status: Status, _ value: inout [E]?,
    _ body: (inout Self, inout [E]) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    try afterStatus(status, &value, blank: [], isMandatory: false, body)
  }

  /// Codes numbers of four bytes with a name each; fewer if the payload ends early.
  @_lifetime(self: copy self)
  package mutating func counters(
    _ names: [StaticString], _ values: inout [UInt32]
  ) throws(PayloadError) {
    for (index, name) in names.enumerated() {
      let known = index < values.count
      guard holds(known, reading: { $0 >= 4 }) else { return }
      var value = known ? values[index] : 0
      try field(name, &value)
      if known { values[index] = value } else { values.append(value) }
    }
  }
}
