// SPDX-License-Identifier: Apache-2.0

struct FieldReader: FieldCoder, ~Escapable {
  var reader: PayloadReader
  let dialect: Dialect
  /// The ranges of key material that have been found; nil if they are not wanted.
  var secrets: [Range<Int>]?
  /// The opcode of the message being read, which finding key material needs.
  private let opcode: Opcode?

  @_lifetime(copy reader)
  init(_ reader: PayloadReader, _ dialect: Dialect, findingKeysIn opcode: Opcode? = nil) {
    self.reader = reader
    self.dialect = dialect
    self.opcode = opcode
    secrets = opcode == nil ? nil : []
  }

  var isReading: Bool { true }
  var position: Int { reader.offset }

  @_lifetime(self: copy self)
  mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: StaticString, _ value: inout T, width: Int, _ form: () -> FieldForm
  ) throws(PayloadError) {
    value = try reader.integer("\(name)", width: width)
  }

  @_lifetime(self: copy self)
  mutating func bytes(
    _ name: StaticString, _ value: inout [UInt8], _ count: FieldCount, _ form: () -> FieldForm
  ) throws(PayloadError) {
    let count = try number(name, count) ?? reader.remaining
    let start = reader.offset
    value = try reader.bytes(count, "\(name)")
    if secrets != nil, case .secret = form() { note(start..<reader.offset) }
  }

  @_lifetime(self: copy self)
  private mutating func note(_ range: Range<Int>) {
    if !range.isEmpty { secrets?.append(range) }
  }

  /// Returns the number of elements; nil for elements up to the end.
  @_lifetime(self: copy self)
  private mutating func number(
    _ name: StaticString, _ count: FieldCount
  ) throws(PayloadError) -> Int? {
    switch count {
    case .u8: Int(try reader.integer("\(name)") as UInt8)
    case .u16: Int(try reader.integer("\(name)") as UInt16)
    case .exactly(let count): count
    case .fitting(let size): reader.remaining / size
    case .rest: nil
    }
  }

  @_lifetime(self: copy self)
  mutating func list<E>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount, blank: E,
    _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    let count = try number(name, count)
    value.removeAll()
    while count.map({ value.count < $0 }) ?? (reader.remaining > 0) {
      var element = blank
      try body(&self, &element)
      value.append(element)
    }
  }

  @_lifetime(self: copy self)
  mutating func optional<V>(
    _ name: StaticString, _ value: inout V?, blank: V, _ absence: FieldAbsence,
    _ isPresent: (_ remaining: Int) -> Bool,
    _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    value = nil
    guard isPresent(reader.remaining) else { return }
    var present = blank
    try body(&self, &present)
    value = present
  }

  @_lifetime(self: copy self)
  mutating func afterStatus<V>(
    _ status: Status, _ value: inout V?, blank: V, isMandatory: Bool,
    _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    value = nil
    guard reader.remaining > 0 || isMandatory && status == .ok else { return }
    var present = blank
    if status == .ok {
      try body(&self, &present)
    } else {
      guard attempt({ c throws(PayloadError) in try body(&c, &present) }) else { return }
    }
    value = present
  }

  @_lifetime(self: copy self)
  mutating func attempt(_ body: (inout Self) throws(PayloadError) -> Void) -> Bool {
    let start = reader
    if (try? body(&self)) != nil { return true }
    reader = start
    return false
  }

  @_lifetime(self: copy self)
  mutating func form<F>(
    _ form: inout F, oneOf forms: [F], _ body: (inout Self, F) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    let start = reader
    for mustEnd in [true, false] {
      for candidate in forms {
        reader = start
        guard (try? body(&self, candidate)) != nil, !mustEnd || reader.remaining == 0 else {
          continue
        }
        form = candidate
        return
      }
    }
    reader = start
    try body(&self, forms[0])
  }

  @_lifetime(self: copy self)
  mutating func holds(_ current: Bool, reading: (_ remaining: Int) -> Bool) -> Bool {
    reading(reader.remaining)
  }

  @_lifetime(self: copy self)
  mutating func parameters(
    _ name: StaticString, _ list: inout [TLV], _ space: ParameterSpace
  ) throws(PayloadError) {
    if secrets != nil { findKeys(in: space.answering(opcode)) }
    if case .results = space {
      list = try reader.tlvs("\(name)")
      return
    }
    var longIDsFirst = false
    if case .device = space { longIDsFirst = dialect.twoByteConfigIDs != nil }
    list = try reader.tlvs("\(name)", longIDsFirst: longIDsFirst)
  }

  @_lifetime(self: copy self)
  mutating func require(
    _ condition: Bool, _ field: StaticString, _ reason: @autoclosure () -> String
  ) throws(PayloadError) {
    guard condition else { throw PayloadError.invalid(field: "\(field)", reason: reason()) }
  }
}

// The positions of keys among parameters.
extension FieldReader {
  /// Finds the keys among parameters. The length of an identifier is not marked, so a value counts
  /// as secret if any reading of the list makes it secret. A list is secret as a whole if it has no
  /// reading that ends with the payload.
  @_lifetime(self: copy self)
  private mutating func findKeys(in space: ParameterSpace) {
    var readings: [[Range<Int>]] = []
    switch space {
    case .app:
      readings = [nil, 0xE3...0xE5, 0xE4...0xE5].compactMap {
        keys(longIDs: $0) { AppConfigID(rawValue: $0).isSecret }
      }
    case .nxpApp:
      readings = [keys(longIDs: nil) { KeyMaterialLocation.nxpAppConfig.contains($0) }].compactMap(
        \.self)
    default: return
    }
    if readings.isEmpty { note(reader.offset..<reader.offset + reader.remaining) }
    for range in readings.joined() { note(range) }
  }

  /// Returns the values of secret parameters; nil when the list does not end with the payload.
  private func keys(
    longIDs: ClosedRange<UInt8>?, isSecret: (UInt8) -> Bool
  ) -> [Range<Int>]? {
    var reader = reader
    var secrets: [Range<Int>] = []
    do throws(PayloadError) {
      for _ in 0..<Int(try reader.u8("count")) {
        let id = try reader.u8("id")
        let isLong = longIDs?.contains(id) == true
        if isLong { try reader.skip(1, "sub id") }
        let length = Int(try reader.u8("length"))
        // The contents of NXP's parameters with identifiers of two bytes are unknown.
        if isLong || isSecret(id) { secrets.append(reader.offset..<reader.offset + length) }
        try reader.skip(length, "value")
      }
    } catch { return nil }
    return reader.remaining == 0 ? secrets : nil
  }
}

extension UCIPayload {
  /// Reads the fields; throws `PayloadError` where the payload does not have their layout.
  package init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    self.init()
    var coder = FieldReader(reader, dialect)
    try visit(&coder)
    reader = coder.reader
  }

  package init(decoding payload: [UInt8], dialect: Dialect = .assumed) throws(PayloadError) {
    var reader = unsafe PayloadReader(payload.span.bytes)
    try self.init(from: &reader, dialect: dialect)
  }
}
