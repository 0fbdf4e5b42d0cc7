// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing
@testable import UWBSite

@testable import SiteServer

/// Messages of one-way ranging, from the stamps of simulated clocks to the places of a tag.
@Suite struct OneWayTests {
  /// The kinds of measurement of one tag.
  enum Kind: String, CaseIterable { case twoWay, uplink, downlink, angles }

  private static let anchors = UplinkScenario.anchors
  private static let cluster = DownlinkScenario.anchors

  /// Anchors U0 to U7 of uplink, D0 to D6 of downlink, and a tag that has a name in its blinks.
  private func scene(facing: Bool = true) throws -> SiteScene {
    func anchor(_ id: String, _ place: SIMD3<Double>, _ more: String) -> String {
      """
      {"id": "\(id)", "position_m": [\(place.x), \(place.y), \(place.z)],
       "position_sd_m": [0.02, 0.02, 0.02], "delay_sd_m": 0.02\(more)}
      """
    }
    let front = facing ? #", "facing_deg": 45, "angle_sd_deg": 3"# : ""
    var rows = Self.anchors.enumerated().map { index, place in
      anchor(
        "U\(index)", place,
        front + #", "roles": ["uplink"\#(index == 0 ? #", "sync""# : "")]"#)
    }
    rows += Self.cluster.enumerated().map { index, place in
      anchor("D\(index)", place, #", "roles": ["\#(index == 0 ? "initiator" : "responder")"]"#)
    }
    return try SiteScene(
      """
      {"version": 1, "gauge": {"kind": "measured"}, "anchors": [\(rows.joined(separator: ",\n"))],
       "tags": [{"id": "T", "addresses": ["0x0101"], "blink_ids": ["ab01"], "height_m": 1.2}]}
      """)
  }

  /// The messages of one tag, each with its arrival and its source.
  private func items(
    _ kinds: [Kind], seconds: Double, at place: SIMD3<Double>
  ) -> [(time: Double, source: Int, item: SourceItem)] {
    var noise = ScenarioNoise(seed: 5)
    var all: [(time: Double, source: Int, item: SourceItem)] = []
    if kinds.contains(.uplink) { all += uplink(seconds, at: place) }
    if kinds.contains(.downlink) { all += downlink(seconds) }
    for number in 0..<Int(10 * seconds) {
      let time = Double(number) / 10 + 0.01
      if kinds.contains(.twoWay) {
        let index = number % 8
        var arm = place - Self.anchors[index]
        arm.x += 0.03 * noise.normal()
        all.append((time, 8, .measurement(SiteScene.range(at: time, "T", "U\(index)", arm))))
      }
      guard kinds.contains(.angles) else { continue }
      let index = number % 4 * 2
      let arm = place - Self.anchors[index]
      var line = OneWayLine(time: time, device: "U\(index)", senders: ["0x0101"], .frame)
      // The azimuth is positive to the right of the board's front, which is 45 degrees from x
      // towards y.
      line.azimuth = .pi / 4 - Math.atan2(arm.y, arm.x) + 0.05 * noise.normal()
      all.append((time, index, .message(line)))
    }
    return all.sorted { $0.time < $1.time }
  }

  /// Messages at eight uplink anchors, as eight sources.
  private func uplink(
    _ seconds: Double, at place: SIMD3<Double>
  ) -> [(time: Double, source: Int, item: SourceItem)] {
    var scenario = UplinkScenario()
    (scenario.seconds, scenario.path) = (seconds, { _ in place })
    var all: [(time: Double, source: Int, item: SourceItem)] = []
    var frame: UInt32 = 0
    scenario.run { now, event in
      func add(_ anchor: Int, _ senders: [String], _ message: OneWayLine.Message) {
        let line = OneWayLine(
          time: now, device: "U\(anchor)", senders: senders, message)
        all.append((now, anchor, .message(line)))
      }
      switch event {
      case .sync(_, let sent, let received):
        for entry in received {
          add(entry.anchor, ["U0"], .sync(sent: .init(sent), .init(entry.stamp)))
        }
      case .blink(_, let stamps):
        frame += 1
        for stamp in stamps {
          add(stamp.anchor, ["ab01", "0x0999"], .blink(frame: frame, .init(stamp.received)))
        }
      }
    }
    return all
  }

  /// Messages at a tag of downlink TDoA.
  private func downlink(_ seconds: Double) -> [(time: Double, source: Int, item: SourceItem)] {
    var scenario = DownlinkScenario()
    scenario.blocks = Int(5 * seconds)
    return scenario.run().messages.map { stamp in
      let time = 0.2 * Double(stamp.block)
      let line = OneWayLine(
        time: time, device: "T", senders: ["D\(stamp.anchor)"], .downlink(stamp))
      return (time, 9, .message(line))
    }
  }

  /// Runs a loop, and returns the places.
  private func follow(
    _ items: [(time: Double, source: Int, item: SourceItem)], isLive: Bool = true
  ) throws -> Collector {
    let collector = Collector()
    let sources = (0..<10).map { "s\($0)" }
    var loop = try SiteLoop(
      SiteRun(try scene().site, sources: sources, isLive: isLive, epoch: 0), sinks: [collector])
    for entry in items {
      loop.add(entry.item, from: entry.source, arrival: isLive ? entry.time : nil)
      try loop.turn(now: isLive ? entry.time : nil, isComplete: true)
    }
    try loop.finish(now: isLive ? items.last?.time : nil)
    return collector
  }

  private var place: SIMD3<Double> { DownlinkScenario().run().place }

  @Test(
    "Each kind leads to places, and all four feed one track",
    arguments: Kind.allCases.map { [$0] } + [Kind.allCases])
  func kinds(_ kinds: [Kind]) throws {
    let place = place
    let collector = try follow(items(kinds, seconds: 8, at: place))
    let last = collector.places.suffix(20)
    #expect(last.count == 20)
    let worst = last.map { found in
      let error = found.position - place
      return (error.x * error.x + error.y * error.y).squareRoot()
    }.max()
    let limit = kinds == [.angles] ? 1 : 0.2
    #expect((worst ?? 9) < limit, "\(kinds): \(worst ?? 9)")
    let counters = try #require(collector.counters)
    #expect(counters.unknown == 0 && counters.withoutTag == 0 && counters.bad == 0)
    #expect(counters.engine.late == 0 && counters.engine.rejected < 20, "\(counters)")
    #expect(last.allSatisfy { $0.r95 < 1.5 && $0.r95 > 0.02 })
  }

  @Test(
    "Distances to two anchors, with the directions that these report, lead to one place",
    arguments: [6.0, 14])
  func seenByAnchors(x: Double) throws {
    let place = SIMD3(x, 5, 1.2)
    var items: [(time: Double, source: Int, item: SourceItem)] = []
    for number in 0..<60 {
      let time = Double(number) / 10
      for index in [0, 1] {
        let arm = place - Self.anchors[index]
        let bearing = Math.atan2(arm.y, arm.x) * 180 / .pi
        let fields: [String: RangeLine.Field] = [
          "t": .number(time), "peer": .text("0x0101"), "status": .text("OK"),
          "distance_m": .number((arm * arm).sum().squareRoot()), "sd_m": .number(0.05),
          // The front of the board is 45 degrees from x towards y.
          "azimuth_deg": .number(45 - bearing), "azimuth_fom": .number(90),
        ]
        let line = try #require(try RangeLine(device: "U\(index)") { fields[$0] })
        items.append((time, index, .measurement(line)))
      }
    }
    let collector = try follow(items)
    let last = try #require(collector.places.last)
    let error = last.position - place
    #expect(error.x * error.x + error.y * error.y < 0.09, "\(last.position)")
    #expect(collector.measurements.allSatisfy { $0.line.seen == nil })
  }

  @Test("All four kinds together are surer than each of them alone")
  func together() throws {
    let place = place
    func r95(_ kinds: [Kind]) throws -> Double {
      try #require(try follow(items(kinds, seconds: 6, at: place)).places.last).r95
    }
    let all = try r95(Kind.allCases)
    for kind in Kind.allCases { #expect(try all < r95([kind]) + 1e-3) }
  }

  @Test("Recordings lead to the same places, without a clock of the run")
  func recorded() throws {
    let place = place
    let collector = try follow(items([.uplink], seconds: 6, at: place), isLive: false)
    let last = try #require(collector.places.last)
    let error = last.position - place
    #expect(error.x * error.x + error.y * error.y < 0.04)
    #expect(collector.counters?.engine.late == 0)
    // The times of the places are the times of the recording.
    #expect(abs(last.time - 6) < 0.4)
  }

  @Test("A blink is a place after the next frame of synchronisation, within 0.25 s")
  func latency() throws {
    let collector = try follow(items([.uplink], seconds: 6, at: place))
    let delays = collector.events.compactMap { event -> Double? in
      guard case .place(_, let place, _) = event.kind else { return nil }
      return event.decided - place.time
    }
    #expect(delays.count > 30)
    #expect(delays.allSatisfy { 0...0.26 ~= $0 }, "\(delays.max() ?? 0)")
  }
}
