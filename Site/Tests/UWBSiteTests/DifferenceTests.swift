// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

/// Differences of time, from stamps of clocks that drift to places.
@Suite struct DifferenceTests {
  private func errors(_ scenario: UplinkScenario, waits: Bool) -> (tdoa: [Double], place: [Double])
  {
    var clocks = UplinkClocks(places: UplinkScenario.anchors)
    let solver = ArrivalSolver(
      places: UplinkScenario.anchors, height: (UplinkScenario.height, 0.05))
    var (tdoa, place): ([Double], [Double]) = ([], [])
    var waiting: [(SIMD3<Double>, [UplinkClocks.Stamp])] = []
    func evaluate(_ truth: SIMD3<Double>, _ stamps: [UplinkClocks.Stamp]) {
      guard let arrivals = clocks.arrivals(stamps, waits: waits) else { return }
      for anchor in 1..<UplinkScenario.anchors.count {
        guard let found = arrivals.difference(0, anchor) else { continue }
        let (near, far) = (UplinkScenario.anchors[0], UplinkScenario.anchors[anchor])
        tdoa.append(found - ((truth - far).length - (truth - near).length))
      }
      guard let found = try? solver.solve(arrivals) else { return }
      let arm = found.position - truth
      place.append((arm.x * arm.x + arm.y * arm.y).squareRoot())
    }
    scenario.run { now, event in
      switch event {
      case .sync(_, let sent, let received):
        for entry in received {
          clocks.addSync(from: 0, sent: sent, at: entry.anchor, received: entry.stamp)
        }
        for (truth, stamps) in waiting where now > 3 { evaluate(truth, stamps) }
        waiting = []
      case .blink(let truth, let stamps):
        if waits { waiting.append((truth, stamps)) } else if now > 3 { evaluate(truth, stamps) }
      }
    }
    return (tdoa, place)
  }

  private func rms(_ values: [Double]) -> Double {
    (values.reduce(0) { $0 + $1 * $1 } / Double(max(1, values.count))).squareRoot()
  }

  @Test("Anchors that warm up are compared within decimetres, live and after the next frame")
  func uplink() {
    let scenario = UplinkScenario()
    let live = errors(scenario, waits: false)
    let later = errors(scenario, waits: true)
    #expect(live.place.count > 550 && later.place.count > 550)
    #expect(rms(live.tdoa) < 0.11 && rms(live.place) < 0.08, "\(rms(live.tdoa)) \(rms(live.place))")
    #expect(
      rms(later.tdoa) < 0.09 && rms(later.place) < 0.06, "\(rms(later.tdoa)) \(rms(later.place))")
  }

  @Test("Downlink: stamps of two messages lead to flat errors in all slots")
  func downlink() {
    var tdoa: [[Double]] = Array(repeating: [], count: 7)
    for seed in 0..<60 {
      var scenario = DownlinkScenario()
      scenario.seed = UInt64(seed)
      let (truth, messages) = scenario.run()
      var rounds = DownlinkRounds(places: DownlinkScenario.anchors)
      let last = messages.flatMap { rounds.add($0) }.last
      for anchor in 1..<7 {
        guard let found = last?.difference(0, anchor) else { continue }
        let (near, far) = (DownlinkScenario.anchors[0], DownlinkScenario.anchors[anchor])
        tdoa[anchor].append(found - ((truth - far).length - (truth - near).length))
      }
    }
    #expect(tdoa.dropFirst().allSatisfy { $0.count == 60 && rms($0) < 0.09 }, "\(tdoa.map(rms))")
  }

  @Test("A lost poll is not paired with the block before; a lost final leaves other stamps")
  func lostMessages() {
    let (truth, messages) = DownlinkScenario().run()
    var rounds = DownlinkRounds(places: DownlinkScenario.anchors)
    var found: [Arrivals] = []
    for message in messages {
      if message.kind == .poll, message.block == 4 { continue }
      if message.kind == .final, message.block == 5 { continue }
      found += rounds.add(message)
    }
    #expect(found.count == 4)
    found = rounds.finish()
    #expect(found.count == 1)
    let (near, far) = (DownlinkScenario.anchors[0], DownlinkScenario.anchors[6])
    let error = (found[0].difference(0, 6) ?? 9) - ((truth - far).length - (truth - near).length)
    #expect(abs(error) < 0.3)
  }

  @Test("A restarted anchor is found, and its clock begins again")
  func restart() {
    var clock = AnchorClock()
    var findings: [AnchorClock.Finding] = []
    func frames(_ range: Range<Int>, jump: Int64) {
      for index in range {
        let sent = Int64(index) * 6_389_760_000
        findings.append(clock.add(sent: sent, received: sent + sent / 100_000 + jump, flight: 0))
      }
    }
    frames(0..<20, jump: 0)
    #expect(findings.allSatisfy { $0 == .used })
    #expect(abs((clock.drift ?? 0) + 1e-5) < 1e-9)
    findings = []
    frames(20..<30, jump: 123_456_789_012)
    #expect(findings.prefix(2).allSatisfy { $0 == .rejected })
    #expect(findings.filter { $0 == .restarted }.count == 1)
    let sent = Int64(29) * 6_389_760_000
    let time = clock.time(of: sent + sent / 100_000 + 123_456_789_012)
    #expect(abs((time?.part ?? 99) + Double((time?.ticks ?? 0) - sent)) < 30)
  }

  @Test("A second reference takes over without a jump")
  func references() {
    let places = Array(UplinkScenario.anchors.prefix(5))
    var clocks = UplinkClocks(places: places)
    // Clocks with constant rates; anchors 0 and 2 are references.
    let rates = [0.0, 3e-6, -7e-6, 11e-6, 5e-6]
    func stamp(_ anchor: Int, _ time: Double) -> UInt64 {
      UInt64(anchor * 1_000_000_007) &+ UInt64(time * (1 + rates[anchor]) * Ticks.perSecond)
    }
    func sync(_ reference: Int, _ time: Double) {
      for anchor in places.indices where anchor != reference {
        let flight = (places[anchor] - places[reference]).length / 299_702_547
        clocks.addSync(
          from: reference, sent: stamp(reference, time), at: anchor,
          received: stamp(anchor, time + flight))
      }
    }
    let tag = SIMD3(9.0, 6, 1)
    func difference(_ time: Double) -> Double? {
      let stamps = places.indices.map {
        UplinkClocks.Stamp(
          anchor: $0, received: stamp($0, time + (places[$0] - tag).length / 299_702_547))
      }
      return clocks.arrivals(stamps, waits: false)?.difference(1, 4)
    }
    let truth = (places[4] - tag).length - (places[1] - tag).length
    var errors: [Double] = []
    for step in 0..<60 {
      let time = Double(step) * 0.1
      // The first reference is silent from 3 s on.
      if step < 30 { sync(0, time) }
      sync(2, time + 0.05)
      if step > 5 { errors.append((difference(time + 0.07) ?? 9) - truth) }
    }
    #expect(errors.allSatisfy { abs($0) < 0.05 }, "\(errors)")
  }

  @Test("Outside of the hull, and with too few arrivals, a place is refused")
  func refusals() {
    let solver = ArrivalSolver(
      places: UplinkScenario.anchors, height: (UplinkScenario.height, 0.05))
    func arrivals(_ place: SIMD3<Double>, _ anchors: [Int]) -> Arrivals {
      Arrivals(
        anchors.map {
          Arrivals.Entry(
            anchor: $0, metres: 5 + (place - UplinkScenario.anchors[$0]).length, deviation: 0.05)
        })
    }
    #expect(throws: ArrivalSolver.Refusal.fewArrivals) {
      try solver.solve(arrivals(SIMD3(5, 5, 1.2), [0, 1, 2]))
    }
    #expect(throws: ArrivalSolver.Refusal.outsideHull) {
      try solver.solve(arrivals(SIMD3(40, 5, 1.2), Array(0..<8)))
    }
    let inside = try? solver.solve(arrivals(SIMD3(5, 5, 1.2), Array(0..<8)))
    #expect((inside.map { ($0.position - SIMD3(5, 5, 1.2)).length } ?? 9) < 1e-3)
    // One signal is late by metres.
    var late = arrivals(SIMD3(5, 5, 1.2), Array(0..<8))
    late.entries[3].metres += 6
    let robust = try? solver.solve(late)
    #expect((robust.map { ($0.position - SIMD3(5, 5, 1.2)).length } ?? 9) < 0.1)
  }

  @Test("Lines of uwbctl become arrivals of a tag")
  func lines() throws {
    let (truth, messages) = DownlinkScenario().run()
    var rounds = OneWayRounds(DownlinkScenario.anchors.map { Facing($0) }, sources: 1)
    var found: [Arrivals] = []
    for message in messages {
      let far = DownlinkScenario.anchors[message.anchor] - DownlinkScenario.anchors[0]
      let words = [AnchorStamp.Kind.poll: "poll", .response: "response", .final: "final"]
      let values: [String: RangeLine.Field] = [
        "kind": .text("downlink"), "time_s": .number(Double(message.block) * 0.2),
        "peer": .text("0x000\(message.anchor)"), "message": .text(words[message.kind] ?? ""),
        "status_code": .number(0), "block": .number(Double(message.block)), "round": .number(0),
        "tx_ticks": .number(Double(message.sent)), "rx_ticks": .number(Double(message.received)),
        "tx_bits": .number(40), "rx_bits": .number(40),
        "responder_reply_ticks": .number(message.reply),
        "tof_ticks": .number((far.length / Ticks.metres).rounded()),
        "cfo_ppm": .number((message.carrier ?? 0) * 1e6),
        "anchor_cfo_ppm": .number((message.anchorOffset ?? 0) * -1e6),
      ]
      let line = try #require(try OneWayLine(device: "tag") { values[$0] })
      #expect(line.device == "tag" && line.senders == ["0x000\(message.anchor)"])
      let moment = OneWayRounds.Moment(time: line.time, source: 0, arrival: nil)
      for finding in rounds.add(
        line, from: .anchor(message.anchor), to: .tag(0), at: moment)
      {
        guard case .arrivals(let tag, let arrivals, let at) = finding else { continue }
        #expect(tag == 0 && at.source == 0 && at.time == Double(message.block) * 0.2)
        found.append(arrivals)
      }
    }
    #expect(found.count == 6)
    let last = try #require(found.last)
    #expect(last.entries.map(\.anchor) == Array(0..<7))
    for number in 1..<7 {
      let (near, far) = (DownlinkScenario.anchors[0], DownlinkScenario.anchors[number])
      let metres = try #require(last.difference(0, number))
      #expect(abs(metres - ((truth - far).length - (truth - near).length)) < 0.3)
    }
    #expect(try OneWayLine(device: "tag") { _ in nil } == nil)
    #expect(throws: RangeLine.Problem.self) {
      try OneWayLine(device: nil) { ["kind": .text("downlink")][$0] }
    }
  }
}
