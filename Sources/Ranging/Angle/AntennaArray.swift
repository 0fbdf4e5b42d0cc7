// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A pair of antennas, and its phase difference for each direction.
///
/// Device frame: x forward, y to the left, z up. Azimuth is counted from x towards y, elevation from
/// there towards z.
public struct AntennaPair: Sendable {
  /// The dependence of the phase on the direction.
  public enum Model: Sendable {
    /// 2π times the projection of the baseline: the position of the first antenna minus that of the
    /// second, in wavelengths.
    case baseline(x: Double, y: Double, z: Double)
    /// A table over the angle whose sine is the projection of the direction on an axis of length 1:
    /// (0, 1, 0) for a pair side by side.
    case table(PhaseTable, x: Double, y: Double, z: Double)
  }
  /// The dependence of the phase on the direction.
  package var model: Model
  /// Constant phase in radians, from cables and chips.
  package var offset: Double
  /// The effect of coupling: amplitudes in radians for cosine and sine of 1, 2, 3… times the azimuth.
  package var harmonics: [(cosine: Double, sine: Double)]
  /// Noise in radians, one standard deviation.
  package var phaseDeviation: Double

  /// Creates a pair. The measured noise of single frames is 3.5 to 5 degrees.
  public init(
    _ model: Model, offset: Double = 0, harmonics: [(cosine: Double, sine: Double)] = [],
    phaseDeviation: Double = 5 * .pi / 180
  ) {
    self.model = model
    self.offset = offset
    self.harmonics = harmonics
    self.phaseDeviation = phaseDeviation
  }

  /// The expected phase difference, not wrapped.
  package func phase(azimuth: Double, elevation: Double) -> Double {
    let flat = cos(elevation)
    let (ux, uy) = (flat * cos(azimuth), flat * sin(azimuth))
    let uz = sin(elevation)
    var phase = offset
    switch model {
    case .baseline(let x, let y, let z): phase += 2 * .pi * (x * ux + y * uy + z * uz)
    case .table(let table, let x, let y, let z):
      phase += table.phase(at: clampedAsin(x * ux + y * uy + z * uz))
    }
    for (index, harmonic) in harmonics.enumerated() {
      let multiple = Double(index + 1) * azimuth
      phase += harmonic.cosine * cos(multiple)
      phase += harmonic.sine * sin(multiple)
    }
    return phase
  }

  /// Whether the pair distinguishes front from back, and determines the elevation.
  var resolves: (front: Bool, elevation: Bool) {
    switch model {
    case .baseline(let x, _, let z), .table(_, let x, _, let z): (abs(x) > 1e-3, abs(z) > 1e-3)
    }
  }
}

/// Estimates the direction to a peer from the phase differences of several pairs of antennas.
///
/// A Bayesian filter over a grid of azimuths with steps of one degree, with the likelihood of wrapped
/// residuals. From row to row the peer moves a little or, seldom, jumps. Ambiguities are kept until
/// they are resolved, and wrong phases are outweighed.
public struct DirectionFinder: Sendable {
  /// A direction with its uncertainty, in radians.
  public struct Direction: Sendable, Hashable {
    /// From x towards y.
    public var azimuth: Double
    /// Towards z; the assumed one if the antennas do not determine it.
    public var elevation: Double
    /// One standard deviation of the azimuth around the likeliest direction.
    public var standardDeviation: Double
    /// The probability that the direction is this one, and not a mirror image or another turn.
    public var probability: Double
  }

  /// The pairs, in the order of the phases.
  package let pairs: [AntennaPair]
  /// Random walk of the azimuth in radians per square root of a second. 0.5: a person walks by.
  package var wander = 0.5
  /// The probability that a phase is an outlier.
  package var outliers = 0.02
  /// The probability that the peer is anywhere else in the next row.
  package var jumps = 1e-3
  let azimuths: [Double]
  let elevations: [Double]
  let isCircle: Bool
  /// Expected phases: for each elevation, each azimuth, each pair.
  private let expected: [Double]

  /// Creates a finder; nil without pairs.
  ///
  /// - Parameter elevation: radians, assumed if the antennas do not determine it.
  public init?(_ pairs: [AntennaPair], elevation: Double = 0) {
    guard !pairs.isEmpty else { return nil }
    self.pairs = pairs
    isCircle = pairs.contains { $0.resolves.front }
    let degree = Double.pi / 180
    let steps = isCircle ? -180..<180 : -90..<91
    azimuths = steps.map { Double($0) * degree }
    elevations =
      pairs.contains { $0.resolves.elevation }
      ? stride(from: -80, through: 80, by: 2).map { Double($0) * degree } : [elevation]
    var expected: [Double] = []
    expected.reserveCapacity(azimuths.count * elevations.count * pairs.count)
    for elevation in elevations {
      for azimuth in azimuths {
        for pair in pairs {
          expected.append(pair.phase(azimuth: azimuth, elevation: elevation))
        }
      }
    }
    self.expected = expected
  }

  /// For each azimuth the log-likelihood of the phases with the likeliest elevation. Ignores phases
  /// that are nil or not finite.
  func likelihood(_ phases: [Double?]) -> (values: [Double], elevations: [Int]) {
    var values = [Double](repeating: -.infinity, count: azimuths.count)
    var chosen = [Int](repeating: 0, count: azimuths.count)
    let floor = outliers / (2 * .pi)
    let weights = pairs.map { 1 / (2 * $0.phaseDeviation * $0.phaseDeviation) }
    let heights = pairs.map { (1 - outliers) / ($0.phaseDeviation * (2 * Double.pi).squareRoot()) }
    var index = 0
    for elevation in elevations.indices {
      for azimuth in azimuths.indices {
        var sum = 0.0
        for pair in pairs.indices {
          if pair < phases.count, let phase = phases[pair], phase.isFinite {
            let residual = wrapped(phase - expected[index])
            sum += log(
              heights[pair] * exp(-residual * residual * weights[pair]) + floor)
          }
          index += 1
        }
        if sum > values[azimuth] {
          values[azimuth] = sum
          chosen[azimuth] = elevation
        }
      }
    }
    return (values, chosen)
  }
}
