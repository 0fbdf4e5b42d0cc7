// SPDX-License-Identifier: Apache-2.0

import Foundation
package import UWBSite

/// Damaged requests of pages and frames of WebSocket, each over a connection of its own.
package struct WebFuzz {
  /// The counts of a run, and the first answers that are neither a result nor a reason.
  package struct Result: Sendable, Hashable {
    package var requests = 0
    /// The numbers of requests that were answered, and that were refused with a sentence.
    package var accepted = 0
    package var refused = 0
    /// The number of connections whose bytes are not HTTP, and that end without an answer.
    package var closed = 0
    package var wrong: [String] = []
  }

  private let site: ServedSite
  private var seeds: [[UInt8]] = []
  private var damage: ByteDamage
  private var result = Result()

  package init(_ site: Site, seed: UInt64) throws {
    self.site = try ServedSite(site)
    damage = ByteDamage(
      seed: seed,
      parts: [
        "\r\n", "\r\n\r\n", ": ", "%00", "%zz", "/../", "?at=nan", "?tag=",
        "Content-Length: -1\r\n",
        "Content-Length: 9223372036854775807\r\n", "Transfer-Encoding: chunked\r\n",
        "ffffffffffffffff\r\n", "Host: example.org\r\n", "\u{7F}\u{FF}", "\u{81}\u{FE}", "HTTP/9",
      ])
    seeds = Self.requests(cookie: cookie() ?? "")
  }

  /// Returns the cookie of a session, which may change the site.
  private func cookie() -> String? {
    let request =
      "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(ServedSite.token.utf8.count)"
      + "\r\n\r\n\(ServedSite.token)"
    let answer = String(decoding: exchange(Array(request.utf8)) ?? [], as: UTF8.self)
    let line = answer.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie: ") }
    return line?.dropFirst("set-cookie: ".count).split(separator: ";").first.map(String.init)
  }

  private static func requests(cookie: String) -> [[UInt8]] {
    func request(_ start: String, _ more: String = "", _ body: String = "") -> [UInt8] {
      Array(
        ("\(start) HTTP/1.1\r\nHost: localhost\r\nCookie: \(cookie)\r\n\(more)"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
    }
    let upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    let call = #"{"method":"org.swift-uwb.Site."#
    return [
      request("GET /"), request("GET /info"), request("GET /links?tag=T&at=1.5"),
      request("GET /record?from=0&to=1e3"), request("GET /site"), request("GET /plans/a.png"),
      request("PUT /site", "If-Match: \"1\"\r\n", #"{"version": 1, "anchors": []}"#),
      request("PUT /plans", "", "\u{89}PNG"), request("POST /session", "", ServedSite.token),
      request("GET /ws", upgrade) + frame("\(call)GetInfo\"}") + frame("ab", opcode: 9),
      request("GET /ws", upgrade)
        + frame("\(call)Watch\",\"more\":true,\"parameters\":{\"after\":0}}"),
    ]
  }

  /// Returns a masked frame.
  private static func frame(_ text: String, opcode: UInt8 = 1) -> [UInt8] {
    let mask: [UInt8] = [1, 2, 3, 4]
    let payload = text.utf8.enumerated().map { $1 ^ mask[$0 % 4] }
    return [0x80 | opcode, 0x80 | UInt8(min(125, payload.count))] + mask + payload.prefix(125)
  }

  /// Makes damaged requests, on the calling thread, which it blocks.
  package mutating func run(_ count: Int) throws -> Result {
    for _ in 0..<count { request(damage.damaged(seeds)) }
    let whole = exchange(seeds[1]).map { String(decoding: $0.prefix(12), as: UTF8.self) }
    if whole != "HTTP/1.1 200" { note("the server no longer answers", seeds[1]) }
    result.requests = count
    return result
  }

  private mutating func request(_ bytes: [UInt8]) {
    guard let answer = exchange(bytes) else { return note("no end", bytes) }
    guard !answer.isEmpty else {
      result.closed += 1
      return
    }
    let text = String(decoding: answer, as: UTF8.self)
    let words = text.prefix { $0 != "\r\n" }.split(separator: " ")
    guard words.count > 1, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else {
      return note("no HTTP", bytes)
    }
    if status < 400 { result.accepted += 1 } else { result.refused += 1 }
    // There may be several answers, one for each request. FlyingFox answers unknown methods of HTTP
    // without a sentence.
    let body = text.range(of: "\r\n\r\n").map { text[$0.upperBound...] } ?? ""
    let hasSentence = !body.isEmpty && !body.hasPrefix("HTTP/") || status == 404
    if status >= 500 || status >= 400 && !hasSentence { note("status \(status)", bytes) }
  }

  /// Returns the answer to bytes; nil if the connection does not end in time.
  private func exchange(_ bytes: [UInt8]) -> [UInt8]? {
    guard let socket = StreamSocket(port: site.port) else { return nil }
    socket.limit(milliseconds: 5_000)
    socket.endHard()
    socket.send(bytes)
    socket.finish()
    var answer: [UInt8] = []
    while let more = socket.receive() {
      guard !more.isEmpty else { return nil }
      answer += more
    }
    return answer
  }

  private mutating func note(_ sentence: String, _ bytes: [UInt8]) {
    guard result.wrong.count < 10 else { return }
    result.wrong.append("\(sentence): \(String(decoding: bytes, as: UTF8.self))")
  }
}
