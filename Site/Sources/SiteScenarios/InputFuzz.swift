// SPDX-License-Identifier: Apache-2.0

internal import SiteServer
package import UWBSite

/// Damaged lines of JSON, tables and PANS, and the places that result from them.
package struct InputFuzz {
  package enum Format: String, Sendable, CaseIterable { case json, table, pans }

  /// The counts of a run, and the first sentences that do not name a field.
  package struct Result: Sendable, Hashable {
    package var lines = 0
    package var measurements = 0
    package var bad = 0
    package var places = 0
    /// Sentences without a line and a field, and places with infinite coordinates.
    package var wrong: [String] = []
  }

  private static let seeds: [Format: [String]] = [
    .json: [
      #"{"t": 1.5, "tag": "T", "anchor": "A0", "distance_m": 4.21, "sd_m": 0.1}"#,
      #"{"time_s": 2, "device": "T", "peer": "0x0a00", "status": "OK", "distance_cm": 412}"#,
      #"{"t": 1, "tag": "T", "anchor_a": "A0", "anchor_b": "A1", "difference_m": -1.25}"#,
      #"{"t": 1, "tag": "T", "anchor": "A2", "azimuth_deg": 31, "elevation_deg": -4}"#,
      #"{"time_s": 2, "kind": "uplink", "peer": "0x0a00", "status_code": 0, "message": "sync", "#
        + #""frame": 3, "tx_ticks": 900, "tx_bits": 40, "rx_ticks": 700, "rx_bits": 40}"#,
      #"{"time_s": 2, "kind": "uplink", "peer": "U", "status_code": 0, "message": "blink", "#
        + #""frame": 4, "rx_ticks": 7000, "rx_bits": 40, "azimuth_deg": 30, "azimuth_fom": 90, "#
        + #""device_id": "ab01", "nlos": true}"#,
      stamp("poll", "0x0a00", sent: 900, received: 700),
      stamp("response", "0x0a01", sent: 90_000_000_000, received: 128_000_700),
      stamp("final", "0x0a00", sent: 256_000_900, received: 256_000_700),
    ],
    .table: ["1.5,T,A0,4.21,0.1", "2,U,A3,\"3.5\",", "3,T,0x0a00,1e1,0.5,7"],
    .pans: [
      "DIST,2,AN0,0A00,0.00,0.00,2.50,5.05,AN1,0A01,10.00,0.00,3.00,8.12,POS,2.55,4.01,1.00,98",
      "0A00[0.00,0.00,2.50]=5.05 0A01[10.00,0.00,3.00]=8.12 le_us=2576 est[2.57,3.98,1.00,100]",
      "[000351.430 INF] uwb0: panid=x1234 addr=xDECAB3C1C3B25506",
    ],
  ]

  /// Returns a message of an anchor of downlink TDoA.
  private static func stamp(
    _ message: String, _ peer: String, sent: Int, received: Int
  ) -> String {
    #"{"time_s": 2, "kind": "downlink", "peer": "\#(peer)", "message": "\#(message)", "#
      + #""status_code": 0, "block": 7, "round": 0, "tx_ticks": \#(sent), "tx_bits": 40, "#
      + #""rx_ticks": \#(received), "rx_bits": 64, "responder_reply_ticks": 128000000, "#
      + #""tof_ticks": 900, "cfo_ppm": 1.5, "anchor_cfo_ppm": -2}"#
  }

  /// Parts that replace other parts: numbers at their limits, signs and keys.
  private static let parts = [
    "1e999", "-1e308", "-0", "nan", "inf", "0.0000000001", "18446744073709551616", "null", "true",
    "[[[[", "{", "}", "\"\\ud800\"", "\"\\u0000\"", ",,,,", "distance_m", "AN9", "DIST,", "]=",
    "\r",
  ]

  private let format: Format
  private let seeds: [[UInt8]]
  private var damage: ByteDamage
  private var parser: LineParser
  private var dialogue: PANSDialogue
  private var loop: SiteLoop
  private let collector = PlaceCheck()
  private var result = Result()

  package init(_ format: Format, _ site: Site, seed: UInt64) throws {
    self.format = format
    seeds = (Self.seeds[format] ?? []).map { Array($0.utf8) }
    damage = ByteDamage(seed: seed, parts: Self.parts)
    parser = LineParser(format == .table ? .table : .json, board: "T")
    dialogue = PANSDialogue(board: "T", SiteNames(site), at: 0)
    loop = try SiteLoop(
      SiteRun(site, sources: ["fuzz"], isLive: true, epoch: 0), sinks: [collector])
    if format == .table { _ = parser.parse(Array("t,tag,anchor,distance_m,sd_m".utf8)) }
  }

  /// Feeds damaged lines.
  package mutating func run(_ count: Int) throws -> Result {
    for number in 0..<count {
      let now = Double(number) / 1000
      for item in items(damaged(), now) { take(item, now) }
      if number % 64 == 0 { try loop.turn(now: now, isComplete: true) }
    }
    try loop.finish(now: Double(count) / 1000)
    (result.lines, result.places) = (count, collector.places)
    result.wrong += collector.wrong
    return result
  }

  private mutating func items(_ line: [UInt8], _ now: Double) -> [SourceItem] {
    if format == .pans { return dialogue.receive(line + [UInt8(ascii: "\n")], at: now).items }
    return parser.parse(line).map { [$0] } ?? []
  }

  private mutating func take(_ item: SourceItem, _ now: Double) {
    switch item {
    case .measurement, .message: result.measurements += 1
    case .bad(let sentence):
      result.bad += 1
      // A sentence has a form such as `line 12: distance_m: far is not a number`.
      let words = sentence.split(separator: ":", maxSplits: 2)
      if words.count < 2 || !words[0].hasPrefix("line "), result.wrong.count < 10 {
        result.wrong.append(sentence)
      }
    default: break
    }
    loop.add(item, from: 0, arrival: now)
  }

  /// Returns a line with one to four changes. Some lines are unchanged, so that there are tracks.
  private mutating func damaged() -> [UInt8] {
    damage.damaged(seeds).filter { $0 != UInt8(ascii: "\n") }
  }
}

/// A sink that accepts finite places only.
private final class PlaceCheck: SiteSink {
  private(set) var places = 0
  private(set) var wrong: [String] = []

  func receive(_ batch: SiteBatch) {
    for case .place(let tag, let place, _) in batch.events.lazy.map(\.kind) {
      places += 1
      let here = place.position
      if !(here.x.isFinite && here.y.isFinite && here.z.isFinite && place.r95 > 0), wrong.count < 10
      {
        wrong.append("a place of \(tag): \(here), \(place.r95)")
      }
    }
  }
}
