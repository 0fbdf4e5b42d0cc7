// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import RangingScenes

/// Figures of a drone among eight anchors, with errors of several sizes: D1 from differences, D2
/// from ranges.
enum FlightFigures {
  static func rows() -> [AccuracyFigure] {
    rows("D1", "differences", isDifference: true, aims: (0.25, 0.32))
      + rows("D2", "ranges", isDifference: false, aims: (0.28, 0.32))
  }

  /// The errors of positions and heights, and their multiples of the stated deviations.
  private struct Way {
    var (errors, heights) = (Errors(), Errors())
    var (sides, ups) = (Honesty(), Honesty())

    mutating func add(_ path: [PositionSmoother.Point?], _ truth: [SIMD3<Double>]) {
      let rests = zip(path, truth).compactMap { point, truth in
        point.map { ($0.estimate.position - truth, $0.estimate.covariance) }
      }
      errors.add(rests.map { $0.0.length })
      heights.add(rests.map { $0.0.z })
      sides.add(zip(path, truth).flatMap { TrolleyFigures.stated($0?.estimate, $1) })
      ups.add(rests.map { $0.0.z / $0.1.zz.squareRoot() })
    }
  }

  /// Returns fifteen flights: slow errors from 0 to 30 cm, each with perfect, good and bad surveys.
  private static func flights(isDifference: Bool) -> [Flight] {
    (0..<15).map { number in
      let errors = Flight.Errors(
        constant: [0, 0.05, 0.15][number % 3], slow: [0, 0.05, 0.1, 0.2, 0.3][number % 5],
        slowTime: [0.5, 2, 5][number / 5])
      return Flight(seed: UInt64(number + 1), errors, isDifference: isDifference)
    }
  }

  private static func rows(
    _ id: String, _ name: String, isDifference: Bool, aims: (recorded: Double, live: Double)
  ) -> [AccuracyFigure] {
    var ignorant = PositionSmoother()
    (ignorant.errors.own, ignorant.errors.shared, ignorant.errors.slow) = (1e-3, 0, 0)
    var oneSize = PositionSmoother()
    oneSize.slowErrors = [1]
    let flights = flights(isDifference: isDifference)
    return [("recorded", false, aims.recorded), ("live", true, aims.live)].flatMap {
      way, isLive, aim in
      func fly(_ smoother: PositionSmoother) -> Way {
        var result = Way()
        for flight in flights {
          result.add(smoother.path(flight.samples, live: isLive), flight.truth)
        }
        return result
      }
      let (found, one, plain) = (fly(PositionSmoother()), fly(oneSize), fly(ignorant))
      return [
        found.errors.figure(
          id, "\(name), drone: position, \(way), RMSE", "m",
          textbook: ("smoother without errors of anchors", Errors.rms(plain.errors.all)),
          aim: .atMost(aim), Errors.rms),
        found.heights.figure(
          id, "the same, heights", "m",
          textbook: ("smoother without errors of anchors", Errors.rms(plain.heights.all)),
          aim: .atMost(aim), Errors.rms),
      ] + found.sides.figures(id, "\(name), \(way), to the side", beside: ("one size", one.sides))
        + found.ups.figures(id, "\(name), \(way), height", beside: ("one size", one.ups))
    }
  }
}
