// SPDX-License-Identifier: Apache-2.0

/// The likelihood of places of a target, given sightings.
///
/// Unknown are the place and the constant error of the ranges. The error of the ranges is heavy to
/// the far side (blocked paths are longer) and nearly normal to the near one; neighbouring ranges
/// share part of it.
struct TargetProblem {
  struct Minimum {
    var place: Vector3
    var bias: Double
    var cost: Double
    var information: Symmetric3
  }

  private let sightings: [TargetFinder.Sighting]
  private let parameters: TargetFinder.Parameters
  private let now: Double
  private let height: Double
  /// How far the way reaches along each axis.
  let extent: Vector3

  init(
    _ sightings: [TargetFinder.Sighting], _ parameters: TargetFinder.Parameters, now: Double
  ) {
    self.sightings = sightings
    self.parameters = parameters
    self.now = now
    var low = sightings[0].pose.position
    var high = low
    var sum = 0.0
    for sighting in sightings {
      let p = sighting.pose.position
      low = Vector3(min(low.x, p.x), min(low.y, p.y), min(low.z, p.z))
      high = Vector3(max(high.x, p.x), max(high.y, p.y), max(high.z, p.z))
      sum += p.z
    }
    extent = high - low
    height = sum / Double(sightings.count)
  }

  /// Variance of the range of a sighting: what averaging does not take away, and the drift of the
  /// own position since.
  private func variance(_ sighting: TargetFinder.Sighting) -> Double {
    let noise = parameters.rangeDeviation * parameters.rangeDeviation
    let drift = parameters.drift * (now - sighting.way)
    return noise * (0.5 + 0.5 / sighting.count) + drift * drift
  }

  /// How much sightings that are closer than half a metre of way share their error.
  private var share: Double {
    guard let first = sightings.first, let last = sightings.last, sightings.count > 1 else {
      return 1
    }
    let independent = max(1, (last.way - first.way) / 0.25 + 1)
    return min(1, independent / Double(sightings.count))
  }

  func descend(from start: Vector3) -> Minimum? {
    var place = start
    var bias = 0.0
    var damping = 1e-2
    let share = share
    var current = evaluate(place, bias, share)
    for _ in 0..<25 {
      // The bias is eliminated: Schur's complement.
      var reduced = current.information
      reduced.add(current.cross, -1 / current.biasInformation)
      let slope = current.slope + current.cross * (-current.biasSlope / current.biasInformation)
      var damped = reduced
      damped.xx += damping * (reduced.xx + 1)
      damped.yy += damping * (reduced.yy + 1)
      damped.zz += damping * (reduced.zz + 1)
      guard let step = damped.inverse?.times(slope), step.isFinite else { return nil }
      let turn = (current.biasSlope - current.cross.dot(step)) / current.biasInformation
      let next = evaluate(place + step, bias + turn, share)
      if next.cost <= current.cost {
        let gain = current.cost - next.cost
        place = place + step
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
    guard place.isFinite else { return nil }
    return Minimum(place: place, bias: bias, cost: current.cost, information: information)
  }

  private struct Evaluation {
    var cost = 0.0
    var slope = Vector3.zero
    var information = Symmetric3.zero
    var cross = Vector3.zero
    var biasSlope = 0.0
    var biasInformation = 0.0
  }

  private func evaluate(_ place: Vector3, _ bias: Double, _ share: Double) -> Evaluation {
    var result = Evaluation()
    let up = 1 / (parameters.heightDeviation * parameters.heightDeviation)
    let lift = height - place.z
    result.cost = lift * lift * up / 2
    result.slope = Vector3(0, 0, lift * up)
    result.information.zz = up
    let biasPrecision = 1 / (parameters.biasDeviation * parameters.biasDeviation)
    result.cost += bias * bias * biasPrecision / 2
    result.biasSlope = -bias * biasPrecision
    result.biasInformation = biasPrecision
    for sighting in sightings {
      let arm = place - sighting.pose.position
      let length = max(arm.length, 1e-3)
      let gradient = arm * (1 / length)
      let rest = sighting.range - length - bias
      let precision = 1 / variance(sighting)
      let normalised = rest * rest * precision
      let freedom = rest > 0 ? 3.0 : 8.0
      let weight = share * precision * (freedom + 1) / (freedom + normalised)
      result.cost +=
        share * (freedom + 1) / 2 * Functions.logarithm(1 + normalised / freedom)
      result.slope = result.slope + gradient * (weight * rest)
      result.information.add(gradient, weight)
      result.cross = result.cross + gradient * weight
      result.biasSlope += weight * rest
      result.biasInformation += weight
      if let azimuth = sighting.azimuth { take(azimuth, sighting, arm, share, &result) }
    }
    return result
  }

  private func take(
    _ azimuth: Double, _ sighting: TargetFinder.Sighting, _ arm: Vector3, _ share: Double,
    _ result: inout Evaluation
  ) {
    let distance = max(0.1, (arm.x * arm.x + arm.y * arm.y).squareRoot())
    let rest = wrapped(azimuth - sighting.pose.azimuth(of: sighting.pose.position + arm))
    let precision = 1 / (parameters.azimuthDeviation * parameters.azimuthDeviation)
    // A mixture of what is right and what is anywhere.
    let right = (1 - parameters.azimuthOutliers) * (precision / (2 * .pi)).squareRoot()
    let wrong = parameters.azimuthOutliers / (2 * .pi)
    let likely = right * Functions.exponential(-rest * rest * precision / 2)
    let part = likely / (likely + wrong)
    result.cost -= share * Functions.logarithm((likely + wrong) / (right + wrong))
    let weight = share * part * precision
    // About level devices: the azimuth grows to the left.
    let gradient = Vector3(-arm.y, arm.x, 0) * (1 / (distance * distance))
    result.slope = result.slope + gradient * (weight * rest)
    result.information.add(gradient, weight)
  }

  /// How much greater the residuals are than supposed; 1 is as supposed.
  func misfit(at minimum: Minimum) -> Double {
    var rests: [Double] = []
    rests.reserveCapacity(sightings.count)
    for sighting in sightings {
      let length = (minimum.place - sighting.pose.position).length
      rests.append(
        abs(sighting.range - length - minimum.bias) / variance(sighting).squareRoot())
    }
    return rests.quantile(0.5) / 0.6745
  }
}
