// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// Damaged calls of `org.swift-uwb.Site`, each over a connection of its own.
package struct ServiceFuzz {
  /// The counts of a run, and the first replies that are neither a result nor a reason.
  package struct Result: Sendable, Hashable {
    package var calls = 0
    package var results = 0
    /// The number of errors that name a parameter, a method or an interface, or that have a
    /// sentence.
    package var errors = 0
    package var wrong: [String] = []
  }

  private static let seeds = [
    #"{"method":"org.swift-uwb.Site.GetInfo"}"#,
    #"{"method":"org.swift-uwb.Site.List","parameters":{}}"#,
    #"{"method":"org.swift-uwb.Site.List","more":true}"#,
    #"{"method":"org.swift-uwb.Site.Watch","more":true,"parameters":{"run":"a","after":3,"#
      + #""tags":["T","U"],"every_ms":20}}"#,
    #"{"method":"org.swift-uwb.Site.Watch","parameters":{"after":0}}"#,
    #"{"method":"org.varlink.service.GetInfo","parameters":{}}"#,
    #"{"method":"org.varlink.service.GetInterfaceDescription","#
      + #""parameters":{"interface":"org.swift-uwb.Site"}}"#,
  ].map { Array($0.utf8) }

  /// The time in seconds after which a waiting reader gets an event, and the greatest number of
  /// such events.
  private static let (patience, mostEvents) = (2, 2_000)

  private let site: ServedSite
  private var damage: ByteDamage
  private var result = Result()

  package init(_ site: Site, seed: UInt64) throws {
    self.site = try ServedSite(site)
    damage = ByteDamage(
      seed: seed,
      parts: [
        "null", "true", "-1", "1e999", "9007199254740993", "[", "]", "{", "}", "\"", "\"X\"", ":",
        ",", "\\ud800", "\"more\":true,", "\"oneway\":true,", "\"upgrade\":true,", "every_ms",
      ])
  }

  /// Makes damaged calls, on the calling thread, which it blocks.
  package mutating func run(_ count: Int) throws -> Result {
    for _ in 0..<count { try call(damage.damaged(Self.seeds).filter { $0 != 0 }) }
    result.calls = count
    return result
  }

  private mutating func call(_ message: [UInt8]) throws {
    guard let socket = StreamSocket(unix: site.socket) else {
      return note("no connection", message)
    }
    socket.limit(milliseconds: Self.patience)
    socket.send(message + [0])
    let text = String(decoding: message, as: UTF8.self)
    // A stream has no end. Other calls end when the connection ends.
    let isStream = text.contains("more")
    if !isStream { socket.finish() }
    var (reply, events) = ([UInt8](), 0)
    while let bytes = socket.receive() {
      reply += bytes
      if isStream, reply.contains(0) || text.contains("oneway") { break }
      guard bytes.isEmpty else { continue }
      events += 1
      guard events < Self.mostEvents else { return note("no reply", message) }
      try site.change()
    }
    for part in reply.split(separator: 0).prefix(isStream ? 1 : .max) {
      check(Array(part), message)
    }
    if reply.isEmpty, !text.contains("oneway") { note("silence", message) }
  }

  private mutating func check(_ reply: [UInt8], _ message: [UInt8]) {
    guard let value = try? JSONValue(reply) else { return note("no JSON", message) }
    guard value["error"] != nil else {
      result.results += 1
      return
    }
    result.errors += 1
    let reasons = ["reason", "parameter", "method", "interface"]
    let isNamed = reasons.contains { name in
      if case .string? = value["parameters"]?[name] { true } else { false }
    }
    if !isNamed { note("no reason", message) }
  }

  private mutating func note(_ sentence: String, _ message: [UInt8]) {
    guard result.wrong.count < 10 else { return }
    result.wrong.append("\(sentence): \(String(decoding: message, as: UTF8.self))")
  }
}
