// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import UWBSite
import Varlink

@testable import SiteServer

/// A run that other programs see at a socket.
struct ServedRun {
  let path = NSTemporaryDirectory() + UUID().uuidString + ".socket"
  private let sink: ServiceSink
  private var loop: SiteLoop
  private var round = 0.0

  init(
    _ text: String = SiteScene.text, web: WebAddress? = nil, token: String? = nil
  ) throws {
    sink = ServiceSink(at: path, mode: 0o600, page: web.map { PageOptions($0, token: token) })
    let run = SiteRun(try SiteScene(text).site, sources: ["a"], isLive: true, epoch: 1000)
    loop = try SiteLoop(run, sinks: [sink])
  }

  /// Adds rounds of a tag that walks from a place to another one at 1 m/s.
  mutating func follow(_ place: SIMD3<Double>, to end: SIMD3<Double>? = nil) throws {
    let arm = (end ?? place) - place
    let count = max(10, Int((arm * arm).sum().squareRoot() * 10))
    for number in 0..<count {
      round += 0.1
      let here = place + arm * (Double(number) / Double(count))
      for item in SiteScene.round(at: round, here) { loop.add(item, from: 0, arrival: round) }
      try loop.turn(now: round, isComplete: true)
    }
  }

  /// The port for pages.
  var port: UInt16 { sink.port ?? 0 }

  mutating func finish() throws { try loop.finish(now: round) }
}

@Suite(.timeLimit(.minutes(5))) struct ServiceSinkTests {
  private func name(_ method: String) -> String { "\(SiteCalls.interface).\(method)" }

  private func call(
    _ client: VarlinkClient, _ method: String, _ parameters: String = ""
  ) async throws -> JSONValue {
    try JSONValue(try await client.call(name(method), Array(parameters.utf8)))
  }

  @Test("The service has the version of the package, which is the one of the driver's programs")
  func version() async throws {
    let run = try ServedRun()
    let client = try await VarlinkClient.connect(to: run.path)
    let info = try JSONValue(try await client.call("org.varlink.service.GetInfo", []))
    #expect(info["product"] == .string("uwbsite") && info["version"] == .string(siteVersion))
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../../Sources/Shell/CVersion/version.c")
    let text = try String(contentsOf: source, encoding: .utf8)
    #expect(text.contains("\"\(siteVersion)\""))
  }

  @Test("A program reads the site and its tags, and follows the changes from there")
  func aProgramFollows() async throws {
    var run = try ServedRun()
    let client = try await VarlinkClient.connect(to: run.path)
    let info = try await call(client, "GetInfo")
    #expect(info["protocol"] == .number(1) && info["live"] == .bool(true))
    #expect(info["epoch_s"] == .number(1000))
    try run.follow([3, 5, 1])
    let list = try await call(client, "List")
    guard case .array(let tags)? = list["tags"], case .number(let sequence)? = list["sequence"],
      case .string(let name)? = list["run"]
    else { throw SinkFailure("\(list)") }
    #expect(tags.map { $0["state"] } == [.string("present"), .string("silent")])
    let parameters = #"{"run":"\#(name)","after":\#(Int(sequence)),"tags":["T"]}"#
    var replies = client.replies(to: self.name("Watch"), Array(parameters.utf8))
      .makeAsyncIterator()
    let first = try #require(WatchReply(try await replies.next()))
    #expect(first.places.count == 1 && first.events.isEmpty)
    try run.follow([3, 5, 1], to: [8, 4, 1])
    var (events, lost) = ([JSONValue](), 0)
    while events.isEmpty, let reply = WatchReply(try await replies.next()) {
      events += reply.events
      lost += reply.lost
    }
    #expect(events[0]["event"] == .string("entered") && events[0]["zone"] == .string("dock"))
    #expect(events[0]["sequence"] == .number(sequence + 1) && lost == 0)
    try run.finish()
    await #expect(throws: VarlinkError.self) { while try await replies.next() != nil {} }
    #expect(!FileManager.default.fileExists(atPath: run.path))
  }

  @Test("Without the flag for several replies, Watch returns the next change")
  func next() async throws {
    var run = try ServedRun()
    try run.follow([3, 5, 1])
    let client = try await VarlinkClient.connect(to: run.path)
    async let reply = call(client, "Watch", #"{"after":0}"#)
    try run.follow([3, 5, 1], to: [8, 4, 1])
    #expect(WatchReply(Array("\(try await reply)".utf8))?.lost == 0)
    try run.finish()
  }

  @Test("Replies are 5 ms apart, or more for a program that asks for less")
  func pause() throws {
    for (parameters, pause) in [("{}", 5), (#"{"every_ms":0}"#, 5), (#"{"every_ms":20}"#, 20)] {
      #expect(try SiteCalls.pause(JSONValue(Array(parameters.utf8))) == pause)
    }
    #expect(throws: VarlinkError.self) {
      try SiteCalls.pause(.object([JSONMember("every_ms", .number(10_001))]))
    }
  }

  @Test("Wrong parameters are errors that name the parameter or the next step")
  func errors() async throws {
    let run = try ServedRun()
    let client = try await VarlinkClient.connect(to: run.path)
    for (parameters, expected) in [
      (#"{"tags":["X"]}"#, "org.swift-uwb.Site.NoTag"),
      (#"{"every_ms":10001}"#, "org.varlink.service.InvalidParameter"),
      (#"{"after":-1}"#, "org.varlink.service.InvalidParameter"),
      (#"{"tag":"T"}"#, "org.varlink.service.InvalidParameter"),
    ] {
      let error = await #expect(throws: VarlinkError.self) {
        try await call(client, "Watch", parameters)
      }
      #expect(error?.name == expected)
    }
    #expect(throws: SinkFailure.self) {
      let second = ServiceSink(at: run.path)
      try second.begin(SiteRun(try SiteScene().site, sources: [], isLive: true, epoch: 0))
    }
  }

  @Test("Changed calls have a reply or an error, and the service goes on")
  func changedCalls() async throws {
    var run = try ServedRun()
    try run.follow([3, 5, 1])
    var random = SplitMix64(seed: 11)
    let texts = [
      #"{"run":"a","after":3,"tags":["T","U"],"every_ms":20}"#, #"{"after":0}"#, #"{}"#,
    ]
    var client = try await VarlinkClient.connect(to: run.path)
    var (replies, errors) = (0, 0)
    for number in 0..<400 {
      var bytes = Array(texts[number % texts.count].utf8)
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        bytes[index] = Array(#"{}[]":,\0-9eTn "#.utf8).randomElement(using: &random) ?? 0
      }
      // Calls of Watch may wait for ever: only their first reply is awaited.
      let method = number % 4 == 0 ? "List" : number % 4 == 1 ? "GetInfo" : "Watch"
      do {
        for try await _ in client.replies(to: name(method), bytes) {
          replies += 1
          if method == "Watch" { break }
        }
      } catch { errors += 1 }
      if method == "Watch" || number % 7 == 0 {
        client.close()
        client = try await VarlinkClient.connect(to: run.path)
      }
    }
    #expect(replies > 40 && errors > 40)
    let last = try await VarlinkClient.connect(to: run.path)
    #expect(try await call(last, "GetInfo")["protocol"] == .number(1))
    try run.finish()
  }
}
