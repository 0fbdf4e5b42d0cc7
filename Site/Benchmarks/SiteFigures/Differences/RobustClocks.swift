// SPDX-License-Identifier: Apache-2.0

import Foundation
import SiteScenarios
import UWBSite

/// The textbook's filter of clocks: offset and drift of each anchor, with the noise of the
/// scenario, and weights that fall with the innovation.
struct RobustClocks {
  private struct Clock {
    var (sent, received) = (UInt64(0), UInt64(0))
    /// Ticks by which the last stamp of reception is late, and ticks in a tick minus 1.
    var (late, drift) = (0.0, 0.0)
    var p = (xx: 0.0, xy: 0.0, yy: 0.0)
    /// Frames that were rejected in a row.
    var rejected = 0
  }

  private var clocks: [Int: Clock] = [:]
  private let noise: Double
  private let walk: Double

  /// - Parameter scenario: its noise of stamps and its random walk of drifts.
  init(_ scenario: UplinkScenario) {
    let ticks = scenario.stampNoise * Ticks.perSecond
    (noise, walk) = (ticks * ticks, scenario.walk * scenario.walk)
  }

  mutating func add(sent: UInt64, _ anchor: Int, _ received: UInt64) {
    guard var clock = clocks[anchor] else {
      var first = Clock()
      (first.sent, first.received, first.p) = (sent, received, (noise, 0, 1e-9))
      clocks[anchor] = first
      return
    }
    let step = Double(Ticks.between(clock.sent, sent, bits: 40))
    let seconds = step / Ticks.perSecond
    let own = Double(
      Ticks.between(clock.received, received, bits: 40)
        - Ticks.between(clock.sent, sent, bits: 40))
    let density = walk * seconds
    clock.p.xx += step * (2 * clock.p.xy + step * clock.p.yy) + density * step * step / 3
    clock.p.xy += step * clock.p.yy + density * step / 2
    clock.p.yy += density
    // The stamp before was late by `late`.
    let innovation = own + clock.late - clock.drift * step
    let scaled = abs(innovation) / (clock.p.xx + noise).squareRoot()
    let variance = clock.p.xx + noise * max(1, scaled / 1.5)
    // A clock that contradicts its model for long is believed: boards warm up.
    let isUsed = scaled < 4 || clock.rejected >= 3
    clock.rejected = isUsed ? 0 : clock.rejected + 1
    let gain = isUsed ? (clock.p.xx / variance, clock.p.xy / variance) : (0, 0)
    clock.late = innovation * (1 - gain.0)
    clock.drift += gain.1 * innovation
    clock.p.yy -= gain.1 * clock.p.xy
    clock.p.xy *= 1 - gain.0
    clock.p.xx *= 1 - gain.0
    (clock.sent, clock.received) = (sent, received)
    clocks[anchor] = clock
  }

  func arrivals(_ stamps: [UplinkClocks.Stamp]) -> Arrivals? {
    guard let own = stamps.first(where: { $0.anchor == 0 }) else { return nil }
    let stamp = noise.squareRoot() * Ticks.metres
    var entries = [Arrivals.Entry(anchor: 0, metres: 0, deviation: stamp)]
    for one in stamps {
      guard let clock = clocks[one.anchor] else { continue }
      let later = Double(Ticks.between(clock.received, one.received, bits: 40))
      let whole =
        Ticks.between(clock.received, one.received, bits: 40)
        - Ticks.between(clock.sent, own.received, bits: 40)
      let arm = UplinkScenario.anchors[one.anchor] - UplinkScenario.anchors[0]
      let flight = (arm * arm).sum().squareRoot() / Ticks.metres
      let ticks = Double(whole) + clock.late - later * clock.drift + flight
      let spread = clock.p.xx + later * (2 * clock.p.xy + later * clock.p.yy) + noise
      entries.append(
        Arrivals.Entry(
          anchor: one.anchor, metres: ticks * Ticks.metres,
          deviation: spread.squareRoot() * Ticks.metres))
    }
    return Arrivals(entries)
  }
}

/// The textbook's place in the plane: an iterated Kalman update from the middle of the anchors by
/// differences against the first arrival, with Huber's weights.
enum RobustPlace {
  static func solve(
    _ arrivals: Arrivals, _ anchors: [SIMD3<Double>], height: Double
  ) -> SIMD3<Double>? {
    guard let first = arrivals.entries.first, arrivals.entries.count > 3 else { return nil }
    func length(_ arm: SIMD3<Double>) -> Double { max((arm * arm).sum().squareRoot(), 1e-3) }
    var place = anchors.reduce(.zero, +) / Double(anchors.count)
    place.z = height
    for _ in 0..<20 {
      // A prior of 10 m.
      var (xx, xy, yy, right) = (0.01, 0.0, 0.01, SIMD2<Double>.zero)
      for entry in arrivals.entries.dropFirst() {
        let (near, far) = (place - anchors[first.anchor], place - anchors[entry.anchor])
        let gradient = far / length(far) - near / length(near)
        let rest = entry.metres - first.metres - length(far) + length(near)
        let variance = entry.deviation * entry.deviation + first.deviation * first.deviation
        let weight = 1 / (variance * max(1, abs(rest) / variance.squareRoot() / 1.5))
        xx += weight * gradient.x * gradient.x
        xy += weight * gradient.x * gradient.y
        yy += weight * gradient.y * gradient.y
        right += weight * rest * SIMD2(gradient.x, gradient.y)
      }
      let determinant = xx * yy - xy * xy
      place.x += (yy * right.x - xy * right.y) / determinant
      place.y += (xx * right.y - xy * right.x) / determinant
    }
    return place
  }
}
