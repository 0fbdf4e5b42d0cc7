// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBSite

@testable import SiteServer

/// Measurements of chips of this house: from the service and from captures.
@Suite struct ChipSourceTests {
  private let names: SiteNames

  init() throws {
    names = SiteNames(
      try SiteScene(
        """
        {"version": 1, "gauge": {"kind": "measured"}, "anchors": [
           {"id": "A0", "addresses": ["0x0a00"], "position_m": [0, 0, 2], "position_sd_m": [0, 0, 0]},
           {"id": "A1", "chip": "usb-42"}],
         "tags": [{"id": "T", "label": "Cart", "addresses": ["0x0001"]}]}
        """
      ).site)
  }

  private func reply(
    _ identity: String = #"{"host": "h", "address": "0x0a00", "serial": "S", "device": "usb-42"}"#,
    lost: Int = 0,
    _ measurement: String = #"{"time_s": 3, "peer": "0x0001", "status": "OK", "#
      + #""status_code": 0, "distance_cm": 250, "computed_m": 2.54, "computed_noise_m": 0.05, "#
      + #""nlos_probability": 0.25}"#
  ) -> [UInt8] {
    Array(
      """
      {"chip": "/dev/x", "session_id": 1, "monotonic_us": 12500000, "utc_us": 1, "lost": \(lost),
       "identity": \(identity), "measurement": \(measurement)}
      """.utf8)
  }

  private func lines(_ items: [SourceItem]) -> [RangeLine] {
    items.compactMap { if case .measurement(let line) = $0 { line } else { nil } }
  }

  @Test("A measurement has the clock of the service, the chip's own address, and its noise")
  func measurement() throws {
    var replies = ChipReplies(board: nil, names)
    let items = replies.items(reply(lost: 2))
    #expect(items.prefix(2) == [.state(.connected(identity: "h")), .lost(2)])
    let line = try #require(lines(items).first)
    #expect((line.time, line.tag, line.anchor) == (12.5, "0x0a00", "0x0001"))
    #expect(line.quantities == [.distance(2.54)])
    #expect((line.deviation, line.blocked) == (0.05, 0.25))
    #expect(replies.items(reply()).count == 1)
  }

  @Test(
    "The board is the first name that the site has",
    arguments: [
      (#"{"address": "0x0a00", "device": "usb-42"}"#, "0x0a00"),
      (#"{"address": "0A:00"}"#, "0x0a00"),
      (#"{"address": "0x0fff", "serial": "S", "device": "usb-42"}"#, "A1"),
      (#"{"address": null, "serial": "Cart"}"#, "Cart"),
      (#"{"address": "0x0fff"}"#, "0x0fff"),
      ("null", "/dev/x"),
    ])
  func identities(_ identity: String, _ name: String) {
    var replies = ChipReplies(board: nil, names)
    #expect(lines(replies.items(reply(identity))).first?.tag == name)
    var named = ChipReplies(board: "T", names)
    #expect(lines(named.items(reply(identity))).first?.tag == "T")
  }

  @Test("Failed rounds, events and replies that are none")
  func others() {
    var replies = ChipReplies(board: nil, names)
    _ = replies.items(reply())
    let failed = #"{"time_s": 3, "peer": "0x0001", "status": "RX_TIMEOUT", "status_code": 33}"#
    #expect(replies.items(reply("{}", failed)) == [.failed])
    #expect(replies.items(Array(#"{"lost": 0, "event": {"kind": "chip_lost"}}"#.utf8)) == [])
    #expect(
      replies.items(Array(#"{"lost": 0, "measurement": {}}"#.utf8))
        == [.bad("a reply of the service: monotonic_us: is missing")])
    guard case .bad(let sentence) = replies.items([0x7B]).first else {
      Issue.record("no problem")
      return
    }
    #expect(sentence.hasPrefix("a reply of the service: line 1, column 2"))
  }

  /// The path of a recorded walk of two boards: 20 rounds at 5 Hz.
  private var walk: String {
    "\(#filePath)".replacing("ChipSourceTests.swift", with: "Captures/walk.pcapng")
  }

  @Test("A capture has ranges in order, with the driver's noise and its own clock")
  func capture() throws {
    let source = try Source(argument: "A0=\(walk)", names)
    #expect(!source.isLive)
    guard case .recording(var recording) = source.kind else { return }
    var items: [SourceItem] = []
    while let item = recording.next() { items.append(item) }
    let lines = lines(items)
    #expect(items.count == 20 && lines.count == 20)
    #expect(lines.allSatisfy { $0.tag == "A0" && $0.anchor == "0x0001" })
    #expect(lines.first?.quantities == [.distance(2)])
    #expect(abs((lines.first?.deviation ?? 0) - 0.05) < 0.01)
    let times = lines.map(\.time)
    #expect(times == times.sorted())
    #expect(abs(times[19] - times[0] - 3.8) < 0.01)
    #expect(times[0] > 1.7e9)
  }

  @Test("A capture without the name of its board, and a file that is none, are failures")
  func captureFailures() {
    let unnamed = #expect(throws: SourceFailure.self) { try Source(argument: walk, names) }
    #expect(unnamed?.reason.contains("BOARD=") == true)
    let missing = #expect(throws: SourceFailure.self) {
      try Source(argument: "A0=/nowhere/a.pcapng", names)
    }
    #expect(missing?.reason.contains("Check the path") == true)
  }
}
