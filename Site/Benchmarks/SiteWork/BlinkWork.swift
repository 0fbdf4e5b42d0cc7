// SPDX-License-Identifier: Apache-2.0

import UWBSite

/// 1,000 blinks a second of twenty tags at eight anchors, with a frame of synchronisation every
/// 150 ms: stamps, clocks, arrivals, tracks.
enum BlinkWork {
  /// Ticks of an anchor's clock at the beginning, and in a tick of a true clock, minus 1.
  private static func clock(_ anchor: Int) -> (origin: UInt64, drift: Double) {
    (UInt64(anchor) * 77_000_000_003, Double((5 * anchor) % 7 - 3) * 2e-6)
  }

  /// Runs blinks through rounds and engine.
  ///
  /// - Returns: the number of blinks.
  static func run(_ count: Int) -> Int {
    var rounds = OneWayRounds(SiteWork.anchors.map { Facing($0) }, sources: 1)
    var engine = SiteWork.engine()
    var random = SplitMix64(seed: 2)
    var places = 0
    for number in 0..<count {
      let time = Double(number) / 1000
      if number % 150 == 0 {
        let sent = stamp(0, time, nil)
        for anchor in 1..<SiteWork.anchors.count {
          let flight = length(SiteWork.anchors[0] - SiteWork.anchors[anchor])
          let message = OneWayLine.Message.sync(
            sent: .init(sent), .init(stamp(anchor, time, (flight, SiteWork.noise(&random)))))
          add(message, .anchor(0), anchor, time, &rounds, &engine)
        }
      }
      let tag = number % SiteWork.tags
      for anchor in SiteWork.anchors.indices {
        let flight = length(SiteWork.place(tag, time) - SiteWork.anchors[anchor])
        let received = stamp(anchor, time, (flight, SiteWork.noise(&random)))
        let message = OneWayLine.Message.blink(frame: UInt32(number), .init(received))
        add(message, .tag(tag), anchor, time, &rounds, &engine)
      }
      engine.drain(now: time) { if case .place = $0 { places += 1 } }
    }
    precondition(places > 0 || count < 1000)
    return count
  }

  private static func length(_ arm: SIMD3<Double>) -> Double { (arm * arm).sum().squareRoot() }

  /// Returns the stamp of a moment by an anchor's clock.
  ///
  /// - Parameter arrival: metres of a flight, and noise in units of 7 cm.
  private static func stamp(
    _ anchor: Int, _ time: Double, _ arrival: (flight: Double, noise: Double)?
  ) -> UInt64 {
    let (origin, drift) = clock(anchor)
    let ticks = time * Ticks.perSecond
    let late = arrival.map { ($0.flight + 0.07 * $0.noise) / Ticks.metres } ?? 0
    return (origin &+ UInt64(ticks + ticks * drift + late + 1e6)) & (1 << 40 - 1)
  }

  private static func add(
    _ message: OneWayLine.Message, _ sender: Engine.Node, _ anchor: Int, _ time: Double,
    _ rounds: inout OneWayRounds, _ engine: inout Engine
  ) {
    let line = OneWayLine(time: time, device: "", senders: [], message)
    let moment = OneWayRounds.Moment(time: time, source: 0, arrival: time)
    for finding in rounds.add(line, from: sender, to: .anchor(anchor), at: moment) {
      guard case .arrivals(let tag, let arrivals, let at) = finding else { continue }
      engine.add(arrivals, at: at.time, tag: tag, source: at.source, arrival: at.arrival)
    }
  }
}
