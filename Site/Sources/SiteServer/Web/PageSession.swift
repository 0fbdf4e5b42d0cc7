// SPDX-License-Identifier: Apache-2.0

internal import FlyingFox

/// The right to change the site. On addresses that other machines can reach, it is also the right
/// to read it.
///
/// A page receives a token after the sign # of its address, and exchanges it for a cookie. Other
/// pages cannot use the cookie.
package struct PageSession: Sendable {
  /// The secret in the address of the page.
  package let token: String
  /// The secret in the cookie.
  private let secret = PageSession.random()

  /// - Parameter token: the secret of the user; nil for a random secret.
  package init(token: String?) { self.token = token ?? Self.random() }

  private static func random() -> String {
    (0..<2).map { _ in
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Returns the cookie for a token; nil for a wrong token.
  func cookie(for token: [UInt8], host: String?) -> String? {
    guard WebGuard.isEqual(token, Array(self.token.utf8)) else { return nil }
    return "\(Self.name(host))=\(secret); Path=/; HttpOnly; SameSite=Strict"
  }

  /// Returns whether a request has the cookie.
  func accepts(cookies: String?, host: String?) -> Bool {
    let own = Array("\(Self.name(host))=\(secret)".utf8)
    return (cookies ?? "").split(separator: ";").contains { cookie in
      WebGuard.isEqual(Array(cookie.drop { $0 == " " }.utf8), own)
    }
  }

  /// Returns the name of the cookie, which differs by port, because browsers send cookies to all
  /// ports.
  private static func name(_ host: String?) -> String {
    let port = host?.split(separator: ":").last.flatMap { UInt16($0) } ?? 80
    return "uwbsite-\(port)"
  }
}
