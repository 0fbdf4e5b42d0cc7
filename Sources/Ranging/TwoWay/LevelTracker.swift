// SPDX-License-Identifier: Apache-2.0

/// The level that comes in from one peer, without the noise of single frames.
///
/// The bias of the leading edge follows the level itself, not the error with which one frame tells
/// it: correcting by the reading of each frame would add noise.
public struct LevelTracker: Sendable, Hashable {
  /// Noise of one reading in dB, one standard deviation.
  public var noise = 0.5
  /// How far the level moves in a second, in dB: 0.5 at rest and on foot.
  public var wander = 0.5
  /// A reading so many standard deviations off begins again: something stepped in between.
  public var gate = 4.0
  private var level = 0.0
  private var variance = Double.infinity
  private var time: Double?

  /// A level that nothing is known of.
  public init() {}

  /// Takes a reading in.
  ///
  /// - Parameters:
  ///   - power: dBm.
  ///   - time: seconds; nil where nothing tells, a tenth of a second is then supposed.
  /// - Returns: the level in dBm; what was given if it is no number, or none that a level can be.
  public mutating func update(_ power: Double, time: Double? = nil) -> Double {
    guard abs(power) < 1000 else { return power }
    var seconds = 0.1
    if let time, let last = self.time, (time - last).isFinite {
      seconds = min(max(0, time - last), 1e6)
    }
    self.time = time
    variance += wander * wander * seconds
    let total = variance + noise * noise
    let surprise = power - level
    if !variance.isFinite || surprise * surprise > gate * gate * total {
      (level, variance) = (power, noise * noise)
      return power
    }
    level += surprise * (variance / total)
    variance *= noise * noise / total
    return level
  }
}
