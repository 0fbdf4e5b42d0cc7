// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

@Suite("The clock of a controller")
struct ControllerClockTests {
  /// Asks a clock that is ahead by 50 s, and fast by 10 ppm.
  func clock(answers: Int, every pause: Double, took: Double = 0.001) -> ControllerClock {
    func reading(_ time: Double) -> Double { 50 + time * (1 + 10e-6) }
    var clock = ControllerClock(asked: 0, answered: took, reading: reading(took / 2))
    for index in 1..<answers {
      let now = Double(index) * pause
      // The chip reads its clock early or late between question and answer, in turn.
      let inside = took * (index.isMultiple(of: 2) ? 0.3 : 0.7)
      _ = clock.add(asked: now, answered: now + took, reading: reading(now + inside))
    }
    return clock
  }

  @Test("a minute of answers reveals the offset within 0.2 ms and the rate within 3 ppm")
  func rate() {
    let clock = clock(answers: 13, every: 5)
    #expect(abs(clock.reading(at: 60) - (110 + 60 * 10e-6)) < 2e-4)
    #expect(abs(clock.rate - 10e-6) < 3e-6)
    #expect(abs(clock.rate - 10e-6) < 4 * clock.rateDeviation)
  }

  @Test("without answers the deviation grows by up to 20 ppm")
  func growth() {
    let clock = ControllerClock(asked: 0, answered: 0.001, reading: 7)
    #expect(clock.deviation(at: 0) < 0.0004)
    #expect((0.0011...0.0013).contains(clock.deviation(at: 100)))
  }

  @Test("the carrier offset of a round reveals the rate at once")
  func carrier() {
    var clock = clock(answers: 2, every: 0.1)
    clock.add(rate: 9.9e-6, deviation: 0.1e-6)
    #expect(abs(clock.rate - 9.9e-6) < 0.1e-6 && clock.rateDeviation < 0.11e-6)
  }

  @Test("a chip that has started again has a new clock")
  func restart() {
    var clock = clock(answers: 10, every: 5)
    let isSame = clock.add(asked: 60, answered: 60.001, reading: 0.2)
    #expect(!isSame && abs(clock.reading(at: 61) - 1.1995) < 1e-3)
  }
}

@Suite("Many controllers on one host")
struct ControllerScheduleTests {
  /// Six anchors that range with 16 tags at 2 Hz.
  func plan(anchors: Int = 6, tags: Int = 16, rate: Double = 2) throws -> Plan {
    var request = PlanRequest(anchors: anchors, tags: tags, rate: rate)
    request.sharesTime = true
    return try Plan(.twoWayByAnchors, request)
  }

  @Test("the time without rounds is divided into equal gaps")
  func gaps() throws {
    let schedule = try ControllerSchedule(plan())
    #expect(schedule.block == 0.5 && schedule.sessions.count == 13)
    for (one, other) in zip(schedule.sessions, schedule.sessions.dropFirst()) {
      #expect(abs(other.start - one.start - one.length - schedule.gap) < 2e-6)
    }
    #expect(abs(schedule.holdTime - schedule.gap / 40e-6) < 1e-6)
  }

  @Test("a full block is refused with the time that is left between rounds")
  func full() throws {
    let plan = try Plan(.twoWayByAnchors, PlanRequest(anchors: 4, tags: 16, rate: 5.2))
    let refusal = #expect(throws: PlanRefusal.self) { try ControllerSchedule(plan) }
    #expect(
      refusal?.description
        == "8 rounds leave 0 ms between two of them; "
        + "controllers with clocks of their own need 1 ms")
  }

  @Test("the start of a round follows a time by less than a block")
  func start() throws {
    let schedule = try ControllerSchedule(plan())
    for session in schedule.sessions {
      let start = schedule.start(of: session, notBefore: 100.123)
      #expect((100.123..<100.6231).contains(start))
      let blocks = (start - session.start) / schedule.block
      #expect(abs(blocks - blocks.rounded()) < 1e-6)
    }
  }

  @Test("clocks of ± 20 ppm: no round is lost in an hour that the keeper keeps apart")
  func keptApart() throws {
    let schedule = try ControllerSchedule(plan())
    var air = ControllerAir(schedule, seed: 3)
    let kept = air.run(.kept, seconds: 3600)
    #expect(kept.lost == 0 && kept.rounds > 90_000, "\(kept)")
    #expect(kept.restarts > 10 && kept.missed < kept.rounds / 200, "\(kept)")
    var other = ControllerAir(schedule, seed: 3)
    let once = other.run(.once, seconds: 3600)
    #expect(once.lost > 1000 && once.restarts == 0, "\(once)")
    var third = ControllerAir(schedule, seed: 3)
    let unplanned = third.run(.unplanned, seconds: 600)
    #expect(unplanned.lost > unplanned.rounds / 4, "\(unplanned)")
  }
}

@Suite("The keeper of rounds")
struct RoundKeeperTests {
  let schedule = ControllerSchedule(
    block: 0.2, gap: 0.05,
    sessions: [.init(id: 1000, controller: "A", start: 0.02, length: 0.016)])

  /// Answers the first questions of a chip whose clock is 5 s ahead.
  func started(_ keeper: inout RoundKeeper) -> (order: RoundKeeper.Order?, time: Double) {
    var now = 10.0
    for _ in 0..<50 {
      let (orders, next) = keeper.orders(at: now)
      for order in orders {
        guard case .ask(let name) = order else { return (order, now) }
        let reading = UInt64((now + 5) * 1e6) + 500
        keeper.answer(name, asked: now, answered: now + 0.001, reading: reading)
      }
      now = max(next, now + 0.001)
    }
    return (nil, now)
  }

  @Test("five answers lead to a start in the near future, by the chip's clock")
  func start() throws {
    var keeper = RoundKeeper(schedule)
    let (order, now) = started(&keeper)
    guard case .start(1000, "A", let reading?, let time)? = order else {
      Issue.record("there is no start: \(String(describing: order))")
      return
    }
    #expect((0.3..<0.51).contains(time - now))
    #expect(abs(Double(reading) / 1e6 - time - 5) < 1e-3)
    #expect(keeper.orders(at: now + 0.01).orders.isEmpty && keeper.restarts == 0)
  }

  @Test("a chip that has started again is asked and started again")
  func chipRestarts() {
    var keeper = RoundKeeper(schedule)
    let now = started(&keeper).time
    keeper.answer("A", asked: now + 20, answered: now + 20.001, reading: 100_000)
    var orders = keeper.orders(at: now + 20.2).orders
    #expect(orders == [.ask(controller: "A")])
    for index in 1..<5 {
      let time = now + 20 + Double(index) * 0.1
      keeper.answer(
        "A", asked: time, answered: time + 0.001, reading: 100_000 + UInt64(index) * 100_000)
    }
    orders = keeper.orders(at: now + 20.5).orders
    guard case .start(1000, "A", let reading?, _)? = orders.first else {
      Issue.record("there is no start: \(orders)")
      return
    }
    #expect((800_000..<1_200_000).contains(reading))
  }

  @Test("a failure is followed by another attempt after two seconds")
  func failure() {
    var keeper = RoundKeeper(schedule)
    var now = started(&keeper).time
    #expect(keeper.hasStartedAll)
    keeper.failed(1000, at: now)
    #expect(!keeper.hasStartedAll && keeper.orders(at: now + 1).orders.isEmpty)
    #expect(keeper.orders(at: now + 2).orders.count == 1 && keeper.restarts == 0)
    now += 3
    keeper.lost("A", at: now)
    #expect(keeper.clock(of: "A") == nil && keeper.orders(at: now + 1).orders.isEmpty)
    #expect(keeper.orders(at: now + 2).orders == [.ask(controller: "A")])
  }

  @Test("a carrier offset is added to the rate of its reference")
  func carrier() {
    var keeper = RoundKeeper(
      ControllerSchedule(
        block: 0.2, gap: 0.05,
        sessions: [
          .init(id: 1, controller: "A", start: 0, length: 0.01),
          .init(id: 2, controller: "B", start: 0.1, length: 0.01),
        ]))
    for name in ["A", "B"] { keeper.answer(name, asked: 0, answered: 0.001, reading: 9_000_000) }
    keeper.add(carrierOffset: 3e-6, deviation: 1e-7, of: "B", against: "A")
    #expect((0.5e-6..<3e-6).contains(keeper.clock(of: "B")?.rate ?? 0))
  }
}
