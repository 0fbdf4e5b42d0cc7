// SPDX-License-Identifier: Apache-2.0

import UCI

/// A call of a coder, without the number that varies from message to message.
enum LayoutCall: Hashable {
  case integer(String, form: String, isSigned: Bool)
  case code(String, table: String)
  case bytes(String, form: String, count: String)
  case list(String, count: String, view: String, isPlain: Bool)
  case group(String, view: String)
  case optional(String, isListed: Bool, comparison: String)
  case afterStatus(isMandatory: Bool)
  case form(Int)
  case attempt
  case holds(comparison: String)
  case parameters(String, space: String)
  case parameterID(space: String, longIDs: String)
  case require(String)
  case end
}

/// A call of a coder with its number: a width, a count, or a number of remaining bytes.
struct LayoutStep: Hashable {
  var call: LayoutCall
  var number = 0
}

/// The values and decisions of a run, by the index of their step.
typealias LayoutScript = [Int: UInt64]

/// Records the calls of a message's `visit`, and gives it the values of a script to read.
///
/// Values are 0 without a script, optional parts are present, the first form is read, and each list
/// has one element.
struct LayoutProbe: FieldCoder {
  /// The results that all runs of a message share.
  final class Notes {
    /// The names of codes as Lua, by type.
    var tables: [String: String] = [:]
  }

  let script: LayoutScript
  let opcode: Opcode
  let notes: Notes
  /// The number of bytes that each call consumes. Runs with 0 and with 1 show whether a number
  /// depends on the position.
  let scale: Int
  /// Whether recorded calls include the texts of forms, codes and spaces, which take most of the
  /// time.
  let isDetailed: Bool
  let dialect: Dialect
  private(set) var steps: [LayoutStep] = []

  init(
    _ script: LayoutScript, _ opcode: Opcode, _ dialect: Dialect, _ notes: Notes, scale: Int = 0,
    isDetailed: Bool = false
  ) {
    (self.script, self.opcode, self.dialect, self.notes) = (script, opcode, dialect, notes)
    self.scale = scale
    self.isDetailed = isDetailed
  }

  var isReading: Bool { true }
  var position: Int { scale * steps.count }

  private mutating func add(_ call: LayoutCall, _ number: Int = 0) {
    steps.append(LayoutStep(call: call, number: number))
  }

  private mutating func element<V>(
    _ value: inout V, _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    try body(&self, &value)
    add(.end)
  }

  mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: StaticString, _ value: inout T, width: Int, _ form: () -> FieldForm
  ) {
    value = T(truncatingIfNeeded: script[steps.count] ?? 0)
    add(
      .integer(name.description, form: isDetailed ? Lua.form(form()) : "", isSigned: T.isSigned),
      width)
  }

  mutating func address(_ name: StaticString, _ value: inout MACAddress, extended: Bool) {
    value = MACAddress(0)
    add(.integer(name.description, form: "\"mac\"", isSigned: false), extended ? 8 : 2)
  }

  mutating func code<T: WireCode>(_ name: StaticString, _ value: inout T) {
    let table = isDetailed ? "\(T.self)" : ""
    if isDetailed, notes.tables[table] == nil {
      notes.tables[table] = Lua.names(of: T.self) ?? "false"
    }
    value = T(rawValue: T.RawValue(truncatingIfNeeded: script[steps.count] ?? 0))
    add(.code(name.description, table: table), MemoryLayout<T.RawValue>.size)
  }

  mutating func bytes(
    _ name: StaticString, _ value: inout [UInt8], _ count: FieldCount, _ form: () -> FieldForm
  ) {
    value = []
    let (kind, number) = Self.count(count)
    add(.bytes(name.description, form: isDetailed ? Lua.form(form()) : "", count: kind), number)
  }

  private static func count(_ count: FieldCount) -> (kind: String, number: Int) {
    switch count {
    case .u8: ("u8", 0)
    case .u16: ("u16", 0)
    case .rest: ("rest", 0)
    case .fitting(let size): ("fit", size)
    case .exactly(let number): ("", number)
    }
  }

  mutating func list<E>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount, blank: E,
    _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    let view = isDetailed && blank is any ListedValue ? "\(E.self)" : ""
    try list(name, &value, count, blank, view: view, isPlain: false, body)
  }

  mutating func values<E>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount, blank: E,
    _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    try list(name, &value, count, blank, view: "", isPlain: true, body)
  }

  private mutating func list<E>(
    _ name: StaticString, _ value: inout [E], _ count: FieldCount, _ blank: E, view: String,
    isPlain: Bool, _ body: (inout Self, inout E) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    let (kind, number) = Self.count(count)
    add(.list(name.description, count: kind, view: view, isPlain: isPlain), number)
    var one = blank
    try element(&one, body)
    value = [one]
  }

  mutating func group<G: FieldGroup>(
    _ name: StaticString, _ value: inout G
  ) throws(PayloadError) {
    add(.group(name.description, view: isDetailed && value is any ListedValue ? "\(G.self)" : ""))
    try element(&value) { c, value throws(PayloadError) in try value.visit(&c) }
  }

  mutating func optional<V>(
    _ name: StaticString, _ value: inout V?, blank: V, _ absence: FieldAbsence,
    _ isPresent: (_ remaining: Int) -> Bool,
    _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    let isThere = script[steps.count] != 0
    let (comparison, number) = Self.threshold(isPresent)
    add(.optional(name.description, isListed: absence == .null, comparison: comparison), number)
    var present = blank
    try element(&present, body)
    value = isThere && number != Self.never ? present : nil
  }

  mutating func afterStatus<V>(
    _ status: Status, _ value: inout V?, blank: V, isMandatory: Bool,
    _ body: (inout Self, inout V) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    add(.afterStatus(isMandatory: isMandatory))
    var present = blank
    try element(&present, body)
    value = present
  }

  mutating func form<F>(
    _ form: inout F, oneOf forms: [F], _ body: (inout Self, F) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    form = forms[Int(script[steps.count] ?? 0)]
    add(.form(forms.count))
    try element(&form) { c, form throws(PayloadError) in try body(&c, form) }
  }

  mutating func attempt(
    _ body: (inout Self) throws(PayloadError) -> Void
  ) throws(PayloadError) -> Bool {
    let succeeds = script[steps.count] != 0
    add(.attempt)
    var nothing: Void = ()
    try element(&nothing) { c, _ throws(PayloadError) in try body(&c) }
    return succeeds
  }

  mutating func holds(_ current: Bool, reading: (_ remaining: Int) -> Bool) -> Bool {
    let holds = (script[steps.count] ?? 0) != 0
    let (comparison, number) = Self.threshold(isScanned: true, reading)
    add(.holds(comparison: comparison), number)
    return holds
  }

  /// A number of bytes that no message reaches.
  static let never = 1 << 20

  /// Returns the comparison that a condition makes with the number of remaining bytes: at least a
  /// number, or not equal to a number.
  private static func threshold(
    isScanned: Bool = false, _ condition: (Int) -> Bool
  ) -> (comparison: String, number: Int) {
    guard condition(never - 1) else { return ("ge", never) }
    if condition(0) {
      let other = isScanned ? (1..<600).first { !condition($0) } : nil
      return other.map { ("ne", $0) } ?? ("ge", 0)
    }
    var (low, high) = (1, never - 1)
    while low < high {
      let middle = (low + high) / 2
      if condition(middle) { high = middle } else { low = middle + 1 }
    }
    // At least one byte is the same as not 0 bytes.
    return low == 1 ? ("ne", 0) : ("ge", low)
  }

  mutating func parameters(
    _ name: StaticString, _ list: inout [TLV], _ space: ParameterSpace
  ) {
    list = []
    add(.parameters(name.description, space: Lua.space(space.answering(opcode))))
  }

  mutating func parameterID(
    _ id: inout UInt8, _ subID: inout UInt8?, _ space: ParameterSpace, isLong: (UInt8) -> Bool
  ) {
    id = 0
    let long = (UInt8.min...UInt8.max).filter(isLong).map { "[\($0)]=1" }
    add(
      .parameterID(
        space: isDetailed ? Lua.space(space.answering(opcode)) : "",
        longIDs: long.isEmpty ? "false" : "{\(long.joined(separator: ","))}"))
  }

  mutating func require(
    _ condition: Bool, _ field: StaticString, _ reason: @autoclosure () -> String
  ) {
    add(.require(field.description), condition ? 1 : 0)
  }
}
