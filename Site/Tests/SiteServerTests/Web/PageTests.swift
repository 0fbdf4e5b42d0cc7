// SPDX-License-Identifier: Apache-2.0

import FlyingFox
import Foundation
import Testing
import UWBSite

@testable import SiteServer

/// FlyingFox has a type of this name, too.
private typealias JSONValue = UWBSite.JSONValue

/// The server of a page without its sockets: requests and responses are values.
private struct PageScene {
  static let token = "0123456789abcdef"
  static let host = "localhost:8642"

  let handler: PageHandler
  let feed: PageFeed

  init(
    file: String? = nil, token: String? = nil, isLoopback: Bool = true, isLive: Bool = true,
    proxy: String? = nil
  ) throws {
    let run = SiteRun(try SiteScene().site, sources: ["a"], isLive: isLive, epoch: 0)
    feed = PageFeed(run, history: nil)
    handler = PageHandler(
      access: PageAccess(
        check: WebGuard(isLoopback: isLoopback, token: token.map { Array($0.utf8) }),
        session: PageSession(token: token ?? Self.token), proxy: proxy),
      editor: SiteEditor(path: file, run.site), feed: feed, isRecording: !isLive,
      relay: WebSocketHTTPHandler(handler: SocketHandler(path: "/nowhere")))
  }

  func send(
    _ method: HTTPMethod = .GET, _ target: String, _ headers: [String: String] = [:],
    _ body: String = "", from peer: HTTPRequest.Address? = nil
  ) async throws -> HTTPResponse {
    let parts = target.split(separator: "?", maxSplits: 1)
    let query = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { item in
      let pair = item.split(separator: "=")
      return HTTPRequest.QueryItem(name: String(pair[0]), value: String(pair[1]))
    }
    var all: HTTPHeaders = [.host: Self.host, .contentLength: "\(body.utf8.count)"]
    for (name, value) in headers { all[HTTPHeader(name)] = value }
    return try await handler.handleRequest(
      HTTPRequest(
        method: method, version: .http11, path: String(parts[0]), query: query, headers: all,
        body: HTTPBodySequence(data: Data(body.utf8)), remoteAddress: peer))
  }

  /// Returns the cookie that a token is exchanged for.
  func cookie(_ token: String = token) async throws -> String {
    let response = try await send(.POST, "/session", [:], token)
    let header = response.headers[HTTPHeader("Set-Cookie")] ?? ""
    #expect(header.contains("HttpOnly") && header.contains("SameSite=Strict"))
    return String(header.prefix { $0 != ";" })
  }

  /// Adds a tag that stands still, with one range that is far too long.
  func follow() throws {
    var loop = try SiteLoop(
      SiteRun(try SiteScene().site, sources: ["a"], isLive: true, epoch: 0),
      sinks: [FeedSink(feed)])
    for number in 0..<30 {
      let time = Double(number) / 10
      for item in SiteScene.round(at: time, [7, 5, 1]) { loop.add(item, from: 0, arrival: time) }
      try loop.turn(now: time, isComplete: true)
    }
    let far = SiteScene.range(at: 3, "T", "A1", [30, 0, 0])
    loop.add(.measurement(far), from: 0, arrival: 3)
    try loop.turn(now: 3, isComplete: true)
  }
}

private final class FeedSink: SiteSink {
  private let feed: PageFeed
  init(_ feed: PageFeed) { self.feed = feed }
  func receive(_ batch: SiteBatch) { feed.add(batch) }
}

extension HTTPResponse {
  fileprivate var json: JSONValue {
    get async throws { try JSONValue(Array(try await bodyData)) }
  }
}

@Suite struct PageTests {
  @Test(
    "Each file of the page is in the program, with its type",
    arguments: [
      ("/", "text/html"), ("/chip.html", "text/html"), ("/page.css", "text/css"),
      ("/icon.svg", "image/svg"), ("/main.js", "text/javascript"), ("/chip.js", "text/javascript"),
    ])
  func files(_ path: String, _ type: String) async throws {
    let response = try await PageScene().send(.GET, path)
    #expect(response.statusCode == .ok)
    #expect(response.headers[.contentType]?.hasPrefix(type) == true)
    #expect(try await !response.bodyData.isEmpty)
  }

  @Test("The modules that a module imports are files of the page")
  func imports() async throws {
    let scene = try PageScene()
    var waiting = ["main.js", "chip.js"]
    var found: Set<String> = []
    while let name = waiting.popLast() {
      guard found.insert(name).inserted else { continue }
      let response = try await scene.send(.GET, "/\(name)")
      try #require(response.statusCode == .ok, "\(name)")
      let text = String(decoding: try await response.bodyData, as: UTF8.self)
      waiting += text.matches(of: /from "\.\/([a-z]+\.js)"/).map { String($0.1) }
    }
    #expect(found.count >= 9)
  }

  @Test("Each response keeps other pages out")
  func headers() async throws {
    let scene = try PageScene()
    for path in ["/", "/main.js", "/info", "/none", "/site"] {
      let headers = try await scene.send(.GET, path).headers
      let policy = headers[HTTPHeader("Content-Security-Policy")] ?? ""
      #expect(policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"))
      #expect(!policy.contains("unsafe"))
      #expect(headers[HTTPHeader("X-Content-Type-Options")] == "nosniff")
      #expect(headers[HTTPHeader("Cross-Origin-Resource-Policy")] == "same-origin")
    }
  }

  @Test("Requests under other names and of other pages are refused")
  func refused() async throws {
    let scene = try PageScene()
    for (name, value) in [("Host", "example.org"), ("Origin", "http://example.org")] {
      #expect(try await scene.send(.GET, "/", [name: value]).statusCode == .forbidden)
      #expect(try await scene.send(.PUT, "/site", [name: value]).statusCode == .forbidden)
    }
  }

  @Test("On an address of other machines, all but the page itself needs the token")
  func token() async throws {
    let scene = try PageScene(token: PageScene.token, isLoopback: false)
    #expect(try await scene.send(.GET, "/").statusCode == .ok)
    for path in ["/info", "/site", "/links", "/record?from=0&to=1", "/ws", "/plans/a.png"] {
      #expect(try await scene.send(.GET, path).statusCode == .unauthorized, "\(path)")
    }
    #expect(try await scene.send(.POST, "/session", [:], "wrong").statusCode == .unauthorized)
    let cookie = try await scene.cookie()
    #expect(try await scene.send(.GET, "/info", ["Cookie": cookie]).statusCode == .ok)
    #expect(try await scene.send(.GET, "/info", ["Cookie": "a=b; \(cookie)"]).statusCode == .ok)
    #expect(
      try await scene.send(.GET, "/info", ["Cookie": cookie + "0"]).statusCode == .unauthorized)
  }

  @Test("A proxy has the page in a frame and may change the site; nobody else may read it")
  func proxy() async throws {
    let scene = try PageScene(isLoopback: false, proxy: "172.30.32.2")
    let name = ["Host": "homeassistant.local:8123", "Origin": "https://home.example"]
    let peers: [HTTPRequest.Address] = [
      .ip4("172.30.32.2", port: 40_000), .ip6("::ffff:172.30.32.2", port: 40_000),
    ]
    for peer in peers {
      let page = try await scene.send(.GET, "/", name, from: peer)
      #expect(page.statusCode == .ok)
      let policy = page.headers[HTTPHeader("Content-Security-Policy")] ?? ""
      #expect(policy.contains("frame-ancestors 'self'") && policy.contains("default-src 'self'"))
      let info = try await scene.send(.GET, "/info", name, from: peer).json
      #expect(info["may_edit"] == .bool(true))
    }
    let others: [HTTPRequest.Address?] = [
      .ip4("172.30.32.3", port: 40_000), .ip6("::1", port: 40_000), .unix("/run/socket"), nil,
    ]
    let forwarded = ["X-Forwarded-For": "172.30.32.2"]
    for peer in others {
      for path in ["/", "/info", "/site", "/ws"] {
        let response = try await scene.send(.GET, path, forwarded, from: peer)
        #expect(response.statusCode == .forbidden, "\(path)")
      }
    }
  }

  @Test("A change needs the cookie, also on this machine, and the version that was read")
  func editing() async throws {
    let file = NSTemporaryDirectory() + UUID().uuidString + ".json"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try Data(SiteScene.text.utf8).write(to: URL(fileURLWithPath: file))
    let scene = try PageScene(file: file)
    let read = try await scene.send(.GET, "/site")
    let version = try #require(read.headers[.eTag])
    var site = try Site(json: Array(try await read.bodyData))
    site.zones[0].label = "<b>Dock</b>"
    let headers = ["Cookie": try await scene.cookie(), "If-Match": version]
    #expect(
      try await scene.send(.PUT, "/site", ["If-Match": version], site.json).statusCode
        == .unauthorized)
    #expect(try await scene.send(.PUT, "/site", headers, "{}").statusCode == .unprocessableContent)
    let saved = try await scene.send(.PUT, "/site", headers, site.json)
    #expect(saved.statusCode == .noContent && saved.headers[.eTag] != version)
    let written = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(String(decoding: written, as: UTF8.self) == site.json)
    // The version is no longer current, as if another editor had saved meanwhile.
    site.zones[0].label = "other"
    #expect(
      try await scene.send(.PUT, "/site", headers, site.json).statusCode
        == .preconditionFailed)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == written)
  }

  @Test("A site without a file keeps its changes until the run ends")
  func memory() async throws {
    let scene = try PageScene()
    let version = try #require(try await scene.send(.GET, "/site").headers[.eTag])
    var site = try SiteScene().site
    site.name = "Hall"
    let headers = ["Cookie": try await scene.cookie(), "If-Match": version]
    #expect(try await scene.send(.PUT, "/site", headers, site.json).statusCode == .noContent)
    #expect(try await scene.send(.GET, "/site").json["name"] == .string("Hall"))
  }

  @Test("Pictures have known types, and names without folders")
  func pictures() async throws {
    let scene = try PageScene()
    let cookie = ["Cookie": try await scene.cookie()]
    #expect(
      try await scene.send(.PUT, "/plans", cookie, "<svg/>").statusCode
        == .unprocessableContent)
    let editor = SiteEditor(path: nil, try SiteScene().site)
    let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]
    let name = try await editor.add(picture: png)
    let picture = try await editor.picture(name)
    #expect(picture.type == .png && picture.bytes == png)
    for path in ["/plans/..%2Fetc%2Fpasswd", "/plans/.a", "/plans/site.json"] {
      #expect(try await scene.send(.GET, path).statusCode == .notFound)
    }
  }

  @Test("A request without a length, or with a long body, is not read")
  func lengths() async throws {
    let scene = try PageScene()
    let cookie = try await scene.cookie()
    for length in ["", "x", "99999999999"] {
      let headers = ["Cookie": cookie, "Content-Length": length]
      #expect(try await scene.send(.PUT, "/plans", headers).statusCode == .payloadTooLarge)
    }
  }
}

@Suite struct PageFeedTests {
  @Test("The ranges of a tag have their effect and their residual")
  func links() async throws {
    let scene = try PageScene()
    try scene.follow()
    let links = try await scene.send(.GET, "/links?tag=T").json
    guard case .array(let ranges)? = links["ranges"], case .array(let anchors)? = links["anchors"]
    else { throw SinkFailure("\(links)") }
    #expect(ranges.map { $0["anchor"] } == (0..<4).map { .string("A\($0)") })
    #expect(
      ranges.map { $0["result"] } == ["used", "rejected", "used", "used"].map { .string($0) })
    #expect(anchors[1]["rejected"] == .number(1) && anchors[0]["rejected"] == .number(0))
    // At an earlier time, the range was good.
    let early = try await scene.send(.GET, "/links?tag=T&at=2.5").json
    guard case .array(let former)? = early["ranges"] else { throw SinkFailure("\(early)") }
    #expect(former.allSatisfy { $0["result"] == .string("used") && $0["t"] == .number(2.5) })
    #expect(try await scene.send(.GET, "/links?tag=X").json["ranges"] == .array([]))
  }

  @Test("A page reads the places of a time, in several replies if there are many")
  func record() async throws {
    let scene = try PageScene(isLive: false)
    try scene.follow()
    let all = try await scene.send(.GET, "/record?from=0&to=10").json
    guard case .array(let places)? = all["places"], case .array(let first)? = places.first,
      case .array(let events)? = all["events"]
    else { throw SinkFailure("\(all)") }
    #expect(places.count > 20 && first.count == 10 && all["next"] == .null)
    #expect(events.first?["event"] == .string("entered"))
    let part = try await scene.send(.GET, "/record?from=1&to=2").json
    guard case .array(let few)? = part["places"] else { throw SinkFailure("\(part)") }
    #expect(few.count == 10)
    #expect(try await scene.send(.GET, "/record?from=x&to=2").statusCode == .badRequest)
    let site = try SiteScene().site
    let live = SiteRun(site, sources: ["a"], isLive: true, epoch: 0)
    let feed = PageFeed(live, history: HistoryFolder("/nowhere"))
    #expect(!(await feed.record(from: -1e300, to: 1e300)).isEmpty)
    let info = try await scene.send(.GET, "/info").json
    #expect(info["recording"] == .bool(true) && info["may_edit"] == .bool(false))
  }

  @Test("A history without a run has the times of its places")
  func history() async throws {
    let scene = try HistoryScene()
    let (start, day) = (HistoryScene.start, UTCDay.milliseconds)
    let times = [0, 1000, day, day + 5000]
    scene.write(
      times.map { HistoryScene.place("T", start + $0) }, [HistoryScene.event("T", start + 500)])
    let history = try History(scene.folder)
    #expect(history.extent(.init()) == start...(start + day + 5000))
    var query = History.Query()
    (query.from, query.to) = (start + 1, start + day + 5000)
    let extent = try #require(history.extent(query))
    #expect(extent == (start + 1000)...(start + day))
    query.from = start + 2 * day
    #expect(history.extent(query) == nil)
    let run = SiteRun(try SiteScene().site, sources: [], isLive: false, epoch: 0)
    let feed = PageFeed(run, history: scene.folder, times: extent)
    let info = JSONValue.object(await feed.extent())
    let first = Double(start) / 1000
    #expect(info["from"] == .number(first + 1) && info["to"] == .number(first + 86_400))
    let record = try JSONValue(await feed.record(from: first, to: first + 2))
    guard case .array(let places)? = record["places"], case .array(let events)? = record["events"]
    else { throw SinkFailure("\(record)") }
    #expect(places.count == 2 && events.count == 1 && record["next"] == .null)
  }

  @Test("A ring keeps the newest elements in order")
  func ring() {
    struct Element: Timed { var time: Double }
    var ring = TimeRing<Element>(capacity: 4)
    #expect(ring.index(from: 0) == 0)
    for time in 0..<10 { ring.add(Element(time: Double(time))) }
    #expect((0..<ring.count).map { ring[$0].time } == [6, 7, 8, 9])
    #expect([0, 6, 6.5, 9, 20].map { ring.index(from: $0) } == [0, 0, 1, 3, 4])
  }
}

@Suite struct ChipPageTests {
  @Test("A page reads the lines after the ones it has, and all lines of another run")
  func lines() throws {
    let feed = ChipFeed()
    let texts = (0..<3).map { #"{"time_s": \#($0), "peer": "<b>"}"# }
    #expect(texts.allSatisfy { feed.add(Array($0.utf8)) })
    #expect(!feed.add(Array("[1]".utf8)) && !feed.add(Array("{".utf8)))
    let all = try JSONValue(feed.lines(after: 0, run: nil))
    #expect(all["next"] == .number(3) && all["ended"] == .bool(false))
    guard case .string(let run)? = all["run"], case .array(let lines)? = all["lines"] else {
      throw SinkFailure("\(all)")
    }
    #expect(lines.map { $0["time_s"] } == (0..<3).map { .number(Double($0)) })
    feed.finish()
    let rest = try JSONValue(feed.lines(after: 2, run: run))
    #expect(rest["lines"] == .array([lines[2]]) && rest["ended"] == .bool(true))
    #expect(try JSONValue(feed.lines(after: 2, run: "x"))["lines"] == .array(lines))
    #expect(try JSONValue(feed.lines(after: 9, run: run))["lines"] == .array([]))
  }

  @Test("Many lines come in several replies, and the oldest are forgotten")
  func many() throws {
    let feed = ChipFeed()
    for number in 0..<25_000 { _ = feed.add(Array(#"{"t":\#(number)}"#.utf8)) }
    let reply = try JSONValue(feed.lines(after: 0, run: nil))
    guard case .array(let lines)? = reply["lines"], case .number(let first)? = lines[0]["t"],
      case .number(let next)? = reply["next"]
    else { throw SinkFailure("\(reply)") }
    #expect(lines.count == 2000 && first > 0 && next == first + 2000)
  }
}
