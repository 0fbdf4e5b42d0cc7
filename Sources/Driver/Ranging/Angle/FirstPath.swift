// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One sample of a channel impulse response. Samples are 1.0016 ns apart: 30 cm of path length.
public struct ChannelTap: Sendable, Hashable {
  /// The in-phase part in the receiver's unit.
  package var real: Double
  /// The quadrature part in the receiver's unit.
  package var imaginary: Double

  /// Creates a sample.
  public init(_ real: Double, _ imaginary: Double) {
    self.real = real
    self.imaginary = imaginary
  }

  package var power: Double { real * real + imaginary * imaginary }
}

/// The direct path in a channel impulse response, whose phase determines the angle of arrival.
///
/// The phase is read at the beginning of the path, because the strongest sample may be a sum of
/// reflections.
public struct FirstPath: Sendable, Hashable {
  /// Radians in -π...π, relative to the receiver's reference.
  public var phase: Double
  /// Noise of the phase in radians, one standard deviation; π if it is unknown.
  public var phaseDeviation: Double
  /// The power at the first path, in the receiver's unit.
  public var power: Double
  /// The ratio of `power` to the noise, in dB.
  package var signalToNoise: Double
  /// The ratio of `power` to the power of the strongest sample, in dB, 0 or less. Below -6 dB the
  /// direct path is attenuated, or another path was mistaken for it.
  package var firstToPeak: Double

  /// Reads the first path of a response.
  ///
  /// - Parameters:
  ///   - taps: samples in the order of time.
  ///   - index: the position of the first path in samples after the first of `taps`. It has a
  ///     fraction, which DW1000 and DW3000 report with 6 bits.
  ///   - carrierPhase: the phase of the receiver's carrier recovery in radians, which is
  ///     subtracted.
  ///   - noise: standard deviation of the real or the imaginary part of the noise; nil to estimate
  ///     it from the samples before the path.
  /// - Returns: nil if the path is outside of the samples, a sample is not finite, or all are zero.
  public init?(
    _ taps: Span<ChannelTap>, at index: Double, carrierPhase: Double = 0, noise: Double? = nil
  ) {
    guard taps.count >= 2, index >= 0, index <= Double(taps.count - 1), carrierPhase.isFinite else {
      return nil
    }
    let low = min(Int(index), taps.count - 2)
    let part = index - Double(low)
    let (a, b) = (taps[low], taps[low + 1])
    // Both samples at the rising edge have the phase of the direct path, so a value between them
    // has it as well.
    let read = ChannelTap(
      a.real + part * (b.real - a.real), a.imaginary + part * (b.imaginary - a.imaginary))
    var (peak, before, count) = (0.0, 0.0, 0)
    for tap in 0..<taps.count {
      let power = taps[tap].power
      peak = max(peak, power)
      // Noise is measured before the rise of the pulse, which begins some samples before its
      // detected edge.
      if tap + 4 < low {
        before += power
        count += 1
      }
    }
    guard read.power > 0, peak.isFinite else { return nil }
    var variance: Double?
    if let noise, noise >= 0 {
      variance = noise * noise
    } else if count >= 4 {
      // The variance of the real or the imaginary part: half of the power.
      variance = before / Double(2 * count)
    }
    phase = wrapped(atan2(read.imaginary, read.real) - carrierPhase)
    power = read.power
    firstToPeak = min(0, 10 * log(read.power / peak) / log(10))
    let floor = max(variance ?? 0, 1e-12 * read.power)
    signalToNoise = 10 * log(read.power / (2 * floor)) / log(10)
    phaseDeviation = variance == nil ? .pi : min(.pi, (floor / read.power).squareRoot())
  }

  /// Returns the phase of this receiver minus the phase of `other` for the same frame, in radians,
  /// wrapped.
  public func difference(from other: FirstPath) -> (phase: Double, standardDeviation: Double) {
    let variance =
      phaseDeviation * phaseDeviation + other.phaseDeviation * other.phaseDeviation
    return (wrapped(phase - other.phase), min(.pi, variance.squareRoot()))
  }
}
