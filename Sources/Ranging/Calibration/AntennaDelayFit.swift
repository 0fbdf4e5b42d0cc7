// SPDX-License-Identifier: Apache-2.0

/// The delay of each antenna out of distances between pairs of boards that are known.
///
/// A distance has the delays of both ends in it, so that a pair tells their sum and nothing else;
/// three boards in a triangle tell each one's own. All placements are solved together, and those
/// that contradict the others are left out, as far as it can be known which these are.
///
/// Source of the model: Decawave APS014, "Antenna delay calibration".
public struct AntennaDelayFit: Sendable {
  /// What is supposed of the measurements.
  public struct Parameters: Sendable, Hashable {
    /// Metres by which a placement is off whatever the count of its measurements: the tape, and
    /// reflections that stay. One standard deviation.
    public var placementDeviation = 0.02
    /// Placements beyond so many standard deviations are outliers.
    public var gate = 3.5
    /// Delays that are known already, as of a reference board.
    public var known: [BoardAntenna: Double] = [:]

    /// A tape measure and a room.
    public init() {}
  }

  /// A delay with its uncertainty.
  public struct Delay: Sendable, Hashable {
    /// Metres that the antenna adds to every distance.
    public var metres: Double
    /// One standard deviation in metres.
    public var standardDeviation: Double

    /// From its parts.
    public init(metres: Double, standardDeviation: Double) {
      self.metres = metres
      self.standardDeviation = standardDeviation
    }
  }

  /// What is thought of a placement.
  public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// It fits.
    case used
    /// It contradicts the others and was left out.
    case outlier
    /// It or another one is wrong, and nothing tells which: both were used, with less weight.
    case suspect
  }

  /// Measurements of one pair at one distance.
  public struct Placement: Sendable, Hashable {
    /// One end.
    public var a: BoardAntenna
    /// The other end.
    public var b: BoardAntenna
    /// Metres.
    public var truth: Double
    /// Measurements.
    public var count: Int
    /// Metres that these were too long by.
    public var excess: Double
    /// Standard deviation of single measurements.
    public var spread: Double
    /// Metres that remain when the delays are taken away.
    public var residual: Double
    /// What is thought of it.
    public var verdict: Verdict
  }

  /// The sum of two delays, which is all that a pair tells.
  public struct Sum: Sendable, Hashable {
    /// One end.
    public var a: BoardAntenna
    /// The other end.
    public var b: BoardAntenna
    /// Both together.
    public var delay: Delay
  }

  /// Of the antennas of which it is determined.
  public let delays: [BoardAntenna: Delay]
  /// Antennas of which only sums are known, in groups that are connected: there is no triangle (or
  /// other odd ring) of boards and no known board among them.
  public let undetermined: [[BoardAntenna]]
  /// Of every pair that was measured.
  public let sums: [Sum]
  /// In the order of the pairs.
  public let placements: [Placement]
  /// Placements more than it takes. With 0, nothing would have shown a wrong one.
  public let redundancy: Int
  /// Of the placements that were used, in metres.
  public let residuals: FitResiduals

  /// Learns.
  ///
  /// - Throws: `FitFailure`.
  public init(
    _ measurements: [DelayMeasurement], _ parameters: Parameters = Parameters()
  ) throws(FitFailure) {
    for one in measurements where one.a == one.b { throw .sameAntenna(one.a) }
    let placements = DelayPlacement.of(measurements)
    guard !placements.isEmpty else { throw .tooFew(0, needed: 1) }
    var network = DelayNetwork(placements, parameters)
    guard let solution = network.solved() else { throw .tooFew(placements.count, needed: 3) }

    self.placements = placements.indices.map { index in
      let placement = placements[index]
      return Placement(
        a: placement.a, b: placement.b, truth: placement.truth, count: placement.count,
        excess: placement.excess, spread: placement.spread, residual: solution.residuals[index],
        verdict: network.verdicts[index])
    }
    undetermined = network.undetermined
    let loose = Set(network.undetermined.joined())
    var delays = parameters.known.mapValues { Delay(metres: $0, standardDeviation: 0) }
    for (antenna, index) in network.indices where !loose.contains(antenna) {
      delays[antenna] = Delay(
        metres: solution.values[index], standardDeviation: solution.deviation([index]))
    }
    self.delays = delays.filter { entry in
      placements.contains { $0.a == entry.key || $0.b == entry.key }
    }
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
          delay: Delay(metres: metres, standardDeviation: solution.deviation(unknown))))
    }
    self.sums = sums
    redundancy = solution.redundancy
    residuals = FitResiduals(
      placements.indices.compactMap {
        network.verdicts[$0] == .outlier ? nil : solution.residuals[$0]
      })
  }

  /// The delays of one board, for `TwoWayParameters.with`.
  public func delays(of board: String) -> AntennaDelays {
    var result = AntennaDelays()
    for (antenna, delay) in delays where antenna.board == board {
      result[antenna.port] = delay.metres
    }
    return result
  }
}
