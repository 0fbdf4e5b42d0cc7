// SPDX-License-Identifier: Apache-2.0
import Ranging

/// Two radios that exchange frames, each with a clock of its own: the truth the mathematics must
/// find again.
struct TwoWayScene {
  var noise: Noise
  /// Metres.
  var distance = 10.0
  /// Parts by which the clocks of initiator and responder are fast.
  var initiator = 0.0
  var responder = 0.0
  /// Seconds of reply.
  var reply1 = 2e-3
  var reply2 = 8e-3
  /// Seconds of noise of each reception stamp.
  var deviation = 0.0
  var counter = TickCounter.bits40
  /// Ticks at the counters when the poll is sent.
  var initiatorStart: UInt64 = 0
  var responderStart: UInt64 = 0

  init(seed: UInt64) { noise = Noise(seed: seed) }

  mutating func anyOffsets() {
    initiatorStart = UInt64(noise.uniform() * 0x1p40)
    responderStart = UInt64(noise.uniform() * 0x1p40)
  }

  /// Stamps with ticks rounded to whole numbers only when `whole`.
  mutating func exchange(at start: Double = 0, whole: Bool = false) -> DoubleSidedExchange {
    let flight = distance / SpeedOfLight.inAir
    var time = start
    func stamp(_ seconds: Double, _ error: Double, _ from: UInt64) -> TickStamp {
      let ticks = seconds * (1 + error) * DeviceTick.perSecond
      let floor = ticks.rounded(.down)
      var stamp = TickStamp((from &+ UInt64(bitPattern: Int64(floor))) & ((1 << 40) - 1))
      stamp.fraction = whole ? 0 : ticks - floor
      return stamp
    }
    let t1 = stamp(time, initiator, initiatorStart)
    time += flight
    let t2 = stamp(time + deviation * noise.normal(), responder, responderStart)
    time += reply1
    let t3 = stamp(time, responder, responderStart)
    time += flight
    let t4 = stamp(time + deviation * noise.normal(), initiator, initiatorStart)
    time += reply2
    let t5 = stamp(time, initiator, initiatorStart)
    time += flight
    let t6 = stamp(time + deviation * noise.normal(), responder, responderStart)
    return DoubleSidedExchange(
      pollSent: t1, pollReceived: t2, responseSent: t3, responseReceived: t4, finalSent: t5,
      finalReceived: t6)
  }
}

/// Mean and standard deviation of numbers.
struct Spread {
  var count = 0.0
  var mean = 0.0
  private var squares = 0.0
  var deviation: Double { (squares / max(1, count - 1)).squareRoot() }

  mutating func add(_ value: Double) {
    count += 1
    let before = value - mean
    mean += before / count
    squares += before * (value - mean)
  }
}

func ppm(_ value: Double) -> Double { value * 1e-6 }
