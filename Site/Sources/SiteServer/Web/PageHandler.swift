// SPDX-License-Identifier: Apache-2.0

internal import FlyingFox
internal import Foundation
internal import UWBSite

/// Answers the requests of pages: the page itself, the service at `/ws`, the site file, the ranges
/// of a tag, and places of the past.
struct PageHandler: HTTPHandler {
  let check: WebGuard
  let session: PageSession
  let editor: SiteEditor
  let feed: PageFeed
  /// Whether the run is a recording that is read as fast as possible.
  let isRecording: Bool
  let relay: WebSocketHTTPHandler

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    var response = try await answer(request)
    for (name, value) in Self.headers { response.headers[HTTPHeader(name)] = value }
    return response
  }

  /// Headers that keep other pages out, and contents of other origins.
  private static let headers = [
    "Content-Security-Policy":
      "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; "
      + "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
  ]

  private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    let host = request.headers[.host]
    let refusal = check.refusal(
      host: host, origin: request.headers[HTTPHeader("Origin")],
      token: request.query.first { $0.name == "token" }?.value)
    let isOpen = session.accepts(cookies: request.headers[HTTPHeader("Cookie")], host: host)
    switch refusal {
    case .host: return Self.text(.forbidden, "Use the address 127.0.0.1 or localhost.")
    case .origin: return Self.text(.forbidden, "Only pages of this server may connect.")
    case nil, .token: break
    }
    if request.method == .GET, let file = PageFiles.file(request.path) {
      return HTTPResponse(
        statusCode: .ok, headers: Self.type(file.type), body: Data(file.bytes))
    }
    if request.path == "/session" { return try await openSession(request, host) }
    guard refusal == nil || isOpen else {
      return Self.text(.unauthorized, "Open the address that uwbsite has printed, with its token.")
    }
    switch request.method {
    case .GET: return try await get(request, isOpen: isOpen)
    case .PUT where isOpen: return try await put(request)
    case .PUT:
      return Self.text(.unauthorized, "Open the address that uwbsite has printed, with its token.")
    default: return Self.text(.methodNotAllowed, "Only GET and PUT are possible.")
    }
  }

  private func openSession(_ request: HTTPRequest, _ host: String?) async throws -> HTTPResponse {
    guard request.method == .POST, let token = try await body(request, atMost: 1024),
      let cookie = session.cookie(for: token, host: host)
    else { return Self.text(.unauthorized, "The token is wrong.") }
    return HTTPResponse(
      statusCode: .noContent, headers: HTTPHeaders([HTTPHeader("Set-Cookie"): cookie]))
  }

  // MARK: reading

  private func get(_ request: HTTPRequest, isOpen: Bool) async throws -> HTTPResponse {
    func parameter(_ name: String) -> String? {
      request.query.first { $0.name == name }?.value
    }
    switch request.path {
    case "/ws": return try await relay.handleRequest(request)
    case "/info":
      let members = [
        JSONMember("may_edit", .bool(isOpen)), JSONMember("is_file", .bool(editor.isFile)),
        JSONMember("recording", .bool(isRecording)),
      ]
      let extent = await feed.extent()
      return Self.json(Array(JSONValue.object(members + extent).description.utf8))
    case "/site":
      do throws(SiteEditor.Failure) {
        let (text, version) = try await editor.read()
        return Self.json(text, version: version)
      } catch { return Self.response(error) }
    case "/links":
      return Self.json(feed.links(tag: parameter("tag"), at: parameter("at").flatMap(Double.init)))
    case "/record":
      guard let from = parameter("from").flatMap(Double.init),
        let to = parameter("to").flatMap(Double.init), from.isFinite, to.isFinite
      else { return Self.text(.badRequest, "from and to are times in seconds.") }
      return Self.json(await feed.record(from: from, to: to))
    case let path where path.hasPrefix("/plans/"):
      let name = path.dropFirst("/plans/".count)
      do throws(SiteEditor.Failure) {
        let picture = try await editor.picture(name.removingPercentEncoding ?? "")
        return HTTPResponse(
          statusCode: .ok, headers: Self.type("image/\(picture.type.rawValue)"),
          body: Data(picture.bytes))
      } catch { return Self.response(error) }
    default: return Self.text(.notFound, "The page is at /, and WebSocket at /ws.")
    }
  }

  // MARK: changing

  private func put(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let bytes = try await body(request, atMost: SiteEditor.mostBytes) else {
      return Self.text(.payloadTooLarge, "A request has a length of at most 16 MiB.")
    }
    do throws(SiteEditor.Failure) {
      switch request.path {
      case "/site":
        let former = request.headers[HTTPHeader("If-Match")]?.filter { $0 != "\"" } ?? ""
        let version = try await editor.write(bytes, over: former)
        return HTTPResponse(statusCode: .noContent, headers: HTTPHeaders([.eTag: "\"\(version)\""]))
      case "/plans":
        let name = try await editor.add(picture: bytes)
        return Self.json(Array(#"{"image":\#(JSONValue.string(name))}"#.utf8))
      default: return Self.text(.notFound, "There is only /site and /plans.")
      }
    } catch { return Self.response(error) }
  }

  /// Reads the body of a request; nil if it is too long, or its length is unknown.
  private func body(_ request: HTTPRequest, atMost limit: Int) async throws -> [UInt8]? {
    guard let length = request.headers[.contentLength].flatMap(Int.init), length <= limit else {
      return nil
    }
    return Array(try await request.bodyData)
  }

  // MARK: responses

  private static func type(_ type: String) -> HTTPHeaders { HTTPHeaders([.contentType: type]) }

  private static func response(_ failure: SiteEditor.Failure) -> HTTPResponse {
    switch failure {
    case .changed:
      text(.preconditionFailed, "Another editor has saved the site file. Load it, then repeat.")
    case .problems(let problems):
      text(.unprocessableContent, problems.joined(separator: "\n"))
    case .file(let reason): text(.notFound, reason)
    }
  }

  private static func json(_ bytes: [UInt8], version: String? = nil) -> HTTPResponse {
    var headers = type("application/json")
    if let version { headers[.eTag] = "\"\(version)\"" }
    return HTTPResponse(statusCode: .ok, headers: headers, body: Data(bytes))
  }

  private static func text(_ status: HTTPStatusCode, _ text: String) -> HTTPResponse {
    HTTPResponse(
      statusCode: status, headers: type("text/plain; charset=utf-8"),
      body: Data((text + "\n").utf8))
  }
}
