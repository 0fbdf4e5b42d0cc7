// SPDX-License-Identifier: Apache-2.0

import UCI
import UCITestSupport

/// A generator with a seed, so that a failure can be reproduced. (SplitMix64.)
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Gives every field of a message a random value. Throws if the values contradict each other.
struct FieldRandomiser: FieldCoder {
  let dialect: Dialect
  var generator: SeededGenerator
  /// The number of bytes of the fields so far on the wire.
  private(set) var position = 0
  /// Whether more than one layout fits some of these fields.
  private(set) var isAmbiguous = false

  init(seed: UInt64, dialect: Dialect) {
    generator = SeededGenerator(state: seed)
    self.dialect = dialect
  }

  var isReading: Bool { true }

  private mutating func random(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }
  private mutating func chance() -> Bool { Bool.random(using: &generator) }

  mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: StaticString, _ value: inout T, width: Int, _ form: () -> FieldForm
  ) {
    position += width
    let bits = generator.next() >> UInt64(64 - 8 * max(width, 1))
    // Small numbers have a meaning, and are also counts of the following elements.
    var isSmall = chance()
    if case .hidden = form() { isSmall = true }
    value = T(truncatingIfNeeded: width == 0 ? 0 : isSmall ? bits & 3 : bits)
  }

  mutating func bytes(
    _ name: StaticString, _ value: inout [UInt8], _ count: FieldCount, _ form: () -> FieldForm
  ) throws(PayloadError) {
    let count = try number(count)
    value = (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    position += count
  }

  private mutating func number(_ count: FieldCount) throws(PayloadError) -> Int {
    switch count {
    case .u8: position += 1
    case .u16: position += 2
    case .exactly(let count):
      try require(count < 2_000, "count", "too many")
      return count
    case .rest, .fitting: break
    }
    return random(0...5)
  }

  mutating func list<E>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount, blank: E,
    _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    value = Array(repeating: blank, count: try number(count))
    for index in value.indices { try body(&self, &value[index]) }
  }

  mutating func code<T: WireCode>(_ name: StaticString, _ value: inout T) throws(PayloadError) {
    var raw = T(rawValue: 0).rawValue
    try field(name, &raw)
    // Successes in half of the responses, known types of measurements in most of them.
    if T.self == Status.self, chance() { raw = 0 }
    if T.self == MeasurementType.self, chance() { raw = [0, 1, 2, 3, 6][random(0...4)] }
    value = T(rawValue: raw)
  }

  mutating func optional<V>(
    _ name: StaticString, _ value: inout V?, blank: V, _ absence: FieldAbsence,
    _ isPresent: (_ remaining: Int) -> Bool,
    _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    value = nil
    guard isPresent(.max), isPresent(0) || chance() else { return }
    var present = blank
    try body(&self, &present)
    value = present
  }

  mutating func afterStatus<V>(
    _ status: Status, _ value: inout V?, blank: V, isMandatory: Bool,
    _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    value = nil
    guard isMandatory && status == .ok || chance() else { return }
    var present = blank
    try body(&self, &present)
    value = present
  }

  mutating func form<F>(
    _ form: inout F, oneOf forms: [F], _ body: (inout Self, F) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    isAmbiguous = true
    form = forms[random(0...forms.count - 1)]
    try body(&self, form)
  }

  mutating func holds(_ current: Bool, reading: (_ remaining: Int) -> Bool) -> Bool { chance() }

  mutating func parameters(
    _ name: StaticString, _ list: inout [TLV], _ space: ParameterSpace
  ) throws(PayloadError) {
    var longIDs: ClosedRange<UInt8>?
    if case .device = space { longIDs = dialect.twoByteConfigIDs }
    try self.list(name, &list, .u8, blank: TLV(0, [])) { c, tlv throws(PayloadError) in
      try c.parameterID(&tlv.id, &tlv.subID, space) { longIDs?.contains($0) ?? false }
      // The other fields do not show which identifiers have two bytes.
      if tlv.subID == nil, (0xE3...0xE5).contains(tlv.id) { tlv.id = 0x45 }
      try c.bytes(name, &tlv.value, .u8)
    }
  }

  mutating func parameterID(
    _ id: inout UInt8, _ subID: inout UInt8?, _ space: ParameterSpace, isLong: (UInt8) -> Bool
  ) throws(PayloadError) {
    try field("id", &id)
    // Keys are rare among random identifiers.
    if random(0...3) == 0 { id = chance() ? AppConfigID.sessionKey.rawValue : 0x79 }
    if isLong(0xE4), chance() { id = 0xE4 }
    try optional("sub_id", &subID, if: isLong(id))
  }

  mutating func require(
    _ condition: Bool, _ field: StaticString, _ reason: @autoclosure () -> String
  ) throws(PayloadError) {
    guard condition else { throw .invalid(field: "\(field)", reason: reason()) }
  }
}

extension FieldRandomiser {
  /// A message of a kind with random values.
  static func message<P: UCIPayload>(
    of type: P.Type, seed: UInt64, dialect: Dialect
  ) -> (payload: P, isAmbiguous: Bool) {
    var seed = seed
    while true {
      var randomiser = FieldRandomiser(seed: seed, dialect: dialect)
      var payload = P()
      if (try? payload.visit(&randomiser)) != nil { return (payload, randomiser.isAmbiguous) }
      seed &+= 0x1_0000_0000
    }
  }
}
