// SPDX-License-Identifier: Apache-2.0

import Foundation
package import UWBSite

/// The clock of a board, with a random walk of its drift and a warm-up after power-on.
package struct ScenarioClock: Sendable {
  /// The board's clock minus the true time, in seconds.
  package private(set) var offset = 0.0
  private var drift: Double
  private let walk: Double
  private let warmUp: Double
  private var origin: UInt64
  private var time = 0.0

  /// - Parameters:
  ///   - walk: the random walk of the drift in a second, as a fraction.
  ///   - warmUp: the fraction by which the clock runs fast at first, for some 20 s.
  package init(walk: Double, warmUp: Double, _ noise: inout ScenarioNoise) {
    drift = 10e-6 * noise.normal()
    (self.walk, self.warmUp) = (walk, warmUp * noise.uniform(-1, 1))
    origin = UInt64(noise.uniform(0, 1e12))
  }

  /// Restarts the count, as after a loss of power.
  package mutating func restart(_ noise: inout ScenarioNoise) {
    origin = UInt64(noise.uniform(0, 1e12))
  }

  /// Advances to a later time.
  package mutating func advance(to next: Double, _ noise: inout ScenarioNoise) {
    let step = next - time
    guard step > 0 else { return }
    let warm = warmUp * 20 * (exp(-time / 20) - exp(-next / 20))
    offset += drift * step + warm
    let change = walk * step.squareRoot() * noise.normal()
    offset += change * step / 2
    drift += change
    time = next
  }

  /// Returns the stamp of a moment in 40 bits. The moment is at most some milliseconds after the
  /// clock's time.
  package func stamp(_ moment: Double, noise: Double = 0) -> UInt64 {
    let warm = warmUp * exp(-time / 20)
    let own = moment + offset + (drift + warm) * (moment - time) + noise
    // Whole seconds are converted separately, because a double has only 53 bits.
    let whole = own.rounded(.down)
    let ticks = UInt64(whole) * 63_897_600_000 &+ UInt64((own - whole) * Ticks.perSecond)
    return (origin &+ ticks) & (1 << 40 - 1)
  }
}

/// Eight anchors of 20 x 15 m, one of which sends frames of synchronisation, and a tag that blinks.
/// Noise and clocks are as in published simulations of uplink TDoA.
package struct UplinkScenario: Sendable {
  /// The time in seconds between two frames of synchronisation.
  package var interval = 0.15
  /// The time in seconds between two blinks.
  package var blinkInterval = 0.0973
  /// One standard deviation of a stamp in seconds.
  package var stampNoise = 150e-12
  package var walk = 3e-9
  package var warmUp = 2e-6
  /// The probability that an anchor misses a frame of synchronisation.
  package var loss = 0.0
  /// The probability that a signal arrives over a detour, which is 60 cm longer on average.
  package var blocked = 0.0
  package var seconds = 60.0
  package var seed: UInt64 = 1
  /// The anchors that send frames of synchronisation, each at its own time.
  package var references = [0]
  /// Whether a reference sends at a time.
  package var isSending: @Sendable (Int, Double) -> Bool = { _, _ in true }
  /// The anchors whose clocks restart, and the times.
  package var restarts: [(anchor: Int, time: Double)] = []
  /// The place of the tag at a time; nil for a random place at each blink.
  package var path: (@Sendable (Double) -> SIMD3<Double>)?

  package init() {}

  package static let anchors: [SIMD3<Double>] = [
    SIMD3(0, 0, 3), SIMD3(10, 0, 2.5), SIMD3(20, 0, 3), SIMD3(20, 7.5, 2.5), SIMD3(20, 15, 3),
    SIMD3(10, 15, 2.5), SIMD3(0, 15, 3), SIMD3(0, 7.5, 2.5),
  ]
  package static let height = 1.2

  package enum Event: Sendable {
    case sync(from: Int, sent: UInt64, received: [(anchor: Int, stamp: UInt64)])
    case blink(place: SIMD3<Double>, [UplinkClocks.Stamp])
  }

  /// Calls `body` with each frame in its order.
  package func run(_ body: (Double, Event) -> Void) {
    var noise = ScenarioNoise(seed: seed)
    var clocks = Self.anchors.map { _ in ScenarioClock(walk: walk, warmUp: warmUp, &noise) }
    func stamp(_ anchor: Int, _ moment: Double, _ noise: inout ScenarioNoise) -> UInt64 {
      let late = noise.uniform() < blocked ? noise.exponential(0.6) * 1e-9 / 0.2997 : 0
      return clocks[anchor].stamp(moment + late, noise: stampNoise * noise.normal())
    }
    var syncs = references.indices.map { 0.01 + 0.03 * Double($0) }
    var restarts = restarts[...]
    var nextBlink = 0.037
    while min(syncs.min() ?? nextBlink, nextBlink) < seconds {
      let nextSync = syncs.min() ?? .infinity
      let now = min(nextSync, nextBlink)
      for index in clocks.indices { clocks[index].advance(to: now, &noise) }
      while let first = restarts.first, first.time <= now {
        clocks[first.anchor].restart(&noise)
        restarts.removeFirst()
      }
      func flight(_ from: SIMD3<Double>, _ to: SIMD3<Double>) -> Double {
        let arm = to - from
        return (arm * arm).sum().squareRoot() / 299_702_547
      }
      if nextSync <= nextBlink {
        let turn = syncs.firstIndex(of: nextSync) ?? 0
        syncs[turn] += interval
        let from = references[turn]
        guard isSending(from, now) else { continue }
        var received: [(anchor: Int, stamp: UInt64)] = []
        for anchor in clocks.indices where anchor != from && noise.uniform() >= loss {
          let arrival = now + flight(Self.anchors[from], Self.anchors[anchor])
          received.append((anchor, stamp(anchor, arrival, &noise)))
        }
        body(now, .sync(from: from, sent: clocks[from].stamp(now), received: received))
      } else {
        let chosen = SIMD3(noise.uniform(2, 18), noise.uniform(2, 13), Self.height)
        let place = path?(now) ?? chosen
        let stamps = clocks.indices.map { anchor in
          UplinkClocks.Stamp(
            anchor: anchor,
            received: stamp(anchor, now + flight(place, Self.anchors[anchor]), &noise))
        }
        body(now, .blink(place: place, stamps))
        nextBlink += blinkInterval
      }
    }
  }
}

extension UplinkScenario {
  /// Calls `body` with each message at an anchor: its time, its sender, the anchor, and the place
  /// of the tag of a blink. The tags blink in turn.
  package func messages(
    tags: Int,
    _ body: (Double, Engine.Node, _ anchor: Int, OneWayLine.Message, SIMD3<Double>?) -> Void
  ) {
    var frame = 0
    run { now, event in
      switch event {
      case .sync(let from, let sent, let received):
        for one in received {
          body(
            now, .anchor(from), one.anchor, .sync(sent: .init(sent), .init(one.stamp)), nil)
        }
      case .blink(let place, let stamps):
        frame += 1
        for stamp in stamps {
          let message = OneWayLine.Message.blink(frame: UInt32(frame), .init(stamp.received))
          body(now, .tag(frame % tags), stamp.anchor, message, place)
        }
      }
    }
  }
}

/// One cluster of downlink TDoA: an initiator with six responders in slots of 2 ms, and tags.
package struct DownlinkScenario: Sendable {
  /// One standard deviation of a stamp in seconds.
  package var stampNoise = 120e-12
  /// One standard deviation of a carrier offset as a fraction.
  package var carrierNoise = 0.05e-6
  package var slot = 2e-3
  package var blocks = 6
  /// Whether the responders send times of the initiator's clock.
  package var isCommonTimeBase = false
  package var seed: UInt64 = 1

  package init() {}

  package static let anchors: [SIMD3<Double>] = [
    SIMD3(10, 7, 3), SIMD3(0, 0, 2.5), SIMD3(20, 0, 3), SIMD3(20, 15, 2.5), SIMD3(0, 15, 3),
    SIMD3(10, 0, 2.5), SIMD3(10, 15, 2.5),
  ]
  package static let height = 1.2

  /// Returns the messages of all blocks that one tag receives, and its place.
  package func run() -> (place: SIMD3<Double>, messages: [AnchorStamp]) {
    var noise = ScenarioNoise(seed: seed)
    let place = SIMD3(noise.uniform(2, 18), noise.uniform(2, 13), Self.height)
    var clocks = Self.anchors.map { _ in ScenarioClock(walk: 1e-9, warmUp: 0, &noise) }
    var tag = ScenarioClock(walk: 1e-9, warmUp: 0, &noise)
    var rates: [Double] = []
    func flight(_ from: SIMD3<Double>, _ to: SIMD3<Double>) -> Double {
      let arm = to - from
      return (arm * arm).sum().squareRoot() / 299_702_547
    }
    var messages: [AnchorStamp] = []
    for block in 0..<blocks {
      let start = 1 + 0.2 * Double(block)
      for index in clocks.indices { clocks[index].advance(to: start, &noise) }
      tag.advance(to: start, &noise)
      rates = clocks.map(\.rate)
      let order = [0] + Array(1..<Self.anchors.count) + [0]
      for (slot, anchor) in order.enumerated() {
        let kind: AnchorStamp.Kind =
          slot == 0 ? .poll : slot == order.count - 1 ? .final : .response
        let arrived = start + flight(Self.anchors[0], Self.anchors[anchor])
        let heard = clocks[anchor].stamp(arrived, noise: stampNoise * noise.normal())
        let moment = start + self.slot * Double(slot)
        let own = clocks[anchor].stamp(moment)
        let sent = isCommonTimeBase ? clocks[0].stamp(moment) : own
        let received = tag.stamp(
          moment + flight(Self.anchors[anchor], place), noise: stampNoise * noise.normal())
        var message = AnchorStamp(
          anchor: anchor, kind, block: block, sent: sent, received: received)
        message.isCommonTimeBase = isCommonTimeBase
        message.carrier = rates[anchor] - tag.rate + carrierNoise * noise.normal()
        if kind == .response {
          message.reply = Double(Ticks.between(heard, own, bits: 40))
          message.anchorOffset = rates[anchor] - rates[0] + carrierNoise * noise.normal()
        }
        messages.append(message)
      }
    }
    return (place, messages)
  }
}

extension ScenarioClock {
  /// The current rate relative to a true clock, minus 1.
  package var rate: Double { drift + warmUp * exp(-time / 20) }
}
