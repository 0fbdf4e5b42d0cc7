// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

/// Counters that wrap, and clocks of anchors against a reference.
@Suite struct AnchorClockTests {
  /// The ticks in 100 ms.
  private static let interval: Int64 = 6_389_760_000

  @Test("Intervals are right over the end of a counter, and backwards")
  func intervals() {
    let last = (UInt64(1) << 40) - 1
    #expect(Ticks.between(last, 4, bits: 40) == 5)
    #expect(Ticks.between(4, last, bits: 40) == -5)
    #expect(Ticks.between(0, 1 << 39, bits: 40) == -(1 << 39))
    #expect(Ticks.between(.max, 2, bits: 64) == 3)
    #expect(Ticks.between(7, 7, bits: 40) == 0)
  }

  @Test("A count goes on over many turns, also for a stamp that comes late")
  func counter() {
    var counter = UnwrappedCounter(bits: 40)
    let step = (UInt64(1) << 40) / 3
    var stamp: UInt64 = 99
    for turn in 0..<30 {
      #expect(counter.total(stamp & (1 << 40 - 1)) == Int64(turn) * Int64(step))
      stamp += step
    }
    // A stamp that is 5 ticks before the last stamp.
    #expect(counter.total((stamp - step - 5) & (1 << 40 - 1)) == 29 * Int64(step) - 5)
    #expect(counter.total((stamp - step) & (1 << 40 - 1)) == 29 * Int64(step))
  }

  /// Returns a clock after frames of an anchor that runs slow by 5 ppm, 40 ticks away.
  private func clock(_ frames: Int = 20, drift: Double = 5e-6) -> AnchorClock {
    var clock = AnchorClock()
    for index in 0..<frames {
      let sent = Int64(index) * Self.interval
      clock.add(sent: sent, received: Self.own(sent, drift) + 40, flight: 40)
    }
    return clock
  }

  /// The anchor's counter at a moment of the reference clock.
  private static func own(_ ticks: Int64, _ drift: Double = 5e-6) -> Int64 {
    ticks - Int64((Double(ticks) * drift).rounded()) + 1_000_000_007
  }

  private func error(_ time: ReferenceTime?, _ ticks: Int64) -> Double {
    guard let time else { return .infinity }
    return Double(time.ticks - ticks) + time.part
  }

  @Test("Stamps are converted after, between and before frames")
  func conversion() {
    let clock = clock()
    let last = 19 * Self.interval
    for after in [0, Self.interval / 2, 3 * Self.interval] {
      let moment = last + after
      #expect(abs(error(clock.time(of: Self.own(moment)), moment)) < 3)
    }
    for before in [1, Self.interval / 3, Self.interval, 5 * Self.interval] {
      let moment = last - before
      #expect(abs(error(clock.interpolated(Self.own(moment)), moment)) < 2)
    }
    // A moment after the last frame is not between two frames. Nothing is predicted long after the
    // last frame.
    #expect(clock.interpolated(Self.own(last + Self.interval)) == nil)
    #expect(clock.time(of: Self.own(last + 30 * Self.interval)) == nil)
    #expect(clock.interpolated(Self.own(last - 40 * Self.interval)) == nil)
  }

  @Test("The stated variance grows with the time since the last frame")
  func variance() throws {
    let clock = clock()
    let last = 19 * Self.interval
    let variances = try [0, 1, 2, 5, 10].map { count in
      try #require(clock.time(of: Self.own(last + Int64(count) * Self.interval))).variance
    }
    #expect(zip(variances, variances.dropFirst()).allSatisfy { $0 < $1 }, "\(variances)")
    // At the time of a frame itself, the variance is less than the variance of one stamp.
    #expect(variances[0] < clock.noise.stamp * clock.noise.stamp)
  }

  @Test("The stated deviation of predicted times is honest while boards warm up")
  func honesty() {
    var (inside, all) = (0, 0)
    for seed in 0..<4 {
      var scenario = UplinkScenario()
      (scenario.seed, scenario.seconds) = (UInt64(seed), 30)
      var clocks = UplinkClocks(places: UplinkScenario.anchors)
      scenario.run { now, event in
        switch event {
        case .sync(_, let sent, let received):
          for entry in received {
            clocks.addSync(from: 0, sent: sent, at: entry.anchor, received: entry.stamp)
          }
        case .blink(let truth, let stamps):
          guard now > 3, let arrivals = clocks.arrivals(stamps, waits: false) else { return }
          for entry in arrivals.entries.dropFirst() {
            guard let found = arrivals.difference(0, entry.anchor) else { continue }
            let (near, far) = (UplinkScenario.anchors[0], UplinkScenario.anchors[entry.anchor])
            let deviation = (arrivals.entries[0].variance + entry.variance).squareRoot()
            let error = found - ((truth - far).length - (truth - near).length)
            all += 1
            if abs(error) < 2 * deviation { inside += 1 }
          }
        }
      }
    }
    let share = Double(inside) / Double(all)
    #expect(all > 7_000 && 0.91...0.985 ~= share, "\(share)")
  }

  @Test("A frame on a blocked path is doubtful, and the clock stays")
  func blockedFrame() {
    var clock = clock()
    let sent = 20 * Self.interval
    // The frame is late by 1,000 ticks, which are 4.7 m.
    #expect(clock.add(sent: sent, received: Self.own(sent) + 1_040, flight: 40) == .rejected)
    let moment = sent + Self.interval / 2
    #expect(abs(error(clock.time(of: Self.own(moment)), moment)) < 40)
    let next = 21 * Self.interval
    #expect(clock.add(sent: next, received: Self.own(next) + 40, flight: 40) == .used)
    #expect(abs(error(clock.time(of: Self.own(next)), next)) < 20)
  }

  @Test("A frame that was seen already, and one without time between, change nothing")
  func repeatedFrame() {
    var clock = clock()
    let sent = 19 * Self.interval
    let before = clock.drift
    #expect(clock.add(sent: sent, received: Self.own(sent) + 40, flight: 40) == .rejected)
    #expect(clock.drift == before)
    var young = AnchorClock()
    #expect(young.drift == nil && young.time(of: 0) == nil && young.interpolated(0) == nil)
    #expect(young.add(sent: 0, received: 0, flight: 0) == .used)
    #expect(young.drift == nil)
  }

  @Test("A clock that leaves its model for long is believed in the end")
  func changedClock() {
    var clock = clock()
    // From here on, the clock is faster by 2 ppm, which are 128 more ticks with each frame.
    let first = 20 * Self.interval
    for index in 0..<30 {
      let sent = first + Int64(index) * Self.interval
      let change = Int64(index) * 12_780
      clock.add(sent: sent, received: Self.own(sent) + 40 - change, flight: 40)
    }
    let drift = (clock.drift ?? 0) * 1e6
    #expect(abs(drift - 7) < 0.2, "\(drift)")
  }
}

/// Blinks by the clocks of several anchors.
@Suite struct UplinkClocksTests {
  private static let places: [SIMD3<Double>] = [
    SIMD3(0, 0, 3), SIMD3(12, 0, 2.5), SIMD3(12, 9, 3), SIMD3(0, 9, 2.5),
  ]

  private func stamp(_ anchor: Int, _ time: Double) -> UInt64 {
    UInt64(time * (1 + Double(anchor) * 2e-6) * Ticks.perSecond) & (1 << 40 - 1)
  }

  private func flight(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double {
    (a - b).length / 299_702_547
  }

  @Test("Unknown anchors are ignored, and a single stamp has no differences")
  func unknown() {
    var clocks = UplinkClocks(places: Self.places)
    for (reference, anchor) in [(9, 1), (0, -1), (2, 2)] {
      let finding = clocks.addSync(from: reference, sent: 0, at: anchor, received: 0)
      #expect(finding == .rejected)
    }
    for anchor in [0, 77] {
      let found = clocks.arrivals([.init(anchor: anchor, received: 5)], waits: false)
      #expect(found == nil)
    }
    #expect(Arrivals([]).difference(0, 1) == nil)
  }

  @Test("An anchor that does not receive the reference is compared over another one")
  func chain() throws {
    var clocks = UplinkClocks(places: Self.places)
    func sync(_ reference: Int, _ anchors: [Int], _ time: Double) {
      for anchor in anchors {
        clocks.addSync(
          from: reference, sent: stamp(reference, time), at: anchor,
          received: stamp(anchor, time + flight(Self.places[reference], Self.places[anchor])))
      }
    }
    for step in 1...30 {
      let time = Double(step) * 0.1
      // Anchor 3 receives only anchor 2.
      sync(0, [1, 2], time)
      sync(2, [1, 3], time + 0.03)
    }
    let tag = SIMD3(5.0, 4, 1)
    let stamps = Self.places.indices.map { anchor in
      UplinkClocks.Stamp(
        anchor: anchor, received: stamp(anchor, 3.05 + flight(Self.places[anchor], tag)))
    }
    let found = clocks.arrivals(stamps, waits: false)
    let arrivals = try #require(found)
    #expect(arrivals.entries.count == 4)
    for (a, b) in [(0, 3), (1, 3), (0, 2)] {
      let truth = (Self.places[b] - tag).length - (Self.places[a] - tag).length
      #expect(abs((arrivals.difference(a, b) ?? 9) - truth) < 0.03)
    }
    // A time over two hops is less certain than a time over one hop.
    let deviations = arrivals.entries.map(\.deviation)
    #expect(deviations.max() ?? 0 > (deviations.min() ?? 0))
  }

  /// Clocks of anchors along a corridor, each of which receives only the anchors beside it.
  ///
  /// - Parameter silent: an anchor that sends no frames of synchronisation.
  private func corridor(_ places: [SIMD3<Double>], silent: Int? = nil) -> UplinkClocks {
    var clocks = UplinkClocks(places: places)
    for step in 1...30 {
      for reference in places.indices where reference != silent {
        let time = Double(step) * 0.1 + Double(reference) * 0.005
        for anchor in [reference - 1, reference + 1] where places.indices.contains(anchor) {
          clocks.addSync(
            from: reference, sent: stamp(reference, time), at: anchor,
            received: stamp(anchor, time + flight(places[reference], places[anchor])))
        }
      }
    }
    return clocks
  }

  @Test(
    "A corridor is compared over at most three anchors between two",
    arguments: [(5, 5, nil), (9, 9, nil), (11, 9, nil), (9, 9, 8), (9, 5, 4)] as [(Int, Int, Int?)])
  func corridor(count: Int, reached: Int, silent: Int?) throws {
    let places = (0..<count).map { SIMD3(Double($0) * 12, Double($0 % 2) * 3, 2.5) }
    var clocks = corridor(places, silent: silent)
    let tag = SIMD3(Double(count) * 6, 1, 1)
    let stamps = places.indices.map { anchor in
      UplinkClocks.Stamp(
        anchor: anchor, received: stamp(anchor, 3.08 + flight(places[anchor], tag)))
    }
    let found = clocks.arrivals(stamps, waits: false)
    let arrivals = try #require(found)
    #expect(arrivals.entries.count == reached)
    let first = arrivals.entries[0].anchor
    for entry in arrivals.entries {
      let truth = (places[entry.anchor] - tag).length - (places[first] - tag).length
      #expect(abs((arrivals.difference(first, entry.anchor) ?? 9) - truth) < 0.1)
    }
  }
}
