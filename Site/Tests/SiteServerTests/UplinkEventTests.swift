// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import SiteServer
@testable import UWBSite

/// Events of an uplink site in virtual time, and the places meanwhile.
@Suite struct UplinkEventTests {
  /// A site whose anchors blink and synchronise as a scenario does.
  private struct Hall {
    var scenario = UplinkScenario()
    /// By how many metres the place of an anchor in the site file is wrong.
    var wrong: [Int: SIMD3<Double>] = [:]
    var tags = ["T"]

    init(seconds: Double, _ path: @escaping @Sendable (Double) -> SIMD3<Double>) {
      (scenario.seconds, scenario.path) = (seconds, path)
    }

    private func site() throws -> Site {
      let rows = UplinkScenario.anchors.enumerated().map { index, place in
        let place = place + (wrong[index] ?? .zero)
        return """
          {"id": "U\(index)", "position_m": [\(place.x), \(place.y), \(place.z)],
           "position_sd_m": [0.02, 0.02, 0.02], "delay_sd_m": 0.02}
          """
      }
      let names = tags.map { #"{"id": "\#($0)", "height_m": 1.2}"# }
      return try SiteScene(
        """
        {"version": 1, "gauge": {"kind": "measured"},
         "anchors": [\(rows.joined(separator: ","))], "tags": [\(names.joined(separator: ","))]}
        """
      ).site
    }

    /// Runs the site; more items may stand beside each blink.
    func run(_ more: (Double) -> [SourceItem] = { _ in [] }) throws -> Collector {
      let collector = Collector()
      let sources = (0..<9).map { "s\($0)" }
      var loop = try SiteLoop(
        SiteRun(try site(), sources: sources, isLive: true, epoch: 0), sinks: [collector])
      var frame: UInt32 = 0
      var failure: (any Error)?
      scenario.run { now, event in
        func add(_ anchor: Int, _ sender: String, _ message: OneWayLine.Message) {
          let line = OneWayLine(
            time: now, device: "U\(anchor)", senders: [sender], message)
          loop.add(.message(line), from: anchor, arrival: now)
        }
        switch event {
        case .sync(let from, let sent, let received):
          for entry in received {
            add(entry.anchor, "U\(from)", .sync(sent: .init(sent), .init(entry.stamp)))
          }
        case .blink(_, let stamps):
          frame += 1
          let tag = tags[Int(frame) % tags.count]
          for stamp in stamps {
            add(stamp.anchor, tag, .blink(frame: frame, .init(stamp.received)))
          }
          for item in more(now) { loop.add(item, from: 8, arrival: now) }
        }
        do { try loop.turn(now: now, isComplete: true) } catch { failure = error }
      }
      if let failure { throw failure }
      try loop.finish(now: scenario.seconds)
      return collector
    }
  }

  private func flat(_ arm: SIMD3<Double>) -> Double {
    (arm.x * arm.x + arm.y * arm.y).squareRoot()
  }

  /// The places in a part of a run with their errors.
  private func places(
    _ collector: Collector, _ times: Range<Double>, at truth: SIMD3<Double>
  ) -> [(place: TagPlace, error: Double)] {
    collector.places.filter { times.contains($0.time) }.map { ($0, flat($0.position - truth)) }
  }

  @Test("A second reference takes over, and no place jumps")
  func secondReference() throws {
    var hall = Hall(seconds: 12) { _ in [9, 6, 1.2] }
    hall.scenario.references = [0, 4]
    hall.scenario.isSending = { reference, time in reference == 4 || time < 6 }
    let collector = try hall.run()
    let found = places(collector, 3..<12, at: [9, 6, 1.2])
    #expect(found.count > 75 && found.allSatisfy { $0.error < 0.25 }, "\(found.count)")
    let jumps = zip(found, found.dropFirst()).map {
      flat($1.place.position - $0.place.position)
    }
    #expect((jumps.max() ?? 9) < 0.12, "\(jumps.max() ?? 9)")
    #expect(zip(found, found.dropFirst()).allSatisfy { $1.place.time - $0.place.time < 0.25 })
  }

  @Test("Without synchronisation, places get less sure, the tag is lost, and it comes back")
  func lostSynchronisation() throws {
    var hall = Hall(seconds: 18) { _ in [9, 6, 1.2] }
    hall.scenario.isSending = { _, time in time < 6 || time > 12 }
    let collector = try hall.run()
    let before = places(collector, 4..<6, at: [9, 6, 1.2])
    let without = places(collector, 6.5..<8, at: [9, 6, 1.2])
    let after = places(collector, 14..<18, at: [9, 6, 1.2])
    #expect(before.count > 15 && without.count > 10 && after.count > 25)
    #expect((before + without + after).allSatisfy { $0.error < 1.5 * $0.place.r95 + 0.1 })
    #expect((without.last?.place.r95 ?? 0) > (before.last?.place.r95 ?? 9))
    #expect(after.allSatisfy { $0.error < 0.3 })
    let lost = collector.events.filter { if case .lost = $0.kind { true } else { false } }
    #expect(lost.count == 1 && lost.allSatisfy { 8...12 ~= $0.decided })
    #expect(places(collector, 9..<11.7, at: [9, 6, 1.2]).isEmpty)
  }

  @Test(
    "Without synchronisation, errors are within the stated radius, which is no wider than needed")
  func radiusWithoutSynchronisation() throws {
    let paths: [@Sendable (Double) -> SIMD3<Double>] = [
      { _ in [9, 6, 1.2] }, { time in [4 + time, 6, 1.2] },
    ]
    var (errors, radii): ([Double], [Double]) = ([], [])
    for path in paths {
      for seed: UInt64 in 31...38 {
        var hall = Hall(seconds: 9, path)
        (hall.scenario.seed, hall.scenario.isSending) = (seed, { _, time in time < 6 })
        for place in try hall.run().places where 6.5..<9 ~= place.time {
          errors.append(flat(place.position - path(place.time)))
          radii.append(place.r95)
        }
      }
    }
    let outside = zip(errors, radii).count { $0 > $1 }
    #expect(errors.count > 200 && 100 * outside <= 9 * errors.count, "\(outside)")
    let most = errors.sorted()[95 * errors.count / 100]
    let middle = radii.sorted()[radii.count / 2]
    #expect(middle < 3 * most && most < 1.5, "\(middle), \(most)")
  }

  @Test("An anchor restarts: its stamps are left out until its clock is known again")
  func restartedAnchor() throws {
    var hall = Hall(seconds: 12) { _ in [9, 6, 1.2] }
    hall.scenario.restarts = [(3, 6)]
    let collector = try hall.run()
    let found = places(collector, 3..<12, at: [9, 6, 1.2])
    #expect(found.count > 75 && found.allSatisfy { $0.error < 0.25 }, "\(found.count)")
    #expect(collector.counters?.engine.unusable == 0)
    let used = collector.measurements.filter {
      $0.line.anchor == "U3" && $0.link?.reception.kind == .used
    }.compactMap(\.time)
    #expect(used.contains { 3..<6 ~= $0 } && used.contains { 8..<12 ~= $0 })
  }

  @Test("The reference restarts: places are missing for seconds, and none is wrong")
  func restartedReference() throws {
    var hall = Hall(seconds: 14) { _ in [9, 6, 1.2] }
    hall.scenario.restarts = [(0, 6)]
    let collector = try hall.run()
    let found = places(collector, 3..<14, at: [9, 6, 1.2])
    #expect(found.allSatisfy { $0.error < 0.3 })
    #expect(found.filter { $0.place.time > 10 }.count > 30, "\(found.map(\.place.time).suffix(3))")
  }

  @Test(
    "A moved anchor is named from the blinks of two tags, and none of its neighbours",
    arguments: [1, 2, 3])
  func movedAnchor(seed: UInt64) throws {
    var hall = Hall(seconds: 75) { time in
      // The tags blink in turn, each on its own circle around the place of the anchor.
      let turn = Int((time / 0.0973).rounded()) % 2
      let angle = time / 6 + (turn == 0 ? 0 : 3)
      return [10 + 4 * Math.cos(angle), 7 + 4 * Math.sin(angle), 1.2]
    }
    hall.scenario.seed = seed
    hall.tags = ["T", "U"]
    hall.wrong = [5: [1.5, 0, 0]]
    let collector = try hall.run()
    let moved = collector.events.compactMap { event -> String? in
      if case .anchorMoved(let anchor, _, _) = event.kind { anchor } else { nil }
    }
    #expect(moved == ["U5"])
  }

  @Test("Outside of the anchors, differences alone lead to no place; a distance holds one")
  func outside() throws {
    let truth = SIMD3(22.5, 7, 1.2)
    let hall = Hall(seconds: 8) { _ in truth }
    let alone = try hall.run()
    #expect(places(alone, 4..<8, at: truth).isEmpty)
    let refused = alone.events.contains {
      if case .refused(_, .outside, _) = $0.kind { true } else { false }
    }
    #expect(refused)
    let held = try hall.run { time in
      [3, 4].map { index in
        .measurement(
          SiteScene.range(at: time, "T", "U\(index)", truth - UplinkScenario.anchors[index]))
      }
    }
    let found = places(held, 4..<8, at: truth)
    #expect(found.count > 30 && found.allSatisfy { $0.error < 0.3 }, "\(found.count)")
  }
}
