// SPDX-License-Identifier: Apache-2.0
package import Ranging

/// Two radios that exchange frames, each with a clock of its own: the truth that the computation
/// must find.
package struct TwoWayScene {
  package var noise: Noise
  /// The distance of the radios in metres.
  package var distance = 10.0
  /// The fractions by which the clocks of initiator and responder are fast.
  package var initiator = 0.0
  package var responder = 0.0
  /// The reply time in seconds.
  package var reply1 = 2e-3
  package var reply2 = 8e-3
  /// The noise of each reception stamp in seconds, one standard deviation.
  package var deviation = 0.0
  package var counter = TickCounter.bits40
  /// The counters in ticks when the poll is sent.
  package var initiatorStart: UInt64 = 0
  package var responderStart: UInt64 = 0

  package init(seed: UInt64) { noise = Noise(seed: seed) }

  package mutating func anyOffsets() {
    initiatorStart = UInt64(noise.uniform() * 0x1p40)
    responderStart = UInt64(noise.uniform() * 0x1p40)
  }

  /// Returns the stamps of an exchange; their ticks are whole numbers only if `whole` is true.
  package mutating func exchange(at start: Double = 0, whole: Bool = false) -> TwoWayExchange {
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
    return TwoWayExchange(
      pollSent: t1, pollReceived: t2, responseSent: t3, responseReceived: t4, finalSent: t5,
      finalReceived: t6)
  }
}
