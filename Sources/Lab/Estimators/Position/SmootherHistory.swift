// SPDX-License-Identifier: Apache-2.0

internal import Ranging

/// The steps of a `PositionTracker`, from which a backward pass corrects each position by later
/// measurements.
///
/// The method is Bierman's form of smoothing (the modified Bryson-Frazier recursion). It inverts no
/// matrix, and stores only the rows of the position for each time. A measurement takes n²
/// operations for n states. Source: G. J. Bierman, "Fixed interval smoothing with discrete
/// measurements", International Journal of Control 18 (1973).
struct SmootherHistory {
  enum Event {
    case advance(Double, fade: Double)
    case measurement(Int)
    case restart
    case mark(Int)
  }

  /// A correction of the state.
  struct Measurement {
    var gradient: SIMD3<Double>
    var source: Int?
    var reference: Int?
    var innovation: Double
    /// The variance of `innovation`.
    var total = 0.0
  }

  var events: [Event] = []
  private let size: Int
  private let sources: Int
  private var measurements: [Measurement] = []
  /// The vectors P·H of all measurements, one after another.
  private var columns: [Double] = []
  private var positions: [SIMD3<Double>] = []
  /// The rows of the covariance for the position, at each mark.
  private var rows: [Double] = []

  init(sources: Int) {
    self.sources = sources
    size = 6 + 2 * sources
  }

  mutating func add(_ measurement: Measurement, _ column: [Double]) {
    events.append(.measurement(measurements.count))
    measurements.append(measurement)
    columns += column
  }

  mutating func mark(_ position: SIMD3<Double>, _ covariance: [Double]) {
    events.append(.mark(positions.count))
    positions.append(position)
    rows += covariance
  }

  /// Returns the positions at the marks, computed from the whole history.
  func smoothed() -> [(position: SIMD3<Double>, covariance: Symmetric3)] {
    var result = [(position: SIMD3<Double>, covariance: Symmetric3)](
      repeating: (.zero, .zero), count: positions.count)
    var slope = [Double](repeating: 0, count: size)
    var weight = [Double](repeating: 0, count: size * size)
    for event in events.reversed() {
      switch event {
      case .mark(let index): result[index] = smoothed(index, slope, weight)
      case .restart: reset(&slope, &weight)
      case .advance(let dt, let fade): undoAdvance(dt, fade, &slope, &weight)
      case .measurement(let index): undoMeasurement(index, &slope, &weight)
      }
    }
    return result
  }

  private func smoothed(
    _ index: Int, _ slope: [Double], _ weight: [Double]
  ) -> (position: SIMD3<Double>, covariance: Symmetric3) {
    let start = index * 3 * size
    var moved = [0.0, 0.0, 0.0]
    var less = [Double](repeating: 0, count: 9)
    var product = [Double](repeating: 0, count: size)
    for axis in 0..<3 {
      let row = start + axis * size
      var sum = 0.0
      for k in 0..<size { sum += rows[row + k] * slope[k] }
      moved[axis] = sum
      for k in 0..<size {
        var sum = 0.0
        for m in 0..<size { sum += rows[row + m] * weight[m * size + k] }
        product[k] = sum
      }
      for other in axis..<3 {
        let column = start + other * size
        var sum = 0.0
        for k in 0..<size { sum += product[k] * rows[column + k] }
        less[axis * 3 + other] = sum
      }
    }
    func left(_ axis: Int, _ other: Int) -> Double {
      rows[start + axis * size + other] - less[axis * 3 + other]
    }
    return (
      positions[index] - SIMD3<Double>(moved[0], moved[1], moved[2]),
      Symmetric3(
        xx: max(left(0, 0), 1e-12), xy: left(0, 1), xz: left(0, 2), yy: max(left(1, 1), 1e-12),
        yz: left(1, 2), zz: max(left(2, 2), 1e-12))
    )
  }

  private func reset(_ slope: inout [Double], _ weight: inout [Double]) {
    for row in 0..<6 {
      slope[row] = 0
      for other in 0..<size {
        weight[row * size + other] = 0
        weight[other * size + row] = 0
      }
    }
  }

  /// Replaces λ with Fᵀ·λ and Λ with Fᵀ·Λ·F.
  private func undoAdvance(
    _ dt: Double, _ fade: Double, _ slope: inout [Double], _ weight: inout [Double]
  ) {
    for axis in 0..<3 {
      slope[axis + 3] += dt * slope[axis]
      for other in 0..<size {
        weight[(axis + 3) * size + other] += dt * weight[axis * size + other]
      }
    }
    for axis in 0..<3 {
      for other in 0..<size {
        weight[other * size + axis + 3] += dt * weight[other * size + axis]
      }
    }
    for slow in (6 + sources)..<max(size, 6 + sources) {
      slope[slow] *= fade
      for other in 0..<size { weight[slow * size + other] *= fade }
      for other in 0..<size { weight[other * size + slow] *= fade }
    }
  }

  /// Replaces λ with (I - K·H)ᵀ·λ - Hᵀ·ν/S, and Λ with (I - K·H)ᵀ·Λ·(I - K·H) + Hᵀ·H/S.
  private func undoMeasurement(_ index: Int, _ slope: inout [Double], _ weight: inout [Double]) {
    let one = measurements[index]
    let start = index * size
    var along = 0.0
    var product = [Double](repeating: 0, count: size)
    for row in 0..<size {
      let gain = columns[start + row] / one.total
      along += gain * slope[row]
      for other in 0..<size { product[other] += gain * weight[row * size + other] }
    }
    var inner = 0.0
    for k in 0..<size { inner += columns[start + k] / one.total * product[k] }
    var terms = [(0, one.gradient.x), (1, one.gradient.y), (2, one.gradient.z)]
    if let source = one.source { terms += [(6 + source, 1), (6 + sources + source, 1)] }
    if let reference = one.reference {
      terms += [(6 + reference, -1), (6 + sources + reference, -1)]
    }
    for (row, h) in terms {
      slope[row] -= h * (along + one.innovation / one.total)
      for other in 0..<size {
        weight[row * size + other] -= h * product[other]
        weight[other * size + row] -= h * product[other]
      }
    }
    for (row, h) in terms {
      for (other, g) in terms { weight[row * size + other] += h * g * (inner + 1 / one.total) }
    }
  }
}
