// SPDX-License-Identifier: Apache-2.0

/// The radios, their crystals and the propagation in a scene. The defaults are for good boards
/// outdoors.
package struct RadioConditions: Hashable, Sendable {
  /// An upright wall, which attenuates and delays the direct path.
  package struct Wall: Hashable, Sendable {
    /// The ends of the wall, of which only x and y count.
    package var from, to: SIMD3<Double>
    /// Attenuation in dB. From about 18 dB on, a reflection is mistaken for the direct path.
    package var loss: Double
    /// Delay in nanoseconds: 0.5 ns are 15 cm.
    package var delay: Double

    package init(from: SIMD3<Double>, to: SIMD3<Double>, loss: Double = 12, delay: Double = 0.5) {
      self.from = from
      self.to = to
      self.loss = loss
      self.delay = delay
    }
  }

  /// The limit of an additional random offset of each chip's crystal, in parts per million. IEEE
  /// 802.15.4 allows 20.
  package var clockSpread = 0.0
  /// Amplitude in parts per million of the oscillation of crystals around their offset, with a
  /// period of 100 s.
  package var clockWander = 0.0
  /// The additional parts per million that crystals run fast when a chip gets power. They decline
  /// to 37 % in 20 s.
  package var clockWarmUp = 0.0
  /// Noise of the measured carrier offset of a frame in parts per million, one standard deviation.
  package var carrierNoise = 0.05
  /// Standard deviation of a level, in dB.
  package var levelNoise = 0.5
  /// The number of metres by which distances are too long, as a curve over the received level in
  /// dBm.
  package var powerBias = Curve([])
  /// Delay of the strongest reflection after the direct path, in nanoseconds.
  package var reflectionDelay = 9.0
  /// Attenuation of the reflection relative to an unobstructed direct path, in dB.
  package var reflectionLoss = 8.0
  /// Level of the noise in dBm.
  package var noiseLevel = -106.0
  package var walls: [Wall] = []
  /// Whether rounds of different controllers that overlap on one channel and preamble are lost.
  package var collisions = false

  package init() {}
}

extension RadioConditions.Wall {
  /// Returns whether the straight line between two positions crosses the wall.
  func isBetween(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Bool {
    func side(_ p: SIMD3<Double>, _ q: SIMD3<Double>, _ r: SIMD3<Double>) -> Double {
      (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)
    }
    return side(a, b, from) * side(a, b, to) < 0 && side(from, to, a) * side(from, to, b) < 0
  }
}
