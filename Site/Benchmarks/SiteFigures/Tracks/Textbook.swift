// SPDX-License-Identifier: Apache-2.0

import Foundation
import UWBSite

/// The methods of textbooks, for comparison.
enum Textbook {
  /// The error in the plane at each measurement where a method has a place.
  struct Result {
    var nearest: [Double] = []
    var linear: [Double] = []
    var kalman: [Double] = []
    /// Errors of the filter over its own deviations.
    var multiples: [Double] = []
  }

  static func run(_ course: Course) -> Result {
    var result = Result()
    var filter: PlainKalman?
    var last: [Int: (time: Double, range: Double)] = [:]
    let level = height(course)
    for (measurement, truth) in zip(course.measurements, course.truth) {
      guard case .range(let anchor) = measurement.kind else { continue }
      last[anchor] = (measurement.time, measurement.value)
      let fresh = last.filter { measurement.time - $0.value.time < 0.6 }
      guard let truth else { continue }
      if let nearest = fresh.min(by: { $0.value.range < $1.value.range }) {
        result.nearest.append(flat(course.anchors[nearest.key].position - truth))
      }
      let solution = linear(fresh.mapValues(\.range), course.anchors, level)
      if let solution { result.linear.append(flat(solution - truth)) }
      if filter == nil, let solution { filter = PlainKalman(at: solution, measurement.time) }
      filter?.update(measurement, course.anchors[anchor].position)
      if let filter {
        result.kalman.append(flat(filter.position - truth))
        let error = filter.position - truth
        result.multiples += [error.x / filter.deviation.x, error.y / filter.deviation.y]
      }
    }
    return result
  }

  private static func height(_ course: Course) -> Double {
    switch course.height {
    case .fixed(let height, _): height
    case .within(let range): (range.lowerBound + range.upperBound) / 2
    case .free: course.anchors.map(\.position.z).reduce(0, +) / Double(course.anchors.count)
    }
  }

  /// Differences of squared ranges, in the plane.
  private static func linear(
    _ ranges: [Int: Double], _ anchors: [TagTrack.Anchor], _ height: Double
  ) -> SIMD3<Double>? {
    let rows = ranges.sorted { $0.key < $1.key }.map { key, range in
      let place = anchors[key].position
      let lift = place.z - height
      return (place, range * range - lift * lift - place.x * place.x - place.y * place.y)
    }
    guard rows.count >= 3 else { return nil }
    let n = Double(rows.count)
    let mean = rows.reduce(SIMD3<Double>.zero) { $0 + SIMD3($1.0.x, $1.0.y, $1.1) } / n
    var (xx, xy, yy, bx, by) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for (place, value) in rows {
      let (x, y, b) = (place.x - mean.x, place.y - mean.y, -(value - mean.z) / 2)
      xx += x * x
      xy += x * y
      yy += y * y
      bx += x * b
      by += y * b
    }
    let determinant = xx * yy - xy * xy
    guard determinant > 1e-9 else { return nil }
    return SIMD3((yy * bx - xy * by) / determinant, (xx * by - xy * bx) / determinant, height)
  }
}

/// A Kalman filter with constant velocity, without a gate and without errors of anchors.
struct PlainKalman {
  private var time: Double
  private var mean: [Double]
  private var p: [[Double]]

  init(at place: SIMD3<Double>, _ time: Double) {
    self.time = time
    mean = [place.x, place.y, 0, 0]
    height = place.z
    p = (0..<4).map { row in (0..<4).map { $0 == row ? 1 : 0 } }
  }

  private let height: Double
  var position: SIMD3<Double> { SIMD3(mean[0], mean[1], height) }
  var deviation: SIMD2<Double> { SIMD2(p[0][0].squareRoot(), p[1][1].squareRoot()) }

  mutating func update(_ measurement: TagMeasurement, _ anchor: SIMD3<Double>) {
    let dt = max(0, measurement.time - time)
    time = measurement.time
    for axis in 0..<2 {
      mean[axis] += dt * mean[axis + 2]
      for column in 0..<4 { p[axis][column] += dt * p[axis + 2][column] }
    }
    for axis in 0..<2 {
      for row in 0..<4 { p[row][axis] += dt * p[row][axis + 2] }
      p[axis][axis] += dt * dt * dt / 3
      p[axis][axis + 2] += dt * dt / 2
      p[axis + 2][axis] += dt * dt / 2
      p[axis + 2][axis + 2] += dt
    }
    let arm = position - anchor
    let length = max(1e-3, (arm * arm).sum().squareRoot())
    let gradient = [arm.x / length, arm.y / length]
    let column = p.map { $0[0] * gradient[0] + $0[1] * gradient[1] }
    let variance =
      column[0] * gradient[0] + column[1] * gradient[1]
      + measurement.deviation * measurement.deviation
    for row in 0..<4 {
      mean[row] += column[row] / variance * (measurement.value - length)
      for other in 0..<4 { p[row][other] -= column[row] * column[other] / variance }
    }
  }
}
