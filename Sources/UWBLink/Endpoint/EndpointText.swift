// SPDX-License-Identifier: Apache-2.0

/// The text of a device's name: `scheme:address?key=value&flag`. A path has no scheme.
struct EndpointText {
  let text: String
  let scheme: String?
  /// What is between the scheme and the options.
  let address: String
  private var options: [(key: String, value: String?)]
  /// The keys that were asked for, in that order.
  private var known: [String] = []

  static let schemes = ["usb", "spi", "sr1xx", "uci", "nxp-usb", "tcp"]

  init(_ text: String) throws(LinkError) {
    self.text = text
    var rest = Substring(text)
    scheme = Self.schemes.first { rest.hasPrefix($0 + ":") }
    if let scheme { rest = rest.dropFirst(scheme.count + 1) }
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    address = parts.first.map(String.init) ?? ""
    options = []
    for option in parts.count > 1 ? parts[1].split(separator: "&") : [] {
      let sides = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = String(sides[0])
      guard !options.contains(where: { $0.key == key }) else {
        throw invalid("'\(key)' is given twice")
      }
      options.append((key, sides.count > 1 ? String(sides[1]) : nil))
    }
  }

  func invalid(_ why: String) -> LinkError {
    LinkError(.invalidEndpoint, endpoint: text, detail: why)
  }

  /// Takes an option that has a value; nil when it is not there.
  mutating func value(_ key: String) throws(LinkError) -> String? {
    known.append(key + "=…")
    guard let index = options.firstIndex(where: { $0.key == key }) else { return nil }
    guard let value = options.remove(at: index).value, !value.isEmpty else {
      throw invalid("'\(key)' has no value")
    }
    return value
  }

  /// Takes an option that is a number.
  mutating func number<N: FixedWidthInteger>(
    _ key: String, _ type: N.Type = N.self
  ) throws(LinkError) -> N? {
    guard let text = try value(key) else { return nil }
    guard let number = N(text) else {
      throw invalid("'\(key)' has to be a number from \(N.min) to \(N.max)")
    }
    return number
  }

  /// Takes an option that is one of several words.
  mutating func word<W: RawRepresentable & CaseIterable>(
    _ key: String, _ type: W.Type = W.self
  ) throws(LinkError) -> W? where W.RawValue == String {
    guard let text = try value(key) else { return nil }
    guard let word = W(rawValue: text) else {
      let words = W.allCases.map(\.rawValue).joined(separator: ", ")
      throw invalid("'\(key)' has to be one of \(words)")
    }
    return word
  }

  /// Takes an option that is there or not.
  mutating func flag(_ key: String) throws(LinkError) -> Bool {
    known.append(key)
    guard let index = options.firstIndex(where: { $0.key == key }) else { return false }
    guard options.remove(at: index).value == nil else { throw invalid("'\(key)' has no value") }
    return true
  }

  /// The address as a path.
  func path(_ example: String) throws(LinkError) -> String {
    guard !address.isEmpty else { throw invalid("the path is empty") }
    guard address.contains("/") else {
      throw invalid("a device is named by its path, such as \(example)")
    }
    return address
  }

  /// Throws if an option is left that was not asked for.
  func finish() throws(LinkError) {
    guard let first = options.first else { return }
    throw invalid(
      known.isEmpty
        ? "it takes no options"
        : "'\(first.key)' is not an option; \(known.joined(separator: ", ")) are")
  }
}
