// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing

@Suite struct ClockOffsetTests {
  @Test func `Polls determine the clock offset`() throws {
    var scene = TwoWayScene(seed: 1)
    (scene.initiator, scene.responder, scene.deviation) = (12e-6, -7e-6, 100e-12)
    scene.anyOffsets()
    var tracker = ClockOffsetTracker()
    for round in 0..<50 {
      let exchange = scene.exchange(at: Double(round) * 0.2)
      let said = tracker.addPoll(sent: exchange.pollSent, received: exchange.pollReceived)
      #expect(said == (round > 0))
    }
    let offset = try #require(tracker.offset)
    #expect(abs(offset.value - (1 + 12e-6) / (1 - 7e-6) + 1) < 2e-9)
    #expect(offset.standardDeviation < 2e-9)
  }

  /// A counter of 32 bits wraps three times between two polls. The host's clock, which is inexact
  /// by some milliseconds, determines how often.
  @Test func `Counts turns of the counter by time`() throws {
    var scene = TwoWayScene(seed: 2)
    scene.initiator = 10e-6
    var parameters = TwoWayParameters()
    parameters.counter = TickCounter(bits: 32)
    var tracker = ClockOffsetTracker(parameters)
    for round in 0..<20 {
      let time = Double(round) * 0.25
      let exchange = scene.exchange(at: time)
      tracker.addPoll(
        sent: exchange.pollSent, received: exchange.pollReceived,
        time: time + 0.005 * scene.noise.normal())
    }
    #expect(abs(try #require(tracker.offset).value - 10e-6) < 1e-9)
  }

  /// Ignores a corrupt stamp, and times that miss two wraps of the counter.
  @Test func `Rejects implausible measurements`() throws {
    var scene = TwoWayScene(seed: 3)
    scene.initiator = 10e-6
    var parameters = TwoWayParameters()
    parameters.counter = TickCounter(bits: 32)
    var tracker = ClockOffsetTracker(parameters)
    var late = 0.0
    for round in 0..<60 {
      let time = Double(round) * 0.25
      let exchange = scene.exchange(at: time)
      var received = exchange.pollReceived
      if round == 20 { received.ticks &+= 7_777_777 }
      if round == 40 { late = 0.14 }
      tracker.addPoll(sent: exchange.pollSent, received: received, time: time - late)
      if round > 0 { #expect(abs(try #require(tracker.offset).value - 10e-6) < 2e-9) }
    }
  }

  /// The host is late for some polls, so that the number of wraps is wrong by one again and again.
  @Test func `Equal miscounts in a row do not replace the offset`() throws {
    var scene = TwoWayScene(seed: 5)
    scene.initiator = 10e-6
    var parameters = TwoWayParameters()
    parameters.counter = TickCounter(bits: 32)
    var tracker = ClockOffsetTracker(parameters)
    var late = 0.0
    for round in 0..<60 {
      let time = Double(round) * 0.25
      let exchange = scene.exchange(at: time)
      // Three intervals of this recording in a row are too short, each by the time of one wrap.
      if 20..<23 ~= round { late += 0.067 }
      tracker.addPoll(
        sent: exchange.pollSent, received: exchange.pollReceived, time: time - late)
      if round > 0 { #expect(abs(try #require(tracker.offset).value - 10e-6) < 2e-9) }
    }
  }

  @Test func `Follows a restarted peer`() throws {
    var scene = TwoWayScene(seed: 4)
    scene.initiator = 10e-6
    var tracker = ClockOffsetTracker()
    for round in 0..<40 {
      if round == 20 {
        scene.responder = 15e-6
        scene.responderStart = 123_456_789_012
      }
      let exchange = scene.exchange(at: Double(round) * 0.1)
      tracker.addPoll(sent: exchange.pollSent, received: exchange.pollReceived)
    }
    #expect(abs(try #require(tracker.offset).value + 5e-6) < 1e-9)
  }

  @Test func `Averages carrier offsets`() throws {
    var noise = Noise(seed: 5)
    var tracker = ClockOffsetTracker()
    for _ in 0..<200 {
      tracker.addCarrier(ClockOffset(3e-6 + 0.1e-6 * noise.normal()))
    }
    let offset = try #require(tracker.offset)
    #expect(abs(offset.value - 3e-6) < 0.06e-6)
    #expect(offset.standardDeviation < 0.03e-6)
    tracker.addCarrier(ClockOffset(.nan))
    tracker.addCarrier(ClockOffset(1))
    tracker.addCarrier(ClockOffset(0, standardDeviation: 0))
    #expect(tracker.offset == offset)
    tracker.addCarrier(ClockOffset(-15e-6))
    #expect(tracker.offset?.value == -15e-6)
  }

  /// Eight responders answer 2 ms apart, one final follows, and stamps have 120 ps of noise. The
  /// deviation is at most 2.5 cm in every slot.
  @Test func `One-to-many ranging is as exact in the last slot`() throws {
    var worst = 0.0
    for slot in 0..<8 {
      var scene = TwoWayScene(seed: 6 + UInt64(slot))
      scene.deviation = 120e-12
      scene.reply1 = 2e-3 * Double(slot + 1)
      scene.reply2 = 2e-3 * Double(8 - slot)
      scene.initiator = 20e-6
      scene.anyOffsets()
      var responder = ResponderRanging()
      var errors = Spread()
      for round in 0..<3000 {
        var collected = ExchangeCollector()
        collected.record(scene.exchange(at: Double(round) * 0.1), round: UInt32(round))
        errors.add(try responder.distance(collected).distance - 10)
      }
      #expect(abs(errors.mean) < 2e-3)
      worst = max(worst, errors.deviation)
    }
    #expect(worst < 2.5e-2, "\(worst)")
  }

  @Test func `Does not combine stamps of different rounds`() throws {
    var scene = TwoWayScene(seed: 20)
    (scene.initiator, scene.responder) = (20e-6, -20e-6)
    var responder = ResponderRanging()
    var collected = ExchangeCollector()
    for round in 0..<30 {
      let exchange = scene.exchange(at: Double(round) * 0.1)
      let hasFinal = round % 3 != 2
      collected.record(exchange, round: UInt32(round), hasFinal: hasFinal)
      #expect(collected.exchange?.isDoubleSided == hasFinal)
      let result = try responder.distance(collected)
      #expect(abs(result.distance - 10) < 2e-3, "round \(round)")
    }
    collected.record(.pollSent, at: 0, round: 99)
    #expect(throws: RangingFailure.missingStamp) { try responder.distance(collected) }
    var stranger = ResponderRanging()
    var single = ExchangeCollector()
    single.record(scene.exchange(), round: 0, hasFinal: false)
    #expect(throws: RangingFailure.unknownClockOffset) { try stranger.distance(single) }
  }

  @Test func `Filters received levels`() {
    var noise = Noise(seed: 30)
    var tracker = LevelTracker()
    var errors = Spread()
    for step in 0..<500 {
      let level = tracker.update(-80 + 0.5 * noise.normal(), time: Double(step) / 10)
      if step > 20 { errors.add(level + 80) }
    }
    #expect(errors.deviation < 0.3)
    #expect(tracker.update(-90, time: 50) == -90)
    #expect(tracker.update(.nan).isNaN)
    #expect(abs(tracker.update(-90, time: 50.1) + 90) < 1e-9)
  }
}

extension ExchangeCollector {
  mutating func record(_ exchange: TwoWayExchange, round: UInt32, hasFinal: Bool = true) {
    record(.pollSent, at: exchange.pollSent, round: round)
    record(.pollReceived, at: exchange.pollReceived, round: round)
    record(.responseSent, at: exchange.responseSent, round: round)
    record(.responseReceived, at: exchange.responseReceived, round: round)
    guard hasFinal, let sent = exchange.finalSent, let received = exchange.finalReceived else {
      return
    }
    record(.finalSent, at: sent, round: round)
    record(.finalReceived, at: received, round: round)
  }
}
