// SPDX-License-Identifier: Apache-2.0

package import Ranging

/// The delay of each antenna, from measured and true distances between pairs of boards.
///
/// A distance contains the delays of both ends, so a pair determines only their sum; three boards
/// in a triangle determine the delay of each. All placements are solved together. Placements that
/// contradict the others are left out, as far as they can be identified.
///
/// Source of the model: Decawave APS014, "Antenna delay calibration".
package struct AntennaDelayFit: Sendable {
  /// Model parameters and known delays.
  package struct Parameters: Sendable, Hashable {
    /// Error of a placement that averaging does not reduce (tape measure, static reflections), in
    /// metres, one standard deviation.
    package var placementDeviation = 0.02
    /// Standard deviations beyond which placements are outliers.
    package var gate = 3.5
    /// Delays in metres that are already known, such as the delays of a reference board.
    package var known: [BoardAntenna: Double] = [:]

    /// Creates parameters for indoor measurements with a tape measure.
    package init() {}
  }

  /// A delay with its uncertainty.
  package struct Delay: Sendable, Hashable {
    /// Metres that the antenna adds to every distance.
    package var metres: Double
    /// One standard deviation in metres.
    package var standardDeviation: Double

    package init(metres: Double, standardDeviation: Double) {
      self.metres = metres
      self.standardDeviation = standardDeviation
    }
  }

  /// Whether a placement was used.
  package enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// The placement agrees with the others.
    case used
    /// The placement contradicts the others and was excluded.
    case outlier
    /// Either this placement or another one is wrong. Both were used with less weight.
    case suspect
  }

  /// Measurements of one pair at one distance.
  package struct Placement: Sendable, Hashable {
    /// One end.
    package var a: BoardAntenna
    /// The other end.
    package var b: BoardAntenna
    /// The true distance in metres.
    package var truth: Double
    /// The number of measurements.
    package var count: Int
    /// The mean error of these measurements in metres.
    package var excess: Double
    /// Standard deviation of single measurements in metres.
    package var spread: Double
    /// The residual in metres after the delays are subtracted.
    package var residual = 0.0
    /// Whether the placement was used.
    package var verdict = Verdict.used
  }

  /// The sum of two delays, which is the only result of a single pair.
  package struct Sum: Sendable, Hashable {
    /// One end.
    package var a: BoardAntenna
    /// The other end.
    package var b: BoardAntenna
    /// The sum.
    package var delay: Delay
  }

  /// The delays that the measurements determine.
  package let delays: [BoardAntenna: Delay]
  /// The groups of connected antennas for which only sums of delays are determined.
  ///
  /// Such a group has no triangle (or other odd ring) of boards, and no known board.
  package let undetermined: [[BoardAntenna]]
  /// The sum of delays of each measured pair.
  package let sums: [Sum]
  /// All placements, ordered by pair.
  package let placements: [Placement]
  /// The number of placements beyond the required number. With 0, a wrong one could not be
  /// detected.
  package let redundancy: Int
  /// Residuals of the used placements in metres.
  package let residuals: FitResiduals
  /// The deviation of the errors of single placements, in metres.
  package var placementDeviation: Double {
    RangingCalibration.positionDeviation(residuals, unknowns: residuals.count - redundancy)
  }

  /// The limit of antennas, whose delays fit into a file.
  private static let mostAntennas = 20_000

  private static func check(_ measurements: [DelayMeasurement]) throws(FitFailure) {
    var antennas: Set<BoardAntenna> = []
    for one in measurements { antennas.formUnion([one.a, one.b]) }
    if antennas.count > mostAntennas { throw .tooMany(antennas.count) }
  }

  /// Fits delays to measurements.
  package init(
    _ measurements: [DelayMeasurement], _ parameters: Parameters = Parameters()
  ) throws(FitFailure) {
    for one in measurements where one.a == one.b { throw .sameAntenna(one.a) }
    try Self.check(measurements)
    let placements = Placement.grouping(measurements)
    guard !placements.isEmpty else { throw .tooFew(0, needed: 1) }
    var network = try DelayNetwork(placements, parameters)
    guard let solution = network.solved() else { throw .tooFew(placements.count, needed: 3) }

    self.placements = placements.indices.map { index in
      var placement = placements[index]
      (placement.residual, placement.verdict) = (solution.residuals[index], network.verdicts[index])
      return placement
    }
    undetermined = network.undetermined
    let covariance = solution.covariance()
    let loose = Set(network.undetermined.joined())
    var delays = parameters.known.mapValues { Delay(metres: $0, standardDeviation: 0) }
    for (antenna, index) in network.indices where !loose.contains(antenna) {
      delays[antenna] = Delay(
        metres: solution.values[index], standardDeviation: covariance.deviation([index]))
    }
    let measured = Set(placements.flatMap { [$0.a, $0.b] })
    self.delays = delays.filter { measured.contains($0.key) }
    var sums: [Sum] = []
    for placement in placements
    where sums.last.map({ $0.a != placement.a || $0.b != placement.b }) ?? true {
      let ends = [placement.a, placement.b]
      let unknown = ends.compactMap { network.indices[$0] }
      let metres =
        unknown.reduce(0) { $0 + solution.values[$1] }
        + ends.reduce(0) { $0 + (parameters.known[$1] ?? 0) }
      sums.append(
        Sum(
          a: placement.a, b: placement.b,
          delay: Delay(metres: metres, standardDeviation: covariance.deviation(unknown))))
    }
    self.sums = sums
    redundancy = solution.redundancy
    residuals = FitResiduals(
      placements.indices.compactMap {
        network.verdicts[$0] == .outlier ? nil : solution.residuals[$0]
      })
  }
}
