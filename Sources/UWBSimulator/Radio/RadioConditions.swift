// SPDX-License-Identifier: Apache-2.0

/// How radios and their crystals are in a scene. The defaults are those of good boards in the open;
/// everything that makes ranging hard has to be asked for.
package struct RadioConditions: Hashable, Sendable {
  /// A point of the curve by which receivers measure too far, or too near.
  package struct PowerPoint: Hashable, Sendable {
    /// The received level in dBm.
    package var level: Double
    /// Metres that distances are too long by at this level.
    package var bias: Double

    /// From its parts.
    package init(level: Double, bias: Double) {
      self.level = level
      self.bias = bias
    }
  }

  /// Something that stands upright on the floor, from one place to another: what goes through it is
  /// weaker and late.
  package struct Wall: Hashable, Sendable {
    /// Where it begins and ends; only x and y count.
    package var from, to: SIMD3<Double>
    /// Decibels that it takes away. From about 18 on a reflection is taken for the direct path.
    package var loss: Double
    /// Nanoseconds that it delays: 0.5 are 15 cm.
    package var delay: Double

    /// From its parts.
    package init(from: SIMD3<Double>, to: SIMD3<Double>, loss: Double = 12, delay: Double = 0.5) {
      self.from = from
      self.to = to
      self.loss = loss
      self.delay = delay
    }
  }

  /// Each chip's crystal is off by a value from plus to minus so many parts per million, beside what
  /// its placement says. IEEE 802.15.4 allows 20.
  package var clockSpread = 0.0
  /// Parts per million by which crystals swing around their offset, once in 100 s.
  package var clockWander = 0.0
  /// Standard deviation of what a receiver makes of the carrier of a frame, in parts per million.
  package var carrierNoise = 0.05
  /// Standard deviation of a level, in dB.
  package var levelNoise = 0.5
  /// How the received level shifts distances, weakest first, linear in between; empty: not at all.
  package var powerBias: [PowerPoint] = []
  /// The strongest reflection of the room: so many nanoseconds behind the direct path…
  package var reflectionDelay = 9.0
  /// … and so many dB below it where nothing is in its way.
  package var reflectionLoss = 8.0
  /// Level of the noise in dBm.
  package var noiseLevel = -106.0
  /// What stands in the way of direct paths.
  package var walls: [Wall] = []

  /// Good boards in the open.
  package init() {}

  /// Metres that a distance is too long by at a level.
  func bias(at level: Double) -> Double {
    guard let first = powerBias.first, let last = powerBias.last else { return 0 }
    if level <= first.level { return first.bias }
    if level >= last.level { return last.bias }
    for (a, b) in zip(powerBias, powerBias.dropFirst()) where level <= b.level {
      return a.bias + (b.bias - a.bias) * (level - a.level) / (b.level - a.level)
    }
    return last.bias
  }
}

extension RadioConditions.Wall {
  /// Whether the straight line between two places goes through it.
  func isBetween(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Bool {
    func side(_ p: SIMD3<Double>, _ q: SIMD3<Double>, _ r: SIMD3<Double>) -> Double {
      (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)
    }
    return side(a, b, from) * side(a, b, to) < 0 && side(from, to, a) * side(from, to, b) < 0
  }
}
