// SPDX-License-Identifier: Apache-2.0
internal import Glibc
import Ranging
import UCI

/// The filters of one peer. A value of fixed size, apart from the tables, which are shared.
struct PeerTrack: Sendable {
  let address: MACAddress
  private let delay: Double
  /// The variances of the errors that rounds share, in square metres. `constant` is the constant
  /// error, `slow` the error that changes slowly on a free path.
  private let (constant, slow): (Double, Double)
  private var range: RangeEstimator
  private var level = LevelTracker()
  private var azimuth: AngleTracker?
  private var elevation: AngleTracker?

  init(_ address: MACAddress, _ settings: EstimationSettings) {
    self.address = address
    delay = settings.delays[address] ?? settings.delay
    var filter = settings.filter
    filter.constantDeviation = settings.constantDeviation(of: address)
    constant = filter.constantDeviation * filter.constantDeviation
    slow = filter.slowDeviation * filter.slowDeviation
    range = RangeEstimator(filter)
    azimuth = settings.azimuth.map { AngleTracker($0) }
    elevation = settings.elevation.map { AngleTracker($0) }
  }

  /// Computes all possible values from a measurement and the diagnostics of its frames.
  ///
  /// - Parameter time: seconds.
  mutating func estimate(
    _ measurement: RangingMeasurement, _ diagnostics: PeerDiagnostics?, time: Double,
    _ settings: EstimationSettings
  ) -> EstimatedMeasurement {
    var result = EstimatedMeasurement(measurement)
    if let diagnostics, diagnostics.frames > 0 {
      result.diagnostics = .used(diagnostics.frames)
      result.carrierOffset = diagnostics.carrier.value
      result.firstPathPower = diagnostics.firstPathLevel.value
    }
    result.receivedPower = diagnostics?.level.value ?? measurement.result.rssiDBm
    result.nonLineOfSight = blocked(measurement.result, diagnostics, settings)
    addDistance(&result, diagnostics, time, settings)
    addAngles(&result, diagnostics, time, settings)
    return result
  }

  /// Returns the probability that the path is blocked. Without diagnostics, it is based on the
  /// chip's own judgement, which is sometimes wrong.
  private func blocked(
    _ result: TwoWayMeasurement, _ diagnostics: PeerDiagnostics?, _ settings: EstimationSettings
  ) -> Double? {
    let computed = diagnostics.flatMap {
      settings.lineOfSight.probability(
        $0.reception, distance: result.distanceCentimetres.map { Double($0) / 100 })
    }
    if result.lineOfSight == .nonLineOfSight || diagnostics?.isBlocked == true {
      return max(computed ?? 0, 0.9)
    }
    return computed ?? (result.lineOfSight == .lineOfSight ? 0.1 : nil)
  }

  private mutating func addDistance(
    _ result: inout EstimatedMeasurement, _ diagnostics: PeerDiagnostics?, _ time: Double,
    _ settings: EstimationSettings
  ) {
    let chip = result.measurement.result
    guard chip.status.isSuccess else {
      result.noDistance = .notMeasured(chip.status)
      return
    }
    // The chip reports a negative distance as its magnitude with this status. Millimetres have no
    // sign.
    let isNegative = chip.status == .okNegativeDistance
    let millimetres = diagnostics?.millimetres.flatMap { 1..<1_000_000 ~= $0 ? Double($0) : nil }
    var metres: Double
    let step: Double
    if let millimetres {
      (metres, step) = (isNegative ? -millimetres / 1000 : millimetres / 1000, 0.001)
    } else if let centimetres = chip.distanceCentimetres {
      (metres, step) = (Double(centimetres) / 100, 0.01)
    } else {
      result.noDistance = .noDistance
      return
    }
    metres -= delay
    if let power = result.receivedPower {
      metres -= settings.powerBias.bias(at: level.update(power, time: time))
    }
    var noise = settings.distanceDeviation
    if let snr = diagnostics?.firstPathSNR.value { noise *= Self.edgeNoise(snr: snr) }
    let rounding = step * step / 12
    let effect = settings.lineOfSight.effect(
      probability: result.nonLineOfSight, on: noise * noise + rounding)
    let deviation = effect.variance.squareRoot()
    metres -= effect.excess
    result.distance = metres
    result.distanceNoise = deviation
    result.distanceDeviation = (effect.total(slow: slow) + constant).squareRoot()
    var sample = RangeSample(time: time, distance: metres, standardDeviation: deviation)
    (sample.inflation, sample.doubt) = (effect.factor, effect.doubt)
    result.track = range.update(sample)
  }

  /// Returns the factor by which noise at the leading edge increases the deviation of a distance.
  ///
  /// The deviation is inversely proportional to the amplitude of the first path. It grows by √2 for
  /// each 3 dB below a ratio of 12 dB, at which noise begins to move the edge. The factor is at
  /// most four.
  ///
  /// - Parameter snr: the ratio of the first path to the noise in dB.
  private static func edgeNoise(snr: Double) -> Double {
    let (threshold, step, most) = (12.0, 3.0, 4.0)
    let steps = ((threshold - snr) / step).rounded(.towardZero)
    return pow(2, min(most, max(0, steps)) / 2)
  }

  private mutating func addAngles(
    _ result: inout EstimatedMeasurement, _ diagnostics: PeerDiagnostics?, _ time: Double,
    _ settings: EstimationSettings
  ) {
    let blocked = result.nonLineOfSight
    guard result.measurement.result.status.isSuccess else {
      result.noAzimuth = .notMeasured(result.measurement.result.status)
      result.noElevation = result.noAzimuth
      return
    }
    switch Self.angle(&elevation, diagnostics?.elevation, time, blocked, settings) {
    case .success(let angle): result.elevation = angle
    case .failure(let reason): result.noElevation = reason
    }
    switch Self.angle(&azimuth, diagnostics?.azimuth, time, blocked, settings) {
    case .success(var angle):
      // A pair of antennas measures the angle to the plane in its middle; all directions with this
      // angle form a cone.
      let up = result.elevation?.track?.angle ?? settings.assumedElevation
      if up != 0 { angle = Self.azimuth(of: angle, elevation: up) }
      result.azimuth = angle
    case .failure(let reason): result.noAzimuth = reason
    }
  }

  /// Converts the cone angle of a pair to an azimuth.
  private static func azimuth(of cone: EstimatedAngle, elevation: Double) -> EstimatedAngle {
    var result = cone
    result.angle = Cone.azimuth(cone: cone.angle, elevation: elevation)
    // The derivative of the azimuth by the cone angle, from half a degree to either side.
    let step = 0.5 * Double.pi / 180
    let slope =
      (Cone.azimuth(cone: cone.angle + step, elevation: elevation)
        - Cone.azimuth(cone: cone.angle - step, elevation: elevation)) / (2 * step)
    result.standardDeviation = min(.pi / 2, cone.standardDeviation * max(1, abs(slope)))
    if let track = cone.track {
      result.track?.angle = Cone.azimuth(cone: track.angle, elevation: elevation)
    }
    return result
  }

  private static func angle(
    _ tracker: inout AngleTracker?, _ phases: PhaseMean?, _ time: Double, _ blocked: Double?,
    _ settings: EstimationSettings
  ) -> Result<EstimatedAngle, NoEstimate> {
    guard tracker != nil else { return .failure(.noAntennaTable) }
    guard let phases, phases.count > 0 else { return .failure(.noPhases) }
    // Frames of one round have the same phase, apart from noise.
    guard let phase = phases.phase, phases.concentration > 0.5 else {
      return .failure(.phasesDisagree)
    }
    // The mean over frames reduces noise. Reflections have the same effect in all frames.
    let noise = settings.phaseDeviation / Double(min(phases.count, 4)).squareRoot()
    tracker?.phaseDeviation = settings.lineOfSight.inflated(noise, probability: blocked)
    tracker?.modelDeviation = settings.modelDeviation
    guard let measured = tracker?.unwrapped(phase, time: time) else { return .failure(.noPhases) }
    let track = tracker?.update(phase: phase, time: time)
    let variance =
      measured.standardDeviation * measured.standardDeviation
      + measured.modelDeviation * measured.modelDeviation
    return .success(
      EstimatedAngle(
        angle: measured.angle, standardDeviation: variance.squareRoot(), track: track,
        frames: phases.count))
  }
}
