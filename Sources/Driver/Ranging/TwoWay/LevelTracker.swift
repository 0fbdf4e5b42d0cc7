// SPDX-License-Identifier: Apache-2.0

/// Filters the received level of one peer.
///
/// The bias of leading-edge detection depends on the level. A correction by the noisy reading of
/// each frame would add noise to the distance.
package struct LevelTracker: Sendable, Hashable {
  /// Noise of one reading in dB, one standard deviation.
  package var noise = 0.5
  /// The random walk of the level in one second, in dB: 0.5 for peers that rest or walk.
  package var wander = 0.5
  /// Standard deviations beyond which a reading restarts the filter: an obstacle has appeared or
  /// disappeared.
  package var gate = 4.0
  private var level = 0.0
  private var variance = Double.infinity
  private var time: Double?

  package init() {}

  /// Updates the level with a reading.
  ///
  ///   - power: dBm.
  ///   - time: seconds; nil means a tenth of a second after the last reading.
  /// - Returns: the level in dBm; `power` itself if it is not a number or not a plausible level.
  package mutating func update(_ power: Double, time: Double? = nil) -> Double {
    guard abs(power) < 1000 else { return power }
    var seconds = 0.1
    if let time, let last = self.time, (time - last).isFinite {
      seconds = min(max(0, time - last), 1e6)
    }
    self.time = time
    variance += wander * wander * seconds
    let total = variance + noise * noise
    let innovation = power - level
    if !variance.isFinite || innovation * innovation > gate * gate * total {
      (level, variance) = (power, noise * noise)
      return power
    }
    level += innovation * (variance / total)
    variance *= noise * noise / total
    return level
  }
}
