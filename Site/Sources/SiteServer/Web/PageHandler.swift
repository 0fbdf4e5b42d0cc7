// SPDX-License-Identifier: Apache-2.0

internal import FlyingFox
internal import Foundation
internal import UWBSite

/// Answers the requests of pages of a site: the page itself, the service at `/ws`, the site file,
/// the ranges of a tag, and places of the past.
struct PageHandler: HTTPHandler {
  let access: PageAccess
  let editor: SiteEditor
  let feed: PageFeed
  /// Whether the run is a recording that is read as fast as possible, or a history.
  let isRecording: Bool
  let relay: WebSocketHTTPHandler

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    access.protect(try await answer(request))
  }

  private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    switch try await access.enter(request) {
    case .answered(let response): return response
    case .admitted(let mayChange):
      switch request.method {
      case .GET: return try await get(request, mayChange: mayChange)
      case .PUT: return mayChange ? try await put(request) : PageAccess.locked
      default: return .text(.methodNotAllowed, "Only GET and PUT are possible.")
      }
    }
  }

  // MARK: reading

  private func get(_ request: HTTPRequest, mayChange: Bool) async throws -> HTTPResponse {
    switch request.path {
    case "/ws": return try await relay.handleRequest(request)
    case "/info":
      let members = [
        JSONMember("may_edit", .bool(mayChange)), JSONMember("is_file", .bool(editor.isFile)),
        JSONMember("recording", .bool(isRecording)),
      ]
      let extent = await feed.extent()
      return .json(Array(JSONValue.object(members + extent).description.utf8))
    case "/links":
      let time = request.parameter("at").flatMap(Double.init)
      return .json(feed.links(tag: request.parameter("tag"), at: time))
    case "/record":
      guard let from = request.parameter("from").flatMap(Double.init),
        let to = request.parameter("to").flatMap(Double.init), from.isFinite, to.isFinite
      else { return .text(.badRequest, "from and to are times in seconds.") }
      return .json(await feed.record(from: from, to: to))
    default: return await file(request.path)
    }
  }

  /// Returns the site file or a picture.
  private func file(_ path: String) async -> HTTPResponse {
    do throws(SiteEditor.Failure) {
      if path == "/site" {
        let (text, version) = try await editor.read()
        return .json(text, version: version)
      }
      guard path.hasPrefix("/plans/") else {
        return .text(.notFound, "The page is at /, and WebSocket at /ws.")
      }
      let name = path.dropFirst("/plans/".count).removingPercentEncoding ?? ""
      let picture = try await editor.picture(name)
      return .of("image/\(picture.type.rawValue)", picture.bytes)
    } catch { return Self.response(error) }
  }

  // MARK: changing

  private func put(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let bytes = try await request.body(atMost: SiteEditor.mostBytes) else {
      return .text(.payloadTooLarge, "A request has a length of at most 16 MiB.")
    }
    do throws(SiteEditor.Failure) {
      switch request.path {
      case "/site":
        let former = request.headers[HTTPHeader("If-Match")]?.filter { $0 != "\"" } ?? ""
        let version = try await editor.write(bytes, over: former)
        return HTTPResponse(
          statusCode: .noContent, headers: HTTPHeaders([.eTag: "\"\(version)\""]))
      case "/plans":
        let name = try await editor.add(picture: bytes)
        return .json(Array(#"{"image":\#(JSONValue.string(name))}"#.utf8))
      default: return .text(.notFound, "There is only /site and /plans.")
      }
    } catch { return Self.response(error) }
  }

  private static func response(_ failure: SiteEditor.Failure) -> HTTPResponse {
    switch failure {
    case .changed:
      .text(.preconditionFailed, "Another editor has saved the site file. Load it, then repeat.")
    case .problems(let problems):
      .text(.unprocessableContent, problems.joined(separator: "\n"))
    case .file(let reason): .text(.notFound, reason)
    }
  }
}
