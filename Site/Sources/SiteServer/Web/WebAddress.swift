// SPDX-License-Identifier: Apache-2.0

/// The address at which pages connect.
package struct WebAddress: Sendable, Hashable {
  /// An IPv4 or IPv6 address, without brackets.
  package let host: String
  package let port: UInt16

  /// Parses a port of 127.0.0.1, or an address with a port; nil for other texts.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard let port = parts.last.flatMap({ UInt16($0) }) else { return nil }
    self.port = port
    let host = parts.dropLast().joined(separator: ":")
    if parts.count == 1 {
      self.host = "127.0.0.1"
    } else if host.hasPrefix("["), host.hasSuffix("]"), host.contains(":") {
      self.host = String(host.dropFirst().dropLast())
    } else if parts.count == 2, !host.isEmpty {
      self.host = host
    } else {
      return nil
    }
  }

  package var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" || host == "localhost" }
  var isIPv6: Bool { host.contains(":") }

  /// Returns the address of the page for a browser of this machine. Its token follows the sign #,
  /// after which browsers send nothing.
  package func page(port: UInt16, token: String) -> String {
    let anyHost = host == "0.0.0.0" || host == "::"
    let name = anyHost ? "127.0.0.1" : isIPv6 ? "[\(host)]" : host
    return "http://\(name):\(port)/#\(token)"
  }
}

/// Decides which requests may become a WebSocket.
///
/// Every page that a browser of this machine shows can send requests to 127.0.0.1. So a request has
/// to come from a page of this server, under a name of this machine, or from another program.
struct WebGuard: Sendable {
  enum Refusal: Sendable, Hashable { case host, origin, token }

  let isLoopback: Bool
  /// The token that a request from another machine needs.
  let token: [UInt8]?

  /// Returns the reason why a request is refused; nil if it is accepted.
  ///
  /// - Parameters:
  ///   - host: the header Host.
  ///   - origin: the header Origin, which browsers send.
  ///   - token: the parameter `token` of the address.
  func refusal(host: String?, origin: String?, token: String?) -> Refusal? {
    guard let host, !host.isEmpty else { return .host }
    // A page whose name DNS resolves to this machine has that name in the header.
    guard !isLoopback || Self.isOfThisMachine(host) else { return .host }
    if let origin {
      let schemes = ["http://", "https://"]
      guard schemes.contains(where: { origin.lowercased() == $0 + host.lowercased() }) else {
        return .origin
      }
    }
    guard let expected = self.token else { return nil }
    return Self.isEqual(Array((token ?? "").utf8), expected) ? nil : .token
  }

  private static func isOfThisMachine(_ host: String) -> Bool {
    var name = host.lowercased()[...]
    if let sign = name.lastIndex(of: ":"), !name.hasSuffix("]") {
      guard UInt16(name[name.index(after: sign)...]) != nil else { return false }
      name = name[..<sign]
    }
    if name == "localhost" || name == "[::1]" { return true }
    // All addresses of 127.0.0.0/8 are addresses of this machine.
    let numbers = name.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
  }

  /// Compares in a time that does not depend on the contents.
  static func isEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    guard first.count == second.count else { return false }
    return zip(first, second).reduce(0) { $0 | $1.0 ^ $1.1 } == 0
  }
}
