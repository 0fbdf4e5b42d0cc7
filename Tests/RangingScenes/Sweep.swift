// SPDX-License-Identifier: Apache-2.0

/// A pair of antennas, and a peer that swings from side to side in front of it.
package enum Sweep {
  /// An antenna that saturates, is not symmetric and runs past half a turn.
  package static func curve(_ degrees: Double) -> Double {
    let angle = degrees * degree
    let sine = angle - angle * angle * angle / 6 + angle * angle * angle * angle * angle / 120
    return degree * (175 * sine - 14 + 6 * sine * sine)
  }

  /// 500 phases in radians with 5 degrees of noise, and the true angles in degrees, to `limit` and
  /// back at up to 20 degrees a second, slower towards the ends.
  package static func rows(to limit: Double) -> [(time: Double, phase: Double, angle: Double)] {
    var noise = Noise(seed: UInt64(limit))
    return (0..<500).map { step in
      let time = Double(step) * 0.1
      let phase = time * 20 / limit
      let turns = phase / (2 * .pi)
      let bend = phase - 2 * .pi * turns.rounded()
      let angle = limit * (1 - 2 * bend * bend / (.pi * .pi))
      return (time, wrap(curve(angle) + 5 * degree * noise.normal()), angle)
    }
  }
}
