// SPDX-License-Identifier: Apache-2.0

import UWBLab

/// A JSON object on one line, with its keys in the order given. Keys are in snake case and never
/// change their meaning.
struct JSONLine {
  private var fields: [String] = []

  mutating func add(_ key: String, _ value: String?) {
    addRaw(key, value.map(quoted) ?? "null")
  }
  mutating func add(_ key: String, _ value: (some BinaryInteger)?) {
    addRaw(key, value.map { "\($0)" } ?? "null")
  }
  mutating func add(_ key: String, _ value: Bool?) {
    addRaw(key, value.map { "\($0)" } ?? "null")
  }
  mutating func add(_ key: String, _ value: Double?, digits: Int) {
    addRaw(key, value.map { fixed($0, digits) } ?? "null")
  }
  mutating func add(_ key: String, _ values: [String]) { addList(key, values.map(quoted)) }
  mutating func add(_ key: String, _ value: JSONLine) { addRaw(key, value.text) }
  mutating func add(_ key: String, _ values: [JSONLine]) { addList(key, values.map(\.text)) }
  mutating func add(_ key: String, _ values: [some BinaryInteger]) {
    addList(key, values.map { "\($0)" })
  }
  mutating func addRaw(_ key: String, _ json: String) { fields.append("\"\(key)\":\(json)") }

  private mutating func addList(_ key: String, _ values: [String]) {
    addRaw(key, "[\(values.joined(separator: ","))]")
  }

  var text: String { "{" + fields.joined(separator: ",") + "}" }
}
