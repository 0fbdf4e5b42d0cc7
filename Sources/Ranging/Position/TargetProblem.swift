// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The likelihood of positions of a target, given sightings.
///
/// The unknowns are the position and the constant error of the ranges. Range errors have a heavy tail
/// on the far side (blocked paths are longer) and are nearly normal on the near one; neighbouring
/// ranges share part of their error.
struct TargetProblem {
  struct Minimum {
    var position: SIMD3<Double>
    var bias: Double
    var cost: Double
    var information: Symmetric3
  }

  private let sightings: [TargetFinder.Sighting]
  private let parameters: TargetFinder.Parameters
  private let travelled: Double
  /// The mean height of the sighting positions.
  let height: Double
  /// The extent of the sighting positions along each axis.
  let extent: SIMD3<Double>

  init(
    _ sightings: [TargetFinder.Sighting], _ parameters: TargetFinder.Parameters, travelled: Double
  ) {
    self.sightings = sightings
    self.parameters = parameters
    self.travelled = travelled
    var low = sightings[0].pose.position
    var high = low
    var sum = 0.0
    for sighting in sightings {
      let p = sighting.pose.position
      low = SIMD3<Double>(min(low.x, p.x), min(low.y, p.y), min(low.z, p.z))
      high = SIMD3<Double>(max(high.x, p.x), max(high.y, p.y), max(high.z, p.z))
      sum += p.z
    }
    extent = high - low
    height = sum / Double(sightings.count)
  }

  /// Variance of the range of a sighting: what averaging does not remove, and the drift of the poses
  /// since.
  private func variance(_ sighting: TargetFinder.Sighting) -> Double {
    let noise = parameters.rangeDeviation * parameters.rangeDeviation
    let drift = parameters.drift * (travelled - sighting.travelled)
    return noise * (0.5 + 0.5 / sighting.count) + drift * drift
  }

  /// The weight of one sighting: those closer than half a metre share their error.
  private var share: Double {
    guard let first = sightings.first, let last = sightings.last, sightings.count > 1 else {
      return 1
    }
    let independent = max(1, (last.travelled - first.travelled) / 0.25 + 1)
    return min(1, independent / Double(sightings.count))
  }

  func descend(from start: SIMD3<Double>) -> Minimum? {
    var position = start
    var bias = 0.0
    var damping = 1e-2
    let share = share
    var current = evaluate(position, bias, share)
    for _ in 0..<25 {
      // The bias is eliminated by the Schur complement.
      var reduced = current.information
      reduced.add(current.cross, -1 / current.biasInformation)
      let slope = current.slope + current.cross * (-current.biasSlope / current.biasInformation)
      var damped = reduced
      damped.xx += damping * (reduced.xx + 1)
      damped.yy += damping * (reduced.yy + 1)
      damped.zz += damping * (reduced.zz + 1)
      guard let step = damped.inverse?.times(slope), step.isFinite else { return nil }
      let turn = (current.biasSlope - current.cross.dot(step)) / current.biasInformation
      let next = evaluate(position + step, bias + turn, share)
      if next.cost <= current.cost {
        let gain = current.cost - next.cost
        position = position + step
        bias += turn
        current = next
        damping = max(1e-6, damping / 4)
        if gain < 1e-5, step.length < 1e-3 { break }
      } else {
        damping *= 6
        if damping > 1e7 { break }
      }
    }
    var information = current.information
    information.add(current.cross, -1 / current.biasInformation)
    guard position.isFinite else { return nil }
    return Minimum(position: position, bias: bias, cost: current.cost, information: information)
  }

  private struct Evaluation {
    var cost = 0.0
    var slope = SIMD3<Double>.zero
    var information = Symmetric3.zero
    var cross = SIMD3<Double>.zero
    var biasSlope = 0.0
    var biasInformation = 0.0
  }

  private func evaluate(_ position: SIMD3<Double>, _ bias: Double, _ share: Double) -> Evaluation {
    var result = Evaluation()
    let up = 1 / (parameters.heightDeviation * parameters.heightDeviation)
    let lift = height - position.z
    result.cost = lift * lift * up / 2
    result.slope = SIMD3<Double>(0, 0, lift * up)
    result.information.zz = up
    let biasPrecision = 1 / (parameters.biasDeviation * parameters.biasDeviation)
    result.cost += bias * bias * biasPrecision / 2
    result.biasSlope = -bias * biasPrecision
    result.biasInformation = biasPrecision
    for sighting in sightings {
      let arm = position - sighting.pose.position
      let length = max(arm.length, 1e-3)
      let gradient = arm * (1 / length)
      let residual = sighting.range - length - bias
      let precision = 1 / variance(sighting)
      let normalised = residual * residual * precision
      let freedom = residual > 0 ? 3.0 : 8.0
      let weight = share * precision * (freedom + 1) / (freedom + normalised)
      result.cost +=
        share * (freedom + 1) / 2 * log(1 + normalised / freedom)
      result.slope = result.slope + gradient * (weight * residual)
      result.information.add(gradient, weight)
      result.cross = result.cross + gradient * weight
      result.biasSlope += weight * residual
      result.biasInformation += weight
      if let azimuth = sighting.azimuth { add(azimuth, sighting, arm, share, &result) }
    }
    return result
  }

  private func add(
    _ azimuth: Double, _ sighting: TargetFinder.Sighting, _ arm: SIMD3<Double>, _ share: Double,
    _ result: inout Evaluation
  ) {
    let distance = max(0.1, (arm.x * arm.x + arm.y * arm.y).squareRoot())
    let residual = wrapped(azimuth - sighting.pose.azimuth(of: sighting.pose.position + arm))
    let precision = 1 / (parameters.azimuthDeviation * parameters.azimuthDeviation)
    // A mixture of correct azimuths and uniformly distributed outliers.
    let right = (1 - parameters.azimuthOutliers) * (precision / (2 * .pi)).squareRoot()
    let wrong = parameters.azimuthOutliers / (2 * .pi)
    let likely = right * exp(-residual * residual * precision / 2)
    let part = likely / (likely + wrong)
    result.cost -= share * log((likely + wrong) / (right + wrong))
    let weight = share * part * precision
    // For level devices: the azimuth grows to the left.
    let gradient = SIMD3<Double>(-arm.y, arm.x, 0) * (1 / (distance * distance))
    result.slope = result.slope + gradient * (weight * residual)
    result.information.add(gradient, weight)
  }

  /// The ratio of the residuals to what the model expects.
  func misfit(at minimum: Minimum) -> Double {
    var residuals: [Double] = []
    residuals.reserveCapacity(sightings.count)
    for sighting in sightings {
      let length = (minimum.position - sighting.pose.position).length
      residuals.append(
        abs(sighting.range - length - minimum.bias) / variance(sighting).squareRoot())
    }
    return residuals.quantile(0.5) / 0.6745
  }
}
