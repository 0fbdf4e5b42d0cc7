// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SiteServer
@testable import UWBSite

/// Messages of one-way ranging from captures, lines and replies of the service. The captures and
/// the lines come from the same runs of simulated chips. The lines have the keys that are read
/// here.
@Suite struct OneWaySourceTests {
  private func path(_ name: String) -> String {
    "\(#filePath)".replacing("OneWaySourceTests.swift", with: "Captures/\(name)")
  }

  private func site() throws -> Site {
    func anchor(_ id: String, _ x: Double, _ y: Double, _ z: Double, _ address: String) -> String {
      """
      {"id": "\(id)", "addresses": ["\(address)"], "position_m": [\(x), \(y), \(z)],
       "position_sd_m": [0.02, 0.02, 0.02]}
      """
    }
    let anchors = [
      anchor("A0", 0, 0, 2.5, "0x0000"), anchor("A1", 8, 0, 2.2, "0x0001"),
      anchor("A2", 8, 6, 2.6, "0x0002"), anchor("A3", 0, 6, 1.9, "0x0003"),
      anchor("A4", 4, 3, 2.8, "0x0004"),
    ]
    return try SiteScene(
      """
      {"version": 1, "gauge": {"kind": "measured"}, "anchors": [\(anchors.joined(separator: ","))],
       "tags": [{"id": "cart", "addresses": ["0x0100"], "carrier": "vehicle", "height_m": 1.2}]}
      """
    ).site
  }

  private func items(_ argument: String) throws -> [SourceItem] {
    let source = try Source(argument: argument, SiteNames(try site()))
    guard case .recording(var recording) = source.kind else { return [] }
    var items: [SourceItem] = []
    while let item = recording.next() { items.append(item) }
    return items
  }

  private func messages(_ items: [SourceItem]) -> [OneWayLine] {
    items.compactMap { if case .message(let line) = $0 { line } else { nil } }
  }

  /// The exact part of a message: a line of JSON rounds carriers.
  private func stamps(_ line: OneWayLine) -> String {
    switch line.message {
    case .downlink(let one):
      "\(one.kind) \(one.block) \(one.round) \(one.sent) \(one.received) \(one.bits) \(one.reply)"
    case .blink(let frame, let received): "blink \(frame) \(received)"
    case .sync(let sent, let received): "sync \(sent) \(received)"
    case .frame: "frame"
    }
  }

  @Test(
    "A capture has the messages that the program printed",
    arguments: [("downlink", 144), ("uplink", 12)])
  func capture(_ name: String, _ count: Int) throws {
    // The chip reports some more messages until it has stopped.
    let captured = messages(try items("cart=\(path("\(name).pcapng"))")).prefix(count)
    let printed = messages(try items("cart=\(path("\(name).jsonl"))"))
    #expect(captured.count == count && printed.count == count)
    #expect(captured.map(stamps) == printed.map(stamps))
    #expect(captured.map(\.senders) == printed.map(\.senders))
    #expect(captured.allSatisfy { $0.device == "cart" })
    let times = captured.map(\.time)
    #expect(times == times.sorted())
  }

  /// Runs a recording of the tag.
  private func follow(_ items: [SourceItem], isLive: Bool = false) throws -> Collector {
    let collector = Collector()
    var loop = try SiteLoop(
      SiteRun(try site(), sources: ["cart"], isLive: isLive, epoch: 0), sinks: [collector])
    for item in items {
      var now: Double?
      if isLive, case .message(let line) = item { now = line.time }
      loop.add(item, from: 0, arrival: now)
      try loop.turn(now: now, isComplete: true)
    }
    try loop.finish(now: nil)
    return collector
  }

  /// Expects a last place on the line between both ends of the walk.
  private func expectWalk(_ collector: Collector, within limit: Double = 0.15) throws {
    #expect(collector.places.count > 10)
    let last = try #require(collector.places.last).position
    let ray = (last - SIMD3(3, 2, 1.2)) / SIMD3(2, 2, 1)
    #expect(abs(ray.x - ray.y) < limit && -0.2...1.2 ~= ray.x, "\(last)")
  }

  @Test(
    "A capture and the lines of a tag lead to its walk from 3, 2 to 5, 4",
    arguments: ["downlink.pcapng", "downlink.jsonl"])
  func places(_ name: String) throws {
    let collector = try follow(try items("cart=\(path(name))"))
    try expectWalk(collector)
    #expect(collector.counters?.bad == 0 && collector.counters?.unknown == 0)
  }

  @Test("Replies of a service have its clock and its chip, and lead to the same walk")
  func service() throws {
    let lines = try String(contentsOf: path("downlink.jsonl")).split(separator: "\n")
    var replies = ChipReplies(board: nil, SiteNames(try site()))
    var all: [SourceItem] = []
    for (number, line) in lines.enumerated() {
      let reply = """
        {"chip": "/dev/x", "monotonic_us": \(1_000_000 + 200_000 * (number / 6)), "lost": 0,
         "identity": {"host": "h", "address": "0x0100"}, "one_way": \(line)}
        """
      all += replies.items(Array(reply.utf8))
    }
    let found = messages(all)
    #expect(found.count == lines.count && found.allSatisfy { $0.device == "0x0100" })
    #expect(found.last?.time == 5.6)
    try expectWalk(try follow(all, isLive: true), within: 0.3)
  }

  @Test("Stamps of 64 bits keep each tick, in lines, tables and replies")
  func wideStamps() throws {
    let odd: UInt64 = 1 << 53 + 1
    let line = """
      {"time_s": 1, "kind": "uplink", "peer": "0x0000", "status_code": 0, "message": "sync", \
      "tx_ticks": \(odd), "tx_bits": 64, "rx_ticks": \(UInt64.max), "rx_bits": 64}
      """
    let expected = OneWayLine.Message.sync(sent: .init(odd, bits: 64), .init(.max, bits: 64))
    var json = LineParser(.json, board: "A1")
    #expect(messages([json.parse(Array(line.utf8))].compactMap(\.self)).first?.message == expected)
    var table = LineParser(.table, board: "A1")
    let header = "time_s,kind,peer,status_code,message,tx_ticks,tx_bits,rx_ticks,rx_bits"
    _ = table.parse(Array(header.utf8))
    let row = table.parse(Array("1,uplink,0x0000,0,sync,\(odd),64,\(UInt64.max),64".utf8))
    #expect(messages([row].compactMap(\.self)).first?.message == expected)
    var replies = ChipReplies(board: "A1", SiteNames(try site()))
    let reply = #"{"monotonic_us": 1, "one_way": \#(line)}"#
    #expect(messages(replies.items(Array(reply.utf8))).first?.message == expected)
  }
}

extension String {
  /// The text of a file of this repository.
  fileprivate init(contentsOf path: String) throws {
    var text = ""
    let failure = try LineInput(path).forEach(isStopped: { false }) {
      text += String(decoding: $0, as: UTF8.self) + "\n"
    }
    #expect(failure == nil)
    self = text
  }
}
