// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import RangingScenes

/// The figures of filters with each constant 30 % smaller and greater. No single constant may
/// decide whether an aim is met.
enum Sensitivity {
  private struct Row {
    var name: String
    /// The values for 0.7, 1 and 1.3 times the constant.
    var values: [Double]
    var unit: String
  }

  /// Prints a table.
  static func run(_ recordings: Recordings) {
    guard let lias = Lias(recordings) else { return }
    let rows = ranges(lias) + positions(lias)
    print("")
    print("| constant, figure | unit | 0.7 | 1 | 1.3 |")
    print("|---|---|---|---|---|")
    for row in rows {
      let cells = row.values.map(AccuracyFigure.text).joined(separator: " | ")
      print("| \(row.name) | \(row.unit) | \(cells) |")
    }
  }

  /// Measures live ranges at 10 Hz.
  private static func ranges(_ lias: Lias) -> [Row] {
    typealias Constant = WritableKeyPath<RangeEstimator.Parameters, Double>
    let constants: [(String, Constant)] = [
      ("correlationTime", \.correlationTime), ("slowDeviation", \.slowDeviation),
      ("movementTime", \.movementTime), ("gate", \.gate), ("tailFreedom", \.tailFreedom),
      ("initialVelocity", \.initialVelocity), ("accelerationDensity", \.accelerationDensity),
    ]
    return constants.flatMap { name, constant in
      let found = [0.7, 1, 1.3].map { factor in
        var parameters = RangeEstimator.Parameters()
        parameters[keyPath: constant] *= factor
        return filtered(lias, parameters)
      }
      return [
        Row(name: "\(name): F2, 10 Hz live, RMSE", values: found.map(\.rms), unit: "cm"),
        Row(name: "… errors within one stated deviation", values: found.map(\.within), unit: "%"),
      ]
    }
  }

  private static func filtered(
    _ lias: Lias, _ parameters: RangeEstimator.Parameters
  ) -> (rms: Double, within: Double) {
    var errors: [Double] = []
    var within = 0.0
    for index in 0..<24 {
      var estimator = RangeEstimator(parameters)
      for number in stride(from: 0, to: lias.epochs.count, by: 10) {
        let epoch = lias.epochs[number]
        guard epoch.ranges[index].isFinite,
          let estimate = estimator.update(
            RangeSample(time: epoch.time, distance: epoch.ranges[index] - lias.biases[index]))
        else { continue }
        let error = estimate.distance - lias.truth(index, at: epoch.time)
        errors.append(error)
        within += abs(error) <= estimate.standardDeviation ? 1 : 0
      }
    }
    return (Errors.rms(errors) * 100, 100 * within / Double(max(1, errors.count)))
  }

  /// Measures live positions of one tag among eight anchors at 10 Hz.
  private static func positions(_ lias: Lias) -> [Row] {
    typealias Constant = WritableKeyPath<PositionErrorModel, Double>
    let constants: [(String, Constant)] = [
      ("shared", \.shared), ("own", \.own), ("slow", \.slow), ("slowTime", \.slowTime),
    ]
    var samples: [PositionSample] = []
    for number in stride(from: 0, to: lias.epochs.count, by: 10) {
      let epoch = lias.epochs[number]
      for anchor in 0..<8 where epoch.ranges[3 * anchor].isFinite {
        let range = epoch.ranges[3 * anchor] - lias.biases[3 * anchor]
        samples.append(
          PositionSample(
            time: epoch.time, observation: PositionObservation(.range(Lias.anchors[anchor]), range),
            source: anchor))
      }
    }
    return constants.map { name, constant in
      let found = [0.7, 1, 1.3].map { factor in
        var parameters = PositionTracker.Parameters()
        parameters.height = HeightPrior(0.97, standardDeviation: 0.02)
        var smoother = PositionSmoother(parameters)
        smoother.errors[keyPath: constant] *= factor
        let errors = zip(smoother.path(samples, live: true), samples).compactMap { point, sample in
          point.map {
            TrolleyFigures.flat($0.estimate.position - lias.position(ofTag: 0, at: sample.time))
          }
        }
        return Errors.rms(errors) * 100
      }
      return Row(name: "\(name): M1, one tag live, RMSE", values: found, unit: "cm")
    }
  }
}
