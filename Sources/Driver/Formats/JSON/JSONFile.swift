// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import System

/// JSON from files, also with comments, trailing commas and unquoted names (JSON5).
package enum JSONFile {
  /// The limit: files of users and calibrations have some kilobytes.
  private static let limit = 4 << 20

  /// - Throws: `FormatError`, also for numbers that cannot be measurements.
  package static func read<T: Decodable>(_ path: String, as what: String) throws(FormatError) -> T {
    try decode(path, what, try contents(ofFile: path, limit: limit)) { _, _ in nil }
  }

  /// - Throws: `FormatError`, also for numbers that cannot be measurements, and for keys that `T`
  ///   does not have.
  package static func read<T: Codable>(_ path: String, as what: String) throws(FormatError) -> T {
    try decode(path, what, try contents(ofFile: path, limit: limit)) { all, value in
      let known = try JSONDecoder().decode(AnyJSON.self, from: try JSONEncoder().encode(value))
      return all.unknownKey(in: known)
    }
  }

  private static func decode<T: Decodable>(
    _ path: String, _ what: String, _ bytes: [UInt8],
    _ check: (AnyJSON, T) throws -> String?
  ) throws(FormatError) -> T {
    // Checked here, because the decoder ends the program.
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .badFile(path, "not \(what): the encoding is not UTF-8.")
    }
    if hasOpenExponent(bytes) {
      throw .badFile(path, "not \(what): a number ends with the sign of its exponent.")
    }
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let value: T
    do {
      // The decoder reads one byte after a number, also at the end.
      let data = Data(text.utf8) + [0x0A]
      let all = try decoder.decode(AnyJSON.self, from: data)
      if let problem = all.unusableNumber { throw FormatError.badFile(path, problem) }
      value = try decoder.decode(T.self, from: data)
      if let problem = try check(all, value) { throw FormatError.badFile(path, problem) }
    } catch let error as FormatError { throw error } catch {
      throw .badFile(path, "not \(what): \(problem(error))")
    }
    return value
  }

  /// Returns whether there is a number such as `1e+`, for which the decoder of JSON5 ends the
  /// program.
  private static func hasOpenExponent(_ bytes: [UInt8]) -> Bool {
    var (quote, last, isEscaped) = (UInt8(0), (UInt8(0), UInt8(0), UInt8(0)), false)
    for byte in bytes + [0x0A] {
      if quote != 0 {
        if byte == quote, !isEscaped { quote = 0 }
        isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        continue
      }
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
      let isNumber = 0x30...0x39 ~= last.0 || last.0 == UInt8(ascii: ".")
      let isSign = last.2 == UInt8(ascii: "+") || last.2 == UInt8(ascii: "-")
      if isNumber, last.1 | 0x20 == UInt8(ascii: "e"), isSign, !(0x30...0x39 ~= byte) {
        return true
      }
      last = (last.1, last.2, byte)
    }
    return false
  }

  /// Writes a file completely or not at all.
  package static func write(_ value: some Encodable, to path: String) throws(FormatError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do { try OutputFile.write(Array(try encoder.encode(value)) + [0x0A], to: path) } catch {
      throw .notCreated(path, error)
    }
  }

  /// Returns the problem in one line.
  private static func problem(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    func at(_ context: DecodingError.Context) -> String {
      position(context.codingPath.map(\.stringValue))
    }
    return switch error {
    case .keyNotFound(let key, let context): "\(key.stringValue) is missing \(at(context))"
    case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
      "\(kind(of: type)) belongs \(at(context))"
    case .dataCorrupted(let context):
      "\(context.debugDescription) (\(at(context)))"
        + (context.underlyingError.map { ": \($0)" } ?? "")
    @unknown default: "\(error)"
    }
  }

  /// Returns the JSON kind of values of this type.
  private static func kind(of type: any Any.Type) -> String {
    switch type {
    case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type: "a number"
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is any (Collection & ExpressibleByArrayLiteral).Type: "a list"
    default: "an object"
    }
  }

  fileprivate static func position(_ path: [String]) -> String {
    path.isEmpty ? "at the top" : "in " + path.joined(separator: ".")
  }
}

/// Any JSON, for finding the parts that a type ignores.
private enum AnyJSON: Decodable {
  case object([String: AnyJSON])
  case list([AnyJSON])
  case number(Double)
  case null, other

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let object = try? container.decode([String: AnyJSON].self) {
      self = .object(object)
    } else if let list = try? container.decode([AnyJSON].self) {
      self = .list(list)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else {
      self = container.decodeNil() ? .null : .other
    }
  }

  private var members: [(name: String, value: AnyJSON)] {
    switch self {
    case .object(let members): members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    case .list(let values): values.enumerated().map { ("\($0)", $1) }
    default: []
    }
  }

  /// The path of a number that is not finite, or too large to be a measurement.
  var unusableNumber: String? { unusableNumber([]) }

  private func unusableNumber(_ path: [String]) -> String? {
    if case .number(let number) = self, !(abs(number) <= 1e12) {
      return "the number \(number) is out of range (\(JSONFile.position(path)))."
    }
    for (name, value) in members {
      if let found = value.unusableNumber(path + [name]) { return found }
    }
    return nil
  }

  /// Returns the path of a key that `other` lacks.
  func unknownKey(in other: AnyJSON) -> String? { unknownKey([], other) }

  private func unknownKey(_ path: [String], _ other: AnyJSON) -> String? {
    let known = Dictionary(other.members.map { ($0.name, $0.value) }) { $1 }
    for (name, value) in members {
      if let counterpart = known[name] {
        if let found = value.unknownKey(path + [name], counterpart) { return found }
      } else if case .null = value {
        continue
      } else if case .object = self {
        return "the key \(name) is unknown (\(JSONFile.position(path)))."
      }
    }
    return nil
  }
}

/// All bytes of a file.
///
/// - Parameter path: nil or `-` is standard input.
package func contents(ofFile path: String?, limit: Int) throws(FormatError) -> [UInt8] {
  let path = path ?? "-"
  do throws(FileError) { return try InputFile.bytes(of: path, limit: limit) } catch {
    let isTooLong = if case .tooLong = error { true } else { false }
    throw .unreadable(
      path == "-" ? "standard input" : path, error,
      suggestion: isTooLong ? "Split it into several files." : nil)
  }
}
