// SPDX-License-Identifier: Apache-2.0

import Formats

/// Returns a number that a user has typed, in metres or degrees: `2.5`, `2,5`, `2.5 m`, `250cm`.
package func quantityValue(_ text: String, _ unit: String) -> Double? {
  var rest = text[...]
  var factor = 1.0
  for (suffix, scale) in [("cm", 0.01), ("mm", 0.001)] where unit == "m" && rest.hasSuffix(suffix) {
    rest = rest.dropLast(2)
    factor = scale
  }
  if rest.hasSuffix(unit) { rest = rest.dropLast(unit.count) }
  let plain = rest.filter { $0 != " " }.map { $0 == "," ? "." : String($0) }.joined()
  guard plain.allSatisfy({ $0.isASCII && ($0.isNumber || ".-+e".contains($0)) }) else {
    return nil
  }
  return Double(plain).flatMap { $0.isFinite ? $0 * factor : nil }
}

/// Returns an angle as text in degrees.
func degrees(_ radians: Double, _ digits: Int = 1) -> String {
  fixed(radians * 180 / .pi, digits) + "°"
}
