// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The likelihood of positions of a target, given sightings.
///
/// The unknowns are the position and the constant error of the ranges. The errors have a heavy tail
/// towards greater ranges, because blocked paths are longer. Towards smaller ranges they are nearly
/// normal. Neighbouring ranges share part of their error.
struct TargetProblem {
  struct Minimum: Sendable {
    var position: SIMD3<Double>
    var bias: Double
    var cost: Double
    var information: Symmetric3
  }

  typealias Lanes = SIMD2<Double>

  /// The ranges of two sightings, one in each lane. In a last pair with one sighting, the precision
  /// of the other lane is 0.
  struct Ranges {
    var x, y, z, range: Lanes
    /// Seconds since the latest sighting.
    var time: Lanes
    /// The inverse of the variance in 1/m².
    var precision: Lanes
    /// The variance relative to the variance of a single range.
    var spread: Lanes
    /// Metres moved up to this pose.
    var travelled: Lanes
    /// Vectors from this pose to the latest one in metres. `back` is the movement itself. For
    /// `lever`, each step is multiplied by the seconds until now. For `wave`, it is multiplied by
    /// the second term of the series of a random drift.
    var backX, backY, backZ, leverX, leverY, waveX, waveY: Lanes
    /// The variances that a random drift of the heading and an uneven stretch add until now.
    var age, wear: Lanes
  }

  /// A measured azimuth as two directions in the world: one along the azimuth, and one
  /// perpendicular to its right.
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

    /// Returns the components of a vector from the origin: to the right of the azimuth, and along
    /// it.
    func direction(_ arm: SIMD3<Double>) -> (across: Double, ahead: Double) {
      (right.dot(arm), along.dot(arm))
    }
  }

  private(set) var ranges: [Ranges] = []
  private var azimuths: [Azimuth] = []
  let count: Int
  private let parameters: TargetFinder.Parameters
  /// The mean height of the sighting positions in metres.
  let height: Double
  /// The extent of the sighting positions along each axis in metres.
  let extent: SIMD3<Double>
  /// The weight of one range, at most 1, because neighbours share part of their error.
  let share: Double
  /// The weight of one range until the errors of ranges are learned. Neighbours within 0.25 m are
  /// assumed to share their errors.
  let assumedShare: Double

  init(
    _ sightings: [TargetFinder.Sighting], _ parameters: TargetFinder.Parameters, travelled: Double,
    _ errors: TargetErrors
  ) {
    self.parameters = parameters
    count = sightings.count
    let latest = sightings[count - 1]
    let places = Self.places(sightings, parameters, travelled: travelled, errors)
    let noise = errors.deviation * errors.deviation
    ranges.reserveCapacity((count + 1) / 2)
    for index in stride(from: 0, to: count, by: 2) {
      let isLast = index + 1 == count
      let (one, other) = (sightings[index], sightings[isLast ? index : index + 1])
      let (p, q) = (places[index], places[isLast ? index : index + 1])
      let spread = Lanes(one.spread, other.spread)
      let (age, wear) = (Lanes(p.age, q.age), Lanes(p.wear, q.wear))
      let variance = noise * spread + errors.drift * errors.drift * age + wear
      ranges.append(
        Ranges(
          x: Lanes(p.position.x, q.position.x), y: Lanes(p.position.y, q.position.y),
          z: Lanes(p.position.z, q.position.z),
          range: Lanes(one.range, other.range), time: Lanes(one.time, other.time) - latest.time,
          precision: Lanes(1, isLast ? 0 : 1) / variance, spread: spread,
          travelled: Lanes(one.travelled, other.travelled),
          backX: Lanes(p.back.x, q.back.x), backY: Lanes(p.back.y, q.back.y),
          backZ: Lanes(p.back.z, q.back.z), leverX: Lanes(p.lever.x, q.lever.x),
          leverY: Lanes(p.lever.y, q.lever.y), waveX: Lanes(p.wave.x, q.wave.x),
          waveY: Lanes(p.wave.y, q.wave.y), age: age, wear: wear))
      if let azimuth = one.azimuth { azimuths.append(azimuth) }
      if !isLast, let azimuth = other.azimuth { azimuths.append(azimuth) }
    }
    var (low, high, sum) = (latest.pose.position, latest.pose.position, 0.0)
    for place in places {
      low.replace(with: place.position, where: place.position .< low)
      high.replace(with: place.position, where: place.position .> high)
      sum += place.position.z
    }
    extent = high - low
    height = sum / Double(count)
    let way = sightings[count - 1].travelled - sightings[0].travelled
    assumedShare = min(1, max(1, way / 0.25 + 1) / Double(count))
    share = max(1 / Double(count), min(1, 1 / errors.repetition))
  }

  /// The position of a sighting relative to the latest pose, corrected for the drift.
  private struct Place {
    var position: SIMD3<Double>
    /// The movement until now and its variances, as in `Ranges`.
    var back = SIMD3<Double>.zero
    var lever = SIMD3<Double>.zero
    var wave = SIMD3<Double>.zero
    var age = 0.0
    var wear = 0.0
  }

  /// Returns the place of each sighting. The heading of the latest pose is taken as correct, and
  /// earlier movement is turned by the drift since then.
  private static func places(
    _ sightings: [TargetFinder.Sighting], _ parameters: TargetFinder.Parameters, travelled: Double,
    _ errors: TargetErrors
  ) -> [Place] {
    var after = sightings[sightings.count - 1]
    let now = after.time
    var place = Place(position: after.pose.position)
    let latest = place.position
    var places = [Place](repeating: place, count: sightings.count)
    let duration = max(0.1, now - sightings[0].time)
    let random = parameters.randomHeading * parameters.randomHeading
    for index in sightings.indices.reversed() {
      let one = sightings[index]
      let step = after.pose.position - one.pose.position
      let since = now - (one.time + after.time) / 2
      after = one
      let wave = sin(1.5 * .pi * since / duration)
      // A series approximates the sine and cosine of the turn. It is exact enough for turns of at
      // most one radian.
      let turn = max(-1, min(1, errors.rate * since + errors.wave * wave))
      let (ahead, aside) = (1 - turn * turn / 2, turn - turn * turn * turn / 6)
      place.position.x -= ahead * step.x - aside * step.y
      place.position.y -= ahead * step.y + aside * step.x
      place.position.z -= step.z
      place.back = latest - place.position
      place.lever += step * since
      place.wave += step * wave
      let lever = place.lever.x * place.lever.x + place.lever.y * place.lever.y
      place.age = random * lever / max(0.1, now - one.time) / 2
      let stretch = parameters.drift * (travelled - one.travelled)
      place.wear = 0.03 * stretch * stretch
      places[index] = place
    }
    return places
  }

  /// Returns the information of the azimuths about a position, and the slope of their likelihood.
  func azimuthInformation(_ position: SIMD3<Double>) -> (Symmetric3, SIMD3<Double>) {
    guard !azimuths.isEmpty else { return (.zero, .zero) }
    var result = Evaluation()
    addAzimuths(position, &result)
    return (result.information, result.slope)
  }

  /// Returns other positions with similar ranges: the mirror image in the plane of the movement,
  /// and the position turned about the line of the movement.
  ///
  /// - Parameter turns: whether to return the turned position.
  func similar(to position: SIMD3<Double>, turns: Bool) -> [SIMD3<Double>] {
    var (middle, scatter) = (SIMD3<Double>.zero, Symmetric3.zero)
    for pair in ranges { middle += SIMD3(pair.x[0], pair.y[0], pair.z[0]) }
    middle *= 1 / Double(ranges.count)
    for pair in ranges { scatter.add(SIMD3(pair.x[0], pair.y[0], pair.z[0]) - middle, 1) }
    scatter.addToDiagonal(1e-3)
    guard let inverse = scatter.inverse else { return [] }
    var (normal, line) = (SIMD3<Double>(0.1, 0.2, 1), SIMD3<Double>(1, 0.9, 0.1))
    for _ in 0..<6 {
      normal = inverse.times(normal)
      normal *= 1 / normal.length
      line = scatter.times(line)
      line *= 1 / line.length
    }
    let arm = position - middle
    var found = [position - normal * (2 * normal.dot(arm))]
    guard turns else { return found }
    let along = line * line.dot(arm)
    let (across, aside) = (arm - along, line.cross(arm))
    found.append(middle + along - across)
    found.append(middle + along + aside)
    found.append(middle + along - aside)
    return found
  }

  /// Descends to the nearest minimum.
  ///
  /// - Parameters:
  ///   - promise: the expected decrease of the cost by a step; the step below it is the last one.
  ///   - known: minima that were found before.
  ///   - near: the distance to a known minimum, in metres, within which the descent ends.
  /// - Returns: nil for a minimum that is in `known`.
  func descend(
    from start: SIMD3<Double>, bias beginning: Double = 0, promise: Double = 1e-7,
    known: [Minimum], near: Double
  ) -> Minimum? {
    if known.contains(where: { (start - $0.position).length < near }) { return nil }
    var position = start
    var bias = beginning
    var damping = 1e-2
    var current = evaluate(position, bias)
    // The information of the measurements predicts how the cost curves along a step. The curve is
    // flatter by this ratio, because outliers count in the information, but pull less.
    var stretch = 1.0
    for _ in 0..<25 {
      for one in known where current.cost >= one.cost && (position - one.position).length < near {
        return nil
      }
      // The Schur complement eliminates the bias from the equations.
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
    // One logarithm of a product is computed, because logarithms of all factors would take most of
    // the time.
    var (product, farProduct) = (Lanes.one, Lanes.one)
    var logarithm = 0.0
    for index in 0..<ranges.count {
      let pair = ranges[index]
      let (x, y, z) = (position.x - pair.x, position.y - pair.y, position.z - pair.z)
      var length = (x * x + y * y + z * z).squareRoot()
      length.replace(with: 1e-3, where: length .< 1e-3)
      let residual = pair.range - length - bias
      // Student's t-distribution: 3 degrees of freedom for too long ranges, 8 for too short ones.
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

  /// Returns the sum of (degrees of freedom + 1) / 2 times the logarithm of each factor.
  private static func logarithm(_ all: Lanes, _ far: Lanes) -> Double {
    4.5 * log(all[0] * all[1]) - 2.5 * log(far[0] * far[1])
  }

  private func addAzimuths(_ position: SIMD3<Double>, _ result: inout Evaluation) {
    let precision = 1 / (parameters.azimuthDeviation * parameters.azimuthDeviation)
    // The distribution is a mixture of correct azimuths and uniformly distributed outliers.
    let right = (1 - parameters.azimuthOutliers) * (precision / (2 * .pi)).squareRoot()
    let wrong = parameters.azimuthOutliers / (2 * .pi)
    let most = 1 / (right + wrong)
    var (product, logarithm) = (Lanes.one, 0.0)
    var (xx, xy, yy, slopeX, slopeY) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)
    for index in stride(from: 0, to: azimuths.count, by: 2) {
      let isLast = index + 1 == azimuths.count
      let (one, other) = (azimuths[index], azimuths[isLast ? index : index + 1])
      let (arm, otherArm) = (position - one.origin, position - other.origin)
      let residual = Self.angles(one.direction(arm), other.direction(otherArm))
      let square: Lanes = residual * residual
      let likely: Lanes = right * Self.exponential(square * (-precision / 2))
      let all: Lanes = likely + wrong
      var factor: Lanes = all * most
      if isLast { factor[1] = 1 }
      product *= factor
      if product[0] * product[1] < 1e-200 {
        logarithm += log(product[0] * product[1])
        product = .one
      }
      // The device is level, and angles increase to the left.
      let (x, y) = (Lanes(arm.x, otherArm.x), Lanes(arm.y, otherArm.y))
      var distance: Lanes = x * x + y * y
      distance.replace(with: 0.01, where: distance .< 0.01)
      let weight: Lanes = likely / all * Lanes(1, isLast ? 0 : 1)
      let scale: Lanes = 1 / distance
      let (gx, gy): (Lanes, Lanes) = (-y * scale, x * scale)
      xx += weight * gx * gx
      xy += weight * gx * gy
      yy += weight * gy * gy
      slopeX += weight * residual * gx
      slopeY += weight * residual * gy
    }
    let all = assumedShare * precision
    result.cost -= assumedShare * (logarithm + log(product[0] * product[1]))
    result.information.xx += all * xx.sum()
    result.information.xy += all * xy.sum()
    result.information.yy += all * yy.sum()
    result.slope.x += all * slopeX.sum()
    result.slope.y += all * slopeY.sum()
  }

  /// Returns the arc tangents of two directions.
  private static func angles(
    _ one: (across: Double, ahead: Double), _ other: (across: Double, ahead: Double)
  ) -> Lanes {
    guard abs(one.across) < 0.2 * one.ahead, abs(other.across) < 0.2 * other.ahead else {
      return Lanes(atan2(one.across, one.ahead), atan2(other.across, other.ahead))
    }
    // The series is exact to 1e-13 in this range, and takes a tenth of the time of the arc tangent.
    let tangent = Lanes(one.across, other.across) / Lanes(one.ahead, other.ahead)
    let square: Lanes = tangent * tangent
    var sum = Lanes(repeating: 1 / 15.0)
    for odd in [13.0, 11, 9, 7, 5, 3, 1] {
      let product: Lanes = square * sum
      sum = 1 / odd - product
    }
    return tangent * sum
  }

  /// Returns the exponential functions of two numbers that are 0 or less, exact to 1e-14.
  private static func exponential(_ values: Lanes) -> Lanes {
    var values = values
    values.replace(with: -700, where: values .< -700)
    // Adding 1.5·2^52 rounds to a whole number, which the last bits of the sum then contain.
    let powers: Lanes = values * 1.442_695_040_888_963_4
    let whole: Lanes = powers + 0x1.8p52
    let logarithm: Lanes = (whole - 0x1.8p52) * 0.693_147_180_559_945_3
    let rest: Lanes = values - logarithm
    var sum = Lanes(repeating: 1 / 39_916_800.0)
    for factorial in [3_628_800.0, 362_880, 40_320, 5040, 720, 120, 24, 6, 2, 1, 1] {
      let product: Lanes = sum * rest
      sum = product + 1 / factorial
    }
    let scale = Lanes(
      Double(bitPattern: (whole[0].bitPattern &+ 1023) << 52),
      Double(bitPattern: (whole[1].bitPattern &+ 1023) << 52))
    return sum * scale
  }

  /// Returns the ratio of the residuals to their expected size.
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
  /// Returns the median of the square roots. Does not sort all values.
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
