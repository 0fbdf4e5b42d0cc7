// SPDX-License-Identifier: Apache-2.0

/// A continuous phase over the angle, by values at even steps: what `PhaseTableFit` looks for.
struct PhaseCurve {
  private let first: Double
  private let step: Double
  private var values: [Double]

  /// Follows the phases from angle to angle.
  init(_ samples: [PhaseSample], _ parameters: PhaseTableFit.Parameters) throws(FitFailure) {
    let angles = samples.map(\.angle)
    guard let low = angles.min(), let high = angles.max(), high - low >= parameters.spacing else {
      throw .noSweep((angles.max() ?? 0) - (angles.min() ?? 0))
    }
    let intervals = max(1, min(90, Int((high - low) / parameters.spacing + 1e-6)))
    first = low
    step = (high - low) / Double(intervals)
    values = Array(repeating: 0, count: intervals + 1)
    try follow(samples)
  }

  var points: [(angle: Double, phase: Double)] {
    values.indices.map { (first + step * Double($0), values[$0]) }
  }

  func covers(_ angle: Double) -> Bool {
    first <= angle && angle <= first + step * Double(values.count - 1)
  }

  /// The value before an angle, and how far it is to the next.
  private func place(of angle: Double) -> (index: Int, part: Double) {
    let place = min(max(0, (angle - first) / step), Double(values.count - 1))
    let index = min(Int(place), values.count - 2)
    return (index, place - Double(index))
  }

  func phase(at angle: Double) -> Double {
    let (index, part) = place(of: angle)
    return values[index] + part * (values[index + 1] - values[index])
  }

  /// Sets the values to the mean phases near them, each carried on from the ones before.
  private mutating func follow(_ samples: [PhaseSample]) throws(FitFailure) {
    // Most of a bin agrees, the rest cancels.
    var means = [PhasorMean](repeating: PhasorMean(), count: values.count)
    for sample in samples {
      let (index, part) = place(of: sample.angle)
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
      // The slope so far, over several steps because one is noisy.
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

  /// Moves the values by what the weighted residuals say; false when that is not determined.
  mutating func refine(
    _ samples: [PhaseSample], _ rests: [Double], _ weights: [Double], _ noise: Double,
    _ parameters: PhaseTableFit.Parameters
  ) -> Bool {
    var equations = NormalEquations(count: values.count)
    for index in samples.indices where weights[index] > 0 {
      let (place, part) = place(of: samples[index].angle)
      let here = values[place] + part * (values[place + 1] - values[place])
      equations.observe(
        [(place, 1 - part), (place + 1, part)], here + rests[index], weights[index])
    }
    let deviation = parameters.bend * step * step
    let weight = noise * noise / (deviation * deviation)
    for index in 1..<max(1, values.count - 1) {
      equations.observe([(index - 1, 1), (index, -2), (index + 1, 1)], 0, weight)
    }
    guard let next = equations.solved() else { return false }
    values = next
    return true
  }
}
