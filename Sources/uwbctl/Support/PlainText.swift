// SPDX-License-Identifier: Apache-2.0

/// Text from a device, another program or a file, without anything that a terminal would obey or
/// that would make a line look like another one: control characters, line ends, marks that change
/// the direction of writing. They are written as `\u{1b}`.
///
/// Every text that this program did not make itself goes through here before it is printed.
func printable(_ text: String) -> String {
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if scalar.isInvisible {
      result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
    } else {
      result.append(scalar)
    }
  }
  return String(result)
}

/// A string of JSON, quotes included. What `printable` would escape is escaped here as well, so that
/// JSON may be shown on a terminal too.
func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    case _ where scalar.isInvisible:
      for unit in String(scalar).utf16 {
        let digits = String(unit, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}

extension Unicode.Scalar {
  /// Whether it does something instead of showing something.
  fileprivate var isInvisible: Bool {
    if isASCII { return value < 0x20 || value == 0x7F }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      return true
    default: return false
    }
  }
}
