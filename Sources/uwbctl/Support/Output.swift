// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import SystemPackage

/// Writes text whole, also when the kernel takes it in parts.
struct Output: Sendable {
  let descriptor: FileDescriptor

  /// Whether a person is likely to be reading.
  var isTerminal: Bool { isatty(descriptor.rawValue) != 0 }

  /// When the reader has gone away (`uwbctl range | head`), the program ends as it does on SIGTERM:
  /// in good order.
  func write(_ text: String) {
    do { try descriptor.writeAll(text.utf8) } catch { kill(getpid(), SIGTERM) }
  }
}

let standardOutput = Output(descriptor: .standardOutput)
let standardError = Output(descriptor: .standardError)

/// A JSON object in the order given, one line.
struct JSONLine {
  private var fields: [String] = []

  mutating func add(_ key: String, _ value: String) {
    fields.append("\"\(key)\":\"\(Self.escaped(value))\"")
  }
  mutating func add(_ key: String, _ value: (some BinaryInteger)?) {
    fields.append("\"\(key)\":\(value.map { "\($0)" } ?? "null")")
  }
  mutating func add(_ key: String, _ value: Bool?) {
    fields.append("\"\(key)\":\(value.map { "\($0)" } ?? "null")")
  }
  mutating func add(_ key: String, _ value: Double?, digits: Int) {
    fields.append("\"\(key)\":\(value.map { fixed($0, digits) } ?? "null")")
  }
  mutating func addRaw(_ key: String, _ json: String) { fields.append("\"\(key)\":\(json)") }

  var text: String { "{" + fields.joined(separator: ",") + "}" }

  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case _ where scalar.value < 0x20: result += "?"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

/// A number with so many digits behind the point.
func fixed(_ value: Double, _ digits: Int) -> String {
  guard value.isFinite else { return "null" }
  var scale = 1.0
  for _ in 0..<digits { scale *= 10 }
  let scaled = Int((abs(value) * scale).rounded())
  let whole = scaled / Int(scale)
  let sign = value < 0 && scaled > 0 ? "-" : ""
  guard digits > 0 else { return "\(sign)\(whole)" }
  let rest = String(scaled % Int(scale))
  return "\(sign)\(whole)." + String(repeating: "0", count: digits - rest.count) + rest
}

extension String {
  /// Padded on the left to a width.
  func right(_ width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
  /// Padded on the right to a width.
  func left(_ width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
