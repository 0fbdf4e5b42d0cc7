// SPDX-License-Identifier: Apache-2.0

/// Reads the members of one object, and notes each problem with its field.
///
/// A member with a problem counts as missing, so that reading continues.
struct ObjectReader {
  let path: String
  let problems: ProblemList
  private var members: [String: JSONValue] = [:]

  /// Notes the unknown keys; a member that is null is missing.
  init(_ value: JSONValue, at path: String, keys: [String], _ problems: ProblemList) {
    self.path = path
    self.problems = problems
    guard case .object(let list) = value else {
      problems.note(path, "an object belongs here, not \(value.kind)")
      return
    }
    for member in list {
      if !keys.contains(member.name) {
        problems.note(field(member.name), Self.unknown(member.name, keys))
      } else if member.value != .null {
        members[member.name] = member.value
      }
    }
  }

  func field(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  func has(_ key: String) -> Bool { members[key] != nil }

  func note(_ key: String, _ reason: String) { problems.note(field(key), reason) }

  private func missing(_ key: String, _ isRequired: Bool) {
    if isRequired { note(key, "is missing") }
  }

  // MARK: texts

  func text(_ key: String, isRequired: Bool = false) -> String? {
    guard let value = members[key] else {
      missing(key, isRequired)
      return nil
    }
    guard case .string(let text) = value else {
      note(key, "a string belongs here, not \(value.kind)")
      return nil
    }
    guard !text.isEmpty else {
      note(key, "is empty")
      return nil
    }
    return text
  }

  func texts(_ key: String) -> [String] {
    list(key).compactMap { path, value in
      if case .string(let text) = value, !text.isEmpty { return text }
      problems.note(path, "a string belongs here, not \(value.kind)")
      return nil
    }
  }

  func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String, isRequired: Bool = false
  ) -> Choice? where Choice.RawValue == String {
    guard let text = text(key, isRequired: isRequired) else { return nil }
    return choice(text, at: field(key))
  }

  func choices<Choice: RawRepresentable & CaseIterable>(
    _ key: String
  ) -> [Choice] where Choice.RawValue == String {
    list(key).compactMap { path, value in
      if case .string(let text) = value { return choice(text, at: path) }
      problems.note(path, "a string belongs here, not \(value.kind)")
      return nil
    }
  }

  private func choice<Choice: RawRepresentable & CaseIterable>(
    _ text: String, at path: String
  ) -> Choice? where Choice.RawValue == String {
    if let choice = Choice(rawValue: text) { return choice }
    let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    problems.note(path, "\(text) is unknown; one of \(names) belongs here")
    return nil
  }

  func bool(_ key: String) -> Bool? {
    guard let value = members[key] else { return nil }
    if case .bool(let result) = value { return result }
    note(key, "true or false belongs here, not \(value.kind)")
    return nil
  }

  // MARK: numbers

  func number(
    _ key: String, _ limits: ClosedRange<Double>, _ unit: String = "m", isRequired: Bool = false
  ) -> Double? {
    guard let value = members[key] else {
      missing(key, isRequired)
      return nil
    }
    return number(value, at: field(key), limits, unit)
  }

  private func number(
    _ value: JSONValue, at field: String, _ limits: ClosedRange<Double>, _ unit: String
  ) -> Double? {
    let number: Double
    switch value {
    case .number(let value): number = value
    case .whole(let value): number = Double(value)
    default:
      problems.note(field, "a number belongs here, not \(value.kind)")
      return nil
    }
    guard limits.contains(number) else {
      let bounds =
        "\(JSONValue.number(limits.lowerBound)) to \(JSONValue.number(limits.upperBound))"
      let shown = number.isFinite ? "\(JSONValue.number(number))" : "\(number)"
      problems.note(field, "\(shown) \(unit) is not within \(bounds) \(unit)")
      return nil
    }
    return number
  }

  /// Reads a list of numbers of a fixed length.
  func numbers(
    _ key: String, _ names: [String], _ limits: ClosedRange<Double>, isRequired: Bool = false
  ) -> [Double]? {
    guard let value = members[key] else {
      missing(key, isRequired)
      return nil
    }
    return numbers(value, at: field(key), names, limits)
  }

  private func numbers(
    _ value: JSONValue, at field: String, _ names: [String], _ limits: ClosedRange<Double>
  ) -> [Double]? {
    let form = "[\(names.joined(separator: ", "))]"
    guard case .array(let values) = value else {
      problems.note(field, "\(names.count) numbers \(form) belong here, not \(value.kind)")
      return nil
    }
    guard values.count == names.count else {
      problems.note(field, "\(names.count) numbers \(form) belong here, not \(values.count)")
      return nil
    }
    let read = values.enumerated().map { number($1, at: "\(field)[\($0)]", limits, "m") }
    return read.contains(nil) ? nil : read.compactMap(\.self)
  }

  /// Reads a list of points in the plane.
  func points(_ key: String, _ limits: ClosedRange<Double>) -> [SIMD2<Double>]? {
    guard has(key) else { return nil }
    let read = list(key).map { numbers($1, at: $0, ["x", "y"], limits) }
    return read.contains(nil) ? nil : read.compactMap { $0.map { SIMD2($0[0], $0[1]) } }
  }

  // MARK: nested values

  /// Returns the path and the value of each element.
  func list(_ key: String) -> [(path: String, value: JSONValue)] {
    guard let value = members[key] else { return [] }
    guard case .array(let values) = value else {
      note(key, "a list belongs here, not \(value.kind)")
      return []
    }
    return values.enumerated().map { ("\(field(key))[\($0)]", $1) }
  }

  func objects(_ key: String, keys: [String]) -> [ObjectReader] {
    list(key).map { ObjectReader($1, at: $0, keys: keys, problems) }
  }

  func object(_ key: String, keys: [String], isRequired: Bool = false) -> ObjectReader? {
    guard let value = members[key] else {
      missing(key, isRequired)
      return nil
    }
    return ObjectReader(value, at: field(key), keys: keys, problems)
  }

  // MARK: unknown keys

  private static func unknown(_ name: String, _ keys: [String]) -> String {
    let nearest = keys.min { distance($0, name) < distance($1, name) }
    guard let nearest, distance(nearest, name) <= max(2, name.count / 2) else {
      return "this key is unknown; the keys here are \(keys.joined(separator: ", "))"
    }
    return "this key is unknown; the nearest one is \(nearest)"
  }

  /// Returns the number of characters to insert, remove or exchange between two names.
  private static func distance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left.prefix(64)), Array(right.prefix(64)))
    var row = Array(0...right.count)
    for (i, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in right.enumerated() {
        let exchanged = diagonal + (character == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(exchanged, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[right.count]
  }
}
