// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import RangingScenes

/// Filtered streams of simulated ranges: F1.
enum FilterFigures {
  static func rows(_ settings: Settings) -> [AccuracyFigure] {
    var (live, smoothed, textbook, beginning) = (Errors(), Errors(), Errors(), Errors())
    var (honest, honestSmoothed) = (Honesty(), Honesty())
    // The errors of these ranges are independent.
    var white = RangeEstimator.Parameters()
    white.slowDeviation = 0
    for seed in 51...(settings.quick ? 54 : 60) {
      let (samples, truth) = stream(UInt64(seed), first: false)
      textbook.add(zip(plainKalman(samples), truth).map { $0 - $1 })
      live.add(zip(asTheyCome(samples), truth).map { $0 - $1 })
      smoothed.add(
        zip(RangeSmoother().smoothed(samples), truth).map { ($0?.distance ?? 1e3) - $1 })
      honest.add(stated(asTheyCome(samples, white), truth))
      honestSmoothed.add(stated(RangeSmoother(white).smoothed(samples), truth))
      let (late, known) = stream(UInt64(seed), first: true)
      // The first range is excluded, because the filter has no earlier information there.
      beginning.add(zip(asTheyCome(late), known).dropFirst().map { $0 - $1 })
    }
    let plain = ("Kalman without a gate", Errors.rms(textbook.all) * 100)
    return [
      live.figure(
        "F1", "ranges, 1 % wrong by up to 100 m, live, RMSE", "cm", scale: 100,
        textbook: plain, aim: .atMost(12), Errors.rms),
      smoothed.figure(
        "F1", "the same, recorded", "cm", scale: 100, textbook: plain, aim: .atMost(12),
        Errors.rms),
      beginning.figure(
        "F1", "live, the very first wrong", "cm", scale: 100, textbook: plain,
        aim: .atMost(12), Errors.rms),
    ] + honest.figures("F1", "live") + honestSmoothed.figures("F1", "recorded")
  }

  /// Returns the errors as multiples of the stated deviations.
  static func stated(_ estimates: [RangeEstimate?], _ truth: [Double]) -> [Double] {
    zip(estimates, truth).compactMap { estimate, truth in
      estimate.map { ($0.distance - truth) / $0.standardDeviation }
    }
  }

  /// Returns the ranges of a person who walks and stops, at 5.5 Hz: 6 cm of noise, and 1 % of gross
  /// outliers of up to 100 m.
  private static func stream(
    _ seed: UInt64, first: Bool
  ) -> (samples: [RangeSample], truth: [Double]) {
    var noise = Noise(seed: seed)
    var samples: [RangeSample] = []
    var truth: [Double] = []
    var (distance, speed, wanted) = (5.0, 0.0, 1.0)
    for step in 0..<2000 {
      let dt = 1 / 5.5
      if noise.uniform() < 0.03 { wanted = noise.uniform(-1.5, 1.5) }
      if distance < 1 { wanted = abs(wanted) }
      if distance > 20 { wanted = -abs(wanted) }
      // The speed approaches the wanted one with a time constant of 0.6 s.
      speed += (wanted - speed) * dt / 0.6
      distance += speed * dt
      truth.append(distance)
      var measured = distance + 0.06 * noise.normal()
      let isWrong = first && step == 0
      if noise.uniform() < 0.01 || isWrong { measured = distance + noise.uniform(1, 100) }
      samples.append(RangeSample(time: Double(step) * dt, distance: measured))
    }
    return (samples, truth)
  }

  static func asTheyCome(
    _ samples: [RangeSample], _ parameters: RangeEstimator.Parameters = .init()
  ) -> [RangeEstimate?] {
    var estimator = RangeEstimator(parameters)
    return samples.map { estimator.update($0) }
  }

  static func asTheyCome(_ samples: [RangeSample]) -> [Double] {
    asTheyCome(samples, .init()).map { $0?.distance ?? 1e3 }
  }

  /// Returns the estimates of a Kalman filter with constant velocity and white acceleration, which
  /// rejects no outliers.
  static func plainKalman(_ samples: [RangeSample]) -> [Double] {
    var parameters = RangeEstimator.Parameters()
    (parameters.learnsAcceleration, parameters.learnsNoise) = (false, false)
    parameters.gate = 1e9
    parameters.tailFreedom = 1e12
    (parameters.correlationTime, parameters.initialDoubt) = (0, 0)
    var estimator = RangeEstimator(parameters)
    return samples.map { estimator.update($0)?.distance ?? 1e3 }
  }
}
