// SPDX-License-Identifier: Apache-2.0

/// One sample of a channel impulse response: 1.0016 ns, 30 cm of way.
public struct ChannelTap: Sendable, Hashable {
  /// In phase, in the receiver's unit.
  public var real: Double
  /// In quadrature.
  public var imaginary: Double

  /// From its parts.
  public init(_ real: Double, _ imaginary: Double) {
    self.real = real
    self.imaginary = imaginary
  }

  /// Its power.
  public var power: Double { real * real + imaginary * imaginary }
}

/// The direct path in a channel impulse response: its phase is what angles are made of.
///
/// It is read where the path begins, not at the strongest sample: that one belongs to a mixture of
/// reflections wherever there are some.
public struct FirstPath: Sendable, Hashable {
  /// Radians in -π...π, of the path against the receiver's reference.
  public var phase: Double
  /// Noise of the phase in radians, one standard deviation; π where it says nothing.
  public var phaseDeviation: Double
  /// The power of the sample that was read, in the receiver's unit.
  public var power: Double
  /// That power over the noise's, in dB.
  public var signalToNoise: Double
  /// That power over the strongest sample's, in dB, 0 or less. Below -6 dB the direct path is
  /// attenuated, or another one was taken for it.
  public var firstToPeak: Double

  /// Reads a response.
  ///
  /// - Parameters:
  ///   - taps: samples in the order of time.
  ///   - index: where the receiver found the first path, counted in samples from the first of
  ///     `taps`, with a fraction: DW1000 and DW3000 have 6 bits of it.
  ///   - carrierPhase: what is subtracted from the phase: that of the receiver's carrier recovery.
  ///   - noise: standard deviation of the real or the imaginary part of the noise; nil: from the
  ///     samples before the path.
  /// - Returns: nil when the path is outside the samples, or these are not finite or only zeros.
  public init?(
    _ taps: Span<ChannelTap>, at index: Double, carrierPhase: Double = 0, noise: Double? = nil
  ) {
    guard taps.count >= 2, index >= 0, index <= Double(taps.count - 1), carrierPhase.isFinite else {
      return nil
    }
    let low = min(Int(index), taps.count - 2)
    let part = index - Double(low)
    let (a, b) = (taps[low], taps[low + 1])
    // On the edge both samples have the phase of the direct path: what lies between has it too.
    let read = ChannelTap(
      a.real + part * (b.real - a.real), a.imaginary + part * (b.imaginary - a.imaginary))
    var (peak, before, count) = (0.0, 0.0, 0)
    for place in 0..<taps.count {
      let power = taps[place].power
      peak = max(peak, power)
      // The rise of the pulse begins some samples before its edge is found.
      if place + 4 < low {
        before += power
        count += 1
      }
    }
    guard read.power > 0, peak.isFinite else { return nil }
    var variance: Double?
    if let noise, noise >= 0 {
      variance = noise * noise
    } else if count >= 4 {
      // Of one part: half of the power.
      variance = before / Double(2 * count)
    }
    phase = wrapped(Functions.arcTangent(read.imaginary, read.real) - carrierPhase)
    power = read.power
    firstToPeak = min(0, 10 * Functions.logarithm(read.power / peak) / Functions.logarithm(10))
    let floor = max(variance ?? 0, 1e-12 * read.power)
    signalToNoise = 10 * Functions.logarithm(read.power / (2 * floor)) / Functions.logarithm(10)
    phaseDeviation = variance == nil ? .pi : min(.pi, (floor / read.power).squareRoot())
  }

  /// The phase difference of two receivers of one frame: this one's less the other's, wrapped.
  public func difference(from other: FirstPath) -> (phase: Double, standardDeviation: Double) {
    let variance =
      phaseDeviation * phaseDeviation + other.phaseDeviation * other.phaseDeviation
    return (wrapped(phase - other.phase), min(.pi, variance.squareRoot()))
  }
}

/// Phases as registers of receivers hold them.
public enum PhaseWord {
  /// DW1000's RCPHASE: 7 bits, a turn in 128 steps. Source: DW1000 User Manual, RX_TTCKO.
  public static func carrierRecovery(_ word: UInt8) -> Double {
    Double(word & 0x7F) * 2 * .pi / 128
  }

  /// DW3000's phase of arrival of a segment: 14 bits in two's complement, 2^-11 rad each.
  /// Source: Qorvo's forum, topic 20913.
  public static func arrival(_ word: UInt16) -> Double {
    Double(Int16(bitPattern: word << 2) >> 2) / 2048
  }

  /// A phase difference of DW3000 and QM33: 16 bits in two's complement, 2^-11 rad each.
  /// Source: Qorvo's UCI range diagnostics.
  public static func difference(_ word: Int16) -> Double { Double(word) / 2048 }
}
