// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Ranging

/// Calibrates a pair of antennas from a walk around it. The inputs are a path of positions, and the
/// phases during the walk by another clock.
///
/// The lag between the clocks is estimated. Only with the right lag do a walk to the left and a
/// walk to the right have the same curve.
package struct WalkaroundCalibration: Sendable {
  /// A point of the path in the frame of the antennas.
  package struct Point: Sendable, Hashable {
    /// The time in seconds.
    package var time: Double
    /// The azimuth in radians, from the device's x axis towards its y axis.
    package var azimuth: Double
    /// The elevation in radians, from the plane of x and y towards z.
    package var elevation: Double

    /// Creates a point.
    package init(time: Double, azimuth: Double, elevation: Double = 0) {
      self.time = time
      self.azimuth = azimuth
      self.elevation = elevation
    }

    /// Creates a point from a position in the world and the pose of the antennas: x forward, y
    /// left, z up.
    package init(time: Double, position: SIMD3<Double>, antennas: Pose) {
      let seen = antennas.toDevice(position - antennas.position)
      let flat = (seen.x * seen.x + seen.y * seen.y).squareRoot()
      self.init(
        time: time, azimuth: atan2(seen.y, seen.x),
        elevation: atan2(seen.z, flat))
    }
  }

  package struct Parameters: Sendable, Hashable {
    /// The greatest lag between the two clocks in seconds.
    package var greatestLag = 1.0
    /// The greatest azimuth of the calibration in radians.
    package var greatestAzimuth = Double.pi / 2
    /// The greatest gap in seconds that is interpolated between two points of the path.
    package var gap = 1.0
    package var table = PhaseTableFit.Parameters()

    package init() {}
  }

  /// The fitted offset and table.
  package let fit: PhaseTableFit
  /// The phases with their angles.
  package let samples: [PhaseSample]
  /// The index of each sample's phase in the input.
  package let indices: [Int]
  /// The seconds to add to the times of the phases.
  package let lag: Double
  /// Whether the lag could be estimated, which requires a walk in both directions; otherwise it is
  /// 0.
  package let isLagKnown: Bool

  /// Estimates the lag and fits the table.
  ///
  /// - Parameters:
  ///   - path: the positions of the peer over time.
  ///   - phases: the times in seconds and the phases in radians. Their clock may be off by a
  ///     second.
  package init(
    path: [Point], phases: [(time: Double, phase: Double)],
    _ parameters: Parameters = Parameters()
  ) throws(FitFailure) {
    let path = WalkPath(path, gap: parameters.gap)
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

    isLagKnown = path.isBidirectional && parameters.greatestLag > 0
    var best = 0.0
    if isLagKnown {
      // The first search tries all lags with few phases. The second one has finer steps around the
      // best lag, and more phases.
      var width = parameters.greatestLag
      for (count, steps) in [(300, 20), (1200, 10)] {
        let stride = max(1, phases.count / count)
        let middle = best
        var least = Double.infinity
        for step in -steps...steps {
          let lag = middle + width * Double(step) / Double(steps)
          // A lag at which the fit fails is not the right one.
          guard abs(lag) <= parameters.greatestLag,
            case (let tried, _, let fit)? = try? fitted(lag, every: stride, rounds: 6)
          else { continue }
          // All samples count here. If outliers were excluded, a wrong lag could have the lowest
          // cost.
          let cost =
            tried.indices.reduce(0.0) { sum, index in
              let standard = (fit.sampleResiduals[index] ?? .pi) / 0.1
              return sum + log(1 + standard * standard)
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

/// Interpolates the path between its points.
private struct WalkPath {
  private let points: [WalkaroundCalibration.Point]
  private let gap: Double

  init(_ path: [WalkaroundCalibration.Point], gap: Double) {
    points = path.filter { $0.time.isFinite && $0.azimuth.isFinite && $0.elevation.isFinite }
      .sorted { $0.time < $1.time }
    self.gap = gap
  }

  /// Whether the azimuth both rises and falls by more than a third of a radian, which exceeds the
  /// noise.
  var isBidirectional: Bool {
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
