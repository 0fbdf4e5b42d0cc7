// SPDX-License-Identifier: Apache-2.0

/// A phase difference that was measured where the angle is known.
public struct PhaseSample: Sendable, Hashable {
  /// The angle to the plane in the middle of the pair, in radians (`Cone`).
  public var angle: Double
  /// The phase difference in radians, wrapped or not.
  public var phase: Double

  /// From its parts.
  public init(angle: Double, phase: Double) {
    self.angle = angle
    self.phase = phase
  }
}

/// The offset and the table of a pair of antennas, learned from phases at known angles: of a
/// turntable, or of a walk around the antennas (`PhaseWalk`).
///
/// Phases wrap and some are wrong altogether. The curve is followed from angle to angle past half a
/// turn, and fitted to wrapped residuals in which those far off do not count.
public struct PhaseTableFit: Sendable {
  /// What is supposed of the antennas.
  public struct Parameters: Sendable, Hashable {
    /// Radians between two points of the table, at least. 6 degrees: what vendors' tables have.
    public var spacing = 6 * Double.pi / 180
    /// How much the slope of the curve changes in a radian, in radians per radian, one standard
    /// deviation. Half a wavelength gives 3 at most; coupling adds ripples.
    public var bend = 6.0
    /// Residuals beyond so many standard deviations count less (Huber's loss).
    public var tail = 1.5
    /// Residuals beyond so many standard deviations are outliers and do not count.
    public var gate = 4.0

    /// Values for antennas up to a wavelength apart.
    public init() {}
  }

  /// The table, 0 straight ahead where that was measured.
  public let table: PhaseTable
  /// Radians that cables and chips add: the phase straight ahead, in -π..<π; 0 where nothing was
  /// measured straight ahead, and the table then has it.
  public let offset: Double
  /// Noise of one phase in radians, one standard deviation.
  public let phaseDeviation: Double
  /// Radians by which the curve had to be bent so that it rises or falls throughout. Much more than
  /// the noise: this is no pair whose phase tells the angle everywhere.
  public let flattened: Double
  /// Of each sample in radians of phase, nil for samples that are no numbers.
  public let remains: [Double?]
  /// Of each sample: whether it counts.
  public let isUsed: [Bool]
  /// Of the samples that count, in radians of phase.
  public let residuals: FitResiduals
  /// The same as angles, in radians.
  public let angleResiduals: FitResiduals

  /// Learns.
  ///
  /// - Throws: `FitFailure`.
  public init(
    _ samples: [PhaseSample], _ parameters: Parameters = Parameters()
  ) throws(FitFailure) {
    try self.init(samples, parameters, rounds: 20)
  }

  /// - Parameter rounds: how often outliers and noise are judged anew.
  init(
    _ samples: [PhaseSample], _ parameters: Parameters, rounds: Int
  ) throws(FitFailure) {
    let usable = samples.indices.filter {
      abs(samples[$0].angle) <= 2 * .pi && abs(samples[$0].phase) < 1e6
    }
    guard usable.count >= 8 else { throw .tooFew(usable.count, needed: 8) }
    let used = usable.map { samples[$0] }
    var curve = try PhaseCurve(used, parameters)
    var noise = 0.1
    var weights = [Double](repeating: 1, count: used.count)
    var rests = [Double](repeating: 0, count: used.count)
    for _ in 0..<rounds {
      rests = used.map { wrapped($0.phase - curve.phase(at: $0.angle)) }
      noise = max(1e-4, 1.4826 * rests.map { abs($0) }.quantile(0.5))
      for index in used.indices {
        let standard = abs(rests[index]) / noise
        let isOutlier = standard > parameters.gate
        weights[index] = isOutlier ? 0 : min(1, parameters.tail / max(1e-9, standard))
      }
      guard curve.refine(used, rests, weights, noise, parameters) else { throw .noCurve }
    }
    // A phase that has nothing to do with the angle is spread over the whole turn: 1.8 rad.
    guard noise < 1 else { throw .noCurve }

    let ahead = curve.covers(0) ? curve.phase(at: 0) : 0
    offset = wrapped(ahead)
    let points = curve.points.map { (angle: $0.angle, phase: $0.phase - ahead) }
    guard let table = PhaseTable(unwrapped: points),
      abs(table.phases[table.phases.count - 1] - table.phases[0]) > 3 * noise
    else { throw .noCurve }
    self.table = table
    phaseDeviation = noise
    flattened = zip(points, table.phases).map { abs($0.phase - $1) }.max() ?? 0

    var remains = [Double?](repeating: nil, count: samples.count)
    var isUsed = [Bool](repeating: false, count: samples.count)
    var phases: [Double] = []
    var angles: [Double] = []
    for index in usable {
      let sample = samples[index]
      let expected = table.phase(at: sample.angle)
      let rest = wrapped(sample.phase - ahead - expected)
      remains[index] = rest
      isUsed[index] = abs(rest) <= parameters.gate * noise
      guard isUsed[index] else { continue }
      phases.append(rest)
      angles.append(table.angle(of: expected + rest).angle - sample.angle)
    }
    self.remains = remains
    self.isUsed = isUsed
    residuals = FitResiduals(phases)
    angleResiduals = FitResiduals(angles)
  }
}
