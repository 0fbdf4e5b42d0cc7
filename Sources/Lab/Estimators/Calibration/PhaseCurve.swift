// SPDX-License-Identifier: Apache-2.0

internal import Ranging

/// A continuous curve of phases at equally spaced angles: the model of `PhaseTableFit`.
struct PhaseCurve {
  private let first: Double
  private let step: Double
  private var values: [Double]

  /// Creates a curve from phases, unwrapped from angle to angle.
  init(_ samples: [PhaseSample], _ parameters: PhaseTableFit.Parameters) throws(FitFailure) {
    let angles = samples.map(\.angle)
    guard let low = angles.min(), let high = angles.max(), high - low >= parameters.spacing else {
      throw .noSweep((angles.max() ?? 0) - (angles.min() ?? 0))
    }
    let intervals = max(1, min(90, Int((high - low) / parameters.spacing + 1e-6)))
    first = low
    step = (high - low) / Double(intervals)
    values = Array(repeating: 0, count: intervals + 1)
    try unwrap(samples)
  }

  var points: [(angle: Double, phase: Double)] {
    values.indices.map { (first + step * Double($0), values[$0]) }
  }

  func covers(_ angle: Double) -> Bool {
    first <= angle && angle <= first + step * Double(values.count - 1)
  }

  /// Returns the index of the value before an angle, and the angle's fraction of the step.
  private func interval(of angle: Double) -> (index: Int, part: Double) {
    let position = min(max(0, (angle - first) / step), Double(values.count - 1))
    let index = min(Int(position), values.count - 2)
    return (index, position - Double(index))
  }

  func phase(at angle: Double) -> Double {
    let (index, part) = interval(of: angle)
    return values[index] + part * (values[index + 1] - values[index])
  }

  /// Sets the values to the mean phases near them. Each is unwrapped by extrapolation of the
  /// previous values.
  private mutating func unwrap(_ samples: [PhaseSample]) throws(FitFailure) {
    // The mean of each bin reduces the effect of outliers.
    var means = [PhasorMean](repeating: PhasorMean(), count: values.count)
    for sample in samples {
      let (index, part) = interval(of: sample.angle)
      means[index].add(sample.phase, weight: 1 - part)
      means[index + 1].add(sample.phase, weight: part)
    }
    var known: [(index: Int, phase: Double)] = []
    for (index, mean) in means.enumerated() {
      guard let phase = mean.phase, mean.concentration > 0.3 else { continue }
      guard let last = known.last else {
        known.append((index, phase))
        continue
      }
      var expected = last.phase
      // The slope of several earlier steps predicts the phase, because a single step is noisy.
      if known.count >= 2 {
        let from = known[max(0, known.count - 4)]
        expected +=
          (last.phase - from.phase) / Double(last.index - from.index) * Double(index - last.index)
      }
      known.append((index, expected + wrapped(phase - expected)))
    }
    guard known.count >= 2 else { throw .noCurve }
    for index in values.indices {
      let after = known.firstIndex { $0.index >= index } ?? known.count - 1
      let (b, a) = (known[after], known[max(0, after - 1)])
      let part =
        a.index == b.index ? 0 : Double(index - a.index) / Double(b.index - a.index)
      values[index] = a.phase + max(0, min(1, part)) * (b.phase - a.phase)
    }
  }

  /// Fits the values to the weighted residuals. Returns false if these do not determine them.
  mutating func refine(
    _ samples: [PhaseSample], _ residuals: [Double], _ weights: [Double], _ noise: Double,
    _ parameters: PhaseTableFit.Parameters
  ) -> Bool {
    var equations = NormalEquations(count: values.count)
    for index in samples.indices where weights[index] > 0 {
      let (low, part) = interval(of: samples[index].angle)
      let here = values[low] + part * (values[low + 1] - values[low])
      equations.observe(
        [(low, 1 - part), (low + 1, part)], here + residuals[index], weights[index])
    }
    equations.smooth(values.indices, step: step, bend: parameters.bend, noise: noise)
    guard let next = equations.solved() else { return false }
    values = next
    return true
  }
}
