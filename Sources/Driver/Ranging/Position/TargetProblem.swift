// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The likelihood of positions of a target, given sightings.
///
/// The unknowns are the position and the constant error of the ranges. Range errors have a heavy
/// tail on the far side (blocked paths are longer) and are nearly normal on the near one.
/// Neighbouring ranges share part of their error.
struct TargetProblem {
  struct Minimum: Sendable {
    var position: SIMD3<Double>
    var bias: Double
    var cost: Double
    var information: Symmetric3
  }

  private typealias Lanes = SIMD2<Double>

  /// Ranges of two sightings, one in each lane; the precision of a missing one is 0.
  private struct Ranges {
    var x = Lanes.zero
    var y = Lanes.zero
    var z = Lanes.zero
    var range = Lanes.zero
    /// The inverse of the variance.
    var precision = Lanes.zero
  }

  /// A measured azimuth as two directions in the world: its own, and the one to the right of it.
  struct Azimuth: Sendable {
    var origin: SIMD3<Double>
    var along: SIMD3<Double>
    var right: SIMD3<Double>

    init(_ azimuth: Double, from pose: Pose) {
      let (x, y) = pose.axes
      let (cosine, sine) = (cos(azimuth), sin(azimuth))
      origin = pose.position
      along = x * cosine + y * sine
      right = x * sine - y * cosine
    }

    /// Returns the measured azimuth minus the azimuth of a point, seen from the origin.
    func residual(_ point: SIMD3<Double>) -> Double {
      let (across, ahead) = (right.dot(point), along.dot(point))
      guard abs(across) < 0.2 * ahead else { return atan2(across, ahead) }
      // The series is exact to 1e-13 here, and takes a tenth of the time.
      let tangent = across / ahead
      let square = tangent * tangent
      let tail = 1 / 9.0 - square * (1 / 11.0 - square * (1 / 13.0 - square * (1 / 15.0)))
      return tangent
        * (1 - square * (1 / 3.0 - square * (1 / 5.0 - square * (1 / 7.0 - square * tail))))
    }
  }

  private var ranges: [Ranges] = []
  private var azimuths: [Azimuth] = []
  private let count: Int
  private let parameters: TargetFinder.Parameters
  /// The mean height of the sighting positions.
  let height: Double
  /// The extent of the sighting positions along each axis.
  let extent: SIMD3<Double>
  /// The weight of one sighting: sightings closer than half a metre share their error.
  let share: Double

  init(
    _ sightings: [TargetFinder.Sighting], _ parameters: TargetFinder.Parameters, travelled: Double
  ) {
    self.parameters = parameters
    count = sightings.count
    var low = sightings[0].pose.position
    var high = low
    var sum = 0.0
    ranges.reserveCapacity((count + 1) / 2)
    let noise = parameters.rangeDeviation * parameters.rangeDeviation
    var pair = Ranges()
    for (index, sighting) in sightings.enumerated() {
      let p = sighting.pose.position
      low = SIMD3<Double>(min(low.x, p.x), min(low.y, p.y), min(low.z, p.z))
      high = SIMD3<Double>(max(high.x, p.x), max(high.y, p.y), max(high.z, p.z))
      sum += p.z
      // Variance of the range: the part that averaging does not remove, and the drift of the poses
      // since.
      let drift = parameters.drift * (travelled - sighting.travelled)
      let lane = index % 2
      (pair.x[lane], pair.y[lane], pair.z[lane]) = (p.x, p.y, p.z)
      pair.range[lane] = sighting.range
      // Within a tenth of a second the noise is the same, as in `PositionTracker`.
      let several = min(sighting.count, 1 + max(0, sighting.until - sighting.time) / 0.1)
      pair.precision[lane] = 1 / (noise * (0.5 + 0.5 / several) + drift * drift)
      if lane == 1 || index == count - 1 {
        ranges.append(pair)
        pair = Ranges()
      }
      if let azimuth = sighting.azimuth { azimuths.append(azimuth) }
    }
    extent = high - low
    height = sum / Double(count)
    let way = sightings[count - 1].travelled - sightings[0].travelled
    share = min(1, max(1, way / 0.25 + 1) / Double(count))
  }

  /// Descends to the next minimum.
  ///
  /// - Parameters:
  ///   - promise: the expected gain of a step below which it is the last.
  ///   - known: minima that were found before.
  ///   - near: the distance to one of these at which a descent ends.
  /// - Returns: nil at one of `known`.
  func descend(
    from start: SIMD3<Double>, bias beginning: Double = 0, promise: Double = 1e-7,
    known: [Minimum], near: Double
  ) -> Minimum? {
    var position = start
    var bias = beginning
    var damping = 1e-2
    var current = evaluate(position, bias)
    // The ratio by which the cost along the last step is flatter than the information predicts.
    // Outliers are part of the information, but resist less the farther they are.
    var stretch = 1.0
    for _ in 0..<25 {
      for one in known where current.cost >= one.cost && (position - one.position).length < near {
        return nil
      }
      // The bias is eliminated by the Schur complement.
      var reduced = current.information
      reduced.add(current.cross, -1 / current.biasInformation)
      let slope = current.slope + current.cross * (-current.biasSlope / current.biasInformation)
      var damped = reduced
      damped.xx += damping * (reduced.xx + 1)
      damped.yy += damping * (reduced.yy + 1)
      damped.zz += damping * (reduced.zz + 1)
      guard let inverse = damped.inverse else { return nil }
      let step = inverse.times(slope) * stretch
      guard step.isFinite else { return nil }
      let turn = (stretch * current.biasSlope - current.cross.dot(step)) / current.biasInformation
      let promised = slope.dot(step)
      if abs(promised) < promise {
        position = position + step
        bias += turn
        current.cost -= promised / 2
        break
      }
      let next = evaluate(position + step, bias + turn)
      if next.cost <= current.cost {
        let left = next.slope.dot(step) + next.biasSlope * turn
        let had = current.slope.dot(step) + current.biasSlope * turn
        stretch = had > left ? min(3, max(0.7, stretch * had / (had - left))) : 3
        position = position + step
        bias += turn
        current = next
        damping = max(1e-6, damping / 4)
      } else {
        stretch = 1
        damping *= 6
        if damping > 1e7 { break }
      }
    }
    var information = current.information
    information.add(current.cross, -1 / current.biasInformation)
    guard position.isFinite else { return nil }
    return Minimum(position: position, bias: bias, cost: current.cost, information: information)
  }

  /// Returns the negative logarithm of the likelihood of a position.
  func cost(_ position: SIMD3<Double>) -> Double { evaluate(position, 0).cost }

  private struct Evaluation {
    var cost = 0.0
    var slope = SIMD3<Double>.zero
    var information = Symmetric3.zero
    var cross = SIMD3<Double>.zero
    var biasSlope = 0.0
    var biasInformation = 0.0
  }

  private func evaluate(_ position: SIMD3<Double>, _ bias: Double) -> Evaluation {
    let up = 1 / (parameters.heightDeviation * parameters.heightDeviation)
    let lift = height - position.z
    let biasPrecision = 1 / (parameters.biasDeviation * parameters.biasDeviation)
    var result = Evaluation()
    result.cost = lift * lift * up / 2 + bias * bias * biasPrecision / 2
    result.slope = SIMD3<Double>(0, 0, lift * up)
    result.information.zz = up
    result.biasSlope = -bias * biasPrecision
    result.biasInformation = biasPrecision
    addRanges(position, bias, &result)
    if !azimuths.isEmpty { addAzimuths(position, &result) }
    return result
  }

  private func addRanges(_ position: SIMD3<Double>, _ bias: Double, _ result: inout Evaluation) {
    var (xx, xy, xz) = (Lanes.zero, Lanes.zero, Lanes.zero)
    var (yy, yz, zz) = (Lanes.zero, Lanes.zero, Lanes.zero)
    var (crossX, crossY, crossZ) = (Lanes.zero, Lanes.zero, Lanes.zero)
    var (slopeX, slopeY, slopeZ) = (Lanes.zero, Lanes.zero, Lanes.zero)
    var (slope, information) = (Lanes.zero, Lanes.zero)
    // The logarithm of a product, because a logarithm of each factor takes longer than all the
    // rest.
    var (product, farProduct) = (Lanes.one, Lanes.one)
    var logarithm = 0.0
    for pair in ranges {
      let (x, y, z) = (position.x - pair.x, position.y - pair.y, position.z - pair.z)
      var length = (x * x + y * y + z * z).squareRoot()
      length.replace(with: 1e-3, where: length .< 1e-3)
      let residual = pair.range - length - bias
      // Student's distribution with 3 degrees of freedom on the far side, 8 on the near one.
      let isFar = residual .> 0
      let inverseFreedom = Lanes(repeating: 1 / 8.0).replacing(with: 1 / 3.0, where: isFar)
      let factor = 1 + residual * residual * pair.precision * inverseFreedom
      product *= factor
      farProduct *= Lanes.one.replacing(with: factor, where: isFar)
      let inverse = 1 / (length * factor)
      let weight = pair.precision * (1 + inverseFreedom) * (inverse * length)
      let (gx, gy, gz) = (x * (inverse * factor), y * (inverse * factor), z * (inverse * factor))
      let (wx, wy, wz) = (weight * gx, weight * gy, weight * gz)
      xx += wx * gx
      xy += wx * gy
      xz += wx * gz
      yy += wy * gy
      yz += wy * gz
      zz += wz * gz
      crossX += wx
      crossY += wy
      crossZ += wz
      slopeX += wx * residual
      slopeY += wy * residual
      slopeZ += wz * residual
      slope += weight * residual
      information += weight
      if product[0] * product[1] > 1e200 {
        logarithm += Self.logarithm(product, farProduct)
        (product, farProduct) = (Lanes.one, Lanes.one)
      }
    }
    logarithm += Self.logarithm(product, farProduct)
    result.cost += share * logarithm
    result.information.xx += share * xx.sum()
    result.information.xy += share * xy.sum()
    result.information.xz += share * xz.sum()
    result.information.yy += share * yy.sum()
    result.information.yz += share * yz.sum()
    result.information.zz += share * zz.sum()
    result.cross = result.cross + SIMD3(crossX.sum(), crossY.sum(), crossZ.sum()) * share
    result.slope = result.slope + SIMD3(slopeX.sum(), slopeY.sum(), slopeZ.sum()) * share
    result.biasSlope += share * slope.sum()
    result.biasInformation += share * information.sum()
  }

  /// Returns half of (degrees of freedom + 1) of each factor, times the logarithms of the factors.
  private static func logarithm(_ all: Lanes, _ far: Lanes) -> Double {
    4.5 * log(all[0] * all[1]) - 2.5 * log(far[0] * far[1])
  }

  private func addAzimuths(_ position: SIMD3<Double>, _ result: inout Evaluation) {
    let precision = 1 / (parameters.azimuthDeviation * parameters.azimuthDeviation)
    // A mixture of correct azimuths and uniformly distributed outliers.
    let right = (1 - parameters.azimuthOutliers) * (precision / (2 * .pi)).squareRoot()
    let wrong = parameters.azimuthOutliers / (2 * .pi)
    let most = 1 / (right + wrong)
    var (product, logarithm) = (1.0, 0.0)
    var (xx, xy, yy, slopeX, slopeY) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for azimuth in azimuths {
      let arm = position - azimuth.origin
      let residual = azimuth.residual(arm)
      let likely = right * exp(-residual * residual * precision / 2)
      product *= (likely + wrong) * most
      if product < 1e-200 {
        logarithm += log(product)
        product = 1
      }
      // For level devices: the azimuth grows to the left.
      let scale = 1 / max(0.01, arm.x * arm.x + arm.y * arm.y)
      let weight = likely / (likely + wrong)
      let (gx, gy) = (-arm.y * scale, arm.x * scale)
      xx += weight * gx * gx
      xy += weight * gx * gy
      yy += weight * gy * gy
      slopeX += weight * residual * gx
      slopeY += weight * residual * gy
    }
    let all = share * precision
    result.cost -= share * (logarithm + log(product))
    result.information.xx += all * xx
    result.information.xy += all * xy
    result.information.yy += all * yy
    result.slope.x += all * slopeX
    result.slope.y += all * slopeY
  }

  /// Returns the ratio of the residuals to their expectation.
  func misfit(at minimum: Minimum) -> Double {
    var squares: [Double] = []
    squares.reserveCapacity(count + 1)
    for pair in ranges {
      let (x, y, z) = (
        minimum.position.x - pair.x, minimum.position.y - pair.y, minimum.position.z - pair.z
      )
      let distance = (x * x + y * y + z * z).squareRoot()
      let residual = pair.range - distance - minimum.bias
      let square = residual * residual * pair.precision
      squares.append(square[0])
      squares.append(square[1])
    }
    squares.removeLast(squares.count - count)
    return squares.medianOfRoots() / 0.6745
  }
}

extension [Double] {
  /// Returns the median of the square roots, without sorting all of them.
  fileprivate mutating func medianOfRoots() -> Double {
    let middle = (count - 1) / 2
    var (low, high) = (0, count - 1)
    while low < high {
      let pivot = self[(low + high) / 2]
      var (left, right) = (low, high)
      while left <= right {
        while self[left] < pivot { left += 1 }
        while self[right] > pivot { right -= 1 }
        if left <= right {
          swapAt(left, right)
          left += 1
          right -= 1
        }
      }
      if middle <= right { high = right } else if middle >= left { low = left } else { break }
    }
    guard count % 2 == 0 else { return self[middle].squareRoot() }
    let above = self[(middle + 1)...].min() ?? self[middle]
    return (self[middle].squareRoot() + above.squareRoot()) / 2
  }
}
