// SPDX-License-Identifier: Apache-2.0

/// A pair of antennas and the phase difference it shows for a direction.
///
/// Directions are those of the device: x forward, y to the left, z up. Azimuth is counted from x
/// towards y, elevation from there towards z.
public struct AntennaPair: Sendable {
  /// How the phase follows from the direction.
  public enum Model: Sendable {
    /// 2π times the projection of the baseline, which is the first antenna's place less the
    /// second's in wavelengths.
    case baseline(x: Double, y: Double, z: Double)
    /// A table over the angle whose sine is the projection of the direction on an axis of length 1:
    /// (0, 1, 0) for a pair side by side.
    case table(PhaseTable, x: Double, y: Double, z: Double)
  }
  /// How the phase follows from the direction.
  public var model: Model
  /// Radians that cables and chips add.
  public var offset: Double
  /// What coupling adds with the azimuth: radians of cosine and sine of 1, 2, 3… times the azimuth.
  public var harmonics: [(cosine: Double, sine: Double)]
  /// Noise in radians, one standard deviation.
  public var phaseDeviation: Double

  /// From its parts. Measured noise of single frames is 3.5 to 5 degrees.
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
  public func phase(azimuth: Double, elevation: Double) -> Double {
    let flat = Functions.cosine(elevation)
    let (ux, uy) = (flat * Functions.cosine(azimuth), flat * Functions.sine(azimuth))
    let uz = Functions.sine(elevation)
    var phase = offset
    switch model {
    case .baseline(let x, let y, let z): phase += 2 * .pi * (x * ux + y * uy + z * uz)
    case .table(let table, let x, let y, let z):
      phase += table.phase(at: Functions.arcSine(x * ux + y * uy + z * uz))
    }
    for (index, harmonic) in harmonics.enumerated() {
      let multiple = Double(index + 1) * azimuth
      phase += harmonic.cosine * Functions.cosine(multiple)
      phase += harmonic.sine * Functions.sine(multiple)
    }
    return phase
  }

  /// Whether the pair tells front from back, and up from down.
  var sees: (front: Bool, elevation: Bool) {
    switch model {
    case .baseline(let x, _, let z), .table(_, let x, _, let z): (abs(x) > 1e-3, abs(z) > 1e-3)
    }
  }
}

/// The direction to a peer from the phase differences of several pairs of antennas, by maximum
/// likelihood over wrapped residuals, and over time.
///
/// The azimuths are a grid of one degree. Each row of phases makes some likely; from row to row the
/// peer wanders, and seldom it is somewhere else altogether. So ambiguity is kept as long as it
/// lasts, a wrong phase is outweighed, and the prediction chooses among angles that fit as well.
public struct DirectionFinder: Sendable {
  /// A direction with its uncertainty, in radians.
  public struct Direction: Sendable, Hashable {
    /// From x towards y.
    public var azimuth: Double
    /// Towards z; what was assumed where the antennas cannot tell.
    public var elevation: Double
    /// One standard deviation of the azimuth, of the likeliest direction.
    public var standardDeviation: Double
    /// The probability that the direction is this one, and not its mirror or another turn.
    public var probability: Double
  }

  /// The pairs, in the order of the phases.
  public let pairs: [AntennaPair]
  /// How far the peer wanders, in radians in the root of a second. 0.5: a person walks by.
  public var wander = 0.5
  /// The probability that a phase is wrong altogether.
  public var outliers = 0.02
  /// The probability that the peer is somewhere else altogether in the next row.
  public var jumps = 1e-3
  let azimuths: [Double]
  let elevations: [Double]
  let isCircle: Bool
  /// Expected phases: for each elevation, each azimuth, each pair.
  private let expected: [Double]

  /// For these antennas.
  ///
  /// - Parameter elevation: what is assumed where the antennas cannot tell.
  /// - Returns: nil without pairs.
  public init?(_ pairs: [AntennaPair], elevation: Double = 0) {
    guard !pairs.isEmpty else { return nil }
    self.pairs = pairs
    isCircle = pairs.contains { $0.sees.front }
    let degree = Double.pi / 180
    let steps = isCircle ? -180..<180 : -90..<91
    azimuths = steps.map { Double($0) * degree }
    elevations =
      pairs.contains { $0.sees.elevation }
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

  /// For each azimuth the logarithm of how likely the phases are there, with the likeliest
  /// elevation. Phases that are nil or no number say nothing.
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
            let rest = wrapped(phase - expected[index])
            sum += Functions.logarithm(
              heights[pair] * Functions.exponential(-rest * rest * weights[pair]) + floor)
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
