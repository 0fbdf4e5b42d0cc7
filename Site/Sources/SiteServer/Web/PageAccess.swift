// SPDX-License-Identifier: Apache-2.0

internal import FlyingFox
internal import Foundation

/// Checks requests to a page: the right to read, the right to change, and the contents that
/// browsers may load.
struct PageAccess: Sendable {
  /// The result of the check of a request.
  enum Entry: Sendable {
    /// The request was answered, such as by a refusal or a file of the page.
    case answered(HTTPResponse)
    /// The request may read, and perhaps change.
    case admitted(mayChange: Bool)
  }

  let check: WebGuard
  let session: PageSession
  /// The path of the file at `/`.
  var front = "/page.html"
  /// The address of a proxy that has checked its users; nil without one.
  var proxy: String?

  func enter(_ request: HTTPRequest) async throws -> Entry {
    if let proxy { return enter(request, from: proxy) }
    let host = request.headers[.host]
    let refusal = check.refusal(
      host: host, origin: request.headers[HTTPHeader("Origin")],
      token: request.query.first { $0.name == "token" }?.value)
    switch refusal {
    case .host: return .answered(.text(.forbidden, "Use the address 127.0.0.1 or localhost."))
    case .origin: return .answered(.text(.forbidden, "Only pages of this server may connect."))
    case nil, .token: break
    }
    if let file = file(for: request) { return .answered(file) }
    if request.path == "/session" { return .answered(try await open(request, host)) }
    let isOpen = session.accepts(cookies: request.headers[HTTPHeader("Cookie")], host: host)
    guard refusal == nil || isOpen else { return .answered(Self.locked) }
    return .admitted(mayChange: isOpen)
  }

  /// Admits the requests of the proxy, whatever name they use for the host, and refuses all other
  /// requests.
  private func enter(_ request: HTTPRequest, from proxy: String) -> Entry {
    guard request.peer == proxy else {
      return .answered(.text(.forbidden, "Use the proxy at \(proxy). See --web-proxy."))
    }
    if let file = file(for: request) { return .answered(file) }
    return .admitted(mayChange: true)
  }

  /// Returns the file of the page that a request names; nil for other requests.
  private func file(for request: HTTPRequest) -> HTTPResponse? {
    guard request.method == .GET else { return nil }
    return PageFiles.file(request.path == "/" ? front : request.path).map {
      .of($0.type, $0.bytes)
    }
  }

  static var locked: HTTPResponse {
    .text(.unauthorized, "Open the address that uwbsite has printed, with its token.")
  }

  private func open(_ request: HTTPRequest, _ host: String?) async throws -> HTTPResponse {
    guard request.method == .POST, let token = try await request.body(atMost: 1024),
      let cookie = session.cookie(for: token, host: host)
    else { return .text(.unauthorized, "The token is wrong.") }
    return HTTPResponse(
      statusCode: .noContent, headers: HTTPHeaders([HTTPHeader("Set-Cookie"): cookie]))
  }

  /// Adds headers against other pages, and against contents of other origins.
  ///
  /// A proxy may show the page in a frame of its own page.
  func protect(_ response: HTTPResponse) -> HTTPResponse {
    var response = response
    for (name, value) in Self.headers { response.headers[HTTPHeader(name)] = value }
    response.headers[HTTPHeader("Content-Security-Policy")] =
      "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; "
      + "form-action 'none'; frame-ancestors '\(proxy == nil ? "none" : "self")'"
    return response
  }

  private static let headers = [
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
  ]
}

extension HTTPRequest {
  /// The address of the other end of the connection; nil for a Unix socket. An IPv4 address on a
  /// socket of IPv6 counts as IPv4.
  fileprivate var peer: String? {
    switch remoteAddress {
    case .ip4(let address, port: _): return address
    case .ip6(let address, port: _):
      let mapped = "::ffff:"
      return address.hasPrefix(mapped) ? String(address.dropFirst(mapped.count)) : address
    default: return nil
    }
  }

  /// Reads the body; nil if it is too long, or its length is unknown.
  func body(atMost limit: Int) async throws -> [UInt8]? {
    guard let length = headers[.contentLength].flatMap(Int.init), length <= limit else {
      return nil
    }
    return Array(try await bodyData)
  }

  func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

extension HTTPResponse {
  static func of(
    _ type: String, _ bytes: [UInt8], version: String? = nil
  ) -> HTTPResponse {
    var headers = HTTPHeaders([.contentType: type])
    if let version { headers[.eTag] = "\"\(version)\"" }
    return HTTPResponse(statusCode: .ok, headers: headers, body: Data(bytes))
  }

  static func json(_ bytes: [UInt8], version: String? = nil) -> HTTPResponse {
    of("application/json", bytes, version: version)
  }

  static func text(_ status: HTTPStatusCode, _ text: String) -> HTTPResponse {
    HTTPResponse(
      statusCode: status, headers: HTTPHeaders([.contentType: "text/plain; charset=utf-8"]),
      body: Data((text + "\n").utf8))
  }
}
