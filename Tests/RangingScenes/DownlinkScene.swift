// SPDX-License-Identifier: Apache-2.0
package import Ranging

/// Two anchors and a tag with three clocks. Their stamps follow from real times and positions.
package struct DownlinkScene {
  package var noise: Noise
  package var initiator = SIMD3<Double>(0, 0, 2.5)
  package var responder = SIMD3<Double>(8, 1, 2.2)
  package var tag = SIMD3<Double>(2, 5, 1)
  /// The fractions by which the clocks are fast.
  package var rates = (initiator: 12e-6, responder: -9e-6, tag: 17e-6)
  package var starts = (initiator: 0x12_3456_7890, responder: 0xFF_FFFF_0000, tag: 0xFE_0000_0000)
  /// The reply times in seconds.
  package var replies = (responder: 2e-3, initiator: 3e-3)
  package var deviation = 0.0

  package init(seed: UInt64) { noise = Noise(seed: seed) }

  package var truth: Double { (tag - responder).length - (tag - initiator).length }

  package func stamp(_ time: Double, _ rate: Double, _ start: Int) -> TickStamp {
    let ticks = time * (1 + rate) * DeviceTick.perSecond
    let whole = ticks.rounded(.down)
    var stamp = TickStamp(UInt64(start + Int(whole)) & 0xFF_FFFF_FFFF)
    stamp.fraction = ticks - whole
    return stamp
  }

  package mutating func round(
    at start: Double = 0
  ) -> (exchange: DownlinkExchange, sent: (poll: TickStamp?, response: TickStamp?)) {
    let speed = SpeedOfLight.inAir
    let between = (responder - initiator).length / speed
    let near = (tag - initiator).length / speed
    let far = (tag - responder).length / speed
    let pollAtResponder = start + between + deviation * noise.normal()
    // The anchors reply a fixed time after the stamped reception.
    let response = pollAtResponder + replies.responder
    let responseAtInitiator = response + between + deviation * noise.normal()
    let final = responseAtInitiator + replies.initiator
    func heard(_ time: Double) -> TickStamp {
      stamp(time + deviation * noise.normal(), rates.tag, starts.tag)
    }
    let exchange = DownlinkExchange(
      pollReceived: heard(start + near), responseReceived: heard(response + far),
      finalReceived: heard(final + near),
      responderReply: replies.responder * (1 + rates.responder) * DeviceTick.perSecond,
      initiatorReply: replies.initiator * (1 + rates.initiator) * DeviceTick.perSecond,
      anchorFlight: DownlinkExchange.flight(from: initiator, to: responder))
    return (
      exchange,
      (
        stamp(start, rates.initiator, starts.initiator),
        stamp(response, rates.responder, starts.responder)
      )
    )
  }

  package var clocks: (initiator: ClockOffset, responder: ClockOffset) {
    func offset(_ rate: Double) -> ClockOffset {
      ClockOffset((1 + rate) / (1 + rates.tag) - 1, standardDeviation: 1e-10)
    }
    return (offset(rates.initiator), offset(rates.responder))
  }
}
