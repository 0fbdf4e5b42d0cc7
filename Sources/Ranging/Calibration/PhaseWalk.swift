// SPDX-License-Identifier: Apache-2.0

/// A walk around a pair of antennas: its way as positions over time, and the phases that came
/// meanwhile, by another clock.
///
/// The two clocks need not agree: a sweep to the left and one to the right show the same curve only
/// when they are put together as they belong.
public struct PhaseWalk: Sendable {
  /// A point of the way, as the antennas see it.
  public struct Point: Sendable, Hashable {
    /// Seconds.
    public var time: Double
    /// Radians, from the device's x towards its y.
    public var azimuth: Double
    /// Radians, from there towards z.
    public var elevation: Double

    /// From its parts.
    public init(time: Double, azimuth: Double, elevation: Double = 0) {
      self.time = time
      self.azimuth = azimuth
      self.elevation = elevation
    }

    /// From a place in the world and the pose of the antennas: x forward, y left, z up.
    public init(time: Double, place: Vector3, antennas: Pose) {
      let seen = antennas.toDevice(place - antennas.position)
      let flat = (seen.x * seen.x + seen.y * seen.y).squareRoot()
      self.init(
        time: time, azimuth: Functions.arcTangent(seen.y, seen.x),
        elevation: Functions.arcTangent(seen.z, flat))
    }
  }

  /// A phase over time.
  public struct Phase: Sendable, Hashable {
    /// Seconds, on a clock that may be off by `Parameters.greatestLag`.
    public var time: Double
    /// Radians.
    public var phase: Double

    /// From its parts.
    public init(time: Double, phase: Double) {
      self.time = time
      self.phase = phase
    }
  }

  /// What is supposed of the walk.
  public struct Parameters: Sendable, Hashable {
    /// The two clocks differ by no more than so many seconds.
    public var greatestLag = 1.0
    /// Radians: farther to the side, and behind, the pair is not calibrated.
    public var greatestAzimuth = Double.pi / 2
    /// Seconds between two points of the way beyond which nothing is interpolated.
    public var gap = 1.0
    /// Of the curve.
    public var table = PhaseTableFit.Parameters()

    /// A walk in front of a pair side by side.
    public init() {}
  }

  /// Offset and table.
  public let fit: PhaseTableFit
  /// What went into it.
  public let samples: [PhaseSample]
  /// The phase of each sample, counted from 0 as they were given.
  public let indices: [Int]
  /// Seconds that have to be added to the times of the phases.
  public let lag: Double
  /// Whether the walk says what the lag is: it goes both ways. Otherwise it was supposed to be 0.
  public let isLagKnown: Bool

  /// Learns.
  ///
  /// - Throws: `FitFailure`.
  public init(
    way: [Point], phases: [Phase], _ parameters: Parameters = Parameters()
  ) throws(FitFailure) {
    let path = WalkPath(way, gap: parameters.gap)
    func fitted(
      _ lag: Double, every stride: Int = 1, rounds: Int = 20
    ) throws(FitFailure) -> ([PhaseSample], [Int], PhaseTableFit) {
      var samples: [PhaseSample] = []
      var indices: [Int] = []
      for index in Swift.stride(from: 0, to: phases.count, by: stride) {
        let phase = phases[index]
        guard let (azimuth, elevation) = path.direction(at: phase.time + lag),
          abs(azimuth) <= parameters.greatestAzimuth, phase.phase.isFinite
        else { continue }
        let angle = Cone.cone(azimuth: azimuth, elevation: elevation)
        samples.append(PhaseSample(angle: angle, phase: phase.phase))
        indices.append(index)
      }
      return (samples, indices, try PhaseTableFit(samples, parameters.table, rounds: rounds))
    }

    isLagKnown = path.goesBothWays && parameters.greatestLag > 0
    var best = 0.0
    if isLagKnown {
      // Over all lags with some of the phases, then finely around the best with more of them.
      var width = parameters.greatestLag
      for (count, steps) in [(300, 20), (1200, 10)] {
        let stride = max(1, phases.count / count)
        let middle = best
        var least = Double.infinity
        for step in -steps...steps {
          let lag = middle + width * Double(step) / Double(steps)
          // Nothing fits at some lags: these are not it.
          guard abs(lag) <= parameters.greatestLag,
            case (let tried, _, let fit)? = try? fitted(lag, every: stride, rounds: 6)
          else { continue }
          // Samples that do not count must not make a lag look good.
          let cost =
            tried.indices.reduce(0.0) { sum, index in
              let standard = (fit.remains[index] ?? .pi) / 0.1
              return sum + Functions.logarithm(1 + standard * standard)
            } / Double(max(1, tried.count))
          if cost < least { (least, best) = (cost, lag) }
        }
        width *= 0.15
      }
    }
    lag = best
    (samples, indices, fit) = try fitted(best)
  }
}

/// A way as azimuths over time, between whose points is interpolated.
private struct WalkPath {
  private let points: [PhaseWalk.Point]
  private let gap: Double

  init(_ way: [PhaseWalk.Point], gap: Double) {
    points = way.filter { $0.time.isFinite && $0.azimuth.isFinite && $0.elevation.isFinite }
      .sorted { $0.time < $1.time }
    self.gap = gap
  }

  /// Whether the azimuth rises for a part of the way, and falls for another. A third of a radian is
  /// more than noise makes of somebody who goes one way.
  var goesBothWays: Bool {
    var (azimuth, low, high) = (0.0, 0.0, 0.0)
    var (hasRisen, hasFallen) = (false, false)
    for (a, b) in zip(points, points.dropFirst()) where b.time - a.time <= gap {
      azimuth += wrapped(b.azimuth - a.azimuth)
      low = min(low, azimuth)
      high = max(high, azimuth)
      if azimuth - low > 0.35 { (hasRisen, high) = (true, azimuth) }
      if high - azimuth > 0.35 { (hasFallen, low) = (true, azimuth) }
    }
    return hasRisen && hasFallen
  }

  func direction(at time: Double) -> (azimuth: Double, elevation: Double)? {
    guard let first = points.first, let last = points.last, first.time <= time, time <= last.time
    else { return nil }
    var (low, high) = (0, points.count - 1)
    while high - low > 1 {
      let middle = (low + high) / 2
      if points[middle].time <= time { low = middle } else { high = middle }
    }
    let (a, b) = (points[low], points[high])
    let seconds = b.time - a.time
    guard seconds <= gap else { return nil }
    let part = seconds > 0 ? (time - a.time) / seconds : 0
    return (
      wrapped(a.azimuth + part * wrapped(b.azimuth - a.azimuth)),
      a.elevation + part * (b.elevation - a.elevation)
    )
  }
}
