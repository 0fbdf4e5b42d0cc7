// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A colour or weight of text on a terminal, as the parameters of SGR (ECMA-48).
package enum Style: String {
  case good = "32"
  case warning = "33"
  case bad = "1;31"
  case faint = "2"
}

extension Output {
  /// Whether text has colours: the stream is a terminal that is not dumb, and NO_COLOR is empty or
  /// missing (https://no-color.org).
  package var hasColours: Bool { canRedraw && variable("NO_COLOR") == "" }

  /// Returns the text in a style, if the stream has colours.
  package func styled(_ text: String, _ style: Style?) -> String {
    guard let style, hasColours, !text.isEmpty else { return text }
    return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
  }

  /// Whether the program's locale uses UTF-8.
  package static let isUTF8: Bool = {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].map(variable)
    let name = (names.first { $0 != "" } ?? "").lowercased()
    return name.hasSuffix("utf-8") || name.hasSuffix("utf8")
  }()

  /// Returns the text with ASCII in place of symbols that a locale without UTF-8 cannot show.
  static func inASCII(_ text: String) -> String {
    String(text.map { symbols[$0] ?? $0 })
  }

  /// One ASCII character for each symbol, so that columns stay aligned.
  private static let symbols: [Character: Character] = [
    "±": "~", "°": "d", "–": "-", "…": ".", "·": ".", "→": ">", "←": "<", "↑": "^", "↓": "v",
    "↗": "/", "↙": "/", "↘": "\\", "↖": "\\", "µ": "u", "μ": "u", "²": "2", "³": "3", "×": "x",
    "σ": "s",
  ]
}

/// Returns an environment variable; empty without it.
private func variable(_ name: String) -> String {
  unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
}
