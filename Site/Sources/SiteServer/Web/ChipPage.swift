// SPDX-License-Identifier: Apache-2.0

internal import FlyingFox
internal import Synchronization
internal import UWBSite

/// Shows the ranges of one chip, without a site, from lines of JSON.
package final class ChipPage: Sendable {
  private let feed = ChipFeed()
  private let server: WebServer

  /// Starts the page, and reports its address.
  package init(_ options: PageOptions) throws(SinkFailure) {
    let session = PageSession(token: options.token)
    let handler = ChipHandler(access: PageAccess(options, session, front: "/chip.html"), feed: feed)
    server = try WebServer.start(options, handler)
    options.report(options.address.page(port: server.port, token: session.token))
  }

  /// Adds a line; returns whether it is an object of JSON.
  package func add(_ line: [UInt8]) -> Bool { feed.add(line) }

  package func finish() { feed.finish() }

  package func close() { server.close() }
}

/// The last lines of a chip, by their numbers.
final class ChipFeed: Sendable {
  private static let capacity = 20_000
  /// The greatest number of lines in a reply.
  private static let most = 2_000

  private struct State {
    var lines: [[UInt8]] = []
    /// The number of lines so far.
    var count = 0
    var isEnded = false
  }

  private let run = String(UInt64.random(in: .min ... .max), radix: 16)
  private let state = Mutex(State())

  func add(_ line: [UInt8]) -> Bool {
    guard let value = try? JSONValue(line), case .object = value else { return false }
    let text = Array(value.description.utf8)
    state.withLock { state in
      if state.lines.count >= Self.capacity { state.lines.removeFirst(Self.capacity / 4) }
      state.lines.append(text)
      state.count += 1
    }
    return true
  }

  func finish() { state.withLock { $0.isEnded = true } }

  /// Returns the lines after a number of a run as JSON.
  func lines(after number: Int, run former: String?) -> [UInt8] {
    state.withLock { state in
      let oldest = state.count - state.lines.count
      let wanted = former == run ? number : 0
      let start = min(max(wanted, oldest), state.count)
      let end = min(start + Self.most, state.count)
      var text = Array(#"{"run":"\#(run)","next":\#(end),"ended":"#.utf8)
      text += (state.isEnded && end == state.count ? "true" : "false").utf8
      text += #","lines":["#.utf8
      text += state.lines[(start - oldest)..<(end - oldest)].joined(separator: [UInt8(ascii: ",")])
      return text + "]}".utf8
    }
  }
}

/// Answers the requests of pages of a chip.
struct ChipHandler: HTTPHandler {
  let access: PageAccess
  let feed: ChipFeed

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    access.protect(try await answer(request))
  }

  private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    switch try await access.enter(request) {
    case .answered(let response): return response
    case .admitted:
      guard request.method == .GET, request.path == "/lines" else {
        return .text(.notFound, "The page is at /, and its lines at /lines.")
      }
      let number = request.parameter("after").flatMap(Int.init) ?? 0
      return .json(feed.lines(after: number, run: request.parameter("run")))
    }
  }
}
